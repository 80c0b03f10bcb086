"""Whatever a binding throws at whichever call: an answer in our shape, and no write is lost.

The usual requests are asked once to count their calls; then each call in turn fails, with one of
the platform's texts after another. A write that is repeated with its idempotency key must leave one
thing, and not two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle
from typing import Any, Final

import httpx
import pytest
from tests.pyodide.whole import SWEEP, Whole, error_of

D1_TEXTS: Final = (
    "D1_ERROR: Network connection lost.",
    "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
    "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
    "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
    "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
    "D1_ERROR: D1 DB reset because its code was updated.",
    "D1_ERROR: Your account has exceeded D1's free tier daily row write limit. Upgrade to a paid…",
    "D1_ERROR: UNIQUE constraint failed: events.namespace, events.stream: SQLITE_CONSTRAINT",
    "D1_ERROR: no such table: items: SQLITE_ERROR",
    "something that nobody has seen before",
)
"""What D1 says. Source: developers.cloudflare.com/d1, debug and observability, 2026-11."""

Ask = Callable[[Whole, str, dict[str, str]], httpx.Response]
"""Sends one of the usual requests: the Worker, a mark in its text, headers."""

MARKS = (f"mark{number}x" for number in count(1))
"""Words that stand in one thing each."""


@dataclass(frozen=True, slots=True)
class Usual:
    """A request that people make every day, and whether it writes what can be looked for."""

    ask: Ask
    is_write: bool


def post(path: str, make: Callable[[str], Any]) -> Ask:
    """Send the JSON of a mark to a path."""
    return lambda whole, mark, headers: whole.post(path, make(mark), **headers)


def tool(name: str, make: Callable[[str], dict[str, Any]]) -> Ask:
    """Call a tool over MCP."""
    return lambda whole, mark, _: whole.call(name, **make(mark))


def get(path: str) -> Ask:
    """Read a path."""
    return lambda whole, _, headers: whole.client.get(path, headers=headers)


def said(mark: str) -> dict[str, Any]:
    """What a chat is asked."""
    return {"model": "companion", "messages": [{"role": "user", "content": f"荔枝 {mark} 在哪里"}]}


USUAL: Final = {
    "capture": Usual(post("/v1/items", lambda mark: {"title": f"买荔枝 {mark}"}), True),
    "remember": Usual(
        post("/v1/memories", lambda mark: {"content": f"喜欢 {mark}", "type": "note"}), True
    ),
    "ingest": Usual(
        post(
            "/v1/ingest/messages",
            lambda mark: {"messages": [{"role": "user", "content": f"请记住：暗号是 {mark}。"}]},
        ),
        True,
    ),
    "search": Usual(post("/v1/search/memories", lambda mark: {"query": f"喜欢什么 {mark}"}), False),
    "recall": Usual(tool("memory_recall", lambda mark: {"query": f"喜欢什么 {mark}"}), False),
    "startup": Usual(get("/v1/context/startup"), False),
    "list": Usual(get("/v1/items?limit=5"), False),
    "chat": Usual(post("/v1/chat/completions", said), False),
}
"""The usual requests."""


def calls_of(whole: Whole, usual: Usual, kind: str) -> int:
    """How many calls of a binding a request makes, with what it leaves behind its answer."""
    usual.ask(whole, next(MARKS), {})  # what is made once is not counted
    whole.edge.order("fail")
    usual.ask(whole, next(MARKS), {}).raise_for_status()
    found: int = whole.edge.order("settle")["counts"][kind]
    return found


def is_ours(answer: httpx.Response) -> bool:
    """Tell whether an answer is a success; if it is none, it has our shape."""
    if answer.status_code >= 400:
        error_of(answer)
        return False
    body = answer.json()
    if "jsonrpc" not in body:
        return True
    if "error" in body:
        assert {"code", "message"} <= set(body["error"]), body
        return False
    if body["result"].get("isError"):
        assert "error" in body["result"]["structuredContent"], body
        return False
    return True


def copies_of(whole: Whole, mark: str) -> int:
    """How many things with a mark there are."""
    found = whole.client.get("/v1/items", params={"q": mark}).raise_for_status().json()["items"]
    return sum(mark in str(one) for one in found)


def fail_and_repeat(whole: Whole, usual: Usual, plan: dict[str, Any]) -> bool:
    """Ask with a fault, ask again without, and check what there is; tell whether it was answered.

    An order waits for what a request has left behind its answer.
    """
    mark = next(MARKS)
    headers = {"idempotency-key": mark} if usual.is_write else {}
    whole.edge.order("fail", **plan)
    is_done = is_ours(usual.ask(whole, mark, headers))
    whole.edge.order("fail")
    if not usual.is_write:
        return is_done
    if is_done:
        assert copies_of(whole, mark) == 1, (plan, "said to be written, and not there")
    again = usual.ask(whole, mark, headers)
    assert again.status_code < 400, (plan, again.text)
    assert copies_of(whole, mark) == 1, (plan, "after the repetition")
    return is_done


@pytest.mark.slow
@pytest.mark.parametrize("name", USUAL)
def test_database_failing_before_any_call_is_told_in_our_shape(whole: Whole, name: str) -> None:
    usual = USUAL[name]
    calls = calls_of(whole, usual, "d1")
    assert calls > 0
    texts = cycle(D1_TEXTS)
    rounds = max(calls, len(D1_TEXTS)) if name == "capture" else calls
    for number in range(rounds):
        plan = {"at": [number % calls + 1], "text": next(texts)}
        fail_and_repeat(whole, usual, {"d1": plan})


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, usual in USUAL.items() if usual.is_write])
def test_answer_lost_after_any_call_makes_nothing_twice(whole: Whole, name: str) -> None:
    usual = USUAL[name]
    for number in range(calls_of(whole, usual, "d1")):
        plan = {"at": [number + 1], "text": D1_TEXTS[0], "isDone": True}
        fail_and_repeat(whole, usual, {"d1": plan})


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("d1", D1_TEXTS[0]),
        ("kv", "KV GET failed: 503 Service Unavailable"),
        ("queue", "Queue sendBatch failed: Too Many Requests"),
        ("vectors", "VECTOR_QUERY_ERROR (code = 40006): internal error"),
        ("ai", "AiError: 3040: Capacity temporarily exceeded, please try again."),
    ],
    ids=["d1", "kv", "queue", "vectors", "ai"],
)
def test_binding_that_is_away_loses_nothing_and_stops_only_what_is_its_own(
    whole: Whole, name: str, kind: str, text: str
) -> None:
    is_answered = fail_and_repeat(whole, USUAL[name], {kind: {"text": text}})
    is_needed = (kind, name == "chat") in {("d1", False), ("ai", True)}
    assert is_answered is not is_needed


@pytest.mark.parametrize("name", [name for name in USUAL if name != "chat"])
def test_spent_quota_stops_none_of_the_usual_requests(whole: Whole, name: str) -> None:
    whole.edge.order("ai", code=3036)
    mark = next(MARKS)
    answer = USUAL[name].ask(whole, mark, {})
    assert is_ours(answer)
    assert ("embedding_quota" in answer.text) is (name in {"search", "recall"})
    if USUAL[name].is_write:
        assert copies_of(whole, mark) == 1


@pytest.mark.parametrize(
    ("kind", "reason"), [("vectors", "vectors_failed"), ("ai", "embedding_failed")]
)
def test_search_without_meaning_says_so_at_both_doors(whole: Whole, kind: str, reason: str) -> None:
    whole.made("/v1/memories", {"content": f"院子里的秋千 {kind}", "type": "note"})
    whole.edge.order("fail", **{kind: {"text": "away"}})
    contents, degraded = whole.search(f"秋千 {kind}")
    assert contents[0] == f"院子里的秋千 {kind}"
    assert reason in degraded
    recalled = whole.call("memory_recall", query=f"秋千 {kind}").json()["result"]
    assert reason in recalled["structuredContent"]["degraded"]


@pytest.mark.parametrize("kind", ["d1", "vectors"])
def test_chat_answers_without_its_memory_and_says_so(whole: Whole, kind: str) -> None:
    whole.edge.order("fail", **{kind: {"text": D1_TEXTS[0]}})
    answer = whole.post("/v1/chat/completions", said(next(MARKS))).raise_for_status()
    assert answer.headers["x-remembrancer-degraded"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["d1", "vectors", "ai", "queue"])
def test_vector_is_made_though_any_call_of_its_job_fails(whole: Whole, kind: str) -> None:
    for number in range(1, 10):
        before = whole.vectors()
        whole.made("/v1/memories", {"content": f"{next(MARKS)} 号灯塔", "type": "note"})
        whole.edge.order("fail", **{kind: {"at": [number], "text": D1_TEXTS[number % 6]}})
        assert set(whole.fates()) <= {"ack", "retry 30"}
        calls = whole.edge.order("settle")["counts"][kind]
        whole.edge.order("fail")
        whole.later(20)
        whole.line(SWEEP)
        assert whole.vectors() == before + 1
        if calls < number:
            return


def test_line_that_the_database_fails_is_done_by_the_next(whole: Whole) -> None:
    before = whole.vectors()
    whole.edge.order("fail", queue={"text": "away"})
    whole.made("/v1/memories", {"content": "山顶的灯塔", "type": "note"})
    for kind in ("d1", "queue"):
        whole.edge.order("fail", **{kind: {"text": D1_TEXTS[0]}})
        thrown = whole.edge.order("scheduled", cron=SWEEP)["thrown"]
        assert "StoreUnavailable" in thrown
    whole.edge.order("fail")
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.vectors() == before + 1
