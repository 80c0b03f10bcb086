"""The library travels with an export; messages, which are not in the ledger, do not."""

from __future__ import annotations

from tests.app.transfers import export, load
from tests.builders import Bench

from remembrancer.app.library.digest import set_digest
from remembrancer.app.library.glossary import remove_glossary, set_glossary
from remembrancer.app.library.precious import add_precious
from remembrancer.app.messages import ingest_messages
from remembrancer.core.messages import Message


async def test_library_of_an_import_is_that_of_the_export() -> None:
    bench = Bench()
    app = bench.app
    await add_precious(app, bench.caller(), "  一字不改\r\n\x00🍎 ")
    await set_glossary(app, bench.caller(), term="星星", definition="暗号", aliases=["star"])
    await set_glossary(app, bench.caller(), term="旧词", definition="不用了")
    await remove_glossary(app, bench.caller(), term="旧词")
    await set_digest(app, bench.caller(), "喜欢喝茶")
    await ingest_messages(app, bench.caller(), [Message("user", "好")])
    lines = await export(bench)
    other = await load(lines)
    before, after = await bench.tables(), await other.tables()
    for table in ("precious", "glossary", "glossary_names", "digests"):
        assert after[table] == before[table] != []
    assert await export(other) == lines
    assert await other.rows("SELECT * FROM messages") == []
