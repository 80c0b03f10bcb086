"""Chat messages: storing each once, and reading those of a window. They are not in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.dates import format_iso
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, Statement

SHOWN_CHARS_MAX: Final = 2_000
"""Characters of a message that a list shows; `chars` says how long it is. Our choice."""

LATEST_CHARS_MAX: Final = 120
"""Characters of a message by which a conversation is recognised in a list. Our choice."""


STORED_AT: Final = (
    "max(?5, coalesce((SELECT max(c.at_ms) + 1 FROM job_cursors AS c WHERE c.namespace = ?1"
    " AND (c.name = 'extract' OR c.name = 'dream')), 0))"
)
"""When a message counts as said: now, the fifth value, or behind all that jobs have read. A clock
that is set back would store it before their cursors otherwise, where nothing ever reads it."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that is stored for the first time."""

    id: str
    role: str
    content: str
    client_hash: str


def known_statement(namespace: Namespace, hashes: Sequence[str]) -> Statement:
    """Return the statement that reads which of these hashes are stored, and as which message."""
    return Statement(
        "SELECT m.client_hash, m.id FROM json_each(?2) AS j CROSS JOIN messages AS m"
        " ON m.namespace = ?1 AND m.client_hash = j.value",
        (namespace, canonical_json(list(hashes))),
    )


def known_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return hash → message id from the rows of `known_statement`."""
    return {str(row["client_hash"]): str(row["id"]) for row in rows}


def store_statement(
    namespace: Namespace,
    messages: Sequence[NewMessage],
    *,
    conversation_id: str,
    source: str | None,
    at_ms: int,
) -> Statement:
    """Return the statement that stores messages, at a time as STORED_AT has it.

    *Promise:* a clash when one is stored already.
    """
    rows = [[one.id, one.role, one.content, one.client_hash] for one in messages]
    return Statement(
        "INSERT INTO messages (namespace, id, conversation_id, role, content, source,"
        " client_hash, created_at) SELECT ?1, j.value ->> 0, ?3, j.value ->> 1, j.value ->> 2,"
        f" ?4, j.value ->> 3, {STORED_AT} FROM json_each(?2) AS j",
        (namespace, canonical_json(rows), conversation_id, source, at_ms),
    )


def window_statement(namespace: Namespace, *, start_ms: int, end_ms: int, limit: int) -> Statement:
    """Return the statement that reads the last messages of a window, newest first.

    *Shape:* start and end are in the window; `content` is cut at SHOWN_CHARS_MAX.
    """
    return Statement(
        "SELECT id, conversation_id, role, substr(content, 1, ?5) AS content,"
        " length(content) AS chars, source, created_at FROM messages"
        " WHERE namespace = ?1 AND created_at >= ?2 AND created_at <= ?3"
        " ORDER BY created_at DESC, id DESC LIMIT ?4",
        (namespace, start_ms, end_ms, limit, SHOWN_CHARS_MAX),
    )


def window_count_statement(namespace: Namespace, *, start_ms: int, end_ms: int) -> Statement:
    """Return the statement that counts the messages of a window."""
    return Statement(
        "SELECT count(*) AS total FROM messages"
        " WHERE namespace = ? AND created_at >= ? AND created_at <= ?",
        (namespace, start_ms, end_ms),
    )


_SHOWN: Final = (
    "m.id, m.conversation_id, m.role, substr(m.content, 1, ?3) AS content,"
    " length(m.content) AS chars, m.source, m.model, m.is_partial, m.created_at"
)


def named_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads messages by their ids, the oldest first; cut as a window's.

    *Shape:* those that retention has taken are missing.
    """
    return Statement(
        f"SELECT {_SHOWN} FROM json_each(?2) AS j CROSS JOIN messages AS m"
        " ON m.namespace = ?1 AND m.id = j.value ORDER BY m.created_at, m.id",
        (namespace, canonical_json(list(ids)), SHOWN_CHARS_MAX),
    )


def conversation_statement(
    namespace: Namespace, conversation_id: str, *, before: tuple[int, str] | None, limit: int
) -> Statement:
    """Return the statement that reads a page of a conversation, newest first; cut as a window's.

    *Shape:* `before` time and id of the last one of the page before.
    """
    where = "" if before is None else " AND (m.created_at, m.id) < (?5, ?6)"
    return Statement(
        f"SELECT {_SHOWN} FROM messages AS m WHERE m.namespace = ?1 AND m.conversation_id = ?2"
        f"{where} ORDER BY m.created_at DESC, m.id DESC LIMIT ?4",
        (namespace, conversation_id, SHOWN_CHARS_MAX, limit, *(before or ())),
    )


def latest_statement(namespace: Namespace, conversation_ids: Sequence[str]) -> Statement:
    """Return the statement that reads how the user's latest message of each conversation begins."""
    return Statement(
        "SELECT j.value AS conversation_id, (SELECT substr(m.content, 1, ?3) FROM messages AS m"
        " WHERE m.namespace = ?1 AND m.conversation_id = j.value AND m.role = 'user'"
        " ORDER BY m.created_at DESC, m.id DESC LIMIT 1) AS said FROM json_each(?2) AS j",
        (namespace, canonical_json(list(conversation_ids)), LATEST_CHARS_MAX),
    )


def latest_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return conversation id → what was said, from the rows of `latest_statement`."""
    return {
        str(row["conversation_id"]): str(row["said"]) for row in rows if row["said"] is not None
    }


def message_view(row: Row) -> dict[str, JSON]:
    """Return a message's answer form from a row of one of the two statements above."""
    return {
        "id": str(row["id"]),
        "conversation_id": str(row["conversation_id"]),
        "role": str(row["role"]),
        "content": str(row["content"]),
        "chars": int(str(row["chars"])),
        "source": None if row["source"] is None else str(row["source"]),
        "model": None if row["model"] is None else str(row["model"]),
        "is_partial": bool(row["is_partial"]),
        "created_at": format_iso(int(str(row["created_at"]))),
    }
