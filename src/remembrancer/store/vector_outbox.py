"""The vector outbox: what waits to be embedded or removed, one row an item.

Rows are written in the batch that changes an item, whether or not there is an embedder: one that
is set up later finds them. A row names an item and its version, never a text; what there is to do
is read from the items when it is done. A rebuild leaves it as it is. Draining is `app.vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import FORGOTTEN
from remembrancer.core.values import canonical_json
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX
from remembrancer.core.vectors.embedding import is_reworded, vector_kind
from remembrancer.ports.sql import Outcome, Row, SqlValue, Statement
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import Placed, load_json

GONE_ROWS_MAX: Final = 500
"""Removals of one pass; under the limit of one call to an index. Our choice."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the outbox, with the item as it is now.

    *Shape:* `version` that of the change; `item_version` the item's, 0 when it is gone; `fields`
    what is embedded of it; `project` and `topic` names.
    """

    namespace: str
    item_id: str
    version: int
    attempts: int
    item_version: int = 0
    fields: Fields | None = None
    project: str | None = None
    topic: str | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What names the row and the change it stands for."""
        return (self.namespace, self.item_id, self.version)


def queues(placed: Sequence[Placed]) -> bool:
    """Tell whether these events change what is embedded."""
    return any(_is_queued(one) for one in placed)


def queue_statements(placed: Sequence[Placed], *, at_ms: int | None = None) -> list[Statement]:
    """Return the statement that queues what a batch of events of one namespace changes.

    *Shape:* none when nothing changes; `at_ms` is since when it waits, unset: since the event.
    *Promise:* safe to repeat; one row an item, the newest version stays, with the oldest time.
    """
    rows: dict[str, list[SqlValue]] = {}
    for one in placed:
        if _is_queued(one):
            is_gone = int(vector_kind(one.after) is None)
            since = one.event.at_ms if at_ms is None else at_ms
            rows[one.id] = [one.id, one.event.version, is_gone, since]
    if not rows:
        return []
    marks = Marks(placed[0].event.namespace)
    sql = (
        "INSERT INTO vector_outbox (namespace, item_id, version, is_gone, queued_at)"
        f" SELECT ?1, * FROM {marks.rows([*rows.values()])} WHERE 1"
        " ON CONFLICT (namespace, item_id) DO UPDATE SET version = excluded.version,"
        " is_gone = excluded.is_gone, attempts = 0, not_before = 0, last_error = NULL"
        " WHERE excluded.version >= version"
    )
    return [Statement(sql, marks.values)]


def _is_queued(one: Placed) -> bool:
    if not one.event.stream.startswith("item/"):
        return False
    if one.event.kind == FORGOTTEN:
        return bool(one.before)  # else its bodies were empty already: it never had a vector
    return is_reworded(one.before, one.after)


def gone_statement(namespace: str | None, now_ms: int, limit: int) -> Statement:
    """Return the statement that reads removals that are due."""
    return Statement(
        "SELECT namespace, item_id, version, attempts FROM vector_outbox"
        " INDEXED BY vector_outbox_gone WHERE is_gone = 1"
        f"{_within(namespace)} AND not_before <= ?2 LIMIT ?3",
        (namespace, now_ms, limit),
    )


def due_statement(namespace: str | None, now_ms: int, limit: int) -> Statement:
    """Return the statement that reads what is due to be embedded, with the items as they are.

    *Promise:* reads as many rows as it gives, and those before them that wait for another try.
    """
    return Statement(
        f"SELECT o.namespace, o.item_id, o.version, o.attempts, {ITEM_COLUMNS}"
        f" FROM (SELECT * FROM vector_outbox WHERE is_gone = 0{_within(namespace)}"
        " AND not_before <= ?2 ORDER BY namespace, item_id LIMIT ?3) AS o"
        f" LEFT JOIN items AS i ON i.namespace = o.namespace AND i.id = o.item_id {OWNERS}",
        (namespace, now_ms, limit),
    )


ITEM_COLUMNS: Final = (
    f"i.version AS item_version, i.kind, i.state, i.title, substr(i.content, 1, {EMBED_CHARS_MAX})"
    " AS content, i.tags, i.fact_key, i.artifact_id, i.project_id, i.topic_id, p.name AS project,"
    " t.name AS topic"
)
"""What is embedded of `items AS i` and its `OWNERS`."""

_TEXTS: Final = (
    "kind", "state", "title", "content", "artifact_id", "fact_key", "project_id", "topic_id",
)  # fmt: skip
"""Of these, the columns that hold text as it is."""

OWNERS: Final = (
    "LEFT JOIN projects AS p ON p.namespace = i.namespace AND p.id = i.project_id"
    " LEFT JOIN topics AS t ON t.namespace = i.namespace AND t.id = i.topic_id"
)
"""The project and the topic of `items AS i`."""


def _within(namespace: str | None) -> str:
    return " AND ?1 IS NULL" if namespace is None else " AND namespace = ?1"


def left_statement(namespace: str | None, limit: int) -> Statement:
    """Return the statement that counts what is left, up to a limit."""
    return Statement(
        "SELECT count(*) AS count FROM (SELECT 1 FROM vector_outbox WHERE 1"
        f"{_within(namespace)} LIMIT ?2)",
        (namespace, limit),
    )


