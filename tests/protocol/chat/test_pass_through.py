"""What a chat client sends reaches the upstream, and its answer comes back as it is."""

from __future__ import annotations

import json

import pytest
from tests.protocol.chat.upstreams import chats, completion, echo_upstream, stream_of
from tests.protocol.rest.doors import error_of

from remembrancer.core.errors import TimedOut, UpstreamFailed
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import ScriptedAnswer, stream_answer


async def test_whole_answer_comes_back_byte_for_byte() -> None:
    async with chats() as one:
        response = await one.say("hello 你好")
    wanted = json.dumps(completion(), ensure_ascii=False).encode()
    assert response.status_code == 200
    assert response.content == wanted
    assert response.headers["content-type"] == "application/json"


async def test_stream_comes_back_byte_for_byte() -> None:
    async with chats(echo_upstream("流 stream 🙂")) as one:
        response = await one.say("hello", stream=True)
    assert response.content == b"".join(stream_of("流 stream 🙂"))
    assert response.headers["content-type"] == "text/event-stream"


async def test_key_of_the_client_never_goes_upstream() -> None:
    async with chats() as one:
        await one.say("hello")
    [sent] = one.outbound.sent
    assert sent.url == "http://upstream.example/v1/chat/completions"
    assert ("authorization", "Bearer upstream-secret") in sent.headers
    assert "sk-owner" not in repr(sent)


async def test_unknown_fields_pass_untouched() -> None:
    body = {
        "messages": [{"role": "developer", "content": None, "x": [1, {"y": 2.5}]}],
        "model": "companion",
        "prompt_cache_options": {"mode": "explicit"},
        "seed": 9007199254740993,
        "未知": [None, True, 1e-7],
    }
    async with chats() as one:
        await one.post(body)
    assert one.last == {**body, "model": "m-1"}


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
async def test_error_of_the_upstream_is_passed_with_its_body(status: int) -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        headers = [("content-type", "application/json"), ("retry-after", "7"), ("set-cookie", "a")]
        return ScriptedAnswer(status, headers, [b'{"error": {"message": "no"}}'])

    async with chats(answer) as one:
        response = await one.say("hello", stream=True)
    assert response.status_code == status
    assert response.content == b'{"error": {"message": "no"}}'
    assert response.headers["retry-after"] == "7"
    assert "set-cookie" not in response.headers


async def test_stream_that_breaks_ends_with_an_error_event() -> None:
    whole = stream_of("half", is_done=False)

    def answer(request: OutboundRequest) -> ScriptedAnswer:
        broken = stream_answer([*whole, b'data: {"cut'])
        broken.breaks = UpstreamFailed("the model's server broke off")
        return broken

    async with chats(answer) as one:
        response = await one.say("hello", stream=True)
    assert response.content.startswith(b"".join(whole))
    rest = response.content[len(b"".join(whole)) :]
    assert json.loads(rest.removeprefix(b"data: "))["error"]["code"] == "upstream_failed"
    assert b"[DONE]" not in response.content


async def test_stream_that_ends_too_early_says_so() -> None:
    async with chats(lambda _: stream_answer(stream_of("half", is_done=False))) as one:
        response = await one.say("hello", stream=True)
    assert b'"error"' in response.content
    assert b"[DONE]" not in response.content


async def test_request_is_tried_again_only_when_nothing_was_sent() -> None:
    failures = [UpstreamFailed("refused", details={"sent": False})]

    def answer(request: OutboundRequest) -> ScriptedAnswer:
        if failures:
            raise failures.pop()
        return stream_answer(stream_of("ok"))

    async with chats(answer) as one:
        assert (await one.say("hello", stream=True)).status_code == 200
        failures.append(UpstreamFailed("broke", details={"sent": True}))
        error_of(await one.say("hello"), status=502, code="upstream_failed")
    assert len(one.outbound.sent) == 3


async def test_upstream_that_does_not_answer_is_a_timeout() -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        raise TimedOut("the model's server did not answer")

    async with chats(answer) as one:
        error_of(await one.say("hello"), status=504, code="timed_out")


async def test_chat_without_an_upstream_is_refused_with_the_way_out() -> None:
    async with chats(environ={"AI_GATEWAY_BASE_URL": ""}) as one:
        error = error_of(await one.say("hello"), status=400, code="invalid_input")
        memories = await one.client.get("/v1/memories", headers=one.headers)
    assert "AI_GATEWAY_BASE_URL" in error["hint"]
    assert memories.status_code == 200


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{", "invalid_json"),
        (b"[]", "invalid_input"),
        (b"{}", "invalid_input"),
        (b'{"messages": []}', "invalid_input"),
        (b'{"messages": [{"role": "user", "content": NaN}]}', "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
    ],
)
async def test_body_that_is_no_chat_is_refused(raw: bytes, code: str) -> None:
    async with chats() as one:
        response = await one.client.post(
            "/v1/chat/completions", content=raw, headers={**one.headers}
        )
    error_of(response, status=400, code=code)
    assert one.outbound.sent == []


async def test_models_are_listed_without_a_key() -> None:
    async with chats() as one:
        response = await one.client.get("/v1/models")
    names = [model["id"] for model in response.json()["data"]]
    assert names[:2] == ["companion", "m-1"]
    assert response.json()["object"] == "list"
