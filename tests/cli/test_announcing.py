"""What `serve` tells of, and the snippets for clients."""

from __future__ import annotations

import json
import shlex
import tomllib

from remembrancer.cli.snippets import snippets

KEY = "rmb_key'with\"quotes"
URL = "http://127.0.0.1:8787/mcp"
BEARER = f"Bearer {KEY}"


def test_snippets_are_in_each_client_s_own_form() -> None:
    command = ["/opt/程序/remembrancer", "mcp", "--data", "/home/我 的/data"]
    texts = {each.client: each.text for each in snippets(URL, KEY, command)}
    assert shlex.split(texts["Claude Code"]) == [
        *("claude", "mcp", "add", "--transport", "http", "remembrancer", URL),
        *("--header", f"Authorization: {BEARER}"),
    ]
    assert json.loads(texts["Claude Desktop"]) == {
        "mcpServers": {"remembrancer": {"command": command[0], "args": command[1:]}}
    }
    assert json.loads(texts["Cursor"]) == {
        "mcpServers": {"remembrancer": {"url": URL, "headers": {"Authorization": BEARER}}}
    }
    assert json.loads(texts["VS Code"]) == {
        "servers": {
            "remembrancer": {"type": "http", "url": URL, "headers": {"Authorization": BEARER}}
        }
    }
    assert tomllib.loads(texts["Codex"]) == {
        "mcp_servers": {
            "remembrancer": {"url": URL, "http_headers": {"Authorization": BEARER}},
        }
    }
