"""A day's session on the product, through the official clients, over HTTP and standard streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from tests.e2e.serving import PROGRAM, WAIT_S, environment
from tests.mcp.conftest import Served, run_node
from tests.mcp.session import (
    LANGUAGES,
    Answers,
    Step,
    as_json,
    check_day,
    check_schemas,
    resolve,
    steps,
)

MODES = ("auto", "legacy", "2026-07-28")
SCRIPT = Path(__file__).with_name("product_session.mjs")
STDIO = ("mcp", "--tools", "all")


@asynccontextmanager
async def _over_http(served: Served, namespace: str, mode: str) -> AsyncIterator[Client]:
    headers = {**served.target.headers, "x-remembrancer-namespace": namespace}
    async with httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http:
        transport = streamable_http_client(served.url, http_client=http)
        async with Client(transport, mode=mode, cache=None) as client:
            yield client


async def _play(client: Client, day: list[Step]) -> tuple[list[Any], dict[str, Any]]:
    listed = await client.list_tools()
    assert listed.next_cursor is None
    tools = [tool.model_dump(by_alias=True, mode="json") for tool in listed.tools]
    answers: dict[str, Any] = {}
    for step in day:
        result = await client.call_tool(step.tool, resolve(step.arguments, answers))
        answers[step.name] = result.structured_content
        assert isinstance(result.content[0], TextContent)
        if not result.is_error:
            assert json.loads(result.content[0].text) == result.structured_content
    return tools, answers


def _hold(language: str, tools: list[Any], answers: Answers) -> None:
    assert len(tools) > 50
    check_schemas(tools, steps(LANGUAGES[language]), answers)
    check_day(LANGUAGES[language], answers)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", MODES)
async def test_python_client_lives_a_day_over_http(
    served_product: Served, mode: str, language: str
) -> None:
    async with _over_http(served_product, f"http-{mode}-{language}", mode) as client:
        version = client.protocol_version
        tools, answers = await _play(client, steps(LANGUAGES[language]))
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    _hold(language, tools, answers)


@pytest.mark.parametrize(
    ("mode", "language"),
    [("auto", "chinese"), ("legacy", "english"), ("2026-07-28", "chinese")],
)
async def test_python_client_lives_a_day_over_stdio(
    tmp_path: Path, mode: str, language: str
) -> None:
    parameters = StdioServerParameters(
        command=str(PROGRAM), args=[*STDIO, "--data", str(tmp_path)], env=environment()
    )
    async with Client(parameters, mode=mode, cache=None) as client:
        tools, answers = await _play(client, steps(LANGUAGES[language]))
    _hold(language, tools, answers)


def _play_in_node(
    generation: str, place: Mapping[str, object], language: str, *, folder: Path
) -> None:
    day = json.dumps(as_json(steps(LANGUAGES[language])))
    done = run_node(SCRIPT, generation, json.dumps(place), day, folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    _hold(language, seen["tools"], seen["answers"])


@pytest.mark.parametrize(
    ("generation", "language"),
    [("v1", "english"), ("v2", "chinese"), ("v2-modern", "english")],
)
def test_typescript_client_lives_a_day_over_http(
    served_product: Served, tmp_path: Path, generation: str, language: str
) -> None:
    namespace = {"x-remembrancer-namespace": f"http-{generation}-{language}"}
    place = {"url": served_product.url, "headers": {**served_product.target.headers, **namespace}}
    _play_in_node(generation, place, language, folder=tmp_path)


@pytest.mark.parametrize(
    ("generation", "language"), [("v1", "chinese"), ("v2", "english"), ("v2-modern", "chinese")]
)
def test_typescript_client_lives_a_day_over_stdio(
    tmp_path: Path, generation: str, language: str
) -> None:
    arguments = [*STDIO, "--data", str(tmp_path / "data")]
    place = {"command": str(PROGRAM), "args": arguments, "env": environment()}
    _play_in_node(generation, place, language, folder=tmp_path)
