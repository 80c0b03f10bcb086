"""REST of the review queue and of the diary, every answer held against its description."""

from __future__ import annotations

from typing import Any

from tests.app.candidates.test_queue import waiting
from tests.builders import Bench
from tests.protocol.rest.talk import Talk, talk

from remembrancer.core.distill.diary import Page, write_page
from remembrancer.core.ledger.events import Head
from remembrancer.store import ledger
from remembrancer.store.days import page_stream
from remembrancer.store.ledger import StreamEdit


def bench_of(one: Talk) -> Bench:
    return Bench(runtime=one.served.runtime, sql=one.served.app.sql)


async def write(bench: Bench, page: Page) -> None:
    draft = write_page({}, page)
    assert draft is not None
    edit = StreamEdit(page_stream(page.label), Head(), {}, (draft,))
    sealed, placed = ledger.place(
        [edit], caller=bench.caller(), at_ms=bench.runtime.now_ms(), salts=[bytes(16)]
    )
    await bench.sql.write(ledger.append(sealed, placed))


async def test_candidates_are_listed_shown_and_decided_at_the_predecessors_paths() -> None:
    async with talk() as one:
        bench = bench_of(one)
        sure = await waiting(bench, "喜欢喝茶", confidence=0.7)
        unsure = await waiting(bench, "likes coffee", confidence=0.2, fact_key="drink:kind")
        page = await one.ask("GET", "/v1/candidates?status=pending&limit=1")
        rest = await one.ask("GET", f"/v1/candidates?limit=1&cursor={page['next_cursor']}")
        shown = await one.ask("GET", f"/v1/candidates/{sure}")
        approved = await one.send("POST", f"/v1/candidates/{unsure}/approve")
        again = await one.refuse(
            "POST", f"/v1/candidates/{unsure}/approve", {}, status=409, code="conflict"
        )
        gone = await one.ask("POST", f"/v1/candidates/{sure}/discard", {"decision_note": "不需要"})
        left = await one.ask("GET", "/v1/candidates")
        memory = await one.ask("GET", f"/v1/memories/{approved.json()['memory']['id']}")
        boot = await one.ask("GET", "/v1/memory_boot")
    assert (page["data"][0]["id"], page["total"]) == (unsure, 2)
    assert rest["data"][0]["id"] == shown["data"]["id"] == sure
    assert (approved.status_code, approved.json()["outcome"]) == (200, "created")
    assert "approved already" in again["message"]
    assert (gone["data"]["status"], gone["data"]["decision_note"], gone["memory"]) == (
        "discarded",
        "不需要",
        None,
    )
    assert (left["data"], boot["stats"]["pending_candidates"]) == ([], 0)
    assert (memory["data"]["content"], memory["data"]["fact_key"]) == ("likes coffee", "drink:kind")


async def test_merge_is_previewed_over_rest_and_supersede_names_its_target() -> None:
    async with talk() as one:
        bench = bench_of(one)
        made = await one.ask("POST", "/v1/memories", {"content": "likes tea", "type": "note"})
        target = made["data"]["id"]
        merging = await waiting(bench, "likes oolong tea")
        other = await waiting(bench, "dislikes tea")
        url = f"/v1/candidates/{merging}/preview?target_id={target}"
        preview = await one.ask("GET", url)
        merged = await one.ask("POST", f"/v1/candidates/{merging}/merge", {"target_id": target})
        replaced = await one.ask("POST", f"/v1/candidates/{other}/supersede", {"target_id": target})
        bare = await waiting(bench, "no target")
        await one.refuse("GET", f"/v1/candidates/{bare}/preview", code="invalid_input")
        await one.refuse("POST", f"/v1/candidates/{bare}/merge", {}, code="invalid_input")
    assert merged["memory"]["content"] == preview["result"]["content"] == "likes oolong tea"
    assert (preview["target"]["content"], merged["memory"]["id"]) == ("likes tea", target)
    assert replaced["memory"]["content"] == "dislikes tea"


