"""Rebuild and forget on a real D1: what they do to tables and indexes must work there, too."""

from __future__ import annotations

import pytest
from tests.app.test_ledger_properties import play
from tests.builders import Bench, id_of
from tests.d1.bridge import D1BridgeStore

from remembrancer.app import rebuild as module
from remembrancer.app.forget import forget_item
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import supersede_items
from remembrancer.app.search import search_items
from remembrancer.app.verify import verify

HISTORY = [
    *(("capture", number, number + 1) for number in range(5)),
    ("memory", 1, 2),
    ("memory", 2, 7),
    ("edit", 0, 3),
    ("edit", 4, 9),
    ("move", 2, 3),
    ("supersede", 0, 1),
    ("complete", 2, 0),
    ("snooze", 3, 0),
    ("delete", 4, 4),
    ("restore", 4, 0),
    ("undo", 3, 0),
    ("redo", 3, 0),
    ("state", 5, 4),
    ("forget", 6, 0),
    *(("pin", number, number) for number in range(3)),
    ("unpin", 0, 0),
    *(("term", number, number + 1) for number in range(4)),
    ("rename", 0, 3),
    ("unterm", 1, 0),
    ("digest", 1, 1),
    ("digest", 2, 2),
    ("unlibrary", 0, 1),
]
"""A history that has every command in it. *Shape:* as the ledger's properties play it."""


async def definitions(bench: Bench) -> dict[str, str]:
    rows = await bench.rows(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '\\_%'"
        " ESCAPE '\\' ORDER BY name"
    )
    # Renaming a table puts its name in quotes.
    plain = str.maketrans("", "", "\"'")
    return {str(row["name"]): str(row["sql"]).translate(plain) for row in rows}


async def test_rebuild_on_d1_equals_the_incremental_tables(
    d1_store: D1BridgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_EVENTS", 7)
    bench = Bench(sql=d1_store)
    await play(bench, HISTORY)
    before, schema = await bench.tables(), await definitions(bench)
    assert len(before["items"]) >= 5 and before["tombstones"]
    report = await rebuild(bench.app)
    assert report["resumed"] is False
    assert await bench.tables() == before
    assert await definitions(bench) == schema
    # A second one, and a write, find all tables and indexes in their places.
    await rebuild(bench.app)
    await quick_capture(bench.app, bench.caller(), "又一次 again #工作 +项目1", {})
    found = await search_items(bench.app, bench.caller(), "again")
    assert found["count"] == 1
    assert (await verify(bench.app))["ok"]


async def test_tables_on_d1_equal_those_of_sqlite_after_the_same_history(
    d1_store: D1BridgeStore,
) -> None:
    there, here = Bench(sql=d1_store), Bench()
    for bench in (there, here):
        await play(bench, HISTORY)
    assert await there.tables() == await here.tables()


async def test_forget_on_d1_leaves_the_text_in_no_table(d1_store: D1BridgeStore) -> None:
    bench = Bench(sql=d1_store)
    secret = "绝密句子 top-secret-phrase-4711"
    made = await create_item(
        bench.app, bench.caller(), {"title": secret, "content": secret, "tags": ["4711"]}
    )
    item_id = id_of(made)
    await update_item(bench.app, bench.caller(), item_id, {"add_note": secret})
    newer = id_of(await quick_capture(bench.app, bench.caller(), "the new one 新的", {}))
    await supersede_items(
        bench.app,
        bench.caller(),
        source_item_id=newer,
        target_item_ids=[item_id],
        reason=f"because {secret}",
    )
    await forget_item(bench.app, bench.caller(), item_id)
    tables = await bench.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"
    )
    assert "search_data" in {table["name"] for table in tables}
    for table in tables:
        # The index keeps its words in blobs, as bytes.
        for row in await bench.rows(f"SELECT * FROM {table['name']!s}"):
            for value in row.values():
                data = value if isinstance(value, bytes) else str(value).encode()
                assert b"4711" not in data and "绝密".encode() not in data, str(table)
    found = await search_items(bench.app, bench.caller(), "top-secret-phrase")
    assert found["count"] == 0
    assert (await verify(bench.app))["ok"]
