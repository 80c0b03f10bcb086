"""Long messages: read to their end in slices, each batch as large as ever, nothing twice."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.distill.nightly import (
    Distiller,
    counted,
    echoing,
    fact,
    facts,
    lines_of,
    scripted,
)
from tests.app.distill.test_dream import dreaming
from tests.builders import NAMESPACE

from remembrancer.app.jobs.narrowing import REFUSALS_MAX
from remembrancer.app.jobs.running import run_job
from remembrancer.app.jobs.skips import list_skips, retry_skip
from remembrancer.core.distill.slices import SLICE_CHARS
from remembrancer.core.errors import ModelRefused
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.sql import Statement
from remembrancer.testing.models import HashingEmbedder

NOTHING = facts()
ZH = "这一段只是天气和路况的闲话，没有什么值得记下来的。"
EN = "This paragraph only goes on about the weather and the traffic.\n\n"
TOLD = {
    "zh": (ZH, "我对花生过敏", "我妹妹住在成都"),
    "en": (EN, "I am allergic to nuts", "My sister lives in Bergen"),
}


def knowing(*sentences: str) -> Any:
    """A model that keeps these sentences wherever it is shown them."""

    def answer(prompt: Prompt) -> str:
        lines = [(id_, text) for id_, role, text in lines_of(prompt) if role == "user"]
        return facts(*(fact(one, id_) for id_, text in lines for one in sentences if one in text))

    return answer


def shown(bench: Distiller) -> list[str]:
    """What each question showed of the users' words."""
    assert bench.model is not None
    return [
        " ".join(text for _, role, text in lines_of(prompt) if role == "user")
        for prompt in bench.model.asked
    ]


@pytest.mark.parametrize("language", TOLD)
async def test_facts_behind_the_first_slice_are_learned_with_their_message(language: str) -> None:
    talk, early, late = TOLD[language]
    bench = Distiller(script=knowing(early, late))
    [id_] = await bench.say(f"{early}. {talk * 100}{late}.")
    done = await bench.run()
    assert await bench.texts() == [early, late]
    assert {str(row["source_message_ids"]) for row in await bench.memories()} == {f'["{id_}"]'}
    assert (counted(done, "messages"), counted(done, "chars_left"), bench.calls) == (1, 0, 1)


async def test_short_messages_cost_what_they_did() -> None:
    bench = Distiller(script=echoing)
    await bench.say(*(f"I own painting number {n}" for n in range(40)))
    done = await bench.run()
    assert bench.calls == 1
    assert set(done["counts"]) == {  # type: ignore[arg-type]  # an object
        "batches", "calls", "messages", "proposed", "created", "prompt_tokens", "completion_tokens"
    }  # fmt: skip


@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("most", [1, 2, 5, 40])
async def test_no_question_shows_more_than_a_batch_of_short_messages(
    language: str, most: int
) -> None:
    talk, early, late = TOLD[language]
    given = {"EXTRACT_MAX_MESSAGES": str(most), "EXTRACT_MAX_RUNS": "100"}
    bench = Distiller(script=knowing(early, late), given=given)
    text = f"{early}. {talk * 80}{late}."
    await bench.say("I prefer tea", text, "x" * 2_000, "I own a boat")
    done = await bench.run()
    said = shown(bench)
    assert all(len(one) <= most * (SLICE_CHARS + 1) for one in said)
    # Together they are the messages, each part once.
    whole = " ".join(f"I prefer tea {text} {'x' * 2_000} I own a boat".split()).replace(" ", "")
    assert "".join(said).replace(" ", "") == whole
    assert await bench.texts() == [early, late]
    assert counted(done, "messages") == 4
    assert (await bench.run())["status"] == "nothing"
    assert await bench.rows("SELECT name FROM job_cursors") == [{"name": "extract"}]


