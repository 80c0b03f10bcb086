"""Topics: retrieval buckets with a kind, a retrieval priority and a canonical item."""
