"""SQL of the health check: the cheapest question that only a working database answers."""

from __future__ import annotations

from remembrancer.ports.sql import Statement


def ping_statement() -> Statement:
    """Return a statement that reads at most one row of the ledger's table."""
    return Statement("SELECT 1 AS answer, (SELECT max(position) FROM events) AS position")


def rebuild_statement() -> Statement:
    """Return the statement that tells whether a rebuild has begun and not ended."""
    return Statement("SELECT started_position FROM rebuild_state LIMIT 1")
