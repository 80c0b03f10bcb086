"""A database of every earlier schema, with data in it, keeps it all on its way to the newest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests import seeding
from tests.builders import Bench, id_of
from tests.contract.tables import rows
from tests.d1.bridge import D1Bridge

from remembrancer.app.items.read import list_items
from remembrancer.app.items.write import create_item
from remembrancer.app.library.precious import add_precious
from remembrancer.app.messages import ingest_messages
from remembrancer.app.verify import verify
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.messages import Message
from remembrancer.local.migrate import Migration, load_migrations
from remembrancer.ports.sql import Row, SqlStore, Statement
from remembrancer.testing.stores import memory_store

MIGRATIONS = load_migrations()
EVENTS = 60
BATCH = 40
TABLES = (
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    " AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'search\\_%' ESCAPE '\\'"
    " AND name <> 'd1_migrations' ORDER BY name"
)
"""Tables that hold something of ours; what the index of words keeps for itself is in `search`."""


LATER_ROWS = {"counters": ("0006_library.sql", "name LIKE 'memory_type/%'")}
"""Table → the migration that derives rows of it from others, and which those are."""


@dataclass
class Table:
    """A table as one schema has it."""

    name: str
    columns: list[str]

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column}"' for column in self.columns)


async def tables_of(store: SqlStore) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for row in await rows(store, TABLES):
        name = str(row["name"])
        info = await rows(store, f"SELECT name FROM pragma_table_info('{name}')")
        columns = [str(column["name"]) for column in info]
        found[name] = Table(name, ["rowid", *columns] if name == "search" else columns)
    return found


async def content(store: SqlStore, table: Table, *, without: str = "0") -> list[Row]:
    sql = f'SELECT {table.listed} FROM "{table.name}" WHERE NOT ({without})'
    found = await rows(store, sql)
    return sorted(found, key=lambda row: repr(sorted(row.items())))


async def apply(store: SqlStore, migrations: list[Migration]) -> None:
    for migration in migrations:
        await store.write([Statement(sql) for sql in migration.statements()])


MADE: list[Bench] = []
"""The one filled database; only read once it is made."""


async def filled() -> Bench:
    """A database of the newest schema with something in most tables."""
    if MADE:
        return MADE[0]
    bench = Bench()
    await seeding.seed(bench.sql, EVENTS)
    await add_precious(bench.app, bench.caller(), content="我会一直记得你说的话。")
    await ingest_messages(bench.app, bench.caller(), [Message("user", "请记住：我对花生过敏。")])
    MADE.append(bench)
    return bench


async def copy(source: SqlStore, target: SqlStore, known: int) -> dict[str, list[Row]]:
    """Fill an earlier schema with what it can hold of the newest; return what it holds then."""
    newest = await tables_of(source)
    statements: list[Statement] = []
    earlier = await tables_of(target)
    for name, table in earlier.items():
        shared = Table(name, [each for each in table.columns if each in newest[name].columns])
        assert shared.columns == table.columns, "a column was taken away: say how it is kept"
        marks = ", ".join("?" * len(table.columns))
        insert = f'INSERT INTO "{name}" ({table.listed}) VALUES ({marks})'
        found = await content(source, shared, without=derived_later(name, known))
        statements += [Statement(insert, tuple(row.values())) for row in found]
    for start in range(0, len(statements), BATCH):
        await target.write(statements[start : start + BATCH])
    return {name: await content(target, table) for name, table in earlier.items()}


def derived_later(table: str, known: int) -> str:
    """Which rows of a table a migration after the first `known` ones will derive."""
    migration, condition = LATER_ROWS.get(table, ("", "0"))
    return condition if migration in [each.name for each in MIGRATIONS[known:]] else "0"


ENDS = (1, len(MIGRATIONS) - 1)
"""The oldest schema and the last but one, which every run tries on D1; a database there is slow."""
UPGRADES = [
    pytest.param(known, kind, id=f"{MIGRATIONS[known - 1].name}-{kind}", marks=marks)
    for known in range(1, len(MIGRATIONS))
    for kind in ("sqlite", "d1")
    for marks in [[pytest.mark.long] if kind == "d1" and known not in ENDS else []]
]


@pytest.mark.parametrize(("known", "kind"), UPGRADES)
async def test_database_of_an_earlier_schema_keeps_its_data(
    known: int, kind: str, request: pytest.FixtureRequest
) -> None:
    make: dict[str, Callable[[], SqlStore]] = {
        "sqlite": lambda: memory_store(is_migrated=False),
        "d1": lambda: bridge_of(request).fresh(is_migrated=False),
    }
    store = make[kind]()
    await apply(store, MIGRATIONS[:known])
    earlier = await tables_of(store)
    before = await copy((await filled()).sql, store, known)
    await apply(store, MIGRATIONS[known:])
    for name, table in earlier.items():
        after = await content(store, table, without=derived_later(name, known))
        assert after == before[name], name
    assert sum(len(found) for found in before.values()) > EVENTS
    await works(store)


def bridge_of(request: pytest.FixtureRequest) -> D1Bridge:
    bridge = request.getfixturevalue("d1_bridge")
    assert isinstance(bridge, D1Bridge)
    return bridge


async def works(store: SqlStore) -> None:
    """The program goes on with what it finds."""
    bench = Bench(sql=store)
    made = await create_item(bench.app, bench.caller(), {"title": "升级之后的任务"})
    listed = await list_items(bench.app, bench.caller(), ItemQuery(q="升级之后"))
    assert listed["count"] == 1
    assert id_of(made)
    assert (await verify(bench.app))["ok"] is True
