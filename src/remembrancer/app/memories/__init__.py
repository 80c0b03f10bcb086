"""Use cases of memories: save, supersede, archive, delete, restore, show, list, find, export."""
