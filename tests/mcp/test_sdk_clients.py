"""The official clients, Python and TypeScript, against a served endpoint in every mode."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult, TextContent
from tests.e2e.serving import WAIT_S
from tests.mcp.conftest import Served, run_node

MODES = ("auto", "legacy", "2026-07-28")
SCRIPT = Path(__file__).with_name("typescript_client.mjs")


@asynccontextmanager
async def _client(
    served: Served, mode: str, answer: ElicitationFnT | None = None
) -> AsyncIterator[Client]:
    headers = dict(served.target.headers)
    async with httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http:
        transport = streamable_http_client(served.url, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=answer, cache=None) as client:
            yield client


@pytest.mark.parametrize("mode", MODES)
async def test_python_client_lists_and_calls(served: Served, mode: str) -> None:
    async with _client(served, mode) as client:
        version = client.protocol_version
        tools = (await client.list_tools()).tools
        result = await client.call_tool(served.target.tool, dict(served.target.arguments))
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert served.target.tool in [tool.name for tool in tools]
    assert not result.is_error
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text) == result.structured_content


@pytest.mark.parametrize("mode", MODES)
async def test_python_client_wrong_argument_gets_an_error_result(served: Served, mode: str) -> None:
    async with _client(served, mode) as client:
        result = await client.call_tool(served.target.tool, {"no_such_argument": 1})
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "invalid_input"


@pytest.mark.parametrize("mode", MODES)
async def test_python_client_hears_progress(served_fixtures: Served, mode: str) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with _client(served_fixtures, mode) as client:
        result = await client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
    assert not result.is_error
    assert heard == [0, 50, 100]


async def test_python_client_answers_two_rounds(served_fixtures: Served) -> None:
    async def answer(context: object, params: ElicitRequestParams) -> ElicitResult:
        content: dict[str, str | int | float | bool | list[str] | None]
        content = {"name": "小红"} if "name" in params.message else {"color": "蓝"}
        return ElicitResult(action="accept", content=content)

    async with _client(served_fixtures, "auto", answer) as client:
        result = await client.call_tool("test_input_required_result_multi_round", {})
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == "小红 likes 蓝."


@pytest.mark.parametrize("generation", ["v1", "v2", "v2-modern"])
def test_typescript_client_lists_calls_and_reads_errors(
    served_fixtures: Served, tmp_path: Path, generation: str
) -> None:
    call = {
        "headers": dict(served_fixtures.target.headers),
        "name": served_fixtures.target.tool,
        "good": dict(served_fixtures.target.arguments),
        "bad": {"no_such_argument": 1},
    }
    done = run_node(SCRIPT, generation, served_fixtures.url, json.dumps(call), folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert served_fixtures.target.tool in seen["tools"]
    assert not seen["worked"].get("isError", False)
    assert seen["failed"]["isError"] is True
    assert seen["failed"]["structuredContent"]["error"]["code"] == "invalid_input"
