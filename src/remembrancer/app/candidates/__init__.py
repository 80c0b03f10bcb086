"""The review queue: what waits for a person's word, and what a decision does."""
