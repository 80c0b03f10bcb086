"""What the planner makes of statements: each key is looked up, and no namespace is walked for one.

There are no statistics in the store, on D1 as here, so a plan does not depend on the rows.
"""

from __future__ import annotations

import pytest
from tests.builders import NAMESPACE, Bench

from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import quick_capture
from remembrancer.app.rebuild import rebuild
from remembrancer.core.ids import item_stream
from remembrancer.core.items.query import ItemQuery, parse_sort
from remembrancer.core.ledger.events import Event
from remembrancer.ports.sql import Outcome, SqlStore, SqlValue, Statement
from remembrancer.store import item_lists, relations
from remembrancer.store.distilled_copies import rewrite_messages_statements
from remembrancer.store.item_filters import Asked
from remembrancer.store.items_projection import ITEMS
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import ALONE_MAX, Placed
from remembrancer.store.skips import skipped_statement
from remembrancer.testing.stores import memory_store

ONLY_THE_NAMESPACE = "(namespace=?)"


async def steps(sql: SqlStore, statement: Statement) -> list[str]:
    """The steps of a statement's plan."""
    [outcome] = await sql.read([Statement(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params)])
    return [str(row["detail"]) for row in outcome.rows]


async def walks(statement: Statement) -> list[str]:
    """The steps that read a whole namespace, or a table."""
    found = await steps(memory_store(), statement)
    return [step for step in found if step.endswith(ONLY_THE_NAMESPACE) or step == "SCAN i"]


@pytest.mark.parametrize("count", range(1, ALONE_MAX + 2))
async def test_versions_of_any_number_of_items_are_closed_by_their_keys(count: int) -> None:
    edited = [
        Placed(Event(NAMESPACE, item_stream(f"itm_{n}"), 2, "k", "user", 1, "c", {}, {}), {}, {})
        for n in range(count)
    ]
    for statement in ITEMS.statements(edited, ""):
        assert await walks(statement) == []


@pytest.mark.parametrize("count", range(1, 6))
@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("relations", ("source_id", "type", "target_id")),
        ("item_tags", ("tag", "item_id")),
        ("settings", ("name",)),
        ("precious", ("id",)),
        ("candidates", ("id",)),
    ],
)
async def test_any_number_of_keys_are_looked_up_whole(
    table: str, columns: tuple[str, ...], count: int
) -> None:
    marks = Marks(NAMESPACE)
    rows: list[list[SqlValue]] = [[f"{name} {n}" for name in columns] for n in range(count)]
    where = marks.keys(columns, rows)
    assert await walks(Statement(f"DELETE FROM {table} WHERE {where}", marks.values)) == []


async def test_relations_of_one_item_are_looked_up_from_both_ends() -> None:
    for statement in (
        relations.incoming_statement(NAMESPACE, "supersedes", "itm_a"),
        relations.outgoing_statement(NAMESPACE, "supersedes", "itm_a"),
        relations.relations_statement(NAMESPACE, "itm_a"),
        relations.present_statement(NAMESPACE, [("itm_a", "supersedes", "itm_b")]),
    ):
        assert await walks(statement) == []


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["家", "b", "c"]])
async def test_projects_and_topics_of_a_list_are_looked_up_by_slug(names: list[str]) -> None:
    query = ItemQuery(projects=names, topics=names, states=("active",))
    asked = Asked(NAMESPACE, query, 1)
    found = [
        step
        for statement in (
            item_lists.page_statement(asked, parse_sort("-updated_at"), None),
            item_lists.owners_statement(asked, "project", names),
            item_lists.owners_statement(asked, "topic", names),
        )
        for step in await steps(memory_store(), statement)
    ]
    assert "SEARCH o USING INDEX projects_slug (namespace=? AND slug=?)" in found
    assert f"SEARCH o USING PRIMARY KEY {ONLY_THE_NAMESPACE}" not in found


async def test_messages_are_looked_up_by_their_ids() -> None:
    [rewriting] = rewrite_messages_statements(NAMESPACE, [("msg_a", "x"), ("msg_b", "y")])
    for statement in (rewriting, skipped_statement(NAMESPACE, ["msg_a", "msg_b"])):
        found = await steps(memory_store(), statement)
        assert [step for step in found if "messages" in step or " m " in step] != []
        assert await walks(statement) == []


class Explained:
    """A store that asks for the plan of everything that fills a shadow."""

    def __init__(self, inner: SqlStore) -> None:
        self.inner = inner
        self.steps: list[str] = []

    async def read(self, statements: list[Statement]) -> list[Outcome]:
        return await self.inner.read(statements)

    async def write(self, statements: list[Statement]) -> list[Outcome]:
        for statement in statements:
            if (
                statement.sql.startswith(("INSERT", "UPDATE", "WITH"))
                and "rebuild_" in statement.sql
            ):
                self.steps += await steps(self.inner, statement)
        return await self.inner.write(statements)


async def test_rebuild_looks_up_the_items_whose_events_it_replays() -> None:
    bench = Bench()
    for number in range(4):
        answer = await quick_capture(bench.app, bench.caller(), f"写周报 {number} #工作", {})
    item = answer["item"]
    assert isinstance(item, dict)
    await delete_items(bench.app, bench.caller(), [str(item["id"])])
    store = Explained(bench.sql)
    bench.sql = store  # type: ignore[assignment]  # a session and a scrub are not asked for
    await rebuild(bench.app)
    assert "SEARCH i USING INDEX rebuild_items_id (namespace=? AND id=?)" in store.steps
    assert "SCAN i" not in store.steps
