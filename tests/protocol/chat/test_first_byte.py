"""Before the first byte: nothing is written, and what came is not kept back for what must be."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.builders import Bench
from tests.protocol.chat.test_anthropic_door import CLAUDE, events
from tests.protocol.chat.upstreams import ENVIRON, Json, chats, stream_of
from tests.protocol.rest.doors import OWNER, Wire, http_scope

from remembrancer.testing.outbound import ScriptedAnswer, stream_answer

OPENAI, ANTHROPIC = "/v1/chat/completions", "/anthropic/v1/messages"
DONE, STOP = b"data: [DONE]\n\n", events()[-1]


async def sent_and_kept(path: str, environ: dict[str, str], told: bytes) -> list[tuple[bytes, int]]:
    """Each piece that a client is sent, and how many turns had been written by then."""
    body = {"messages": [{"role": "user", "content": "现在 hi"}], "stream": True, "max_tokens": 9}
    pieces: list[tuple[bytes, int]] = []
    async with chats(lambda _: stream_answer([told]), environ) as one:
        wire, bench = Wire([json.dumps(body).encode()]), Bench(sql=one.served.app.sql)

        async def receive() -> Json:
            if wire.received:
                await asyncio.Event().wait()
            return await wire.receive()

        async def send(message: Json) -> None:
            if message.get("body"):
                [row] = await bench.rows("SELECT count(*) AS n FROM turn_blocks")
                pieces.append((message["body"], int(str(row["n"]))))

        await one.served.asgi(http_scope("POST", path, OWNER), receive, send)
        await one.served.runtime.drain()
    return pieces


@pytest.mark.parametrize(
    ("path", "environ", "told", "end"),
    [
        (OPENAI, ENVIRON, b"".join(stream_of("好的 data: [DONE]")), DONE),
        (OPENAI, ENVIRON, b"".join(stream_of("ok")).replace(b"\n\n", b"\r\n\r\n"), DONE),
        (ANTHROPIC, CLAUDE, b"".join(events("好的")), STOP),
        (OPENAI, CLAUDE, b"".join(events("好的")), DONE),
    ],
    ids=["openai", "crlf", "anthropic", "translated"],
)
async def test_reply_that_comes_in_one_piece_goes_on_before_anything_is_written(
    path: str, environ: dict[str, str], told: bytes, end: bytes
) -> None:
    (first, before), *_, (last, after) = await sent_and_kept(path, environ, told)
    assert before == 0
    assert after == 1
    assert end not in first.replace(b"\r\n", b"\n")
    assert last.replace(b"\r\n", b"\n") == end


@pytest.mark.parametrize("told", [DONE, DONE.replace(b"\n", b"\r\n")])
async def test_stream_that_is_only_an_end_passes_in_its_bytes(told: bytes) -> None:
    assert await sent_and_kept(OPENAI, ENVIRON, told) == [(told, 1)]


SPACED = '{ "model":"m-1",\n "messages": [{"content": "你好\\u0020 hi","role":"user" } ], "n":1.0 }'


@pytest.mark.parametrize("path", [OPENAI, ANTHROPIC])
async def test_request_in_which_nothing_differs_is_passed_in_its_own_bytes(path: str) -> None:
    raw = SPACED.encode()
    environ = {"CHAT_MODEL": "m-1", "AI_GATEWAY_BASE_URL": "https://api.anthropic.com"}
    async with chats(None, environ if path == ANTHROPIC else None) as one:
        headers = {**OWNER, "content-type": "application/json"}
        await one.client.post(path, content=raw, headers=headers)
        await one.client.post(
            path, content=raw, headers={**headers, "x-remembrancer-memory": "off"}
        )
        await one.served.runtime.drain()
    assert [sent.body for sent in one.outbound.sent] == [raw, raw]


@pytest.mark.parametrize(
    "raw",
    [
        SPACED.encode("utf-16"),
        SPACED.encode("utf-16-le"),
        b"\xef\xbb\xbf" + SPACED.encode(),
        SPACED.replace("你", "\ud83d").encode("utf-8", "surrogatepass"),
        SPACED.replace("m-1", "companion").encode(),
        SPACED.replace('"model":"m-1",', "").encode(),
    ],
    ids="utf-16 utf-16-le mark half-character public-name no-model".split(),
)
async def test_request_that_must_not_go_on_as_it_came_is_written_anew(raw: bytes) -> None:
    def answer(_: object) -> ScriptedAnswer:
        return ScriptedAnswer(pieces=[b"{}"])

    async with chats(answer) as one:
        headers = {**OWNER, "content-type": "application/json"}
        response = await one.client.post(OPENAI, content=raw, headers=headers)
        await one.served.runtime.drain()
    assert response.status_code == 200
    sent = one.outbound.sent[0].body
    assert sent != raw
    assert json.loads(sent.decode())["model"] == "m-1"