async def test_run_that_is_spent_within_a_message_goes_on_there() -> None:
    bench = Distiller(
        script=knowing("我对花生过敏", "我妹妹住在成都"),
        given={"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "1"},
    )
    await bench.say(f"我对花生过敏。{ZH * 100}我妹妹住在成都。")
    first = await bench.run()
    assert (counted(first, "messages"), counted(first, "slices")) == (0, 2)
    runs = 1
    while (await bench.run())["status"] != "nothing":
        runs += 1
    assert runs == 2
    assert await bench.texts() == ["我对花生过敏", "我妹妹住在成都"]
    assert "".join(shown(bench)).count("我对花生过敏") == 1


async def test_what_lies_beyond_the_bound_is_counted() -> None:
    bench = Distiller(script=scripted([NOTHING]), given={"EXTRACT_MESSAGE_CHARS": "2000"})
    await bench.say("字" * 2_500, "字" * 30_000, "短")
    done = await bench.run()
    assert [counted(done, name) for name in ("messages", "cut_short", "chars_left")] == [
        3,
        2,
        500 + 28_000,
    ]
    assert [len(text) for text in shown(bench)] == [4_003]


async def test_default_bound_reads_twelve_thousand_characters() -> None:
    bench = Distiller(script=knowing("我妹妹住在成都", "我有一条船"))
    await bench.say("字" * 11_990 + "我妹妹住在成都。" + "字" * 50 + "我有一条船")
    done = await bench.run()
    assert await bench.texts() == ["我妹妹住在成都"]
    assert counted(done, "chars_left") == 53


async def test_long_replies_of_the_assistant_stay_cut() -> None:
    bench = Distiller(script=scripted([NOTHING]))
    await bench.say("I moved to Lisbon")
    await bench.say("a" * 5_000, role="assistant")
    done = await bench.run()
    assert bench.model is not None
    [(_, _, mine), (_, _, reply)] = lines_of(bench.model.asked[0])
    assert (len(mine), len(reply), counted(done, "chars_left")) == (17, SLICE_CHARS, 0)


@pytest.mark.parametrize("has_meaning", [False, True])
async def test_fact_stands_on_the_whole_message(has_meaning: bool) -> None:
    bench = Distiller(
        given={"EXTRACT_MAX_MESSAGES": "1", "EXTRACT_MAX_RUNS": "90"},
        embedder=HashingEmbedder() if has_meaning else None,
    )
    [id_] = await bench.say(f"My sister is called Ingrid. {EN * 40}She moved to Bergen in 2019.")
    merged = fact("Sister Ingrid moved to Bergen in 2019", id_)
    invented = fact("Sister Ingrid moved to Oslo in 2019", id_)
    bench.teach(lambda prompt: facts(merged, invented) if "Bergen" in prompt.user else NOTHING)
    done = await bench.run()
    assert await bench.texts() == ["Sister Ingrid moved to Bergen in 2019"]
    assert counted(done, "dropped_invented") == 1


async def test_later_part_of_a_message_takes_an_earlier_ones_place() -> None:
    bench = Distiller(given={"EXTRACT_MAX_MESSAGES": "1", "EXTRACT_MAX_RUNS": "90"})

    def keyed(prompt: Prompt) -> str:
        [(id_, _, text)] = lines_of(prompt)
        cities = [city for city in ("Porto", "Lisbon") if city in text]
        return facts(*(fact(f"Lives in {one}", id_, fact_key="profile:city") for one in cities))

    bench.teach(keyed)
    await bench.say(f"I lived in Porto. {EN * 40}Now I live in Lisbon.")
    await bench.run()
    assert await bench.texts() == ["Lives in Lisbon"]
    assert await bench.texts("superseded") == ["Lives in Porto"]
    assert await bench.candidates() == []


async def test_message_that_changed_in_between_is_read_anew() -> None:
    bench = Distiller(
        script=knowing("我对花生过敏", "我妹妹住在成都"),
        given={"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "1"},
    )
    [id_] = await bench.say(f"我的旧地址在北京。{ZH * 60}我对花生过敏。{ZH * 20}我妹妹住在成都。")
    await bench.run()
    sql = "UPDATE messages SET content = replace(content, '我的旧地址在北京。', '') WHERE id = ?"
    await bench.sql.write([Statement(sql, (id_,))])
    while (await bench.run())["status"] != "nothing":
        pass
    assert await bench.texts() == ["我对花生过敏", "我妹妹住在成都"]


async def test_message_that_comes_late_before_one_that_is_half_read_is_read() -> None:
    bench = Distiller(script=echoing, given={"EXTRACT_MAX_MESSAGES": "1", "EXTRACT_MAX_RUNS": "1"})
    [id_] = await bench.say("x" * 2_000)
    await bench.run()
    await bench.say("I own a boat")
    sql = "UPDATE messages SET created_at = created_at - 60000 WHERE id <> ?"
    await bench.sql.write([Statement(sql, (id_,))])
    while (await bench.run())["status"] != "nothing":
        pass
    assert shown(bench) == ["x" * 900, "I own a boat", "x" * 900, "x" * 200]


async def test_answer_that_is_cut_off_halves_the_slices() -> None:
    def wordy(prompt: Prompt) -> str | Completion:
        answer = knowing("我对花生过敏", "我妹妹住在成都")(prompt)
        is_long = len(prompt.user) > 2_500
        return Completion(str(answer)[:20], is_cut=True) if is_long else answer

    bench = Distiller(script=wordy, given={"EXTRACT_MAX_RUNS": "50"})
    await bench.say(f"我对花生过敏。{ZH * 150}我妹妹住在成都。")
    await bench.run()
    assert await bench.texts() == ["我对花生过敏", "我妹妹住在成都"]


async def scheduled(bench: Distiller) -> None:
    for _ in range(40):
        bench.runtime.advance(4 * HOUR_MS)
        if (await run_job(bench.app, "extract", NAMESPACE, trigger="cron"))["status"] == "nothing":
            return
    raise AssertionError("it comes to no rest")


async def test_slice_that_a_model_refuses_keeps_the_others_from_nothing() -> None:
    known = knowing("我对花生过敏", "我妹妹住在成都", "我喜欢紫色")

    def refusing(prompt: Prompt) -> str:
        if "我喜欢紫色" in prompt.user:
            raise ModelRefused("filtered", reason="filtered")
        return str(known(prompt))

    bench = Distiller(script=refusing)
    [id_] = await bench.say(f"我对花生过敏。{ZH * 60}我喜欢紫色。{ZH * 60}我妹妹住在成都。")
    await scheduled(bench)
    # The rules read what the model would not.
    assert await bench.texts() == ["我对花生过敏", "我喜欢紫色", "我妹妹住在成都"]
    answer: Any = await list_skips(bench.app, bench.caller())
    assert [one["message_id"] for one in answer["skipped"]] == [id_]
    with pytest.raises(ModelRefused):
        await retry_skip(bench.app, bench.caller(), id_)
    bench.teach(known)
    await retry_skip(bench.app, bench.caller(), id_)
    answer = await list_skips(bench.app, bench.caller())
    assert answer["skipped"] == []
    assert len(await bench.texts()) == 3


async def test_model_of_a_small_window_reads_a_long_message_all_the_same() -> None:
    known = knowing("我对花生过敏", "我妹妹住在成都")

    def small(prompt: Prompt) -> str:
        if len(prompt.user) > 3_000:
            raise ModelRefused("too long", reason="too_long")
        return str(known(prompt))

    bench = Distiller(script=small)
    await bench.say(f"我对花生过敏。{ZH * 300}我妹妹住在成都。")
    await scheduled(bench)
    assert await bench.texts() == ["我对花生过敏", "我妹妹住在成都"]
    answer: Any = await list_skips(bench.app, bench.caller())
    assert answer["skipped"] == []
    runs = await bench.rows("SELECT status FROM job_runs WHERE status = 'failed'")
    assert len(runs) == REFUSALS_MAX


async def test_rules_read_a_long_message_to_its_end() -> None:
    bench = Distiller(given={"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "99"})
    await bench.say(f"我对花生过敏。{ZH * 100}我喜欢喝绿茶。", f"{EN * 50}I prefer tea to coffee.")
    await bench.run()
    assert set(await bench.texts()) == {"我对花生过敏", "我喜欢喝绿茶", "I prefer tea to coffee"}


async def test_message_that_is_half_read_is_not_purged() -> None:
    bench = Distiller(
        script=knowing("我妹妹住在成都"),
        given={"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "1"},
    )
    text = f"{ZH * 200}我妹妹住在成都。"
    await bench.say(text)
    await bench.run()
    [first] = shown(bench)
    bench.teach(dreaming())
    bench.runtime.advance(100 * DAY_MS)
    await bench.run("dream")
    await bench.run("retention")
    bench.teach(knowing("我妹妹住在成都"))
    while (await bench.run())["status"] != "nothing":
        pass
    assert await bench.texts() == ["我妹妹住在成都"]
    # Where it had come to was kept as well.
    assert first + "".join(shown(bench)) == text
