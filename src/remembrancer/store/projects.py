"""Reading projects and topics: the chosen ones with their heads, counts and chief items.

A Choice says which ones; the same statements then read what an answer shows of them, all in one
round trip, now or as of a position. The chief item is a project's objective and a topic's
canonical item. Nothing is written here. Lists of one project's events are `store.timeline`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from remembrancer.core import limits
from remembrancer.core.ids import Namespace, Stream, item_stream
from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.projects.record import OwnerRecord, recount
from remembrancer.ports.sql import Outcome, Row, SqlStore, SqlValue, Statement
from remembrancer.store import items as item_store
from remembrancer.store import ledger
from remembrancer.store.items import LoadedItem
from remembrancer.store.items_projection import ITEMS
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.marks import Marks
from remembrancer.store.owner_names import meant_sql
from remembrancer.store.projections import PROJECTS, TOPICS
from remembrancer.store.record_table import RecordTable


@dataclass(frozen=True, slots=True)
class Choice:
    """Which projects or topics a read is about.

    *Shape:* `ids` is a SELECT of ids in which `?1` is the namespace, `{source}` the table and
    `{by_name}` the hint to look names up in its index; `values` are bound from `?3` on; `order`
    is that of the rows; `position` None is now.
    """

    table: RecordTable
    namespace: Namespace
    ids: str
    values: tuple[SqlValue, ...] = ()
    order: str = "o.slug"
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A project or topic with the head of its stream, and what an answer shows of it.

    *Shape:* `counts` state → items, without deleted ones, None for a look into the past; `chief`
    the active objective or canonical item while it is current and belongs here.
    """

    owner: OwnerRecord
    stream: Stream
    head: Head
    counts: dict[str, int] | None = None
    chief: ItemRecord | None = None
    references: References = field(default_factory=References)

    @property
    def slug(self) -> str:
        """The slug, which is also the place in a list."""
        return str(self.owner.fields["slug"])

    def edit(self, *drafts: Draft) -> StreamEdit:
        """Return the edit that appends drafts."""
        return StreamEdit(self.stream, self.head, self.owner.fields, drafts)

    def recounted(self, edits: Sequence[StreamEdit]) -> Seen:
        """Return it with the counts as they will be once these edits of items are written."""
        column = f"{self.stream.partition('/')[0]}_id"
        gone: list[str] = []
        come: list[str] = []
        for edit in edits:
            if edit.stream.startswith("item/"):
                after = edit.fields
                for draft in edit.drafts:
                    after = apply_changes(after, draft.changes)
                for fields, states in ((edit.fields, gone), (after, come)):
                    if fields.get(column) == self.owner.id:
                        states.append(str(fields["state"]))
        return replace(self, counts=recount(self.counts or {}, gone=gone, come=come))


_CHIEF: Final[Mapping[str, str]] = {
    PROJECTS.name: "active_objective_id",
    TOPICS.name: "canonical_item_id",
}
_AREA: Final[Mapping[str, str]] = {PROJECTS.name: "project", TOPICS.name: "topic"}
_CURRENT: Final = ", ".join(f"'{state}'" for state in CURRENT_STATES)

VIEW_STATEMENTS: Final = 6
"""Statements of `view_statements`."""


def named(
    table: RecordTable, namespace: Namespace, *, slug: str | None, name: str | None
) -> Choice:
    """Choose what a slug or a name may mean. *Raises:* InvalidInput (no letter or digit)."""
    marks = Marks(namespace)
    marks.add(0)  # the position's place
    ids = meant_sql(marks, "n.id", "{source}", slug=slug, name=name, by_name="{by_name}")
    return Choice(table, namespace, f"SELECT id FROM ({ids})", marks.values[2:])


def page(
    table: RecordTable,
    namespace: Namespace,
    *,
    after_slug: str,
    limit: int,
    position: int | None = None,
) -> Choice:
    """Choose a page of all, by slug."""
    return Choice(
        table,
        namespace,
        "SELECT n.id FROM {source} AS n WHERE n.namespace = ?1 AND n.state = 'active'"
        " AND n.slug > ?3 ORDER BY n.slug LIMIT ?4",
        (after_slug, limit),
        position=position,
    )


