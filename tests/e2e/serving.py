"""The program as its user runs it: servers started through the command line, and talk to them.

Black box: nothing here or in the tests beside it imports the product.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.e2e.logs import SENT

LOGS: list[Path] = []
"""The log of every server that was started in this process; see `logs.py` for what is in none."""
PROGRAM = Path(sys.executable).with_name("remembrancer")
"""The installed program, beside the interpreter that runs the tests."""
WAIT_S = 120.0
"""Seconds that an answer, a start or a stop may take before the test gives up: on a busy machine a
process may get no core for many seconds."""
SETTINGS = ("_API_KEY", "REMEMBRANCER_", "RATE_LIMIT", "DREAM_", "BODY_BYTES", "ALLOWED_", "MCP_")
"""Beginnings and endings of variables that would change what is tested."""

Json = Any
"""Whatever JSON came back."""


def environment(**more: str) -> dict[str, str]:
    """The process's environment without the product's variables, and what is given."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(SETTINGS) and not name.endswith(SETTINGS)
    }
    return {**bare, "PYTHONUTF8": "1", **more}


@dataclass(slots=True)
class Server:
    """A server process, or one that runs elsewhere (then without a process)."""

    url: str
    token: str
    process: subprocess.Popen[bytes] | None = None
    facts: Json = None

    def client(self, **headers: str) -> httpx.Client:
        """A client with the server's key."""
        return httpx.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {self.token}", **headers},
            timeout=WAIT_S,
        )

    def call(self, tool: str, **arguments: Json) -> Json:
        """Call a tool and return what it answers; its error, when it fails."""
        with self.client() as client:
            return call_tool(client, tool, arguments)

    def stop(self) -> int:
        """Ask it to stop and return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        assert self.process is not None
        self.process.kill()
        self._ended()

    def _ended(self) -> int:
        assert self.process is not None
        code = self.process.wait(WAIT_S)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def call_tool(client: httpx.Client, tool: str, arguments: Mapping[str, Json]) -> Json:
    """Call a tool over a client that stays open."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": dict(arguments)},
    }
    response = client.post("/mcp", json=message)
    response.raise_for_status()
    return response.json()["result"]["structuredContent"]


def ask_tool(client: httpx.Client, tool: str, arguments: Mapping[str, Json]) -> Json:
    """Call a tool that must not fail."""
    answer = call_tool(client, tool, arguments)
    assert "error" not in answer, answer
    return answer


@dataclass(slots=True)
class Launcher:
    """Starts servers and runs the program on one data folder, and ends what it started."""

    data: Path
    started: list[Server] = field(default_factory=list)

    def serve(self, *arguments: str, **environ: str) -> Server:
        """Start a server on a free port and wait until it answers."""
        log = self.data.parent / f"server-{len(self.started)}.log"
        if log in LOGS:  # another launcher's
            log = log.with_stem(f"{log.stem}-{len(LOGS)}")
        LOGS.append(log)
        SENT.add_call(arguments, environ)
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [PROGRAM, "serve", "--port", "0", "--json", "--data", self.data, *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                # Jobs of the schedule would write between the lines of a test.
                env=environment(**{"SCHEDULER_ENABLED": "false", **environ}),
            )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            process.wait(WAIT_S)
            process.stdout.close()
            raise AssertionError(log.read_text(encoding="utf-8"))
        facts = json.loads(line)
        SENT.add_key(facts["key"])
        server = Server(facts["url"], facts["key"], process, facts)
        self.started.append(server)
        assert httpx.get(f"{server.url}/health", timeout=WAIT_S).status_code == 200
        return server

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        SENT.add_call(arguments, environ)
        return subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=WAIT_S,
            check=False,
            env=environment(**{"REMEMBRANCER_DATA": str(self.data), **environ}),
        )

    def answer(self, *arguments: str, **environ: str) -> Json:
        """Run the program for JSON and return its answer."""
        done = self.run(*arguments, "--json", **environ)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def close(self) -> None:
        """End every server that still runs."""
        for server in self.started:
            if server.process is not None and server.process.poll() is None:
                server.kill()
