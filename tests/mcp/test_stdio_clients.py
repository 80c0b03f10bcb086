"""The official Python client over the standard streams, in every mode; and a client by hand."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from mcp import Client, StdioServerParameters
from tests.conftest import ROOT
from tests.e2e.serving import WAIT_S

COMMAND = ("-m", "tests.mcp.stdio_fixtures")


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_python_client_over_stdio_lists_and_calls(mode: str) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=list(COMMAND), cwd=ROOT)
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with Client(parameters, mode=mode, cache=None) as client:
        version = client.protocol_version
        tools = (await client.list_tools()).tools
        routed = await client.call_tool("test_x_mcp_header", {"region": "北京"})
        await client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert "test_simple_text" in [tool.name for tool in tools]
    assert routed.structured_content == {"region": "北京", "priority": None, "verbose": None}
    assert heard == [0, 50, 100]


def test_stdio_server_answers_what_was_asked_and_exits_at_the_end_of_input() -> None:
    lines = [
        "not json",
        json.dumps({"jsonrpc": "2.0", "id": "一", "method": "ping"}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
    done = subprocess.run(
        [sys.executable, *COMMAND],
        cwd=ROOT,
        input="\n".join(lines).encode(),
        capture_output=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.decode().strip() == "this is no message"
    refused, answered = [json.loads(line) for line in done.stdout.splitlines()]
    assert refused["error"]["code"] == -32700
    assert answered == {"jsonrpc": "2.0", "id": "一", "result": {}}


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What runs in a shell's background ignores interrupts, and so would a program it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_stdio_server_that_is_interrupted_while_it_waits_ends_cleanly() -> None:
    with subprocess.Popen(
        [sys.executable, *COMMAND],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        process.wait(timeout=WAIT_S)
        assert process.stderr is not None
        said = process.stderr.read()
    assert b"Fatal" not in said
    assert b"KeyboardInterrupt" in said
