"""The Inspector on the product: resources and prompts; tools are `test_inspector.py`'s."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.mcp.conftest import Served
from tests.mcp.test_inspector import inspect

ERAS = ("modern", "legacy")


@pytest.mark.parametrize("era", ERAS)
def test_inspector_reads_the_startup_resource(
    served_product: Served, tmp_path: Path, era: str
) -> None:
    uri = "remembrancer://startup"
    result = inspect(served_product, era, tmp_path, "--method", "resources/read", "--uri", uri)
    [contents] = result["contents"]
    assert contents["uri"] == uri and contents["mimeType"] == "text/markdown"
    assert contents["text"].startswith("~~~~remembrancer-data\n# Startup context")


@pytest.mark.parametrize("era", ERAS)
def test_inspector_gets_the_weekly_review(served_product: Served, tmp_path: Path, era: str) -> None:
    result = inspect(
        served_product,
        era,
        tmp_path,
        "--method",
        "prompts/get",
        "--prompt-name",
        "weekly_review",
        "--prompt-args",
        "language=zh",
    )
    [message] = result["messages"]
    assert message["role"] == "user"
    assert message["content"]["text"].startswith("我们来回顾这一周。")


@pytest.mark.parametrize(
    ("era", "method", "member", "name"),
    [
        ("modern", "resources/list", "resources", "startup"),
        ("legacy", "resources/templates/list", "resourceTemplates", "item"),
        ("legacy", "prompts/list", "prompts", "start_conversation"),
    ],
)
def test_inspector_lists_what_is_offered(
    served_product: Served, tmp_path: Path, era: str, method: str, member: str, name: str
) -> None:
    result = inspect(served_product, era, tmp_path, "--method", method)
    assert name in [each["name"] for each in result[member]]


@pytest.mark.parametrize("era", ERAS)
def test_inspector_finds_the_captured_item(
    served_product: Served, tmp_path: Path, era: str
) -> None:
    captured = inspect(
        served_product,
        era,
        tmp_path,
        "--method",
        "tools/call",
        "--tool-name",
        "quick_add_task",
        "--tool-arg",
        "title=下周五交房租 #钱",
    )
    item = captured["structuredContent"]["item"]
    result = inspect(
        served_product,
        era,
        tmp_path,
        "--method",
        "resources/read",
        "--uri",
        f"remembrancer://item/{item['id']}",
    )
    read = json.loads(result["contents"][0]["text"])["item"]
    assert (read["title"], read["tags"]) == (item["title"], ["钱"])
