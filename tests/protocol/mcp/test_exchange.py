"""What interactive handlers do: questions over several rounds, progress, log messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.mcp.sample import (
    SampleApp,
    ask,
    call_by,
    caller,
    legacy,
    modern,
    refuse,
    sample_server,
)

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.mcp.call import IDEMPOTENCY_KEY
from remembrancer.mcp.classify import CAPABILITIES_KEY, Request
from remembrancer.mcp.exchange import LOG_LEVEL_KEY, Exchange, seal, unseal
from remembrancer.mcp.jsonrpc import Message

CAN_ASK: dict[str, JSON] = {"capabilities": {"elicitation": {}}}


async def test_question_comes_back_with_its_state() -> None:
    server = sample_server()
    asked = await ask(server, modern("tools/call", name="confirm", _meta=CAN_ASK))
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"] == {
        "sure": {
            "method": "elicitation/create",
            "params": {
                "message": "Sure?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"yes": {"type": "boolean"}},
                    "required": ["yes"],
                },
            },
        }
    }
    answered = modern(
        "tools/call",
        name="confirm",
        inputResponses={"sure": {"action": "accept", "content": {"yes": True}}, "more": 3},
        requestState=asked["requestState"],
        _meta=CAN_ASK,
    )
    result = await ask(server, answered)
    assert result["structuredContent"] == {"confirmed": True, "state": {"n": 1}}


@pytest.mark.parametrize(
    "answers",
    [
        None,
        [],
        {},
        {"sure": 5},
        {"sure": {"action": "decline"}},
        {"sure": {"action": "cancel", "content": {"yes": True}}},
        {"sure": {"action": "accept", "content": "yes"}},
        {"other": {"action": "accept", "content": {}}},
    ],
    ids=["none", "list", "empty", "number", "decline", "cancel", "text", "other"],
)
async def test_question_without_a_good_answer_is_asked_again(answers: JSON) -> None:
    request = modern("tools/call", name="confirm", inputResponses=answers, _meta=CAN_ASK)
    assert (await ask(sample_server(), request))["resultType"] == "input_required"


async def test_question_to_a_client_that_cannot_answer_names_the_capability() -> None:
    for request in (modern("tools/call", name="confirm"), legacy("tools/call", name="confirm")):
        error = await refuse(sample_server(), request)
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": {"elicitation": {}}}


@pytest.mark.parametrize(
    ("request_", "is_able"),
    [
        (modern("tools/call", _meta=CAN_ASK), True),
        (modern("tools/call", _meta={"capabilities": {"sampling": {}}}), False),
        (legacy("tools/call", _meta={CAPABILITIES_KEY: {"elicitation": {}}}), False),
    ],
    ids=["declared", "another", "legacy"],
)
def test_question_can_be_asked_where_it_was_declared(request_: Request, is_able: bool) -> None:
    assert Exchange(caller(), request_).can_ask("elicitation/create") is is_able


async def test_question_of_a_prompt_is_asked_first() -> None:
    asked = await ask(sample_server(), modern("prompts/get", name="chat", _meta=CAN_ASK))
    assert asked["resultType"] == "input_required"
    assert "requestState" not in asked
    answers: JSON = {"who": {"action": "accept", "content": {"name": "a"}}}
    request = modern("prompts/get", name="chat", inputResponses=answers, _meta=CAN_ASK)
    result = await ask(sample_server(), request)
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": "hello"}}]


async def test_state_of_another_call_is_refused() -> None:
    server = sample_server()
    asked = await ask(server, modern("tools/call", name="confirm", _meta=CAN_ASK))
    state = str(asked["requestState"])
    for name, changed in (("confirm", state + "x"), ("confirm", ""), ("look", state)):
        request = modern("tools/call", name=name, requestState=changed, _meta=CAN_ASK)
        error = await refuse(server, request)
        assert error["code"] == -32602
        assert "requestState" in str(error["message"])


async def test_state_is_ignored_where_there_is_no_key_or_no_such_revision() -> None:
    keyless = sample_server(state_key=None)
    request = modern("tools/call", name="look", requestState="anything")
    assert (await ask(keyless, request))["structuredContent"] == {"seen": 1}
    old = legacy("tools/call", name="look", requestState="anything")
    assert (await ask(sample_server(), old))["structuredContent"] == {"seen": 1}


async def test_state_without_a_key_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    keyless = sample_server(state_key=None)
    result = await ask(keyless, modern("tools/call", name="confirm", _meta=CAN_ASK))
    assert result["isError"] is True
    assert "AssertionError" in caplog.text


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers()), st.text())
def test_seal_opens_only_under_its_key_and_binding(state: dict[str, JSON], extra: str) -> None:
    sealed = seal(b"key", state, bound_to="call")
    assert unseal(b"key", sealed, bound_to="call") == state
    for key, text, bound_to in (
        (b"other", sealed, "call"),
        (b"key", sealed, "another call"),
        (b"key", sealed + "x" + extra.encode("utf-8", "replace").decode(), "call"),
        (b"key", extra.encode("utf-8", "replace").decode(), "call"),
    ):
        with pytest.raises(InvalidInput):
            unseal(key, text, bound_to=bound_to)


async def test_interactive_tool_gets_the_idempotency_key() -> None:
    app = SampleApp()
    request = legacy("tools/call", name="talk", _meta={IDEMPOTENCY_KEY: "k"})
    await ask(sample_server(), request, call_by(app=app))
    idempotency = app.calls[0][0].idempotency
    assert idempotency is not None
    assert idempotency.key == "k"


async def _heard(request_kind: str, **meta: JSON) -> list[Message]:
    heard: list[Message] = []

    async def emit(message: Message) -> None:
        heard.append(message)

    make = modern if request_kind == "modern" else legacy
    call = call_by(emit=emit)
    await ask(sample_server(), make("tools/call", name="talk", _meta=meta), call)
    return heard


def _log(level: str, data: JSON) -> Message:
    params: Message = {"level": level, "logger": "remembrancer", "data": data}
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}


DETAIL, WARNING = _log("debug", "a detail"), _log("warning", {"text": "a warning"})


@pytest.mark.parametrize(
    ("kind", "meta", "messages"),
    [
        pytest.param("legacy", {}, [DETAIL, WARNING], id="legacy"),
        pytest.param("legacy", {LOG_LEVEL_KEY: "error"}, [], id="legacy-with-level"),
        pytest.param("modern", {}, [], id="modern-not-asked"),
        pytest.param("modern", {LOG_LEVEL_KEY: "debug"}, [DETAIL, WARNING], id="modern-all"),
        pytest.param("modern", {LOG_LEVEL_KEY: "warning"}, [WARNING], id="modern-some"),
        pytest.param("modern", {LOG_LEVEL_KEY: "loud"}, [], id="modern-unknown-level"),
    ],
)
async def test_log_messages_follow_the_level_asked_for(
    kind: str, meta: dict[str, JSON], messages: list[Message]
) -> None:
    assert await _heard(kind, **meta) == messages


@pytest.mark.parametrize(
    ("token", "is_heard"),
    [("t", True), (0, True), (True, False), (None, False), ([], False)],
    ids=["text", "zero", "boolean", "none", "list"],
)
async def test_progress_is_sent_to_who_gave_a_token(token: JSON, is_heard: bool) -> None:
    heard = await _heard("modern", progressToken=token)
    params: Message = {"progressToken": token, "progress": 0.5}
    expected: Message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    assert heard == ([expected] if is_heard else [])


async def test_nothing_is_said_where_nobody_listens() -> None:
    request = legacy("tools/call", name="talk", _meta={"progressToken": 1})
    assert "isError" not in await ask(sample_server(), request)
