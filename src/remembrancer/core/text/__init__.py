"""Text rules: folding, slugs, tags, token estimates and search terms.

Pure functions on strings; not a place for storage, ranking or dates. Any ring may import it.
"""
