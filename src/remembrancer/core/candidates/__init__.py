"""Candidates: facts and changes that wait for a person's word."""
