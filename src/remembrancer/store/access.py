"""SQL of made keys: their projection, and when each was last used.

Rules are in `core.access`; a token's hash comes in, a token never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.core.ids import Namespace
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.record_table import Placed, lives, load_json


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One made key. *Units:* times in milliseconds UTC; None for never."""

    namespace: Namespace
    id: str
    version: int
    created_at: int
    name: str
    actor: str
    token_hash: str
    scopes: tuple[str, ...]
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None


_SELECT = (
    "SELECT k.namespace, k.id, k.version, k.created_at, k.name, k.actor, k.token_hash, k.scopes,"
    " k.expires_at, k.revoked_at, u.last_used_at FROM keys AS k"
    " LEFT JOIN key_use AS u ON u.namespace = k.namespace AND u.key_id = k.id"
)


def find_by_token_statement(token_hash: str) -> Statement:
    """Return the statement that finds a key by its token's hash, in whatever namespace."""
    return Statement(f"{_SELECT} WHERE k.token_hash = ?", (token_hash,))


def get_statement(namespace: Namespace, key_id: str) -> Statement:
    """Return the statement that reads one key of a namespace."""
    return Statement(f"{_SELECT} WHERE k.namespace = ? AND k.id = ?", (namespace, key_id))


def list_statement(namespace: Namespace, *, after_id: str, limit: int) -> Statement:
    """Return the statement that lists a namespace's keys by id, oldest first, after an id."""
    return Statement(
        f"{_SELECT} WHERE k.namespace = ? AND k.id > ? ORDER BY k.id LIMIT ?",
        (namespace, after_id, limit),
    )


def touch_statement(namespace: Namespace, key_id: str, at_ms: int) -> Statement:
    """Return the statement that notes a key's last use; an earlier time changes nothing."""
    return Statement(
        "INSERT INTO key_use (namespace, key_id, last_used_at) VALUES (?, ?, ?)"
        " ON CONFLICT (namespace, key_id) DO UPDATE SET"
        " last_used_at = max(last_used_at, excluded.last_used_at)",
        (namespace, key_id, at_ms),
    )


def key_of(row: Row) -> KeyRow:
    """Return the key in a row of the reading statements."""
    scopes = load_json(row["scopes"])
    assert isinstance(scopes, list)
    return KeyRow(
        namespace=Namespace(str(row["namespace"])),
        id=str(row["id"]),
        version=int(str(row["version"])),
        created_at=int(str(row["created_at"])),
        name=str(row["name"]),
        actor=str(row["actor"]),
        token_hash=str(row["token_hash"]),
        scopes=tuple(str(scope) for scope in scopes),
        expires_at=_optional_int(row, "expires_at"),
        revoked_at=_optional_int(row, "revoked_at"),
        last_used_at=_optional_int(row, "last_used_at"),
    )


def project_keys(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the table of keys up to these events.

    *Shape:* all events of one namespace, each stream's in their order; `shadow` is the prefix of
    the table that is written. A key whose record is empty has no row.
    """
    namespace = round_[0].event.namespace
    gone, kept = lives(round_, "token_hash")
    result: list[Statement] = []
    if gone:
        result.append(
            Statement(
                f"DELETE FROM {shadow}keys WHERE namespace = ?1"
                " AND id IN (SELECT value FROM json_each(?2))",
                (namespace, canonical_json([placed.id for placed in gone])),
            )
        )
    if kept:
        result.append(_upsert(namespace, kept, shadow))
    return result


def _upsert(namespace: Namespace, kept: Sequence[tuple[Placed, int]], shadow: str) -> Statement:
    names = ("name", "actor", "token_hash")
    times = ("expires_at", "revoked_at")
    rows = [
        [
            placed.id,
            placed.event.version,
            born_ms,
            placed.event.at_ms,
            *(placed.after.get(name) for name in names),
            canonical_json(placed.after.get("scopes")),
            *(placed.after.get(name) for name in times),
        ]
        for placed, born_ms in kept
    ]
    values = ", ".join(f"value ->> {index}" for index in range(4, 10))
    return Statement(
        f"INSERT INTO {shadow}keys (namespace, id, version, created_at, updated_at, name, actor,"
        " token_hash, scopes, expires_at, revoked_at)"
        f" SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, {values}"
        " FROM json_each(?2) WHERE 1"
        " ON CONFLICT (namespace, id) DO UPDATE SET version = excluded.version,"
        " updated_at = excluded.updated_at, name = excluded.name, actor = excluded.actor,"
        " scopes = excluded.scopes, expires_at = excluded.expires_at,"
        " revoked_at = excluded.revoked_at",
        (namespace, canonical_json(rows)),
    )


def _optional_int(row: Row, column: str) -> int | None:
    value = row[column]
    return None if value is None else int(str(value))
