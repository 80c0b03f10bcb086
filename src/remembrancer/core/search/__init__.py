"""Searching by words: which terms to ask for, how sure a match is, how alike two texts are."""
