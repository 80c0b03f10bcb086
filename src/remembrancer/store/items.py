"""Reading items: by id with what they refer to and their streams' heads, in one round trip.

Lists and searches are `store.item_lists` and `store.search`. Nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from remembrancer.core.errors import NotFound
from remembrancer.core.ids import Namespace, item_stream
from remembrancer.core.items.record import ItemRecord, Owner, References
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Outcome, Row, Statement
from remembrancer.store.items_projection import ITEMS
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.marks import Marks
from remembrancer.store.owner_names import meant_sql
from remembrancer.store.record_table import RecordTable, load_json, whole

ITEM_COLUMNS: Final = "seq, namespace, id, version, position, created_at, updated_at, " + ", ".join(
    ITEMS.columns
)
"""The columns that make an ItemRecord, in order, of the table and its twin."""


COLUMNS: Final = ", ".join(f"i.{name.strip()}" for name in ITEM_COLUMNS.split(","))
"""The columns of an item, of the table or twin that is called `i`."""


OWNERS_KEPT: Final = 256
"""Projects and topics as rows bring them along, taken apart, the last ones. Our choice: a namespace
has some dozens."""


@dataclass(frozen=True, slots=True)
class LoadedItem:
    """An item with the head of its stream, ready to be decided on."""

    record: ItemRecord
    head: Head

    def edit(self, *drafts: Draft | None) -> StreamEdit:
        """Return the edit that appends these drafts; None drafts are left out."""
        kept = tuple(draft for draft in drafts if draft is not None)
        return StreamEdit(item_stream(self.record.id), self.head, self.record.fields, kept)


def item_of(row: Row, table: RecordTable = ITEMS) -> ItemRecord:
    """Return the item in a row of `ITEM_COLUMNS`, or with only the fields that a table names."""
    return ItemRecord(
        str(row["id"]),
        whole(row["version"]),
        whole(row["created_at"]),
        whole(row["updated_at"]),
        table.row_fields(row),
        whole(row["position"]),
        whole(row["seq"]),
    )


def owner_columns(*, is_past: bool = False) -> str:
    """Return the two columns that bring the project and the topic of `i` along, as JSON.

    *Promise:* one row read for each that there is.
    """
    return ", ".join(_owner_column(area, is_past=is_past) for area in ("project", "topic"))


def _owner_column(area: str, *, is_past: bool) -> str:
    if not is_past:
        where = f"FROM {area}s AS o WHERE o.namespace = ?1 AND o.id = i.{area}_id"
    else:
        where = (
            f"FROM {area}_versions AS o WHERE o.namespace = ?1 AND o.id = i.{area}_id"
            " AND o.from_position <= (SELECT position FROM moment)"
            " ORDER BY o.from_position DESC LIMIT 1"
        )
    return f"(SELECT json_array(o.slug, o.name, o.state) {where}) AS {area}_owner"


def records_of(rows: Sequence[Row]) -> tuple[list[ItemRecord], References]:
    """Return the items in rows of `COLUMNS` and `owner_columns`, and what they refer to."""
    return [item_of(row) for row in rows], references_of(rows)


def references_of(rows: Sequence[Row]) -> References:
    """Return what rows of `COLUMNS` and `owner_columns` refer to."""
    return References(_owners_of(rows, "project"), _owners_of(rows, "topic"))


def _owners_of(rows: Sequence[Row], area: str) -> dict[str, Owner]:
    packed_name, id_name = f"{area}_owner", f"{area}_id"
    packed = {row[id_name]: text for row in rows if (text := row[packed_name]) is not None}
    return {(id_ := str(name)): _owner_of(id_, str(text)) for name, text in packed.items()}


@lru_cache(maxsize=OWNERS_KEPT)
def _owner_of(id_: str, packed: str) -> Owner:
    slug, name, state = json.loads(packed)
    return Owner(id_, slug, name, state == "active")


def load_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads items, with their heads and what they refer to.

    *Promise:* four rows read for each item of a project and a topic.
    """
    marks = Marks(namespace)
    # A record is always at its stream's last version; `verify` holds it.
    sql = (
        f"SELECT {COLUMNS}, {owner_columns()}, (SELECT e.chain FROM events AS e"
        " WHERE e.namespace = ?1 AND e.stream = 'item/' || i.id AND e.version = i.version) AS chain"
        f" FROM {marks.many(ids)} AS j CROSS JOIN items AS i"
        " ON i.namespace = ?1 AND i.id = j.value"
    )
    return Statement(sql, marks.values)