async def test_several_decisions_in_one_call_are_each_answered() -> None:
    async with talk() as one:
        bench = bench_of(one)
        ids = [await waiting(bench, f"fact {number}") for number in range(2)]
        body: Any = {
            "decisions": [
                {"id": ids[0], "action": "approve", "content": "fact zero"},
                {"id": ids[1], "action": "discard"},
                {"id": "cnd_none", "action": "discard"},
            ]
        }
        answer = await one.ask("POST", "/v1/candidates/decide", body)
        await one.refuse("POST", "/v1/candidates/decide", {"decisions": []}, code="invalid_input")
        await one.refuse(
            "POST",
            "/v1/candidates/decide",
            {"decisions": [{"id": ids[0], "action": "burn"}]},
            code="invalid_input",
        )
    assert (answer["decided"], answer["failed"]) == (2, 1)
    assert answer["results"][0]["outcome"] == "created"
    assert answer["results"][2]["error"]["code"] == "not_found"


async def test_unknown_candidate_is_not_found_everywhere() -> None:
    async with talk() as one:
        for method, path in (
            ("GET", ""),
            ("GET", "/preview"),
            *(("POST", f"/{action}") for action in ("approve", "discard", "merge", "supersede")),
        ):
            url = f"/v1/candidates/cnd_x{path}"
            await one.refuse(method, url, status=404, code="not_found")


async def test_diary_is_listed_by_kind_and_shown_by_date() -> None:
    async with talk() as one:
        bench = bench_of(one)
        for day in ("2026-02-27", "2026-02-28"):
            await write(bench, Page(day, "day", day, "跑步", "跑了十公里。", f"# {day} 跑步\n"))
        await write(bench, Page("2026-W09", "week", "2026-02-23", "一周", "总结。", "# W09\n"))
        first = await one.ask("GET", "/v1/days?limit=1")
        second = await one.ask("GET", f"/v1/days?limit=1&cursor={first['next_cursor']}")
        weeks = await one.ask("GET", "/v1/days?kind=week")
        page = await one.ask("GET", "/v1/days/2026-02-28")
        week = await one.ask("GET", "/v1/days/2026-W09")
        await one.refuse("GET", "/v1/days/2026-02-26", status=404, code="not_found")
        await one.refuse("GET", "/v1/days/yesterday", code="invalid_input")
        boot = await one.ask("GET", "/v1/memory_boot")
    assert [one["date"] for one in (*first["data"], *second["data"])] == [
        "2026-02-28",
        "2026-02-27",
    ]
    assert second["next_cursor"] is None
    assert "content" not in first["data"][0]
    assert [one["date"] for one in weeks["data"]] == [week["data"]["date"]] == ["2026-W09"]
    assert (page["data"]["content"], page["data"]["path"]) == (
        "# 2026-02-28 跑步\n",
        "logs/2026-02-28.md",
    )
    # 20:00 on the first of March in Singapore.
    assert (boot["daily_log"]["date"], boot["daily_log"]["summary"]) == (
        "2026-02-28",
        "跑了十公里。",
    )


async def test_candidate_shows_the_messages_that_it_came_from() -> None:
    async with talk() as one:
        said = [
            {"role": "user", "content": "我可能四月搬到杭州"},
            {"role": "user", "content": "嗯"},
        ]
        ids = (await one.ask("POST", "/v1/ingest/messages", {"messages": said}))["message_ids"]
        sources = (ids[0], "msg_gone")
        waits = await waiting(bench_of(one), "四月搬到杭州", source_message_ids=sources)
        bare = await waiting(bench_of(one), "likes coffee")
        shown = await one.ask("GET", f"/v1/candidates/{waits}")
        without = await one.ask("GET", f"/v1/candidates/{bare}")
    [source] = shown["sources"]
    assert (source["id"], source["content"], source["role"]) == (
        ids[0],
        "我可能四月搬到杭州",
        "user",
    )
    assert without["sources"] == []
