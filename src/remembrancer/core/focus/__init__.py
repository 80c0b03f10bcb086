"""The focus: which open task comes next, by rules that anyone can check."""
