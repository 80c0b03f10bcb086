"""Use cases of items: capture, edit, change of state, delete and restore, get and list."""
