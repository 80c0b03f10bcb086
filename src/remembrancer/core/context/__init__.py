"""Context: the four levels, their bundles, and trimming them to a token budget."""
