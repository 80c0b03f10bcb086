"""Projects: bodies of work, each with at most one active objective."""
