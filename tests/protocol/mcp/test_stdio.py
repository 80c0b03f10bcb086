"""The line transport: one message a line, side by side, until the input ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.protocol.mcp.sample import SampleApp, body, call_by, envelope, sample_server

from remembrancer.core.limits import BODY_BYTES_MAX
from remembrancer.core.values import JSON
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.stdio import serve_lines


class _Pipe:
    """A client's two ends of the pipe."""

    def __init__(self, app: SampleApp | None = None) -> None:
        self.app = app or SampleApp()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.written: asyncio.Queue[bytes] = asyncio.Queue()

    def say(self, message: JSON) -> None:
        self._lines.put_nowait(json.dumps(message).encode() + b"\n")

    def say_raw(self, line: bytes) -> None:
        self._lines.put_nowait(line)

    def end(self) -> None:
        self._lines.put_nowait(None)

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def serve(self) -> None:
        await serve_lines(
            self.lines(),
            self.written.put,
            server=sample_server(),
            new_call=lambda: call_by(app=self.app),
        )

    async def talk(self) -> list[Message]:
        """Serve what was said until the end, and return what was answered."""
        self.end()
        await asyncio.wait_for(self.serve(), 5)
        answers = []
        while not self.written.empty():
            line = self.written.get_nowait()
            assert line.endswith(b"\n")
            assert line.count(b"\n") == 1
            answers.append(json.loads(line))
        return answers


async def test_lines_are_answered_one_by_one_until_the_end() -> None:
    pipe = _Pipe()
    pipe.say(body("initialize", {"protocolVersion": "2025-06-18"}, id_=1))
    pipe.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    pipe.say(body("tools/call", {"name": "look"}, id_="二"))
    pipe.say(body("server/discover", {"_meta": envelope()}, id_=3))
    answers = {str(answer["id"]): answer for answer in await pipe.talk()}
    assert sorted(answers) == ["1", "3", "二"]
    assert all("result" in answer for answer in answers.values())


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"{broken\n", -32700, id="not-json"),
        pytest.param(b"\xff\n", -32700, id="not-utf8"),
        pytest.param(b"[]\n", -32600, id="batch"),
        pytest.param(b'"a"\n', -32600, id="text"),
        pytest.param(b" " * BODY_BYTES_MAX + b"1\n", -32602, id="too-long"),
    ],
)
async def test_bad_line_is_answered_and_the_loop_goes_on(line: bytes, code: int) -> None:
    pipe = _Pipe()
    pipe.say_raw(line)
    pipe.say_raw(b"\n")
    pipe.say(body("ping", id_=2))
    refused, answered = await pipe.talk()
    assert isinstance(refused["error"], dict)
    assert (refused["id"], refused["error"]["code"]) == (None, code)
    assert answered == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_batch_of_a_client_that_speaks_its_revision_is_answered_as_one() -> None:
    pipe = _Pipe()
    batch = [body("ping", id_=2), {"jsonrpc": "2.0", "method": "notifications/initialized"}, 7]
    silent = [{"jsonrpc": "2.0", "method": "notifications/没有"}]
    pipe.say(body("initialize", {"protocolVersion": "2025-03-26"}, id_=1))
    for each in (batch, silent):
        pipe.say_raw(json.dumps(each).encode() + b"\n")
    said: list[Any] = [*await pipe.talk()]  # Any: a message, or a list of them
    first, answers = said
    assert first["id"] == 1
    assert [answer["id"] for answer in answers] == [2, None]


async def test_last_line_without_its_end_is_served() -> None:
    pipe = _Pipe()
    pipe.say_raw(json.dumps(body("ping")).encode())
    assert len(await pipe.talk()) == 1


async def test_cancelled_request_is_stopped_and_not_answered() -> None:
    pipe = _Pipe()
    serving = asyncio.create_task(pipe.serve())
    pipe.say(body("tools/call", {"name": "wait", "_meta": {"progressToken": 1}}, id_=7))
    await asyncio.wait_for(pipe.app.started.wait(), 5)
    pipe.say(body("ping", id_=8))
    wrong_and_right: list[JSON] = [None, 99, [7], 7]
    for requested in wrong_and_right:
        params: Message = {"requestId": requested}
        pipe.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    pipe.say({"jsonrpc": "2.0", "id": 5, "result": {}})
    pipe.end()
    await asyncio.wait_for(serving, 5)
    assert pipe.app.ended == ["wait"]
    said = [json.loads(pipe.written.get_nowait()) for _ in range(pipe.written.qsize())]
    assert [message.get("method", message.get("id")) for message in said] == [
        "notifications/progress",
        8,
    ]


async def test_two_requests_of_one_number_are_both_answered() -> None:
    pipe = _Pipe()
    pipe.say(body("tools/call", {"name": "talk"}, id_=1))
    pipe.say(body("ping", id_=1))
    answers = [message for message in await pipe.talk() if "id" in message]
    assert len(answers) == 2


async def test_name_given_at_the_start_is_the_actor_of_later_calls() -> None:
    pipe = _Pipe()
    pipe.say(body("initialize", {"clientInfo": {"name": "桌面 app"}}, id_=1))
    pipe.say(body("tools/call", {"name": "look"}, id_=2))
    await pipe.talk()
    assert pipe.app.calls[0][0].actor == "agent:桌面-app"
