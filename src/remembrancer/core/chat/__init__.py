"""The chat gateway's rules: reading requests, translating them, and placing memory in them.

Pure functions and small incremental readers; nothing here sends, stores or reads a clock. Any
ring may import it.
"""
