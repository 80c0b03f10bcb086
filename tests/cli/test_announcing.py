"""What `serve` and long work tell of, and the snippets for clients."""

from __future__ import annotations

import io
import json
import shlex
import sys
import tomllib
from collections.abc import Callable

import pytest
from tests.cli.running import Program

from remembrancer.cli.output import progress
from remembrancer.cli.snippets import snippets
from remembrancer.local import server
from remembrancer.local.server import Listening

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


def _ready(monkeypatch: pytest.MonkeyPatch, host: str, *, is_loopback: bool) -> None:
    """Let `serve` announce itself and end."""

    async def run(_: object, *__: object, on_ready: Callable[[Listening], None]) -> None:
        on_ready(Listening(host, 8787, is_loopback))

    monkeypatch.setattr(server, "run", run)


@pytest.mark.parametrize(
    ("host", "base"),
    [
        pytest.param("127.0.0.1", "http://127.0.0.1:8787", id="loopback"),
        pytest.param("::1", "http://[::1]:8787", id="ipv6"),
        pytest.param("0.0.0.0", "http://127.0.0.1:8787", id="everywhere"),
    ],
)
def test_serve_tells_a_program_where_it_is(
    program: Program, monkeypatch: pytest.MonkeyPatch, host: str, base: str
) -> None:
    _ready(monkeypatch, host, is_loopback=True)
    monkeypatch.setenv("CHATBOX_API_KEY", "a+b/c")
    facts = program("serve", "--json").json
    assert (facts["url"], facts["mcp"], facts["rest"]) == (base, f"{base}/mcp", f"{base}/v1")
    assert facts["mcp_with_token"] == f"{base}/mcp?token=a%2Bb%2Fc"
    assert (facts["key"], facts["key_source"]) == ("a+b/c", "environment")
    assert facts["snippets"].keys() == {
        "Claude Code",
        "Claude Desktop",
        "Cursor",
        "VS Code",
        "Codex",
    }


def test_serve_warns_where_others_reach_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ready(monkeypatch, "0.0.0.0", is_loopback=False)
    assert "set CHATBOX_API_KEY" in program("serve").out
    monkeypatch.setenv("CHATBOX_API_KEY", "mine")
    shown = program("serve").out
    assert "warning: other machines" in shown
    assert "set CHATBOX_API_KEY" not in shown
    _ready(monkeypatch, "127.0.0.1", is_loopback=True)
    assert "warning" not in program("serve").out


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("is_quiet", "is_shown"), [(False, True), (True, False)])
def test_progress_is_shown_to_who_watches(
    monkeypatch: pytest.MonkeyPatch, is_quiet: bool, is_shown: bool
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("重建", quiet=is_quiet) as told:
        told(1, 2)
        told(2)
    assert ("重建" in terminal.getvalue()) is is_shown
