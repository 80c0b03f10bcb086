"""The installed program on this machine: starting, stopping, restarting, and beside a server."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Sequence

import httpx
import pytest
from tests.e2e.serving import PROGRAM, WAIT_S, Json, Launcher, environment

from worker_runtime import free_port


def test_first_start_makes_a_private_folder_and_a_key_and_keeps_them(launcher: Launcher) -> None:
    first = launcher.serve()
    assert first.facts["key_source"] == "data folder"
    assert stat.S_IMODE(launcher.data.stat().st_mode) == 0o700
    for name in ("owner.key", "remembrancer.db", "cache.db"):
        assert stat.S_IMODE((launcher.data / name).stat().st_mode) == 0o600
    item = first.call("quick_add_task", title="留下来")["item"]
    assert first.stop() == 0
    second = launcher.serve()
    assert second.token == first.token
    assert second.call("get_item", id=item["id"])["item"] == item


def test_key_of_the_environment_is_used_and_none_is_made(launcher: Launcher) -> None:
    server = launcher.serve(CHATBOX_API_KEY="my-own-key")
    assert (server.token, server.facts["key_source"]) == ("my-own-key", "environment")
    assert not (launcher.data / "owner.key").exists()
    assert server.call("get_app_settings")["settings"]


def test_announcement_for_people_has_every_address_and_snippet(launcher: Launcher) -> None:
    port = free_port()
    command = [str(PROGRAM), "serve", "--port", str(port), "--data", str(launcher.data)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(CHATBOX_API_KEY="shown-key"),
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        shown = ""
        while "Ready" not in shown:
            line = process.stdout.readline()
            assert line, shown
            shown += line
        process.terminate()
    base = f"http://127.0.0.1:{port}"
    for expected in (
        f"{base}/mcp?token=shown-key",
        f"{base}/v1",
        "Panel",
        "claude mcp add --transport http remembrancer",
        "claude_desktop_config.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        "[mcp_servers.remembrancer]",
    ):
        assert expected in shown
    assert process.returncode == 0


def test_second_server_on_a_taken_port_says_so_in_one_sentence(launcher: Launcher) -> None:
    port = launcher.serve().url.rpartition(":")[2]
    done = launcher.run("serve", "--port", port)
    assert done.returncode == 5
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: port {port} of 127.0.0.1 is taken")
    assert done.stderr.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "environ", "word"),
    [
        pytest.param(("--host", "203.0.113.9"), {}, "203.0.113.9", id="foreign-address"),
        pytest.param(("--host", "no such host"), {}, "no such host", id="no-address"),
        pytest.param(("--port", "70000"), {}, "--port", id="no-port"),
        pytest.param((), {"RATE_LIMIT_PER_MINUTE": "many"}, "RATE_LIMIT", id="wrong-setting"),
        pytest.param((), {"REMEMBRANCER_DATA": "/dev/null/x"}, "/dev/null/x", id="no-folder"),
    ],
)
def test_start_that_cannot_be_ends_with_a_sentence(
    launcher: Launcher, arguments: Sequence[str], environ: dict[str, str], word: str
) -> None:
    done = launcher.run("serve", "--port", "0", *arguments, **environ)
    assert done.returncode in (2, 7)
    assert done.stderr.startswith("error: ")
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_log_has_one_json_line_per_request_and_no_memory_text(launcher: Launcher) -> None:
    server = launcher.serve()
    server.call("capture_context", input="我的秘密日记")
    httpx.post(f"{server.url}/mcp", params={"token": server.token}, json={}, timeout=WAIT_S)
    server.stop()
    log = (launcher.data.parent / "server-0.log").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["route"] for line in lines] == ["health", "mcp", "mcp"]
    assert {"at", "level", "id", "status", "ms", "queries"} <= lines[1].keys()
    assert "秘密" not in log
    assert server.token not in log


def test_command_line_and_server_share_a_store(launcher: Launcher) -> None:
    server = launcher.serve()
    item = launcher.answer("tasks", "add", "买菜", "#家")["item"]
    assert server.call("get_item", id=item["id"])["item"]["title"] == "买菜"
    server.call("update_task_state", id=item["id"], action="complete")
    assert launcher.answer("tasks", "show", item["id"])["item"]["state"] == "completed"
    there = {"REMEMBRANCER_URL": server.url, "REMEMBRANCER_TOKEN": server.token}
    assert launcher.answer("tasks", "--all", **there) == launcher.answer("tasks", "--all")
    refused = launcher.run("tasks", "--url", server.url, "--token", "wrong")
    assert refused.returncode == 3


def _talk(launcher: Launcher, messages: Sequence[Json], *arguments: str) -> list[Json]:
    done = subprocess.run(
        [PROGRAM, "mcp", *arguments],
        input="".join(json.dumps(each, ensure_ascii=False) + "\n" for each in messages),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=WAIT_S,
        check=False,
        env=environment(REMEMBRANCER_DATA=str(launcher.data)),
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("way", ["here", "remote"])
def test_mcp_speaks_over_the_standard_streams(launcher: Launcher, way: str) -> None:
    arguments: tuple[str, ...] = ()
    if way == "remote":
        server = launcher.serve()
        arguments = ("--url", server.url, "--token", server.token)
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "小助手", "version": "1"},
    }
    add = {"name": "quick_add_task", "arguments": {"title": "写周报", "due": "2030-01-01"}}
    answers = _talk(
        launcher,
        [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": add},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
            {"jsonrpc": "2.0", "id": 4, "method": "nothing"},
        ],
        *arguments,
    )
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {1, 2, 3, 4}
    assert by_id[1]["result"]["protocolVersion"] == "2025-06-18"
    item = by_id[2]["result"]["structuredContent"]["item"]
    assert 0 < len(by_id[3]["result"]["tools"]) <= 32
    assert by_id[4]["error"]["code"] == -32601
    events = launcher.answer("history", item["id"])["events"]
    assert [event["actor"] for event in events] == ["agent:小助手"]
