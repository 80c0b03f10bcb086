"""Use cases of context: one bundle for each level, cached by version, read without writing."""
