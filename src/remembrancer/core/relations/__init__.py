"""Relations: typed edges between items, without circles."""
