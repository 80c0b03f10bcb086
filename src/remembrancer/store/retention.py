"""SQL of retention: what has had its time, in slices; and the removal of what is purged.

Which periods there are is `core.jobs.retention`; the events of expiring and purging are made by
`app.jobs.retention`. Every statement binds a handful of values and touches a bounded slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from remembrancer.core.ids import Namespace, item_stream
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.jobs.retention import EXEMPT_TYPES, LOADED_PRIORITY, Cutoffs, first_id
from remembrancer.core.limits import COUNT_MAX
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store import artifacts
from remembrancer.store.forgetting import empty_all_statement
from remembrancer.store.marks import Marks

SLICE_ROWS: Final = 500
"""Rows that one statement deletes: well under a second on D1. Our choice."""


@dataclass(frozen=True, slots=True)
class _Aged:
    """A table whose rows only get old: its key beside the namespace, and when a row is old."""

    key: str
    condition: str


_AGED: Final[Mapping[str, _Aged]] = MappingProxyType(
    {
        "idempotency": _Aged("key", "at_ms < {old}"),
        "recalls": _Aged("id", "id < {old}"),
        "usage": _Aged("id", "created_at < {old}"),
        "turn_blocks": _Aged("conversation_id, turn", "created_at < {old}"),
        "conversations": _Aged("id", "updated_at < {old}"),
        # Cursors of one day, `dream/2026-12-05`; a job's own has no slash.
        "job_cursors": _Aged("name", "at_ms < {old} AND instr(name, '/') > 0"),
        "job_runs": _Aged("id", "started_at < {old} AND status <> 'running'"),
        "skipped_messages": _Aged("message_id", "skipped_at < {old}"),
    }
)

AGED_TABLES: Final = tuple(_AGED)
"""The tables whose rows are deleted by their age alone."""


@dataclass(frozen=True, slots=True)
class Passed:
    """How far the jobs are that read messages.

    *Shape:* `extracted` and `dreamt` their cursors, None before the first move; `is_dreaming`: the
    nights have begun here, well or not.
    """

    extracted: Cursor | None = None
    dreamt: Cursor | None = None
    is_dreaming: bool = False


def passed_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads how far the jobs are, for `passed_of`."""
    return Statement(
        "SELECT name, at_ms, id FROM job_cursors WHERE namespace = ?1"
        " AND (name = 'extract' OR name = 'dream') UNION ALL"
        " SELECT 'nights', 0, '' FROM job_states WHERE namespace = ?1 AND job = 'dream'",
        (namespace,),
    )


def passed_of(rows: Sequence[Row]) -> Passed:
    """Return how far the jobs are from the rows of `passed_statement`."""
    places = {str(row["name"]): Cursor(int(str(row["at_ms"])), str(row["id"])) for row in rows}
    dreamt = places.get("dream")
    return Passed(places.get("extract"), dreamt, "nights" in places or dreamt is not None)


def aged_bounds(cutoffs: Cutoffs, passed: Passed) -> dict[str, SqlValue]:
    """Return table → the value under which a row is old."""
    days = min(cutoffs.usage, cutoffs.messages)
    if passed.is_dreaming:
        # A day that is half dreamt goes on where it was, whenever that is.
        days = min(days, passed.dreamt.at_ms if passed.dreamt is not None else 0)
    return {
        "idempotency": cutoffs.idempotency,
        "recalls": first_id("rcl", cutoffs.recalls),
        "usage": cutoffs.usage,
        "turn_blocks": cutoffs.usage,
        "conversations": cutoffs.usage,
        "job_cursors": days,
        "job_runs": cutoffs.usage,
        "skipped_messages": cutoffs.skipped,
    }


def delete_aged_statement(namespace: Namespace, table: str, bound: SqlValue) -> Statement:
    """Return the statement that deletes a slice of old rows; `changes` tells how many."""
    key, is_old = _AGED[table].key, _AGED[table].condition.format(old="?2")
    return Statement(
        f"DELETE FROM {table} WHERE namespace = ?1 AND ({key}) IN (SELECT {key}"
        f" FROM {table} WHERE namespace = ?1 AND {is_old} LIMIT {SLICE_ROWS})",
        (namespace, bound),
    )


def message_bound(cutoffs: Cutoffs, passed: Passed, *, is_extracting: bool) -> Cursor:
    """Return the place before which messages go: old, and passed by extraction and the nights.

    *Shape:* where nothing is extracted, or nights never began, that is not waited for; where it
    has not passed a message yet, nothing goes.
    """
    bound = Cursor(cutoffs.messages)
    if is_extracting:
        # The sign before every letter of an id: what is exactly at the cursor was passed.
        at = passed.extracted
        bound = min(bound, Cursor(0) if at is None else Cursor(at.at_ms, f"{at.id} "))
    if passed.is_dreaming:
        # The end of the last day that is done, which belongs to the next.
        bound = min(bound, Cursor(0) if passed.dreamt is None else Cursor(passed.dreamt.at_ms))
    return bound


