"""Ready snippets: how each client is told of this server. Texts only.

Source of the forms: each client's documentation, as the design's protocol notes record it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

NAME: Final = "remembrancer"
"""The server's name in a client's settings."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One client: `where` is the file that the text goes into, or the terminal."""

    client: str
    where: str
    text: str


def snippets(mcp_url: str, key: str, stdio: Sequence[str]) -> list[Snippet]:
    """Return the snippets of every client. *Shape:* `stdio` is the command that speaks MCP."""
    bearer = f"Bearer {key}"
    headers = {"Authorization": bearer}
    add = ["claude", "mcp", "add", "--transport", "http", NAME, mcp_url]
    command, *arguments = stdio
    return [
        Snippet(
            "Claude Code", "terminal", shlex.join([*add, "--header", f"Authorization: {bearer}"])
        ),
        Snippet(
            "Claude Desktop",
            "claude_desktop_config.json",
            _servers("mcpServers", {"command": command, "args": arguments}),
        ),
        Snippet(
            "Cursor",
            ".cursor/mcp.json",
            _servers("mcpServers", {"url": mcp_url, "headers": headers}),
        ),
        Snippet(
            "VS Code",
            ".vscode/mcp.json",
            _servers("servers", {"type": "http", "url": mcp_url, "headers": headers}),
        ),
        Snippet("Codex", "~/.codex/config.toml", _codex(mcp_url, bearer)),
    ]


def _servers(member: str, server: Mapping[str, object]) -> str:
    return json.dumps({member: {NAME: server}}, ensure_ascii=False, indent=2)


def _codex(mcp_url: str, bearer: str) -> str:
    # A JSON string is also a basic string of TOML.
    url, header = json.dumps(mcp_url), json.dumps(bearer)
    return f"[mcp_servers.{NAME}]\nurl = {url}\nhttp_headers = {{ Authorization = {header} }}"
