"""Vectors of items: what is embedded of each, under which id, and when it changes."""
