"""Servers that answer in odd ways: what a client is told of it."""

from __future__ import annotations

import pytest
from tests.protocol.chat.test_anthropic_door import CLAUDE, PATH, event, events, question
from tests.protocol.chat.test_injection import user
from tests.protocol.chat.upstreams import chats, chunk_bytes, stream_of
from tests.protocol.rest.doors import error_of

from remembrancer.testing.outbound import ScriptedAnswer, stream_answer

ASKED = {"stream": True, "messages": [user("你好")]}
FAULT = 'data: {"error": {"message": "boom 坏了"}}\n\n'.encode()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirect_is_named_and_neither_followed_nor_passed_on(status: int) -> None:
    headers = [("location", "https://me:secret@elsewhere.example/v1/chat/completions?key=secret")]
    async with chats(lambda _: ScriptedAnswer(status, headers, [b"moved"])) as one:
        response = await one.post(ASKED)
        assert len(one.outbound.sent) == 1
    error = error_of(response, status=502, code="upstream_failed")
    assert "https://elsewhere.example" in error["message"]
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
