"""The Inspector's command line as a client, in each era."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.conftest import MODULES, Served, run_node

INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERAS = ("modern", "legacy", "auto")


def inspect(served: Served, era: str, folder: Path, *options: str) -> dict[str, Any]:
    """The result of one method, asked through the Inspector."""
    headers = [
        part for pair in served.target.headers.items() for part in ("--header", ": ".join(pair))
    ]
    done = run_node(
        INSPECTOR,
        "--cli",
        served.url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        *headers,
        *options,
        "--format",
        "json",
        "-q",
        folder=folder,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


@pytest.mark.parametrize("era", ERAS)
def test_inspector_strict_list_finds_no_schema_fault(
    served: Served, tmp_path: Path, era: str
) -> None:
    result = inspect(served, era, tmp_path, "--method", "tools/list", "--strict")
    tools = result["tools"]
    assert isinstance(tools, list)
    assert served.target.tool in [tool["name"] for tool in tools]


@pytest.mark.parametrize("era", ERAS)
def test_inspector_call_returns_structured_content(
    served_fixtures: Served, tmp_path: Path, era: str
) -> None:
    options = ["--method", "tools/call", "--tool-name", served_fixtures.target.tool]
    for name, value in served_fixtures.target.arguments.items():
        options += ["--tool-arg", f"{name}={value}"]
    result = inspect(served_fixtures, era, tmp_path, *options)
    assert "isError" not in result
    assert isinstance(result["structuredContent"], dict)
