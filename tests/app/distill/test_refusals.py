"""A model that will not read a message: tried again, narrowed, set aside, decided by a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, counted, echoing, facts, lines_of
from tests.app.distill.test_dream import dreaming
from tests.builders import NAMESPACE

from remembrancer.app.health import check_health
from remembrancer.app.jobs.narrowing import FAILURES_MAX, PROBES, REFUSALS_MAX
from remembrancer.app.jobs.running import run_job
from remembrancer.app.jobs.skips import drop_skip, list_skips, retry_skip
from remembrancer.core.errors import (
    InvalidInput,
    LimitExceeded,
    ModelRefused,
    NotFound,
    Rejected,
    RemembrancerError,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.models import Completion, Prompt

BAD = "我喜欢紫色"
SAID = [f"I collect stamps from country number {n}" for n in range(11)]

REFUSALS: dict[str, Callable[[], str | Completion]] = {
    "prose": lambda: "I'm sorry, I can't help with that.",
    "empty": lambda: "",
    "wrong JSON": lambda: '{"memories": "none"}',
    "too long": lambda: _raise(ModelRefused("too long", reason="too_long")),
    "filtered": lambda: _raise(ModelRefused("filtered", reason="filtered")),
    "rejected": lambda: _raise(Rejected("status 400 (E77)")),
}
REASONS = {"too long": "too_long", "filtered": "filtered", "rejected": "rejected"}
OUTAGES: dict[str, RemembrancerError] = {
    "network": UpstreamFailed("the connection broke"),
    "server error": UpstreamFailed("status 503"),
    "quota": LimitExceeded("status 429"),
    "timeout": TimedOut("no answer"),
    "wrong setup": Rejected("status 400 (model_not_found)"),
}


def _raise(error: RemembrancerError) -> str:
    raise error


def refusing(how: Callable[[], str | Completion], bad: str = BAD) -> Callable[[Prompt], Any]:
    """A good model, but for every prompt that shows the message."""

    def answer(prompt: Prompt) -> str | Completion:
        return how() if bad in prompt.user else echoing(prompt)

    return answer


async def scheduled(bench: Distiller, runs: int = 30) -> list[str]:
    """Let the schedule come by until nothing waits; return how each run ended."""
    statuses: list[str] = []
    for _ in range(runs):
        bench.runtime.advance(4 * HOUR_MS)
        answer = await run_job(bench.app, "extract", NAMESPACE, trigger="cron")
        statuses.append(str(answer["status"]))
        if answer["status"] == "nothing":
            break
    return statuses


async def skipped(bench: Distiller) -> list[dict[str, Any]]:
    answer: Any = await list_skips(bench.app, bench.caller())
    found: list[dict[str, Any]] = answer["skipped"]
    return found


@pytest.mark.parametrize("how", REFUSALS)
@pytest.mark.parametrize("place", [0, 5, 11])
async def test_refused_message_is_found_and_the_others_are_learned(how: str, place: int) -> None:
    bench = Distiller(script=refusing(REFUSALS[how]), actor="agent:claude")
    await bench.say(*SAID[:place], BAD, *SAID[place:])
    statuses = await scheduled(bench)
    assert statuses[:REFUSALS_MAX] == ["failed"] * REFUSALS_MAX
    assert set(statuses[REFUSALS_MAX:-1]) == {"done"}
    assert statuses[-1] == "nothing"
    texts = await bench.texts()
    assert [text for text in texts if text in SAID] == SAID
    # The rules read what the model would not.
    assert any("紫色" in text for text in texts)
    [one] = await skipped(bench)
    assert (one["content"], one["tries"]) == (BAD, 1)
    assert one["reason"] == REASONS.get(how, "unreadable")
    assert await bench.rows("SELECT * FROM refused_batches") == []


@pytest.mark.parametrize("how", OUTAGES)
async def test_outage_leaves_the_cursor_however_long_it_lasts(how: str) -> None:
    bench = Distiller(script=lambda _: _raise(OUTAGES[how]), actor="agent:claude")
    await bench.say(*SAID, BAD)
    assert await scheduled(bench, 12) == ["failed"] * 12
    assert await bench.rows("SELECT * FROM job_cursors") == []
    assert await skipped(bench) == []
    bench.teach(echoing)
    assert (await scheduled(bench))[-1] == "nothing"
    assert await bench.texts() == [*SAID, BAD]


@pytest.mark.parametrize("how", ["server error", "timeout", "network"])
@pytest.mark.parametrize("place", [0, 11])
async def test_message_at_which_a_server_fails_stops_extraction_for_a_while_only(
    how: str, place: int
) -> None:
    fail = lambda: _raise(OUTAGES[how])  # noqa: E731 - as the table of refusals has them
    bench = Distiller(script=refusing(fail), actor="agent:claude")
    await bench.say(*SAID[:place], BAD, *SAID[place:])
    statuses = await scheduled(bench, 40)
    # As an outage it looks at first, and then it is narrowed one step a run: 12, 6, 3, 1.
    assert statuses[: FAILURES_MAX + 3] == ["failed"] * (FAILURES_MAX + 3)
    assert statuses[-1] == "nothing"
    assert [text for text in await bench.texts() if text in SAID] == SAID
    [one] = await skipped(bench)
    assert (one["content"], one["reason"]) == (BAD, "failing")
    assert await bench.rows("SELECT * FROM refused_batches") == []


async def test_failures_that_come_and_go_set_nothing_aside() -> None:
    bench = Distiller(actor="agent:claude")
    visits = 0

    def moody(prompt: Prompt) -> str | Completion:
        # Away for everybody at nine visits of ten, and the plain sentence fails with the rest.
        return echoing(prompt) if visits % 10 == 0 else _raise(OUTAGES["server error"])

    bench.teach(moody)
    await bench.say(*(f"I own stamp number {n}" for n in range(90)))
    for visits in range(1, 61):  # noqa: B007 - the model looks at it
        await scheduled(bench, 1)
    assert await skipped(bench) == []
    assert len(await bench.texts()) == 90


async def test_spent_quota_narrows_a_batch_and_sets_no_message_aside() -> None:
    def small(prompt: Prompt) -> str | Completion:
        # So many tokens a minute: a batch of more than four messages never fits.
        return echoing(prompt) if len(lines_of(prompt)) <= 4 else _raise(OUTAGES["quota"])

    bench = Distiller(script=small, actor="agent:claude")
    await bench.say(*SAID)
    await scheduled(bench, 60)
    assert await bench.texts() == SAID
    bench.teach(refusing(lambda: _raise(OUTAGES["quota"])))
    await bench.say(BAD)
    assert set(await scheduled(bench, 40)) == {"failed"}
    assert await skipped(bench) == []


async def test_retention_never_overtakes_an_extraction_that_stands_still() -> None:
    bench = Distiller(script=lambda _: _raise(UpstreamFailed("away")), actor="agent:claude")
    said = [f"第{n}天我学会了第{n * 7}个新的词" for n in range(30)]
    for text in said:
        await bench.say(text)
        bench.runtime.advance(DAY_MS)
        await run_job(bench.app, "extract", NAMESPACE, trigger="cron")
        await run_job(bench.app, "retention", NAMESPACE, trigger="cron")
    health = await check_health(bench.app)
    assert any("extraction is behind" in reason for reason in health.reasons)
    assert len(await bench.rows("SELECT id FROM messages")) == 30
    bench.teach(echoing)
    assert (await scheduled(bench))[-1] == "nothing"
    assert sorted(await bench.texts()) == sorted(said)
    await run_job(bench.app, "retention", NAMESPACE, trigger="cron")
    # What is younger than two weeks stays, what is older is passed by now.
    assert 12 <= len(await bench.rows("SELECT id FROM messages")) <= 14


async def test_model_that_refuses_everything_is_broken_and_nothing_is_set_aside() -> None:
    bench = Distiller(script=lambda _: "I only speak prose.", actor="agent:claude")
    await bench.say(*SAID)
    assert set(await scheduled(bench, 12)) == {"failed"}
    assert await skipped(bench) == []
    assert await bench.rows("SELECT * FROM job_cursors") == []
    assert bench.model is not None
    assert PROBES["en"] in bench.model.asked[-1].user
    bench.teach(echoing)
    assert (await scheduled(bench))[-1] == "nothing"
    assert await bench.texts() == SAID


async def test_several_refused_messages_are_all_found() -> None:
    bad = [f"{BAD}，第{n}个" for n in range(3)]
    bench = Distiller(script=refusing(REFUSALS["prose"]), actor="agent:claude")
    said = [*SAID[:2], bad[0], *SAID[2:7], bad[1], bad[2], *SAID[7:]]
    await bench.say(*said)
    assert (await scheduled(bench))[-2:] == ["done", "nothing"]
    assert [one["content"] for one in await skipped(bench)] == bad
    assert [text for text in await bench.texts() if text in SAID] == SAID


async def test_narrowing_asks_few_times_and_grows_again() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"]), actor="agent:claude")
    await bench.say(BAD, *(f"I own painting number {n}" for n in range(39)))
    for _ in range(REFUSALS_MAX):
        await scheduled(bench, 1)
    before = bench.calls
    assert (await scheduled(bench))[-1] == "nothing"
    assert bench.model is not None
    asked = [len(lines_of(prompt)) for prompt in bench.model.asked[before:]]
    # Halved down to the first, the probe, and then twice as many each time.
    assert asked == [40, 20, 10, 5, 2, 1, 1, 2, 4, 8, 16, 9]


async def test_person_tries_a_message_again_and_its_facts_come() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"], "secret handshake"))
    [id_] = await bench.say("my secret handshake has 17 steps")
    await bench.say(*SAID)
    await scheduled(bench)
    assert "my secret handshake has 17 steps" not in await bench.texts()
    with pytest.raises(ModelRefused):
        await retry_skip(bench.app, bench.caller(), id_)
    assert [one["tries"] for one in await skipped(bench)] == [2]
    bench.teach(echoing)
    answer = await retry_skip(bench.app, bench.caller(), id_)
    assert (answer["status"], counted(answer, "created")) == ("done", 1)
    assert "my secret handshake has 17 steps" in await bench.texts()
    assert await skipped(bench) == []
    with pytest.raises(NotFound):
        await retry_skip(bench.app, bench.caller(), id_)


async def test_message_that_is_rejected_again_stays_and_a_wrong_setup_counts_no_try() -> None:
    bench = Distiller(script=refusing(REFUSALS["rejected"]))
    [id_] = await bench.say(BAD)
    await scheduled(bench)
    with pytest.raises(Rejected):
        await retry_skip(bench.app, bench.caller(), id_)
    assert [(one["tries"], one["reason"]) for one in await skipped(bench)] == [(2, "rejected")]
    bench.teach(lambda _: REFUSALS["rejected"]())
    with pytest.raises(Rejected):
        await retry_skip(bench.app, bench.caller(), id_)
    assert [one["tries"] for one in await skipped(bench)] == [2]


async def test_without_a_model_a_retry_says_so_and_the_message_stays() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"]))
    [id_] = await bench.say(BAD)
    await scheduled(bench)

    def serverless(_: Prompt) -> str:
        raise InvalidInput("no model server is set up")

    bench.teach(serverless)
    with pytest.raises(RemembrancerError, match="no model"):
        await retry_skip(bench.app, bench.caller(), id_)
    assert len(await skipped(bench)) == 1


async def test_message_set_aside_outlives_retention_until_it_is_decided() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"]), actor="agent:claude")
    [id_] = await bench.say(BAD)
    [plain] = await bench.say("I have a cat named Momo")
    await scheduled(bench)

    async def left() -> list[str]:
        return [str(row["id"]) for row in await bench.rows("SELECT id FROM messages ORDER BY id")]

    bench.runtime.advance(20 * DAY_MS)
    done = await bench.run("retention")
    assert counted(done, "messages") == 1
    assert await left() == [id_]
    assert plain != id_
    # A second run has nothing to do.
    assert (await bench.run("retention"))["status"] == "nothing"
    health = await check_health(bench.app)
    assert any("refused 1 message" in reason for reason in health.reasons)
    details: Any = health.details["jobs"]
    assert details["skipped_messages"] == 1
    await drop_skip(bench.app, bench.caller(), id_)
    with pytest.raises(NotFound):
        await drop_skip(bench.app, bench.caller(), id_)
    health = await check_health(bench.app)
    assert not any("refused" in reason for reason in health.reasons)
    await bench.run("retention")
    assert await left() == []


async def test_message_that_nobody_decides_goes_after_its_days() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"]), given={"SKIPPED_KEEP_DAYS": "20"})
    await bench.say(BAD)
    await scheduled(bench)
    bench.runtime.advance(19 * DAY_MS)
    await bench.run("retention")
    assert len(await skipped(bench)) == 1
    bench.runtime.advance(2 * DAY_MS)
    await bench.run("retention")
    assert await skipped(bench) == []
    await bench.run("retention")
    assert await bench.rows("SELECT id FROM messages") == []


async def test_list_is_paged_and_checked() -> None:
    bench = Distiller(script=refusing(REFUSALS["filtered"]), actor="agent:claude")
    await bench.say(*(f"{BAD} {n}" for n in range(3)))
    await scheduled(bench)
    first: Any = await list_skips(bench.app, bench.caller(), limit=2)
    assert (first["count"], first["total"]) == (2, 3)
    rest: Any = await list_skips(bench.app, bench.caller(), cursor=first["next_cursor"])
    assert [one["content"] for one in rest["skipped"]] == [f"{BAD} 2"]
    with pytest.raises(InvalidInput):
        await list_skips(bench.app, bench.caller(), limit=0)


@pytest.mark.parametrize("how", [name for name in REFUSALS if name != "wrong JSON"])
async def test_night_that_a_model_refuses_is_summed_up_by_rule_where_it_must(how: str) -> None:
    dreamt = dreaming(summary="跑步")

    def answer(prompt: Prompt) -> str | Completion:
        if BAD in prompt.user:
            return REFUSALS[how]()
        return echoing(prompt) if PROBES["zh"] in prompt.user else dreamt(prompt)

    bench = Distiller(script=answer, actor="agent:claude", given={"DREAM_MAX_MESSAGES": "9"})
    await bench.say("今天跑步十公里。", "晚上跑步很累。", BAD, "又去跑步了。")
    bench.runtime.advance(DAY_MS)
    ended: list[str] = []
    for _ in range(12):
        bench.runtime.advance(HOUR_MS)
        done = await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
        ended.append(str(done["status"]))
        if done["status"] != "failed":
            break
    assert ended == ["failed"] * REFUSALS_MAX + ["done"]
    assert counted(done, "by_rule") == 1
    [page] = await bench.rows("SELECT content, version FROM pages WHERE kind = 'day'")
    assert page["version"] == 1
    assert BAD in str(page["content"]) and "跑步" in str(page["content"])
    assert await bench.rows("SELECT * FROM refused_batches") == []
    assert (await bench.run("dream", force=False))["status"] == "nothing"


ROLL_UPS: dict[str, tuple[RemembrancerError, int]] = {
    "refused": (ModelRefused("no", reason="filtered"), 0),
    "rejected": (Rejected("status 400 (E77)"), 0),
    "server error": (UpstreamFailed("status 500"), FAILURES_MAX),
    "timeout": (TimedOut("no answer"), FAILURES_MAX),
}


@pytest.mark.parametrize("how", ROLL_UPS)
async def test_roll_up_that_a_model_will_not_write_holds_up_no_night_for_ever(how: str) -> None:
    error, failures = ROLL_UPS[how]
    dreamt = dreaming()

    def answer(prompt: Prompt) -> str | Completion:
        if any(role == "note" for _, role, _ in lines_of(prompt)):
            raise error
        return echoing(prompt) if PROBES["zh"] in prompt.user else dreamt(prompt)

    bench = Distiller(script=answer, actor="agent:claude", given={"DREAM_MAX_MESSAGES": "1"})
    await bench.say("今天跑步十公里。", "晚上吃了火锅。")
    bench.runtime.advance(DAY_MS)
    ended: list[str] = []
    for _ in range(failures + 1):
        bench.runtime.advance(4 * HOUR_MS)
        done = await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
        ended.append(str(done["status"]))
    assert ended == ["failed"] * failures + ["done"]
    [page] = await bench.rows("SELECT content FROM pages WHERE kind = 'day'")
    assert "十公里" in str(page["content"]) and "火锅" in str(page["content"])
    assert await bench.rows("SELECT * FROM refused_batches") == []


async def test_roll_up_waits_for_a_server_that_is_away() -> None:
    dreamt = dreaming()
    is_away = False

    def answer(prompt: Prompt) -> str | Completion:
        nonlocal is_away
        is_away = is_away or any(role == "note" for _, role, _ in lines_of(prompt))
        return _raise(Rejected("status 400 (no key)")) if is_away else dreamt(prompt)

    bench = Distiller(script=answer, actor="agent:claude", given={"DREAM_MAX_MESSAGES": "1"})
    await bench.say("今天跑步十公里。", "晚上吃了火锅。")
    bench.runtime.advance(DAY_MS)
    for _ in range(20):
        bench.runtime.advance(4 * HOUR_MS)
        done = await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
        assert done["status"] == "failed"
    assert await bench.rows("SELECT * FROM pages") == []


async def test_empty_answer_is_no_refusal() -> None:
    bench = Distiller(script=lambda _: facts())
    await bench.say(BAD)
    assert (await scheduled(bench)) == ["done", "nothing"]
    assert await skipped(bench) == []