def loaded(outcome: Outcome) -> tuple[dict[str, LoadedItem], References]:
    """Return id → item, and what they refer to, from the outcome of `load_statement`."""
    records, references = records_of(outcome.rows)
    items = {
        record.id: LoadedItem(record, Head(record.version, str(row["chain"])))
        for record, row in zip(records, outcome.rows, strict=True)
    }
    return items, references


def owners(rows: Sequence[Row]) -> dict[str, Owner]:
    """Return id → project or topic from rows with id, slug, name and state."""
    return {
        str(row["id"]): Owner(
            str(row["id"]), str(row["slug"]), str(row["name"]), row["state"] == "active"
        )
        for row in rows
    }


def items_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads items by id, without heads or references."""
    marks = Marks(namespace)
    sql = (
        f"SELECT {COLUMNS} FROM {marks.many(ids)} AS j CROSS JOIN items AS i"
        " ON i.namespace = ?1 AND i.id = j.value"
    )
    return Statement(sql, marks.values)


def owners_statement(namespace: Namespace, table: str, ids: Sequence[str]) -> Statement:
    """Return the statement that reads the names of projects or topics by id."""
    assert table in ("projects", "topics")
    marks = Marks(namespace)
    sql = (
        f"SELECT o.id, o.slug, o.name, o.state FROM {marks.many(ids)} AS j"
        f" CROSS JOIN {table} AS o ON o.namespace = ?1 AND o.id = j.value"
    )
    return Statement(sql, marks.values)


def owner_by_id_statement(namespace: Namespace, table: str, id_: str) -> Statement:
    """Return the statement that reads one project or topic whole."""
    assert table in ("projects", "topics")
    return Statement(f"SELECT * FROM {table} WHERE namespace = ? AND id = ?", (namespace, id_))


def require(items: dict[str, LoadedItem], id_: str) -> LoadedItem:
    """Return the item. *Raises:* NotFound naming the id."""
    found = items.get(id_)
    if found is None:
        raise NotFound(
            f"there is no item {id_[:60]!r}", hint="list_items or semantic_search find ids"
        )
    return found


def owner_statement(
    namespace: Namespace, table: str, *, slug: str | None, name: str | None
) -> Statement:
    """Return the statement that reads the projects or topics that a slug or name may mean, of
    those not deleted; a row may come twice. *Raises:* as `meant_sql`."""
    assert table in ("projects", "topics")
    marks = Marks(namespace)
    by_name = f" INDEXED BY {table}_name"
    sql = meant_sql(marks, "n.*", table, slug=slug, name=name, by_name=by_name)
    return Statement(sql, marks.values)


def holder_statement(namespace: Namespace, fact_key: str) -> Statement:
    """Return the statement that reads which active item holds a fact key."""
    return Statement(
        "SELECT id FROM items WHERE namespace = ? AND fact_key = ? AND state = 'active'",
        (namespace, fact_key),
    )


def setting_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the namespace's settings."""
    return Statement("SELECT name, value FROM settings WHERE namespace = ?", (namespace,))


def settings_of(rows: Sequence[Row]) -> dict[str, JSON]:
    """Return setting → value from the rows of `setting_statement`."""
    return {str(row["name"]): load_json(row["value"]) for row in rows}