def waiting(outcome: Outcome) -> list[Waiting]:
    """Return the rows that `gone_statement` or `due_statement` read."""
    return [_waiting(row) for row in outcome.rows]


def _waiting(row: Row) -> Waiting:
    fields: Fields | None = None
    if row.get("kind") is not None:
        fields = {name: None if row[name] is None else str(row[name]) for name in _TEXTS}
        fields["tags"] = None if row["tags"] is None else load_json(row["tags"])
    return Waiting(
        str(row["namespace"]),
        str(row["item_id"]),
        int(str(row["version"])),
        int(str(row["attempts"])),
        int(str(row.get("item_version") or 0)),
        fields,
        None if row.get("project") is None else str(row["project"]),
        None if row.get("topic") is None else str(row["topic"]),
    )


_ROWS: Final = "FROM json_each(?1) AS j"
_KEYS: Final = "(SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))"
_AGAIN: Final = (
    # Below zero: every change is newer, and it is not the row that is done.
    "INSERT INTO vector_outbox (namespace, item_id, version, is_gone, queued_at)"
    " SELECT j.value ->> 0, j.value ->> 1, min(j.value ->> 2, 0) - 1"
)
_NONE_WAITS: Final = (
    "NOT EXISTS (SELECT 1 FROM vector_outbox AS o"
    " WHERE o.namespace = j.value ->> 0 AND o.item_id = j.value ->> 1)"
)


def embedded_statements(rows: Sequence[Waiting], model: str, now_ms: int) -> list[Statement]:
    """Return what notes that vectors were written.

    *Promise:* a row that was changed meanwhile stays. One that another drain has taken meanwhile
    is queued anew unless that one wrote the same: ours may have replaced a newer vector.
    """
    keys = canonical_json([[*row.key, row.item_version] for row in rows])
    return [
        Statement(
            f"{_AGAIN}, 0, ?3 {_ROWS} WHERE {_NONE_WAITS}"
            " AND NOT EXISTS (SELECT 1 FROM vector_rows AS r WHERE r.namespace = j.value ->> 0"
            " AND r.item_id = j.value ->> 1 AND r.model = ?2 AND r.version = j.value ->> 3)",
            (keys, model, now_ms),
        ),
        Statement(
            "INSERT OR REPLACE INTO vector_rows (namespace, item_id, model, version)"
            f" SELECT j.value ->> 0, j.value ->> 1, ?2, j.value ->> 3 {_ROWS}",
            (keys, model),
        ),
        _done_statement(keys),
    ]


def noted_statement(rows: Sequence[Waiting], model: str) -> Statement:
    """Return what notes vectors of the model that is being filled; the outbox's rows stay."""
    return Statement(
        "INSERT OR REPLACE INTO vector_rows (namespace, item_id, model, version)"
        f" SELECT j.value ->> 0, j.value ->> 1, ?2, j.value ->> 3 {_ROWS}",
        (canonical_json([[*row.key, row.item_version] for row in rows]), model),
    )


def unnoted_statement(rows: Sequence[Waiting], model: str) -> Statement:
    """Return what notes that a model's vectors are missing or old."""
    return Statement(
        "DELETE FROM vector_rows WHERE (namespace, item_id, model) IN"
        " (SELECT value ->> 0, value ->> 1, ?2 FROM json_each(?1))",
        (canonical_json([row.key for row in rows]), model),
    )


def removed_statements(rows: Sequence[Waiting], now_ms: int) -> list[Statement]:
    """Return what notes that vectors were removed, of every model.

    *Promise:* as for `embedded_statements`: what was embedded meanwhile is queued anew.
    """
    keys = canonical_json([row.key for row in rows])
    return [
        Statement(
            f"{_AGAIN}, 0, ?2 {_ROWS} WHERE {_NONE_WAITS}"
            " AND EXISTS (SELECT 1 FROM vector_rows AS r WHERE r.namespace = j.value ->> 0"
            " AND r.item_id = j.value ->> 1)",
            (keys, now_ms),
        ),
        Statement(
            "DELETE FROM vector_rows WHERE (namespace, item_id) IN"
            " (SELECT value ->> 0, value ->> 1 FROM json_each(?1))",
            (keys,),
        ),
        _done_statement(keys),
    ]


def _done_statement(keys: str) -> Statement:
    return Statement(
        f"DELETE FROM vector_outbox WHERE (namespace, item_id, version) IN {_KEYS}", (keys,)
    )


def failed_statement(rows: Sequence[tuple[Waiting, int]], error: str) -> Statement:
    """Return what counts a failure of rows and says when each is tried again (ms)."""
    return Statement(
        "UPDATE vector_outbox AS o SET attempts = o.attempts + 1, last_error = ?2,"
        f" not_before = j.value ->> 3 {_ROWS} WHERE o.namespace = j.value ->> 0"
        " AND o.item_id = j.value ->> 1 AND o.version = j.value ->> 2",
        (canonical_json([[*row.key, at_ms] for row, at_ms in rows]), error),
    )