def in_use(namespace: Namespace, *, limit: int) -> Choice:
    """Choose the projects with at least one current item, newest change of objective first."""
    some = " OR ".join(
        "EXISTS (SELECT 1 FROM counters AS c WHERE c.namespace = ?1"
        f" AND c.name = 'project/' || n.id || '/{state}' AND c.value > 0)"
        for state in CURRENT_STATES
    )
    order = "objective_since DESC, {0}.updated_at DESC, {0}.id"
    return Choice(
        PROJECTS,
        namespace,
        "SELECT n.id FROM {source} AS n WHERE n.namespace = ?1 AND n.state = 'active'"
        f" AND ({some}) ORDER BY n.{order.format('n')} LIMIT ?3",
        (limit,),
        order=f"o.{order.format('o')}",
    )


def with_objective(namespace: Namespace, *, limit: int) -> Choice:
    """Choose the projects that have an active objective, newest first."""
    return Choice(
        PROJECTS,
        namespace,
        "SELECT n.id FROM {source} AS n WHERE n.namespace = ?1 AND n.state = 'active'"
        " AND n.active_objective_id IS NOT NULL ORDER BY n.objective_since DESC, n.id LIMIT ?3",
        (limit,),
        order="o.objective_since DESC, o.id",
    )


def _source(table: RecordTable, choice: Choice) -> str:
    if choice.position is None:
        return table.name
    return (
        f"(SELECT * FROM {table.twin} WHERE from_position <= ?2"
        " AND (to_position IS NULL OR to_position > ?2))"
    )


def _chosen(choice: Choice) -> str:
    # Without statistics the planner would walk all of a namespace by the primary key.
    by_name = f" INDEXED BY {choice.table.name}_name" if choice.position is None else ""
    text = choice.ids.replace("{source}", _source(choice.table, choice))
    return text.replace("{by_name}", by_name)


def view_statements(choice: Choice) -> list[Statement]:
    """Return the statements that read what answers show, and the heads for writing."""
    table = choice.table
    owners, items = _source(table, choice), _source(ITEMS, choice)
    chosen = _chosen(choice)
    values = (choice.namespace, choice.position or 0, *choice.values)
    among = f"o.namespace = ?1 AND o.id IN ({chosen})"
    chief = (
        f"FROM {owners} AS o CROSS JOIN {items} AS i ON i.namespace = ?1"
        f" AND i.id = o.{_CHIEF[table.name]} AND i.state IN ({_CURRENT}) WHERE {among}"
    )
    columns = ", ".join(f"i.{name.strip()}" for name in item_store.ITEM_COLUMNS.split(","))
    area = _AREA[table.name]
    rows = f"SELECT o.* FROM {owners} AS o WHERE {among} ORDER BY {choice.order}"
    heads = (
        "SELECT e.stream, e.version, e.chain"
        f" FROM {owners} AS o CROSS JOIN events AS e ON e.namespace = ?1"
        f" AND e.stream = '{table.prefix}' || o.id AND e.version = o.version WHERE {among}"
    )
    counts = (
        "SELECT j.id AS owner_id, c.name, c.value"
        f" FROM ({chosen}) AS j CROSS JOIN counters AS c ON c.namespace = ?1"
        f" AND c.name > '{area}/' || j.id || '/' AND c.name < '{area}/' || j.id || '0'"
        " WHERE c.value > 0"
    )
    refers = [
        f"SELECT p.id, p.slug, p.name, p.state FROM {_source(referred, choice)} AS p"
        f" WHERE p.namespace = ?1 AND p.id IN (SELECT i.{column} {chief})"
        for referred, column in ((PROJECTS, "project_id"), (TOPICS, "topic_id"))
    ]
    texts = [rows, heads, counts, f"SELECT {columns} {chief}", *refers]
    assert len(texts) == VIEW_STATEMENTS
    return [Statement(text, values) for text in texts]


