"""Servers that answer in odd ways: what a client is told of it."""

from __future__ import annotations

import json

import pytest
from tests.protocol.chat.test_anthropic_door import CLAUDE, PATH, event, events, question
from tests.protocol.chat.test_injection import user
from tests.protocol.chat.upstreams import Json, chats, chunk_bytes, completion, stream_of
from tests.protocol.rest.doors import error_of

from remembrancer.core.chat.sse import SseReader
from remembrancer.testing.outbound import ScriptedAnswer, json_answer, stream_answer

ASKED = {"stream": True, "messages": [user("你好")]}
FAULT = 'data: {"error": {"message": "boom 坏了"}}\n\n'.encode()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_is_named_and_neither_followed_nor_passed_on(status: int) -> None:
    headers = [
        ("location", "https://me:secret@elsewhere.example:8443/v1/chat/completions?key=secret")
    ]
    async with chats(lambda _: ScriptedAnswer(status, headers, [b"moved"])) as one:
        response = await one.post(ASKED)
        assert len(one.outbound.sent) == 1
    error = error_of(response, status=502, code="upstream_failed")
    assert "to https://elsewhere.example:8443, " in error["message"]
    assert "AI_GATEWAY_BASE_URL" in error["hint"]
    assert "secret" not in response.text


async def test_redirect_without_a_readable_address_is_told_as_such() -> None:
    async with chats(lambda _: ScriptedAnswer(307, [("location", "http://[bad")])) as one:
        response = await one.post(ASKED)
    error_of(response, status=502, code="upstream_failed")


@pytest.mark.parametrize("pieces", [[FAULT], [chunk_bytes({"content": "半"}), FAULT]])
async def test_stream_whose_own_error_ends_it_is_passed_on_as_it_is(pieces: list[bytes]) -> None:
    async with chats(lambda _: stream_answer(pieces)) as one:
        response = await one.post(ASKED)
    assert response.content == b"".join(pieces)


async def test_claudes_own_error_in_a_stream_is_passed_on_as_it_is() -> None:
    error = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    pieces = [*events(is_done=False), error]
    async with chats(lambda _: stream_answer(pieces), CLAUDE) as one:
        response = await one.post(question("hi", stream=True), path=PATH)
    assert response.content == b"".join(pieces)


async def test_stream_is_known_however_its_type_is_spelt() -> None:
    kind = [("content-type", "Text/Event-Stream; charset=UTF-8")]
    async with chats(lambda _: ScriptedAnswer(headers=kind, pieces=stream_of("好的"))) as one:
        response = await one.post(ASKED)
    assert response.content == b"".join(stream_of("好的"))
    assert response.headers["x-accel-buffering"] == "no"  # only of what goes on as it comes


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("answered", "status", "kind", "message"),
    [
        ({"error": {"message": "余额不足", "code": 402}}, 402, "billing_error", "余额不足"),
        ({"error": {"message": "gone", "code": "429"}}, 429, "rate_limit_error", "gone"),
        ({"error": {"message": "odd", "code": "x"}}, 502, "api_error", "odd"),
        ({"error": "坏了"}, 502, "api_error", "坏了"),
    ],
)
async def test_error_with_the_status_of_a_reply_is_an_error_in_anthropics_form(
    answered: Json, status: int, kind: str, message: str, *, is_stream: bool
) -> None:
    async with chats(lambda _: json_answer(answered)) as one:
        response = await one.post(question("hi", stream=is_stream), path=PATH)
    assert response.status_code == status
    assert response.json()["error"] == {"type": kind, "message": message}


@pytest.mark.parametrize(
    ("environ", "answered", "status"),
    [
        (CLAUDE, {"type": "error", "error": {"type": "overloaded_error", "message": "满"}}, 503),
        ({"CHAT_MODEL": "workers-ai/@cf/a/b"}, {"errors": [{"code": 3036, "message": "满"}]}, 429),
    ],
)
async def test_error_with_the_status_of_a_reply_is_an_error_in_openais_form(
    environ: dict[str, str], answered: Json, status: int
) -> None:
    async with chats(lambda _: json_answer(answered), environ) as one:
        response = await one.post({"messages": [user("hi")]})
    assert response.status_code == status
    assert response.json()["error"]["message"] == "满"


async def test_whole_answer_becomes_the_events_that_anthropics_client_asked_for() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "茶"}'}}
    answered = completion("好的", tool_calls=[call])
    async with chats(lambda _: json_answer(answered)) as one:
        response = await one.post(question("hi", stream=True), path=PATH)
    assert response.headers["content-type"] == "text/event-stream"
    told = [json.loads(one.data) for one in SseReader().feed(response.content)]
    kinds = [one["type"] for one in told]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    deltas = [one["delta"] for one in told if one["type"] == "content_block_delta"]
    assert [one.get("text") or one.get("partial_json") for one in deltas] == ["好的", '{"a": "茶"}']
    [last] = [one for one in told if one["type"] == "message_delta"]
    assert last["usage"]["output_tokens"] == 7


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>login", b"\n <html>\xe4", b"", b" \n"])
@pytest.mark.parametrize("environ", [{}, CLAUDE])
@pytest.mark.parametrize("is_stream", [False, True])
async def test_page_or_nothing_in_place_of_a_reply_is_an_error_that_says_so(
    page: bytes, environ: dict[str, str], *, is_stream: bool
) -> None:
    answer = ScriptedAnswer(200, [("content-type", "text/html")], [page])
    async with chats(lambda _: answer, environ) as one:
        response = await one.post({**ASKED, "stream": is_stream})
        native = await one.post(question("hi", stream=is_stream), path=PATH)
    error = error_of(response, status=502, code="upstream_failed")
    assert "AI_GATEWAY_BASE_URL" in error["hint"]
    assert native.status_code == 502
    assert "AI_GATEWAY_BASE_URL" in native.json()["error"]["hint"]


async def test_page_of_an_error_is_passed_on_with_its_status() -> None:
    answer = ScriptedAnswer(503, [("content-type", "text/html"), ("retry-after", "9")], [b"<p>"])
    async with chats(lambda _: answer) as one:
        response = await one.post({"messages": [user("hi")]})
    assert (response.status_code, response.content) == (503, b"<p>")
    assert response.headers["retry-after"] == "9"
