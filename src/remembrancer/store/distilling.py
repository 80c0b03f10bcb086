"""What the distilling jobs read: messages in order, who holds a key, what says the same already.

Rows travel as one JSON array, so a batch of facts costs as many statements as one fact. Nothing is
decided here; candidates and pages have modules of their own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace, make_id
from remembrancer.core.items.derive import scope_word
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.ledger.undo import UNDONE
from remembrancer.core.text.variants import other_forms
from remembrancer.core.values import MINUTE_MS, canonical_json
from remembrancer.ports.sql import Outcome, Row, Statement
from remembrancer.store.items import COLUMNS, owner_columns, records_of

MESSAGE_CHARS_READ: Final = 20_000
"""Characters of a message that a night reads: room for what was injected before it is taken out."""

COUNTED_MAX: Final = 10_000
"""Messages that are counted as waiting; beyond it they are many. Our choice."""

_ALIKE_MAX: Final = 200
"""Memories that a batch of facts is compared with. Our choice: each holds all words of one."""

_SAVED_MS: Final = 10 * MINUTE_MS
"""Milliseconds after a message in which what it asked to remember was saved."""

_PLACE: Final = "namespace = ?1 AND (created_at, id) > (?2, ?3) AND created_at <= ?4"


@dataclass(frozen=True, slots=True)
class Said:
    """A stored message. *Units:* `created_at` milliseconds UTC.

    *Shape:* `content` from its beginning; `chars` the length of all of it.
    """

    id: str
    role: str
    content: str
    created_at: int
    chars: int

    @property
    def cursor(self) -> Cursor:
        """The place behind it."""
        return Cursor(self.created_at, self.id)


def next_messages_statement(
    namespace: Namespace,
    after: Cursor,
    *,
    until_ms: int,
    limit: int,
    chars_max: int = MESSAGE_CHARS_READ,
) -> Statement:
    """Return the statement that reads the messages behind a place, oldest first.

    *Shape:* up to and with `until_ms`; of each its first `chars_max` characters. *Promise:* of
    equal times, by id: none is skipped.
    """
    return Statement(
        f"SELECT id, role, substr(content, 1, {chars_max}) AS content, created_at,"
        " length(content) AS chars"
        f" FROM messages WHERE {_PLACE} ORDER BY created_at, id LIMIT ?5",
        (namespace, after.at_ms, after.id, until_ms, limit),
    )


def waiting_statement(namespace: Namespace, after: Cursor, *, until_ms: int) -> Statement:
    """Return the statement that counts the messages behind a place, up to `COUNTED_MAX`."""
    return Statement(
        f"SELECT count(*) AS total FROM (SELECT 1 FROM messages WHERE {_PLACE} LIMIT ?5)",
        (namespace, after.at_ms, after.id, until_ms, COUNTED_MAX),
    )


def messages_of(rows: Sequence[Row]) -> list[Said]:
    """Return the messages, in their order, from the rows of `next_messages_statement`."""
    found = [
        Said(
            str(row["id"]),
            str(row["role"]),
            str(row["content"]),
            int(str(row["created_at"])),
            int(str(row["chars"])),
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: one.cursor)


def saved_statement(namespace: Namespace, source: str, *, from_ms: int, to_ms: int) -> Statement:
    """Return the statement that reads what was saved at once from messages of a span of time.

    *Shape:* `source` what such memories name as theirs. *Promise:* reads the items of that span.
    """
    first = make_id("itm", max(0, from_ms - _SAVED_MS), bytes(10))
    last = make_id("itm", to_ms + _SAVED_MS, b"\xff" * 10)
    return Statement(
        "SELECT title, content, source_message_ids FROM items WHERE namespace = ?"
        " AND id >= ? AND id <= ? AND source = ? AND source_message_ids IS NOT NULL",
        (namespace, first, last, source),
    )


def saved_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return message id → what was saved from it."""
    result: dict[str, list[str]] = {}
    for row in rows:
        for id_ in json.loads(str(row["source_message_ids"])):
            result.setdefault(str(id_), []).append(str(row["content"] or row["title"]))
    return result


_CHAIN: Final = (
    "(SELECT e.chain FROM events AS e WHERE e.namespace = ?1"
    " AND e.stream = 'item/' || i.id AND e.version = i.version) AS chain"
)
_PRECIOUS: Final = (
    "EXISTS (SELECT 1 FROM precious AS q WHERE q.namespace = ?1"
    " AND q.content = coalesce(i.content, i.title)) AS is_precious"
)
_LAST: Final = (
    "(SELECT e.kind FROM events AS e WHERE e.namespace = ?1"
    " AND e.stream = 'item/' || i.id AND e.version = i.version) AS last_kind"
)


def held_statement(namespace: Namespace, keys: Sequence[str]) -> Statement:
    """Return the statement that reads the active items of keys, for `store.items.loaded`."""
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, {_CHAIN}, {_PRECIOUS} FROM json_each(?2) AS j"
        " CROSS JOIN items AS i ON i.namespace = ?1 AND i.fact_key = j.value"
        " AND i.state = 'active'",
        (namespace, canonical_json(list(keys))),
    )


