"""Forgetting reaches candidates, the diary, the digest and what is kept of a day in between."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.app.distill.nightly import Distiller
from tests.app.distill.test_dream import dreaming, remember
from tests.builders import Bench

from remembrancer.app.candidates.decide import decide_candidate
from remembrancer.app.forget import forget_item
from remembrancer.app.library.digest import set_digest
from remembrancer.app.rebuild import rebuild
from remembrancer.app.verify import verify
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Statement

SECRET = "小美怀孕了这件事还没说"
QUOTED = f'她说："{SECRET}"'


async def everything(bench: Bench) -> str:
    """Every text of every table but messages, which retention deletes."""
    tables = await bench.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%'"
        " AND name NOT LIKE 'sqlite_%' AND name <> 'messages'"
    )
    found = [await bench.rows(f"SELECT * FROM {row['name']!s}") for row in tables]
    return json.dumps(found, ensure_ascii=False, default=str)


async def test_candidates_that_say_it_go_and_others_stay() -> None:
    bench = Bench()
    [item] = await remember(bench, SECRET)
    decided = await waiting(bench, SECRET)
    answer: Any = await decide_candidate(bench.app, bench.caller(), decided, "approve")
    assert answer["outcome"] == "seen"
    await waiting(bench, f"用户说{SECRET}")
    await waiting(bench, "小美怀孕了，这件事还没说。")
    await waiting(bench, "x", kind="retire", target_ids=(item,))
    await waiting(bench, "用户喜欢茶")
    await forget_item(bench.app, bench.caller(), item)
    rows = await bench.rows("SELECT content FROM candidates")
    assert [row["content"] for row in rows] == ["用户喜欢茶"]
    assert SECRET not in await everything(bench)
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


@pytest.mark.parametrize("is_over", [True, False], ids=["page", "page and parts"])
async def test_diary_digest_and_parts_lose_the_quote(is_over: bool) -> None:
    bench = Distiller(script=dreaming(quotes=[SECRET]))
    [item] = await remember(bench, SECRET)
    await bench.say(f"今天跑步了。{QUOTED}", "然后喝了茶。")
    if is_over:
        bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=not is_over)
    assert SECRET in await everything(bench)
    await set_digest(bench.app, bench.caller(), f"喜欢安静。{QUOTED}")
    await forget_item(bench.app, bench.caller(), item)
    left = await everything(bench)
    # The quote is a memory of its own, and is forgotten by itself.
    for row in await bench.memories():
        await forget_item(bench.app, bench.caller(), str(row["id"]))
    left = await everything(bench)
    assert SECRET not in left
    assert "喜欢安静" in left
    assert "跑步" in left
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_forgotten_quote_is_not_kept_again() -> None:
    bench = Distiller(script=dreaming(quotes=[SECRET]))
    await bench.say(f"今天跑步了。{QUOTED}")
    await bench.run("dream")
    [row] = await bench.memories()
    await forget_item(bench.app, bench.caller(), str(row["id"]))
    await bench.sql.write([Statement("DELETE FROM job_cursors"), Statement("DELETE FROM messages")])
    await bench.say(f"还是那句。{QUOTED}")
    await bench.run("dream")
    assert await bench.texts() == []
