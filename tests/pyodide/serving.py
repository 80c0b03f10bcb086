"""A Worker that a Node process serves: its code in Pyodide, its bindings on Miniflare's.

Not a suite; `conftest` has the fixtures.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from tests.conftest import ROOT
from tests.d1.bridge import NODE, D1Bridge

HARNESS = ROOT / "tests" / "pyodide" / "harness"
"""The JavaScript side."""
PANEL = ROOT / "admin" / "dist"
"""The panel's built files."""
PARTS = (
    ROOT / "node_modules" / "pyodide",
    ROOT / "python_modules",
    ROOT / ".venv" / "pyodide",
    PANEL / "index.html",
)
"""What `scripts/install --dev` puts in place."""
TOKEN = "sk-owner-of-the-edge"
"""The key of the owner in the tests."""
VARIABLES = {"CHATBOX_API_KEY": TOKEN, "RATE_LIMIT_PER_MINUTE": "0"}
"""The Worker's variables unless a test gives others."""
ANSWER_S = 240
"""Seconds that an answer may take; most of it Python may have no core."""
STOP_S = 120
"""Seconds that a harness may take to end."""


@dataclass(slots=True)
class Edge:
    """A Worker that is served."""

    url: str
    process: subprocess.Popen[str]
    control: str = ""
    """Where the platform takes orders; `tests/pyodide/harness/control.mjs` knows them."""

    # Any: JSON of our own script.
    def order(self, name: str, **given: Any) -> dict[str, Any]:
        """Have the platform do something, once what requests have left behind is done."""
        answer = httpx.post(f"{self.control}/{name}", json=given, timeout=ANSWER_S, trust_env=False)
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told

    def statements(self) -> int:
        """The most statements that one request, message or line of the schedule has sent since the
        last time."""
        most: int = self.order("statements")["most"]
        return most

    def stop(self) -> int:
        """End it and return its exit code: 3 when a promise was rejected that nobody heard."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()


def require_parts() -> None:
    """Skip where the edge's Python is not installed."""
    for part in PARTS:
        if not part.exists():
            name = part.relative_to(ROOT)
            pytest.skip(f"{name} is missing; `scripts/install --dev` installs it")


def serve(
    bridge: D1Bridge,
    *,
    module: str = "worker",
    variables: Mapping[str, str] = VARIABLES,
    is_whole: bool = False,
) -> Edge:
    """Serve a Worker on a fresh, migrated database; `module` has its `Default`.

    *Shape:* one that `is_whole` has every binding, with stand-ins for the models and their index;
    others have database and cache alone.
    """
    require_parts()
    database, cache = bridge.fresh(), bridge.fresh_kv()
    given: dict[str, Any] = {
        "root": str(ROOT),
        "url": database.url,
        "database": database.database,
        "namespace": cache.namespace,
        "variables": dict(variables),
        "module": module,
    }
    if is_whole:
        queue, blobs = bridge.fresh_queue(), bridge.fresh_blobs()
        assert queue.url == database.url, "a Worker's bindings are of one process"
        given |= {"queue": queue.name, "bucket": blobs.bucket, "hasModels": True}
        given["panel"] = str(PANEL)
    process = subprocess.Popen(
        [str(NODE), str(HARNESS / "serve.mjs"), json.dumps(given)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    edge = Edge("", process)
    line = process.stdout.readline()
    if not line:
        edge.stop()
        raise AssertionError("the Worker did not start; its error is above")
    ready = json.loads(line)
    edge.url, edge.control = ready["url"], ready["control"]
    return edge
