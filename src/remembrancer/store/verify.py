"""Reading for `verify`: the whole ledger in stream order, and projections beside their heads."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import Row, SqlStore, Statement


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event's stored form, unread. *Shape:* body and salt are None when forgotten."""

    namespace: str
    stream: str
    version: int
    position: int
    kind: str
    actor: str
    at_ms: int
    cause: str
    body: str | None
    salt: str | None
    body_hash: str
    chain: str


async def stored_after(sql: SqlStore, place: tuple[str, str, int], limit: int) -> list[StoredEvent]:
    """Return the next stored events by namespace, stream and version."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT namespace, stream, version, position, kind, actor, at_ms, cause, body,"
                " salt, body_hash, chain FROM events WHERE (namespace, stream, version) > (?, ?, ?)"
                " ORDER BY namespace, stream, version LIMIT ?",
                (*place, limit),
            )
        ]
    )
    return [_stored(row) for row in outcome.rows]


def _stored(row: Row) -> StoredEvent:
    body, salt = row["body"], row["salt"]
    return StoredEvent(
        namespace=str(row["namespace"]),
        stream=str(row["stream"]),
        version=int(str(row["version"])),
        position=int(str(row["position"])),
        kind=str(row["kind"]),
        actor=str(row["actor"]),
        at_ms=int(str(row["at_ms"])),
        cause=str(row["cause"]),
        body=None if body is None else str(body),
        salt=None if salt is None else str(salt),
        body_hash=str(row["body_hash"]),
        chain=str(row["chain"]),
    )


async def misplaced_rows(sql: SqlStore, namespace: Namespace | None) -> list[Row]:
    """Return projected records that are not at the last version of their stream, at most ten.

    *Shape:* rows with namespace, stream, version and head (None when the stream has no events).
    """
    where = "" if namespace is None else " WHERE namespace = ?1"
    params = () if namespace is None else (namespace,)
    parts = " UNION ALL ".join(
        f"SELECT namespace, '{prefix}' || id AS stream, version FROM {table}{where}"
        for table, prefix in (
            ("items", "item/"),
            ("projects", "project/"),
            ("topics", "topic/"),
            ("keys", "key/"),
        )
    )
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT p.namespace, p.stream, p.version, (SELECT e.version FROM events AS e"
                " WHERE e.namespace = p.namespace AND e.stream = p.stream"
                " ORDER BY e.version DESC LIMIT 1) AS head"
                f" FROM ({parts}) AS p WHERE head IS NOT p.version LIMIT 10",
                params,
            )
        ]
    )
    return outcome.rows
