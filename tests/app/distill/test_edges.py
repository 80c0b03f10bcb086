"""What is rare in distilling: no server behind a model, a task with a key, days without a word."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.candidates.test_queue import decided, memory, waiting
from tests.app.distill.nightly import Distiller, counted, echoing, fact, facts, lines_of
from tests.app.distill.test_dream import agent, digest, dreaming, pages, slept
from tests.builders import Bench

from remembrancer.app.days import list_days
from remembrancer.app.items.write import create_item
from remembrancer.core.errors import InvalidInput, UpstreamFailed
from remembrancer.core.values import DAY_MS
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.sql import Statement


def serverless(prompt: Prompt) -> str | Completion:
    raise InvalidInput(f"no model server is set up for {prompt.model!r}")


async def test_rules_serve_where_no_server_is_set_up_for_the_model() -> None:
    bench = Distiller(script=serverless)
    await bench.say("我叫小明", "I prefer tea to coffee")
    done = await bench.run()
    assert (counted(done, "by_rule"), counted(done, "created")) == (1, 2)
    night = await slept(bench)
    assert counted(night, "by_rule") == 1
    assert "小明" in (await pages(bench))["2026-03-01"]


async def test_task_that_holds_the_key_leaves_the_fact_waiting() -> None:
    bench = Distiller()
    await create_item(bench.app, bench.caller(), {"title": "find a flat", "fact_key": "home:city"})
    [id_] = await bench.say("I moved to Lisbon")
    bench.teach(facts(fact("User moved to Lisbon", id_, fact_key="home:city")))
    await bench.run()
    assert [row["why"] for row in await bench.candidates()] == ["a_task_holds_the_key"]


async def test_jobs_own_newer_fact_is_not_superseded_by_an_older_one() -> None:
    bench = Distiller(given={"EXTRACT_MAX_MESSAGES": "1"})
    old, new = await bench.say("I live in Porto", "I live in Lisbon")
    by_id = {old: "Porto", new: "Lisbon"}

    def keyed(prompt: Prompt) -> str:
        [(id_, _, _)] = lines_of(prompt)
        return facts(fact(f"User lives in {by_id[id_]}", id_, fact_key="home:city"))

    bench.teach(keyed)
    await bench.run()
    assert await bench.texts() == ["User lives in Lisbon"]
    # The first message is read again, as after a restored backup.
    await bench.sql.write([Statement("UPDATE job_cursors SET at_ms = 0, id = ''")])
    await bench.run(runs_max=1)
    assert await bench.texts() == ["User lives in Lisbon"]
    assert [row["why"] for row in await bench.candidates()] == ["older"]


async def test_half_of_a_batch_without_a_users_word_needs_no_model() -> None:
    bench = Distiller()
    await bench.say("How can I help you today?", role="assistant")
    await bench.say("I moved to Lisbon")

    def wordy(prompt: Prompt) -> str | Completion:
        answer = echoing(prompt)
        return Completion(answer[:20], is_cut=True) if len(lines_of(prompt)) > 1 else answer

    bench.teach(wordy)
    await bench.run()
    assert await bench.texts() == ["I moved to Lisbon"]


async def test_day_of_tools_alone_has_no_page_and_is_over() -> None:
    bench = agent(script=dreaming())
    await bench.say("42", role="tool")
    done = await slept(bench)
    assert (counted(done, "days"), bench.calls) == (1, 0)
    assert (await pages(bench), await digest(bench)) == ({}, "")
    assert (await bench.run("dream"))["status"] == "nothing"


async def test_day_that_was_forced_and_brought_nothing_since_is_only_closed() -> None:
    bench = agent(script=dreaming(), given={"DREAM_MAX_MESSAGES": "1"})
    await bench.say("今天跑了10公里。", "晚上吃了火锅。")
    await bench.run("dream")
    calls, before = bench.calls, await pages(bench)
    await slept(bench)
    found = await pages(bench)
    assert bench.calls == calls
    assert found.pop("2026-W09").count("2026-03-01") == 1
    assert found == before
    assert await bench.rows("SELECT * FROM dream_parts") == []


async def test_stale_task_that_is_marked_already_is_not_proposed() -> None:
    bench = Distiller()
    await create_item(bench.app, bench.caller(), {"title": "换灯泡", "state": "stale"})
    bench.runtime.advance(60 * DAY_MS)
    await bench.say("今天跑步。")
    await slept(bench)
    assert await bench.candidates() == []


@pytest.mark.parametrize("answer", [Completion("{", is_cut=True), "no", UpstreamFailed("away")])
async def test_roll_up_that_fails_is_made_by_rule_or_tried_again(answer: Any) -> None:
    def script(prompt: Prompt) -> str | Completion:
        is_roll = any(role == "note" for _, role, _ in lines_of(prompt))
        if is_roll and isinstance(answer, Exception):
            raise answer
        return answer if is_roll else dreaming()(prompt)

    bench = agent(script=script, given={"DREAM_MAX_MESSAGES": "1"})
    await bench.say("今天跑了10公里。", "晚上吃了火锅。")
    if not isinstance(answer, Exception):
        await slept(bench)
    else:
        with pytest.raises(UpstreamFailed, match="away"):
            await slept(bench)
        bench.teach(dreaming())
        await bench.run("dream", force=False)
    page = (await pages(bench))["2026-03-01"]
    assert "10公里" in page
    assert "火锅" in page


@pytest.mark.parametrize("given", [{"kind": "year"}, {"limit": 0}, {"limit": 101}], ids=str)
async def test_diary_refuses_what_it_has_not(given: dict[str, Any]) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await list_days(bench.app, bench.caller(), **given)


async def test_merge_keeps_sources_and_takes_a_type_and_a_key_goes_with_its_text() -> None:
    bench = Bench()
    target = await memory(bench, "likes tea", source_message_ids=["msg_1"])
    id_ = await waiting(bench, "likes oolong", source_message_ids=("msg_2",))
    answer = await decided(bench, id_, "merge", target_id=target, type="preference")
    kept = answer["memory"]
    assert (kept["type"], kept["source_message_ids"]) == ("preference", ["msg_1", "msg_2"])
    keyed = await waiting(
        bench, "likes oolong tea", kind="replace", target_ids=(target,), fact_key="drink:tea"
    )
    answer = await decided(bench, keyed, "approve")
    assert (answer["memory"]["fact_key"], answer["outcome"]) == ("drink:tea", "superseded")
    other = await waiting(bench, "x y z", fact_key="drink:tea")
    answer = await decided(bench, other, "approve", fact_key="  ")
    assert answer["memory"]["fact_key"] is None


async def test_dream_without_its_model_rolls_up_by_rule_and_says_the_same_again() -> None:
    given = {"DREAM_MODEL": "off", "DREAM_MAX_MESSAGES": "1"}
    bench = agent(script=dreaming(), given=given)
    await bench.say("今天跑了10公里。", "晚上吃了火锅。")
    await slept(bench)
    before, events = await pages(bench), await bench.rows("SELECT count(*) FROM events")
    assert "10公里" in before["2026-03-01"]
    assert "火锅" in await digest(bench)
    done = await bench.run("dream", dates=("2026-03-01",))
    assert counted(done, "days") == 1
    assert await pages(bench) == before
    assert await bench.rows("SELECT count(*) FROM events") == events
    assert bench.calls == 0


@pytest.mark.parametrize("text", ["I love the work", "我喜欢猫", "我属兔"])
async def test_short_statement_is_kept_once(text: str) -> None:
    bench = Distiller(script=echoing)
    for said in (text, f"{text}.", text):
        await bench.say(said)
        await bench.run()
    bench.model = None
    await bench.say(text)
    await bench.run()
    assert await bench.texts() == [text]