def items_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads items by id, for `store.items.loaded`."""
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, {_CHAIN}, {_PRECIOUS}, {_LAST}"
        " FROM json_each(?2) AS j"
        " CROSS JOIN items AS i ON i.namespace = ?1 AND i.id = j.value",
        (namespace, canonical_json(list(ids))),
    )


def precious_of(outcome: Outcome) -> set[str]:
    """Return the ids of those items whose very text is a precious quote."""
    return {str(row["id"]) for row in outcome.rows if row["is_precious"]}


def taken_back_of(outcome: Outcome) -> set[str]:
    """Return the ids of those items whose last change was taken back."""
    return {str(row["id"]) for row in outcome.rows if row["last_kind"] == UNDONE}


def forgotten_statement(namespace: Namespace, hashes: Sequence[str]) -> Statement:
    """Return the statement that reads which of these texts were forgotten on request."""
    return Statement(
        "SELECT DISTINCT text_hash FROM tombstones WHERE namespace = ?1"
        " AND text_hash IN (SELECT value FROM json_each(?2))",
        (namespace, canonical_json(list(hashes))),
    )


def all_words_expression(namespace: Namespace, terms: Sequence[str]) -> str:
    """Return the FTS5 expression for rows of a namespace with all of the terms.

    *Shape:* `""`, which finds nothing, without terms. Terms are tokens of our own: letters and
    digits alone.
    """
    if not terms:
        return '""'
    # Both scripts of Chinese: what was said in one is known in the other.
    forms = [[term, *other_forms(term)] for term in terms]
    words = " AND ".join("(" + " OR ".join(f'"{one}"' for one in each) + ")" for each in forms)
    return f'scope : "{scope_word(namespace)}" AND {{title body tags}} : ({words})'


def alike_statement(namespace: Namespace, expressions: Sequence[str]) -> Statement:
    """Return the statement that reads the active memories that fit one of the expressions."""
    return Statement(
        f"SELECT j.key AS number, {COLUMNS}, {owner_columns()} FROM json_each(?2) AS j"
        " CROSS JOIN search CROSS JOIN items AS i ON i.seq = search.rowid"
        " WHERE search MATCH j.value AND i.namespace = ?1 AND i.kind = 'memory'"
        " AND i.state = 'active' LIMIT ?3",
        (namespace, canonical_json(list(expressions)), _ALIKE_MAX),
    )


def alike_of(outcome: Outcome) -> tuple[dict[int, list[ItemRecord]], References]:
    """Return expression's number → the memories that fit it, and what they refer to."""
    records, references = records_of(outcome.rows)
    result: dict[int, list[ItemRecord]] = {}
    for row, record in zip(outcome.rows, records, strict=True):
        result.setdefault(int(str(row["number"])), []).append(record)
    return result, references


def seen_statement(namespace: Namespace, ids: Sequence[str], *, at_ms: int) -> Statement:
    """Return the statement that counts that these memories were said again."""
    return Statement(
        "INSERT INTO item_use (namespace, item_id, recall_count, seen_count, last_seen_at)"
        " SELECT ?1, j.value, 0, 1, ?3 FROM json_each(?2) AS j WHERE 1"
        " ON CONFLICT (namespace, item_id) DO UPDATE SET seen_count = seen_count + 1,"
        " last_seen_at = excluded.last_seen_at",
        (namespace, canonical_json(sorted(set(ids))), at_ms),
    )


def recent_statement(namespace: Namespace, *, limit: int) -> Statement:
    """Return the statement that reads the active memories that changed last."""
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, {_CHAIN}, {_PRECIOUS}, {_LAST} FROM items AS i"
        " INDEXED BY items_updated WHERE i.namespace = ?1 AND i.kind = 'memory'"
        " AND i.state = 'active' ORDER BY i.namespace, i.updated_at DESC, i.seq DESC LIMIT ?2",
        (namespace, limit),
    )


def active_statement(namespace: Namespace) -> Statement:
    """Return the statement that counts the active items."""
    return Statement(
        "SELECT coalesce(sum(value), 0) AS total FROM counters WHERE namespace = ?"
        " AND (name = 'items/memory/active' OR name = 'items/task/active')",
        (namespace,),
    )


def first_message_statement(namespace: Namespace, *, from_ms: int, until_ms: int) -> Statement:
    """Return the statement that reads the time of the first message of a span, end excluded."""
    return Statement(
        "SELECT min(created_at) AS at_ms FROM messages"
        " WHERE namespace = ? AND created_at >= ? AND created_at < ?",
        (namespace, from_ms, until_ms),
    )


def digest_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the digest, as `store.library.digest_of` takes it, with who
    wrote it last, and the head of its stream; a row without content where there is none any more.
    """
    return Statement(
        "SELECT d.content, e.actor, e.version AS head_version, e.chain AS head_chain"
        " FROM (SELECT actor, version, chain FROM events WHERE namespace = ?1"
        " AND stream = 'digest' ORDER BY version DESC LIMIT 1) AS e"
        " LEFT JOIN digests AS d ON d.namespace = ?1",
        (namespace,),
    )
