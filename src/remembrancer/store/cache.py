"""SQL of the general cache: one row an entry; what has expired is as if it were not there."""

from __future__ import annotations

from typing import Final

from remembrancer.core.cache import CacheEntry
from remembrancer.core.ids import Namespace
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Statement

SWEPT_AT_ONCE: Final = 20
"""Expired entries that a write clears away on the side. Our choice: more than it adds."""


def entry_statement(namespace: Namespace, bucket: str, name: str, *, now_ms: int) -> Statement:
    """Return the statement that reads an entry, none when it has expired."""
    return Statement(
        "SELECT value, content_type, tags, bytes, created_at, updated_at, expires_at"
        " FROM cache_entries WHERE namespace = ? AND bucket = ? AND name = ?"
        " AND (expires_at IS NULL OR expires_at > ?)",
        (namespace, bucket, name, now_ms),
    )


def put_statement(
    namespace: Namespace, bucket: str, name: str, entry: CacheEntry, *, now_ms: int
) -> Statement:
    """Return the statement that keeps an entry; one that had expired is a new one."""
    expires_at = None if entry.ttl_s is None else now_ms + entry.ttl_s * 1_000
    return Statement(
        "INSERT INTO cache_entries (namespace, bucket, name, value, content_type, tags, bytes,"
        " created_at, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)"
        " ON CONFLICT (namespace, bucket, name) DO UPDATE SET created_at ="
        " CASE WHEN expires_at <= ?8 THEN ?8 ELSE created_at END, value = excluded.value,"
        " content_type = excluded.content_type, tags = excluded.tags, bytes = excluded.bytes,"
        " updated_at = excluded.updated_at, expires_at = excluded.expires_at",
        (
            namespace,
            bucket,
            name,
            entry.value,
            entry.content_type,
            canonical_json(list(entry.tags)),
            entry.size,
            now_ms,
            expires_at,
        ),
    )


def sweep_statement(namespace: Namespace, *, now_ms: int) -> Statement:
    """Return the statement that clears some expired entries away."""
    return Statement(
        "DELETE FROM cache_entries WHERE namespace = ?1 AND (bucket, name) IN (SELECT bucket, name"
        " FROM cache_entries WHERE namespace = ?1 AND expires_at <= ?2 ORDER BY expires_at"
        f" LIMIT {SWEPT_AT_ONCE})",
        (namespace, now_ms),
    )


def delete_statement(namespace: Namespace, bucket: str, name: str) -> Statement:
    """Return the statement that removes an entry; a missing one is no error."""
    return Statement(
        "DELETE FROM cache_entries WHERE namespace = ? AND bucket = ? AND name = ?",
        (namespace, bucket, name),
    )
