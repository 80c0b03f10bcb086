"""Recall end to end: what is found, what is left out, how it is written, what it leaves behind."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.recall.shelf import Shelf, with_vectors
from tests.builders import NAMESPACE, Bench

from remembrancer.app.items.states import set_item_state
from remembrancer.app.items.write import create_item
from remembrancer.app.library.digest import set_digest
from remembrancer.app.library.glossary import set_glossary
from remembrancer.app.library.precious import add_precious
from remembrancer.app.memories.change import archive_memory, delete_memory
from remembrancer.app.recall.answers import explain_recall, list_recalls, recall_memories
from remembrancer.app.recall.recall import RecallScope
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.recall.patch import PATCH_CLOSE, PATCH_OPEN
from remembrancer.core.values import DAY_MS, HOUR_MS, Caller
from remembrancer.core.vectors.embedding import COLD, vector_id
from remembrancer.testing.stores import CountingStore

STORED = (
    "我的测试暗号是苹果星星-0428。",
    "妈妈的生日是三月八号",
    "小雨对芒果过敏",
    "The staging database listens on port 5434",
    "deploy 脚本放在 infra 仓库的 tools 目录",
    "fixCursorOverflow() is called by get_user_name in api/users.py",
    "🎸 每周四晚上排练",
    "Anna's new office is on the 14th floor",
    "陈伟的电话是 138-0013-8000",
    "在阳台上种番茄",
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("我的测试暗号是什么？", 0),
        ("生日", 1),
        ("妈妈生日哪天", 1),
        ("芒果能给小雨吃吗", 2),
        ("which port does the staging db use", 3),
        ("5434 是什么", 3),
        ("deploy脚本在哪", 4),
        ("where is get_user_name called", 5),
        ("getUserName", 5),
        ("fixCursorOverflow", 5),
        ("🎸", 6),
        ("Anna office floor?", 7),
        ("陈伟 phone", 8),
        ("138-0013-8000 是谁", 8),
        ("番茄种哪了", 9),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [Shelf, with_vectors], ids=["words", "both"])
async def test_search_finds_it_first(make: Any, message: str, expected: int) -> None:
    shelf: Shelf = make()
    for text in STORED:
        await shelf.save(text)
    found = await shelf.recall(message, is_search=True)
    assert found.hits[0].text == STORED[expected]
    assert found.hits[0].score >= 0.15
    assert found.degraded == ([] if shelf.embedder else ["no_vectors"])


@pytest.mark.parametrize("make", [Shelf, with_vectors], ids=["words", "both"])
async def test_recall_quotes_what_it_found(make: Any) -> None:
    shelf: Shelf = make()
    for text in STORED:
        await shelf.save(text)
    found = await shelf.recall("我的测试暗号是什么？")
    assert [hit.text for hit in found.hits] == [STORED[0]]
    assert found.injected == (found.hits[0].record.id,)
    assert found.patch.startswith(PATCH_OPEN)
    assert found.patch.endswith(PATCH_CLOSE)
    assert f'"{STORED[0]}"' in found.patch
    assert 0 < found.tokens <= 400


@pytest.mark.parametrize(
    "message", ["ok", "哈哈", "继续", "好的，谢谢", "thanks!", "", "？？？", "嗯嗯", "the"]
)
async def test_small_talk_brings_up_nothing(message: str) -> None:
    shelf = with_vectors()
    await shelf.save("哈哈 ok thanks 继续")
    await shelf.save("在阳台上种番茄")
    found = await shelf.recall(message)
    assert (list(found.hits), found.patch) == ([], "")
    assert found.id.startswith("rcl_")


async def test_an_emoji_says_nothing_to_a_conversation_and_is_found_by_a_search() -> None:
    shelf = Shelf()
    await shelf.save("🎸 每周四晚上排练")
    await shelf.save("在阳台上种番茄")
    assert await shelf.texts("🎸") == []
    assert await shelf.texts("🎸", is_search=True) == ["🎸 每周四晚上排练"]
    assert await shelf.texts("哈哈", is_search=True) == []


async def test_thin_follow_up_is_widened_by_what_was_said_before() -> None:
    shelf = Shelf()
    await shelf.save("小雨对芒果过敏")
    turns = ["小雨对什么过敏来着？"]
    assert await shelf.texts("那她呢？", is_search=True) == []
    assert await shelf.texts("那她呢？", is_search=True, turns=turns) == ["小雨对芒果过敏"]


async def test_recall_sees_only_what_is_current_valid_and_asked_for() -> None:
    shelf = with_vectors()
    kept = await shelf.save("番茄 kept", "preference", tags=["Garden"], topic_name="Home")
    gone = await shelf.save("番茄 deleted")
    old = await shelf.save("番茄 archived")
    await shelf.save("番茄 not yet", valid_from="in 3 days")
    await shelf.save("番茄 no more", valid_to="in 1 hour")
    await shelf.save("番茄 expired", expires_at="in 1 hour")
    await create_item(shelf.app, shelf.bench.caller(), {"title": "番茄 task"})
    await delete_memory(shelf.app, shelf.bench.caller(), gone)
    await archive_memory(shelf.app, shelf.bench.caller(), old)
    shelf.bench.runtime.advance(2 * HOUR_MS)
    assert await shelf.texts("番茄") == ["番茄 kept"]
    for scope in (
        RecallScope(types=["preference"]),
        RecallScope(tags=["garden"]),
        RecallScope(topic="home"),
    ):
        assert await shelf.texts("番茄", scope=scope) == ["番茄 kept"]
    assert await shelf.texts("番茄", scope=RecallScope(types=["rule"])) == []
    assert await shelf.texts("番茄", scope=RecallScope(kinds=["task"])) == ["番茄 task"]
    with pytest.raises(NotFound, match="no project"):
        await shelf.texts("番茄", scope=RecallScope(project="lost"))
    other = Caller("other", "user", "req_x")  # type: ignore[arg-type]
    assert (await recall_memories(shelf.app, other, "番茄"))["hits"] == []
    shelf.bench.runtime.advance(3 * DAY_MS)
    assert await shelf.texts("番茄") == ["番茄 kept", "番茄 not yet"]
    assert kept


async def test_recall_in_a_project_does_not_see_the_others() -> None:
    shelf = with_vectors()
    for name in ("Atlas", "菜园"):
        await shelf.save(f"{name} 的番茄", project_name=name)
    assert await shelf.texts("番茄", scope=RecallScope(project="菜园")) == ["菜园 的番茄"]


async def test_what_dreaming_archived_is_found_only_when_nothing_else_is() -> None:
    shelf = with_vectors()
    cold = await shelf.save("去年在大理住过民宿")
    job = Bench(runtime=shelf.bench.runtime, sql=shelf.bench.sql, actor="job:dream")
    human = await shelf.save("大理的民宿很安静")
    await archive_memory(shelf.app, shelf.bench.caller(), human)
    await set_item_state(job.app, job.caller(), cold, "archived")
    assert shelf.vectors is not None
    await shelf.vectors.delete([vector_id(NAMESPACE, id_) for id_ in (cold, human)])
    assert [hit.layer for hit in (await shelf.recall("大理的民宿")).hits] == ["cold"]
    await shelf.index(cold, "去年在大理住过民宿", COLD)
    await shelf.index(human, "大理的民宿很安静", COLD)
    found = await shelf.recall("大理的民宿")
    assert all(one.meaning is not None for one in found.explained)
    assert [(hit.text, hit.layer) for hit in found.hits] == [("去年在大理住过民宿", "cold")]
    await shelf.save("大理的民宿在古城边上")
    assert await shelf.texts("大理的民宿") == ["大理的民宿在古城边上"]


async def test_what_the_reader_has_already_is_not_brought_up_again() -> None:
    shelf = with_vectors()
    first = await shelf.save("小雨对芒果过敏")
    await shelf.save("小雨喜欢芒果的味道")
    assert await shelf.texts("小雨和芒果", visible=[first]) == ["小雨喜欢芒果的味道"]
    visible = ["之前说过：小雨对芒果过敏。"]
    assert await shelf.texts("小雨和芒果", visible=visible) == ["小雨喜欢芒果的味道"]
    await set_digest(shelf.app, shelf.bench.caller(), "住在上海。小雨对芒果过敏。")
    await add_precious(shelf.app, shelf.bench.caller(), "小雨喜欢芒果的味道！")
    found = await shelf.recall("小雨和芒果")
    assert list(found.hits) == []
    assert {one.gate for one in found.explained} == {"in_digest", "in_precious"}
    assert len(await shelf.texts("小雨和芒果", has_known=True)) == 2


async def test_glossary_is_matched_literally_and_apart() -> None:
    shelf = Shelf()
    await set_glossary(
        shelf.app, shelf.bench.caller(), term="小蓝", definition="那辆蓝色的车", aliases=["Bluey"]
    )
    found = await shelf.recall("where did I park bluey")
    assert [hit.name for hit in found.glossary] == ["Bluey"]
    assert list(found.hits) == []
    assert '[term "小蓝"] "那辆蓝色的车"' in found.patch


async def test_long_message_is_read_at_both_ends() -> None:
    shelf = with_vectors()
    await shelf.save("小雨对芒果过敏")
    await set_glossary(shelf.app, shelf.bench.caller(), term="小蓝", definition="那辆蓝色的车")
    pasted = "nothing\n" * 50_000
    found = await shelf.recall(f"小雨对芒果过敏吗？\n{pasted}\n小蓝在哪", is_search=True)
    assert [hit.name for hit in found.glossary] == ["小蓝"]
    assert "小雨对芒果过敏" in [hit.text for hit in found.hits]
    await shelf.bench.runtime.drain()
    [row] = await shelf.bench.rows("SELECT query FROM recalls")
    assert len(str(row["query"])) == 500


async def test_agent_is_told_what_a_term_means() -> None:
    shelf = Shelf()
    await set_glossary(
        shelf.app, shelf.bench.caller(), term="小蓝", definition="那辆蓝色的车", aliases=["Bluey"]
    )
    answer: Any = await recall_memories(shelf.app, shelf.bench.caller(), "小蓝停在哪里")
    assert answer["glossary_hits"] == [
        {"term": "小蓝", "matched": "小蓝", "definition": "那辆蓝色的车", "aliases": ["Bluey"]}
    ]


@pytest.mark.parametrize("make", [Shelf, with_vectors], ids=["words", "both"])
async def test_turn_brings_its_neighbours_along(make: Any) -> None:
    shelf: Shelf = make()
    await shelf.save("我们昨天去爬山了", "excerpt", source="session 1")
    await shelf.save("哪座山？", "excerpt", source="session 1")
    await shelf.save("香山，红叶正好", "excerpt", source="session 1")
    await shelf.save("无关的一条", "excerpt", source="session 2")
    found = await shelf.recall("香山的红叶", is_search=True, is_filtered=False)
    texts = [hit.text for hit in found.hits]
    assert texts[0] == "香山，红叶正好"
    assert "哪座山？" in texts
    if shelf.embedder is None:
        assert "我们昨天去爬山了" not in texts


async def test_patch_is_the_same_bytes_for_the_same_store_and_counts_what_it_holds() -> None:
    shelf = with_vectors()
    for number in range(8):
        await shelf.save(f"番茄第{number}号：" + "很长的说明。" * 20)
    first = await shelf.recall("番茄", limit=8)
    again = await shelf.recall("番茄", limit=8)
    assert first.patch == again.patch
    assert 0 < len(first.injected) < len(first.hits) == 8
    assert sum(one.gate == "over_budget" for one in first.explained) == 8 - len(first.injected)
    await shelf.bench.runtime.drain()
    used = await shelf.bench.rows("SELECT item_id FROM item_use ORDER BY item_id")
    assert [row["item_id"] for row in used] == sorted(first.injected)


async def test_use_counts_once_an_hour_and_only_what_was_used() -> None:
    shelf = Shelf()
    id_ = await shelf.save("在阳台上种番茄")
    for minutes in (0, 10, 59, 1):
        shelf.bench.runtime.advance(minutes * 60_000)
        await shelf.recall("番茄")
        await shelf.bench.runtime.drain()
    [row] = await shelf.bench.rows("SELECT * FROM item_use")
    assert (row["item_id"], row["recall_count"]) == (id_, 2)
    shelf.bench.runtime.advance(2 * HOUR_MS)
    await shelf.recall("番茄", used="nothing")
    await shelf.bench.runtime.drain()
    assert (await shelf.bench.rows("SELECT * FROM item_use"))[0]["recall_count"] == 2


async def test_recent_recall_puts_off_what_is_nearly_as_sure() -> None:
    shelf = Shelf()
    first = await shelf.save("番茄在阳台左边")
    second = await shelf.save("番茄在阳台右边")
    assert [hit.record.id for hit in (await shelf.recall("番茄", limit=1)).hits] == [second]
    await shelf.bench.runtime.drain()
    found = await shelf.recall("番茄")
    assert [hit.record.id for hit in found.hits] == [first, second]
    assert list(found.reordered) == [second]


async def test_agent_gets_hits_terms_text_and_what_was_left_out() -> None:
    shelf = with_vectors()
    await shelf.save("在阳台上种番茄", "event")
    await shelf.save("在阳台上种番茄。", "fact")
    answer: Any = await recall_memories(shelf.app, shelf.bench.caller(), "阳台的番茄")
    [hit] = answer["hits"]
    assert (hit["content"], hit["source_layer"]) == ("在阳台上种番茄", "active")
    assert answer["meta"] == {
        "decayed": [],
        "deduped": answer["meta"]["deduped"],
        "floored": [],
        "min_score": 0.15,
        "total": 1,
    }
    assert "在阳台上种番茄" in answer["text"]
    assert answer["glossary_hits"] == []
    none: Any = await recall_memories(shelf.app, shelf.bench.caller(), "番茄", min_score=1)
    assert none["hits"] == []
    assert none["meta"]["floored"] == [hit["id"]]
    for wrong in ({"k": 0}, {"k": 101}, {"min_score": 1.1}):
        with pytest.raises(InvalidInput):
            await recall_memories(shelf.app, shelf.bench.caller(), "番茄", **wrong)
    with pytest.raises(InvalidInput):
        await recall_memories(shelf.app, shelf.bench.caller(), "  ")


async def test_each_recall_can_be_explained_afterwards() -> None:
    shelf = with_vectors()
    id_ = await shelf.save("在阳台上种番茄")
    found = await shelf.recall("阳台上种番茄 password: hunter2", purpose="mcp")
    await shelf.recall("哈哈")
    await shelf.bench.runtime.drain()
    answer: Any = await explain_recall(shelf.app, shelf.bench.caller(), found.id)
    shown = answer["recall"]
    assert shown["query"] == "阳台上种番茄 password: [redacted:password]"
    assert (shown["purpose"], shown["injected"], shown["found"]) == ("mcp", [id_], 1)
    [one] = shown["candidates"]
    assert (one["title"], one["state"], one["gate"]) == ("在阳台上种番茄", "active", None)
    assert 0 < one["meaning"] <= 1
    assert one["answers"] is None  # the message waits for no value
    asked = await shelf.recall("在阳台上种什么？", purpose="mcp")
    assert [0 < (one.answers or 0) < 1 for one in asked.explained] == [True]
    first: Any = await list_recalls(shelf.app, shelf.bench.caller(), limit=1)
    assert first["recalls"][0]["query"] == "哈哈"
    rest: Any = await list_recalls(
        shelf.app, shelf.bench.caller(), limit=1, cursor=first["next_cursor"]
    )
    assert [one["id"] for one in rest["recalls"]] == [found.id]
    assert rest["next_cursor"] is None
    with pytest.raises(NotFound):
        await explain_recall(shelf.app, shelf.bench.caller(), "rcl_none")
    with pytest.raises(InvalidInput):
        await list_recalls(shelf.app, shelf.bench.caller(), limit=0)


async def test_recall_takes_at_most_three_round_trips_and_one_after() -> None:
    bench = Bench()
    counting = CountingStore(bench.sql)
    shelf = with_vectors(bench=Bench(runtime=bench.runtime, sql=counting))
    for text in STORED:
        await shelf.save(text)
    counting.counts.reset()
    await shelf.recall("番茄种哪了")
    assert (counting.counts.reads, counting.counts.writes) == (3, 0)
    await shelf.bench.runtime.drain()
    assert (counting.counts.reads, counting.counts.writes) == (3, 1)
    counting.counts.reset()
    await shelf.recall("哈哈")
    assert counting.counts.round_trips == 0
