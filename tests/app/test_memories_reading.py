"""Showing, listing, finding and exporting memories, and changing those that are there."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.test_memories import save, show
from tests.builders import Bench, id_of

from remembrancer.app.items.write import create_item, quick_capture
from remembrancer.app.memories.change import (
    archive_memory,
    delete_memory,
    restore_memory,
    update_memory,
)
from remembrancer.app.memories.read import (
    MemoryQuery,
    MemorySearch,
    export_memories,
    get_memory,
    list_memories,
    search_memories,
)
from remembrancer.app.recall.recall import RecallScope
from remembrancer.core.errors import Conflict, InvalidInput, NotFound


async def listed(bench: Bench, **given: Any) -> list[str]:
    answer: Any = await list_memories(bench.app, bench.caller(), MemoryQuery(**given))
    assert answer["count"] == len(answer["memories"])
    return [memory["content"] for memory in answer["memories"]]


async def task(bench: Bench) -> str:
    return id_of(await create_item(bench.app, bench.caller(), {"title": "买茶"}))


async def test_memory_doors_do_not_know_tasks() -> None:
    bench = Bench()
    task_id = await task(bench)
    for use in (get_memory, archive_memory, delete_memory, restore_memory):
        for id_ in (task_id, "itm_none"):
            with pytest.raises(NotFound):
                await use(bench.app, bench.caller(), id_)
    with pytest.raises(NotFound):
        await update_memory(bench.app, bench.caller(), task_id, {"importance": 0.1})
    assert await listed(bench) == []


async def test_list_shows_by_status_and_type_and_leaves_out_what_expired() -> None:
    bench = Bench()
    kept = (await save(bench, "喜欢喝茶", type="preference"))["memory"]
    await save(bench, "on holiday", expires_at="in 1 day")
    gone = (await save(bench, "gone"))["memory"]
    old = (await save(bench, "old"))["memory"]
    await delete_memory(bench.app, bench.caller(), gone["id"])
    await archive_memory(bench.app, bench.caller(), old["id"])
    bench.runtime.advance(2 * 86_400_000)
    assert await listed(bench) == ["喜欢喝茶"]
    assert await listed(bench, type="preference") == ["喜欢喝茶"]
    assert await listed(bench, type="fact") == []
    assert await listed(bench, status="deleted") == ["gone"]
    assert await listed(bench, status="archived") == ["old"]
    with pytest.raises(InvalidInput):
        await listed(bench, status="lost")
    with pytest.raises(InvalidInput):
        await listed(bench, limit=1_001)
    assert (await show(bench, kept["id"]))["seen_count"] == 0


async def test_pages_of_more_than_a_hundred_join_without_a_gap() -> None:
    bench = Bench()
    for number in range(123):
        await quick_capture(bench.app, bench.caller(), f"note: 第{number}条", {})
    assert len(await listed(bench, limit=120)) == 120
    first: Any = await list_memories(bench.app, bench.caller(), MemoryQuery(limit=110))
    rest = await listed(bench, limit=50, cursor=first["next_cursor"])
    assert len(rest) == 13
    assert rest == await listed(bench, limit=50, offset=110)
    assert rest == await listed(bench, limit=50, cursor="110")
    with pytest.raises(InvalidInput):
        await listed(bench, cursor="110", offset=3)


async def test_search_finds_current_memories_alone_and_keeps_the_floor() -> None:
    bench = Bench()
    await task(bench)
    memory = (await save(bench, "我的测试暗号是苹果星星-0428。", fact_key="test:code"))["memory"]
    await save(bench, "unrelated words")

    async def found(query: str, **given: Any) -> Any:
        return await search_memories(bench.app, bench.caller(), MemorySearch(query, **given))

    answer = await found("我的测试暗号是什么？")
    assert [one["id"] for one in answer["data"]] == [memory["id"]]
    assert answer["data"][0]["content"] == "我的测试暗号是苹果星星-0428。"
    assert answer["degraded"] == ["no_vectors"]
    assert (await found("暗号", min_score=1))["raw_count"] == 1
    assert (await found("暗号", min_score=1))["data"] == []
    assert (await found("茶"))["data"] == []
    assert (await found("暗号", scope=RecallScope(types=("fact",))))["data"] == []
    with pytest.raises(InvalidInput):
        await found("暗号", min_score=1.5)
    with pytest.raises(InvalidInput):
        await found(" ")


async def test_edit_words_the_content_anew_and_keeps_the_rest() -> None:
    bench = Bench()
    memory = (await save(bench, "port 22", fact_key="k:1", tags=["a"]))["memory"]
    answer: Any = await update_memory(
        bench.app,
        bench.caller(),
        memory["id"],
        {"content": "port 23\n密码：hunter2", "importance": 0.2},
    )
    changed = answer["memory"]
    assert changed["title"] == "port 23"
    assert changed["content"] == "port 23\n密码：[redacted:password]"
    assert (changed["tags"], changed["importance"], changed["version"]) == (["a"], 0.2, 2)
    with pytest.raises(Conflict):
        await update_memory(
            bench.app, bench.caller(), memory["id"], {"pinned": True}, expected_version=1
        )
    with pytest.raises(InvalidInput):
        await update_memory(bench.app, bench.caller(), memory["id"], {"content": None})


async def test_deleted_memory_comes_back_unless_its_key_was_taken() -> None:
    bench = Bench()
    memory = (await save(bench, "a", fact_key="k:1"))["memory"]
    deleted = await delete_memory(bench.app, bench.caller(), memory["id"])
    again = await delete_memory(bench.app, bench.caller(), memory["id"])
    assert (deleted["already_deleted"], again["already_deleted"]) == (False, True)
    restored: Any = await restore_memory(bench.app, bench.caller(), memory["id"])
    assert restored["memory"]["status"] == "active"
    await delete_memory(bench.app, bench.caller(), memory["id"])
    await save(bench, "b", fact_key="k:1")
    with pytest.raises(Conflict, match="fact key"):
        await restore_memory(bench.app, bench.caller(), memory["id"])


async def test_export_goes_through_all_memories_once_in_order() -> None:
    bench = Bench()
    await task(bench)
    for content in ("a 1", "a 2", "a 3"):
        await save(bench, content, fact_key="k:a")
    gone = (await save(bench, "gone"))["memory"]
    await save(bench, "z", type="fact")
    await delete_memory(bench.app, bench.caller(), gone["id"])
    contents: list[str] = []
    cursor = None
    while True:
        page: Any = await export_memories(bench.app, bench.caller(), limit=2, cursor=cursor)
        contents += [memory["content"] for memory in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert contents == ["a 1", "a 2", "a 3", "z"]
    facts: Any = await export_memories(bench.app, bench.caller(), type="fact")
    assert [memory["content"] for memory in facts["memories"]] == ["z"]
