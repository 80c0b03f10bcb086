"""Memories: what is the same statement, who may replace one, what a new one inherits."""
