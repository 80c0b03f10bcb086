"""Warming up: the first chat after it imports nothing, and a start pays for none of it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from remembrancer.local import warming

SESSION = """
import asyncio, json, sys
from remembrancer.local.warming import MODULES, warm_up
from remembrancer.local.wire import make_asgi, open_app

BODY = json.dumps({"messages": [{"role": "user", "content": "钥匙在哪里？ where is it?"}]}).encode()

async def chat(local, asgi):
    headers = [(b"authorization", b"Bearer " + local.owner_key.encode())]
    headers.append((b"content-type", b"application/json"))
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "scheme": "http",
             "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1)}
    sent, asked = [], []
    async def receive():
        if asked:
            await asyncio.Event().wait()
        asked.append(True)
        return {"type": "http.request", "body": BODY, "more_body": False}
    async def send(message):
        sent.append(message)
    await asgi(scope, receive, send)
    await local.runtime.drain()
    return sent[0]["status"]

async def main():
    paused = []
    async def pause(seconds):
        paused.append(seconds)
        cold.extend(name for name in (*MODULES, "aiohttp") if name in sys.modules)
    cold = []
    environ = {"AI_GATEWAY_BASE_URL": "http://127.0.0.1:9/v1", "EMBEDDING_MODEL": "off"}
    async with open_app(sys.argv[1], environ, is_server=True) as local:
        asgi = make_asgi(local)
        await warm_up(local.app.outbound.load, pause)
        warm = set(sys.modules)
        status = await chat(local, asgi)
        new = set(sys.modules) - warm
        ours = [name for name in new if name.startswith("remembrancer.")]
        clients = [name for name in new if name.startswith(("aio", "http", "yarl"))]
    print(json.dumps({"status": status, "cold": cold, "paused": paused,
                      "new": sorted(ours + clients)}))

asyncio.run(main())
"""


def test_first_chat_after_it_imports_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSION, tmp_path / "data"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == 502  # no model's server is there: it was asked
    assert told["cold"] == []
    assert told["paused"] == [warming.FIRST_S]
    assert told["new"] == []


async def test_failure_is_logged_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    async def pause(_seconds: float) -> None:
        return None

    def fail() -> None:
        raise OSError("no certificates")

    with caplog.at_level(logging.ERROR):
        await warming.warm_up(fail, pause)
    assert [record.message for record in caplog.records] == ["warming up failed"]
