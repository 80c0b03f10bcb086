"""Keeping the vector index as the store is: the outbox's drain, repairs, another model."""
