"""The migrations give one schema wherever they run."""

from __future__ import annotations

from tests.contract.tables import rows
from tests.d1.bridge import D1Bridge

from remembrancer.testing.stores import memory_store

SCHEMA = (
    "SELECT type, name, tbl_name, sql FROM sqlite_schema "
    "WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%' AND name <> 'd1_migrations' "
    "ORDER BY type, name"
)


async def test_migrations_give_the_same_schema_on_d1_and_sqlite(d1_bridge: D1Bridge) -> None:
    on_sqlite = await rows(memory_store(), SCHEMA)
    on_d1 = await rows(d1_bridge.fresh(), SCHEMA)
    assert on_d1 == on_sqlite
    assert {"events"} <= {row["name"] for row in on_d1}
