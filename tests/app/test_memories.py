"""Saving memories: under a key, without one, in the place of another, and said again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench

from remembrancer.app.commit import Answer
from remembrancer.app.forget import forget_item
from remembrancer.app.items.read import get_item
from remembrancer.app.items.write import create_item
from remembrancer.app.memories.change import delete_memory, update_memory
from remembrancer.app.memories.read import get_memory
from remembrancer.app.memories.save import NewMemory, save_memory, supersede_memory
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.core.errors import Conflict, InvalidInput, NotFound
from remembrancer.core.limits import CONTENT_CHARS_MAX, SQL_BATCH_STATEMENTS_MAX
from remembrancer.testing.stores import CountingStore

JOB = {"actor": "job:extract"}
KEY = "server:ssh_port"


# Any: tests look into answers by key, and hand in fields of any type.
async def save(bench: Bench, content: str, /, **given: Any) -> Any:
    new = NewMemory(content, given=given)  # type: ignore[arg-type]
    return await save_memory(bench.app, bench.caller(), new)


async def supersede(bench: Bench, old_id: str, content: str, /, **given: Any) -> Any:
    reason = given.pop("reason", None)
    new = NewMemory(content, given=given)  # type: ignore[arg-type]
    return await supersede_memory(bench.app, bench.caller(), old_id, new, reason=reason)


async def show(bench: Bench, memory_id: str) -> Any:
    return (await get_memory(bench.app, bench.caller(), memory_id))["memory"]


async def events(bench: Bench) -> int:
    [row] = await bench.rows("SELECT count(*) AS n FROM events")
    return int(str(row["n"]))


async def holders(bench: Bench, key: str = KEY) -> list[str]:
    rows = await bench.rows("SELECT title FROM items WHERE fact_key = ? AND state = 'active'", key)
    return [str(row["title"]) for row in rows]


async def test_first_statement_under_a_key_is_created_with_the_seeds_defaults() -> None:
    bench = Bench()
    answer = await save(bench, "SSH 端口是 2222", fact_key=f" {KEY} ")
    memory = answer["memory"]
    assert (answer["outcome"], answer["superseded"]) == ("created", [])
    assert (memory["content"], memory["fact_key"]) == ("SSH 端口是 2222", KEY)
    assert (memory["type"], memory["status"], memory["authored_by"]) == ("note", "active", "human")
    assert (memory["importance"], memory["confidence"]) == (0.6, 0.8)


async def test_update_supersedes_the_holder_and_inherits_what_is_not_given() -> None:
    bench = Bench()
    given = {"tags": ["ssh", "家"], "importance": 0.9, "pinned": True, "project_name": "Home"}
    old = (await save(bench, "port 2222", fact_key=KEY, type="fact", **given))["memory"]
    answer = await save(bench, "port 2223", fact_key=KEY)
    new = answer["memory"]
    assert (answer["outcome"], answer["superseded"]) == ("superseded", [old["id"]])
    assert new["id"] != old["id"]
    for name in ("tags", "importance", "pinned", "type", "project", "fact_key"):
        assert new[name] == old[name], name
    was = await show(bench, old["id"])
    assert (was["status"], was["superseded_by"]) == ("superseded", new["id"])
    related: Any = await get_item(bench.app, bench.caller(), new["id"])
    assert related["item"]["project"] == {"slug": "home", "name": "Home"}
    assert [(one["type"], one["item_id"]) for one in related["relations"]] == [
        ("supersedes", old["id"])
    ]
    assert await holders(bench) == ["port 2223"]


async def test_given_fields_win_over_inherited_ones() -> None:
    bench = Bench()
    await save(bench, "a 1", fact_key=KEY, tags=["x"], importance=0.9, pinned=True)
    changes = {"tags": ["y"], "importance": 0.1, "pinned": False, "type": "preference"}
    new = (await save(bench, "a 2", fact_key=KEY, **changes))["memory"]
    assert (new["tags"], new["importance"], new["pinned"]) == (["y"], 0.1, False)
    assert new["type"] == "preference"


@pytest.mark.parametrize("again", ["SSH 端口是 2222。", "ssh端口是2222", " SSH 端口是  ２２２２ "])
async def test_same_folded_text_is_seen_again_without_an_event(again: str) -> None:
    bench = Bench()
    first = (await save(bench, "SSH 端口是 2222", fact_key=KEY))["memory"]
    before = await events(bench)
    bench.runtime.advance(5_000)
    answer = await save(bench, again, fact_key=KEY, importance=1)
    assert (answer["outcome"], answer["memory"]["id"]) == ("seen", first["id"])
    assert await events(bench) == before
    memory = await show(bench, first["id"])
    assert (memory["seen_count"], memory["last_seen_at"]) == (1, "2026-03-01T12:00:05Z")
    assert memory["importance"] == 0.6


async def test_article_alone_is_an_update_under_a_key() -> None:
    bench = Bench()
    await save(bench, "The port is 22", fact_key=KEY)
    assert (await save(bench, "Port is 22", fact_key=KEY))["outcome"] == "superseded"


async def test_expired_holder_is_superseded_even_by_its_own_text() -> None:
    bench = Bench()
    await save(bench, "on holiday", fact_key=KEY, expires_at="in 1 day")
    bench.runtime.advance(2 * 86_400_000)
    answer = await save(bench, "on holiday", fact_key=KEY)
    assert answer["outcome"] == "superseded"
    assert answer["memory"]["expires_at"] is None


async def test_large_text_is_seen_again_by_its_artifact() -> None:
    bench = Bench()
    text = "长 text " * (CONTENT_CHARS_MAX // 4)
    first = await save(bench, text, fact_key=KEY)
    assert first["memory"]["artifact_id"]
    assert (await save(bench, text, fact_key=KEY))["outcome"] == "seen"
    assert (await save(bench, text + "!?", fact_key=KEY))["outcome"] == "superseded"


async def test_task_that_holds_the_key_is_named_and_left_alone() -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"title": "t", "fact_key": KEY})
    with pytest.raises(Conflict) as caught:
        await save(bench, "x", fact_key=KEY)
    assert "task" in caught.value.message


async def test_statement_without_a_key_is_seen_again_when_it_only_repeats() -> None:
    bench = Bench()
    first = (await save(bench, "The user likes green tea"))["memory"]
    same = await save(bench, "the user likes green tea!", type="fact")
    alike = await save(bench, "User likes green tea")
    other_type = await save(bench, "User likes green tea", type="preference")
    new = await save(bench, "The user likes black tea")
    assert [one["outcome"] for one in (same, alike, other_type, new)] == [
        "seen",
        "seen",
        "created",
        "created",
    ]
    assert same["memory"]["id"] == alike["memory"]["id"] == first["id"]
    assert (await show(bench, first["id"]))["seen_count"] == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("对花生过敏", "对花生不过敏"),
        ("port 2222", "port 2223"),
        ("老板是王伟", "老板是王薇"),
        ("meeting on Monday", "meeting on Tuesday"),
    ],
)
async def test_update_without_a_key_is_kept_beside_the_old(old: str, new: str) -> None:
    bench = Bench()
    await save(bench, old)
    assert (await save(bench, new))["outcome"] == "created"


async def test_what_is_no_longer_active_is_not_seen_again() -> None:
    bench = Bench()
    first = (await save(bench, "likes tea"))["memory"]
    await delete_memory(bench.app, bench.caller(), first["id"])
    assert (await save(bench, "likes tea"))["outcome"] == "created"


async def test_captured_line_is_known_again() -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"kind": "memory", "title": "喜欢喝茶"})
    assert (await save(bench, "喜欢喝茶"))["outcome"] == "seen"


async def test_superseding_by_id_inherits_the_key_and_keeps_the_reason() -> None:
    bench = Bench()
    old = (await save(bench, "住在上海", fact_key="profile:city", tags=["我"]))["memory"]
    answer = await supersede(bench, old["id"], "住在杭州", type="world_fact", reason="搬家")
    new = answer["memory"]
    assert (new["fact_key"], new["tags"], new["type"]) == ("profile:city", ["我"], "world_fact")
    [row] = await bench.rows("SELECT reason FROM relations")
    assert row["reason"] == "搬家"
    assert await holders(bench, "profile:city") == ["住在杭州"]


async def test_superseding_may_change_the_key_and_frees_the_old_one() -> None:
    bench = Bench()
    old = (await save(bench, "a", fact_key="k:1"))["memory"]
    await save(bench, "b", fact_key="k:2")
    with pytest.raises(Conflict, match="k:2"):
        await supersede(bench, old["id"], "c", fact_key="k:2")
    new = (await supersede(bench, old["id"], "c", fact_key="k:3"))["memory"]
    assert new["fact_key"] == "k:3"
    assert await holders(bench, "k:1") == []


async def test_superseding_twice_names_the_successor() -> None:
    bench = Bench()
    old = (await save(bench, "a"))["memory"]
    new = (await supersede(bench, old["id"], "b"))["memory"]
    with pytest.raises(Conflict) as caught:
        await supersede(bench, old["id"], "c")
    assert new["id"] in caught.value.message
    assert (await supersede(bench, new["id"], "B."))["outcome"] == "seen"


async def test_superseding_refuses_tasks_deleted_and_unknown_ids() -> None:
    bench = Bench()
    task: Any = await create_item(bench.app, bench.caller(), {"title": "t"})
    gone = (await save(bench, "a"))["memory"]
    await delete_memory(bench.app, bench.caller(), gone["id"])
    for id_, error in ((task["item"]["id"], NotFound), ("itm_x", NotFound), (gone["id"], Conflict)):
        with pytest.raises(error):
            await supersede(bench, id_, "b")
    with pytest.raises(InvalidInput):
        await supersede(bench, gone["id"], " ")


async def test_undo_takes_the_whole_update_back_and_redo_brings_it_again() -> None:
    bench = Bench()
    await save(bench, "port 2222", fact_key=KEY)
    answer: Answer = await save_memory(
        bench.app,
        bench.caller(cause="req_update"),
        NewMemory("port 2223", given={"fact_key": KEY}),
    )
    assert answer["outcome"] == "superseded"
    undone = bench.caller()
    await undo(bench.app, undone, cause="req_update")
    assert await holders(bench) == ["port 2222"]
    assert await bench.rows("SELECT 1 FROM relations") == []
    await redo(bench.app, bench.caller(), cause=undone.cause)
    assert await holders(bench) == ["port 2223"]


async def test_rebuilt_tables_equal_the_ones_that_grew() -> None:
    bench = Bench()
    for content in ("a 1", "a 2", "a 3", "a 3"):
        await save(bench, content, fact_key=KEY, tags=["x"])
    await save(bench, "b")
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before


async def test_job_may_not_replace_what_a_person_wrote_or_pinned() -> None:
    bench = Bench()
    mine = (await save(bench, "port 2222", fact_key=KEY))["memory"]
    bench.actor = "agent:helper"
    pinned = (await save(bench, "x 1", fact_key="k:pin", pinned=True))["memory"]
    plain = (await save(bench, "y 1", fact_key="k:plain"))["memory"]
    bench.actor = JOB["actor"]
    for key, id_ in ((KEY, mine["id"]), ("k:pin", pinned["id"])):
        with pytest.raises(Conflict) as caught:
            await save(bench, "z 9", fact_key=key)
        assert "candidate" in str(caught.value.hint)
        with pytest.raises(Conflict):
            await supersede(bench, id_, "z 9")
        with pytest.raises(Conflict):
            await delete_memory(bench.app, bench.caller(), id_)
        with pytest.raises(Conflict):
            await update_memory(bench.app, bench.caller(), id_, {"importance": 0.1})
    assert (await save(bench, "port 2222", fact_key=KEY))["outcome"] == "seen"
    assert (await save(bench, "y 2", fact_key="k:plain"))["superseded"] == [plain["id"]]


@pytest.mark.parametrize("key", [None, KEY])
async def test_forgotten_text_is_not_learnt_again_by_a_job(key: str | None) -> None:
    bench = Bench()
    memory = (await save(bench, "我住在杭州", fact_key=key))["memory"]
    await forget_item(bench.app, bench.caller(), memory["id"])
    bench.actor = JOB["actor"]
    with pytest.raises(Conflict) as caught:
        await save(bench, "我住在杭州。", fact_key=key)
    assert "forgotten" in caught.value.message
    assert "杭州" not in str(caught.value)
    bench.actor = "agent:helper"
    assert (await save(bench, "我住在杭州", fact_key=key))["outcome"] == "created"


async def test_saving_keeps_within_its_round_trips_and_statements() -> None:
    store = CountingStore(Bench().sql)
    bench = Bench(sql=store)
    await save(bench, "port 2222", fact_key=KEY, tags=["a", "b"], project_name="P", topic_name="T")
    await save(bench, "喜欢 green tea")
    for content, key, trips in (
        ("port 2223", KEY, 2),
        ("port 2223", KEY, 2),
        ("likes green tea", None, 3),
        ("喜欢 green tea", None, 3),
    ):
        store.counts.reset()
        await save(bench, content, fact_key=key)
        assert store.counts.round_trips == trips
        assert store.counts.statements <= SQL_BATCH_STATEMENTS_MAX


async def test_secret_is_redacted_before_it_is_compared_and_kept() -> None:
    bench = Bench()
    first = (await save(bench, "wifi 密码：hunter2", fact_key=KEY))["memory"]
    assert first["content"] == "wifi 密码：[redacted:password]"
    again = await supersede(bench, first["id"], "wifi x", reason="旧密码：hunter2")
    assert again["outcome"] == "superseded"
    for table in ("events", "items", "relations", "search"):
        assert "hunter2" not in str(await bench.rows(f"SELECT * FROM {table}"))