_BEFORE: Final = (
    "FROM messages WHERE namespace = ?1 AND (created_at, id) < ({at}, {id})"
    " AND id NOT IN (SELECT message_id FROM skipped_messages WHERE namespace = ?1)"
)
"""Messages that may go: what was set aside stays for as long as a person may still decide."""


def delete_messages_statements(
    namespace: Namespace, bound: Cursor, *, at_ms: int
) -> list[Statement]:
    """Return the batch that deletes a slice of messages before a place, the oldest first, with the
    files that came with them.

    *Shape:* the last outcome's `changes` tells how many messages went.
    """
    params = (namespace, bound.at_ms, bound.id)
    before = _BEFORE.format(at="?2", id="?3")
    slice_ = f"(SELECT id, artifact_ids {before} ORDER BY created_at, id LIMIT {SLICE_ROWS})"
    # A file's artifact belongs to its message.
    files = f"item_id IN (SELECT id FROM {slice_} WHERE artifact_ids <> '[]')"
    return [
        *artifacts.forget_statements(namespace, files, params[1:], at_ms=at_ms),
        Statement(
            f"DELETE FROM messages WHERE namespace = ?1 AND id IN (SELECT id FROM {slice_})", params
        ),
    ]


_MORTAL: Final = (
    "i.kind = 'memory' AND i.pinned IS NOT 1 AND i.authored_by <> 'human'"
    f" AND i.startup_priority < {LOADED_PRIORITY}"
    f" AND i.type NOT IN ({', '.join(repr(name) for name in EXEMPT_TYPES)})"
    " AND i.id NOT IN (SELECT t.canonical_item_id FROM topics AS t WHERE t.namespace = ?1"
    " AND t.state = 'active' AND t.canonical_item_id IS NOT NULL)"
)
"""What may expire: no identity, persona or rule, nothing pinned, always loaded, written by a person
or canonical for a topic."""

_LAST_USE: Final = (
    "max(i.updated_at, coalesce(u.last_recalled_at, 0), coalesce(u.last_seen_at, 0),"
    " CASE WHEN u.item_id IS NULL AND i.created_at <= m.imported_at THEN m.imported_at ELSE 0 END)"
)
"""When an item was last of use. What was imported without counters counts as used then."""

_UNUSED: Final = (
    " FROM items AS i INDEXED BY items_updated"
    " LEFT JOIN item_use AS u ON u.namespace = ?1 AND u.item_id = i.id"
    " LEFT JOIN imports AS m ON m.namespace = ?1"
    f" WHERE i.namespace = ?1 AND i.updated_at < {{old}} AND {_MORTAL}"
    " AND (i.state = 'active' OR i.state = 'dormant' OR i.state = 'stale')"
    f" AND {_LAST_USE} < {{old}}"
)


def unused_statement(namespace: Namespace, before_ms: int, limit: int) -> Statement:
    """Return the statement that reads memories last used before a time, longest ago first.

    *Shape:* rows with id, title and at_ms, their last use.
    """
    return Statement(
        f"SELECT i.id, i.title, {_LAST_USE} AS at_ms{_UNUSED.format(old='?2')}"
        " ORDER BY i.updated_at, i.seq LIMIT ?3",
        (namespace, before_ms, limit),
    )


def still_unused_statement(namespace: Namespace, ids: Sequence[str], before_ms: int) -> Statement:
    """Return the statement that reads which of these memories are still unused."""
    return Statement(
        f"SELECT i.id{_UNUSED.format(old='?2').replace(' INDEXED BY items_updated', '')}"
        " AND i.id IN (SELECT value FROM json_each(?3))",
        (namespace, before_ms, canonical_json(list(ids))),
    )


_ENDED: Final = (
    " FROM items AS i INDEXED BY items_ended_since"
    " WHERE i.namespace = ?1 AND i.state_since < {old}"
    " AND (i.state = 'deleted' OR i.state = 'expired')"
    f" AND (i.state = 'deleted' OR ({_MORTAL}))"
    " AND NOT EXISTS (SELECT 1 FROM imports AS m WHERE m.namespace = ?1"
    " AND m.imported_at >= {old} AND i.created_at <= m.imported_at)"
    " AND ({has_vectors} = 0 OR (NOT EXISTS (SELECT 1 FROM vector_rows AS v"
    " WHERE v.namespace = ?1 AND v.item_id = i.id) AND NOT EXISTS (SELECT 1"
    " FROM vector_outbox AS o WHERE o.namespace = ?1 AND o.item_id = i.id)))"
)
"""What is purged: deleted, or expired and still mortal; with vectors only once they are gone. What
was imported counts as ended then, so that no purge comes between the pieces of an import."""