def seen(outcomes: Sequence[Outcome], choice: Choice) -> list[Seen]:
    """Return the chosen ones in order from the outcomes of `view_statements`."""
    rows, head_rows, count_rows, chief_rows, project_rows, topic_rows = (
        outcome.rows for outcome in outcomes
    )
    table = choice.table
    heads = ledger.heads(head_rows)
    counts: dict[str, dict[str, int]] = {}
    for row in count_rows:
        _, _, state = str(row["name"]).rpartition("/")
        if state not in ("pinned", "deleted"):
            counts.setdefault(str(row["owner_id"]), {})[state] = int(str(row["value"]))
    chiefs = {str(row["id"]): item_store.item_of(row) for row in chief_rows}
    references = References(item_store.owners(project_rows), item_store.owners(topic_rows))
    result: list[Seen] = []
    for row in rows:
        stream = Stream(table.prefix + str(row["id"]))
        one = _seen(row, heads.get(stream, Head()), table)
        chief = chiefs.get(str(one.owner.fields.get(_CHIEF[table.name])))
        if chief is not None and chief.fields.get(f"{_AREA[table.name]}_id") != one.owner.id:
            chief = None
        known = counts.get(one.owner.id, {}) if choice.position is None else None
        result.append(replace(one, counts=known, chief=chief, references=references))
    return result


def _seen(row: Row, head: Head, table: RecordTable) -> Seen:
    owner = OwnerRecord(
        id=str(row["id"]),
        version=int(str(row["version"])),
        created_at=int(str(row["created_at"])),
        updated_at=int(str(row["updated_at"])),
        fields=table.row_fields(row),
    )
    return Seen(owner, Stream(table.prefix + owner.id), head)


def objective_statements(choice: Choice) -> list[Statement]:
    """Return the two statements that read the chosen projects' objectives, whatever their state."""
    chosen = _chosen(choice)
    goal = (
        "FROM projects AS o CROSS JOIN items AS i ON i.namespace = ?1"
        " AND i.id = o.active_objective_id"
    )
    among = f"WHERE o.namespace = ?1 AND o.id IN ({chosen})"
    values = (choice.namespace, 0, *choice.values)
    columns = ", ".join(f"i.{name.strip()}" for name in item_store.ITEM_COLUMNS.split(","))
    return [
        Statement(f"SELECT {columns} {goal} {among}", values),
        Statement(
            f"SELECT e.stream, e.version, e.chain {goal} CROSS JOIN events AS e"
            " ON e.namespace = ?1 AND e.stream = 'item/' || i.id AND e.version = i.version"
            f" {among}",
            values,
        ),
    ]


def objectives(outcomes: Sequence[Outcome]) -> dict[str, LoadedItem]:
    """Return item id → objective from the outcomes of `objective_statements`."""
    rows, head_rows = (outcome.rows for outcome in outcomes)
    heads = ledger.heads(head_rows)
    items = [item_store.item_of(row) for row in rows]
    return {item.id: LoadedItem(item, heads.get(item_stream(item.id), Head())) for item in items}


def total_statement(choice: Choice) -> Statement:
    """Return the statement that counts all projects or topics, up to the limit of counting."""
    return Statement(
        "SELECT count(*) AS total FROM (SELECT 1"
        f" FROM {_source(choice.table, choice)} AS n WHERE n.namespace = ?1"
        " AND n.state = 'active' AND ?2 >= 0 LIMIT ?3)",
        (choice.namespace, choice.position or 0, limits.COUNT_MAX + 1),
    )


async def load_projects_of_objectives(
    sql: SqlStore, namespace: Namespace, goals: Mapping[str, str]
) -> list[Seen]:
    """Return the projects whose active objective is one of these goals.

    *Shape:* `goals` item id → the project that it is in, which alone can have it as its
    objective. *Promise:* looks at no other project.
    """
    marks = Marks(namespace)
    pairs = marks.rows(list(goals.items()))
    sql_text = (
        "SELECT o.*, (SELECT e.chain FROM events AS e WHERE e.namespace = ?1"
        " AND e.stream = 'project/' || o.id AND e.version = o.version) AS chain"
        f" FROM {pairs} AS j CROSS JOIN projects AS o ON o.namespace = ?1 AND o.id = j.column2"
        " AND o.state = 'active' AND o.active_objective_id = j.column1"
    )
    [outcome] = await sql.read([Statement(sql_text, marks.values)])
    return [
        _seen(row, Head(int(str(row["version"])), str(row["chain"])), PROJECTS)
        for row in outcome.rows
    ]