def ended_statement(
    namespace: Namespace, before_ms: int, limit: int, *, has_vectors: bool
) -> Statement:
    """Return the statement that reads what ended before a time, longest ago first.

    *Shape:* rows with id, title, state and at_ms, when it ended. Where there are vectors, what
    still has one, or waits in their outbox, is left out.
    """
    return Statement(
        f"SELECT i.id, i.title, i.state, i.state_since AS at_ms"
        f"{_ENDED.format(old='?2', has_vectors='?3')}"
        " ORDER BY i.state_since, i.id LIMIT ?4",
        (namespace, before_ms, int(has_vectors), limit),
    )


def active_memories_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads how many active memories there are."""
    return Statement(
        "SELECT value FROM counters WHERE namespace = ? AND name = 'items/memory/active'",
        (namespace,),
    )


def edges_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads all relations of items."""
    marks = Marks(namespace)
    listed = marks.add(canonical_json(list(ids)))
    columns = "r.source_id, r.type, r.target_id, r.confidence, r.created_at"
    return Statement(
        f"SELECT {columns} FROM json_each({listed}) AS j CROSS JOIN relations AS r"
        " ON r.namespace = ?1 AND r.source_id = j.value UNION"
        f" SELECT {columns} FROM json_each({listed}) AS j CROSS JOIN relations AS r"
        " INDEXED BY relations_target ON r.namespace = ?1 AND r.target_id = j.value",
        marks.values,
    )


def purge_statements(namespace: Namespace, ids: Sequence[str], *, at_ms: int) -> list[Statement]:
    """Return what removes all that no projection owns of purged items; their events are emptied.

    *Shape:* to be sent behind the events and projections of the purge.
    """
    key = (namespace, canonical_json(list(ids)))
    listed = "(SELECT value FROM json_each(?2))"
    return [
        empty_all_statement(namespace, [item_stream(id_) for id_ in ids]),
        *artifacts.forget_statements(namespace, f"item_id IN {listed}", key[1:], at_ms=at_ms),
        Statement(f"DELETE FROM item_use WHERE namespace = ?1 AND item_id IN {listed}", key),
        # A tag's name is text as well: none stays that nothing has.
        Statement(
            "DELETE FROM counters WHERE namespace = ?"
            " AND name >= 'tag/' AND name < 'tag0' AND value = 0",
            (namespace,),
        ),
    ]


WAITING: Final = "messages_waiting"
"""Column of the messages that are old and have not been read."""


def counts_statement(
    namespace: Namespace,
    cutoffs: Cutoffs,
    passed: Passed,
    *,
    is_extracting: bool,
    has_vectors: bool,
) -> Statement:
    """Return the one statement that counts all that has had its time, each up to COUNT_MAX.

    *Shape:* one row, a column for each sort, and WAITING for the messages that are old and stay
    until they are read.
    """
    messages = message_bound(cutoffs, passed, is_extracting=is_extracting)
    marks = Marks(namespace)
    sources = {
        table: f"FROM {table} WHERE namespace = ?1 AND "
        + _AGED[table].condition.format(old=marks.add(bound))
        for table, bound in aged_bounds(cutoffs, passed).items()
    }
    at, id_ = marks.add(messages.at_ms), marks.add(messages.id)
    sources["messages"] = _BEFORE.format(at=at, id=id_)
    sources["purge"] = _ENDED.format(
        old=marks.add(cutoffs.deleted), has_vectors=marks.add(int(has_vectors))
    )
    sources["expire"] = _UNUSED.format(old=marks.add(cutoffs.memories))
    sources[WAITING] = (
        f"FROM messages WHERE namespace = ?1 AND (created_at, id) >= ({at}, {id_})"
        f" AND created_at < {marks.add(cutoffs.messages)}"
    )
    columns = ", ".join(
        f"(SELECT count(*) FROM (SELECT 1 {source} LIMIT {COUNT_MAX})) AS {name}"
        for name, source in sources.items()
    )
    return Statement(f"SELECT {columns}", marks.values)


def counts_of(rows: Sequence[Row]) -> tuple[dict[str, int], int]:
    """Return sort → number from the row of `counts_statement`, and how many messages wait."""
    counts = {name: int(str(value)) for name, value in rows[0].items()}
    return counts, counts.pop(WAITING)
