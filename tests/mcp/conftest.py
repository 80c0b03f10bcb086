"""A served MCP endpoint for outside clients: a process of its own on loopback.

A target is any command that prints its port and then serves `/mcp` until its input ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.conftest import ROOT

MODULES = ROOT / "node_modules"
"""Where `scripts/install --dev` puts the tools of the Node world."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server to test: how to start it, what to send with each request, one tool that works."""

    name: str
    command: tuple[str, ...]
    tool: str
    arguments: Mapping[str, object]
    headers: Mapping[str, str] = field(default_factory=dict)


FIXTURES = Target(
    "fixtures",
    (sys.executable, "-m", "tests.mcp.serve_fixtures"),
    "test_x_mcp_header",
    {"region": "北京 west", "priority": 5},
)
"""The conformance suite's fixtures on our kernel."""


@dataclass(frozen=True, slots=True)
class Served:
    """A target that listens."""

    target: Target
    url: str


@pytest.fixture(scope="session", params=[FIXTURES], ids=lambda target: target.name)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Each target in turn, listening."""
    target: Target = request.param
    yield from _serve(target)


@pytest.fixture(scope="session")
def served_fixtures() -> Iterator[Served]:
    """The fixtures, which only the conformance suite needs."""
    yield from _serve(FIXTURES)


def _serve(target: Target) -> Iterator[Served]:
    process = subprocess.Popen(
        target.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    port = process.stdout.readline().strip()
    assert port.isdigit(), f"{target.name} did not start"
    yield Served(target, f"http://127.0.0.1:{port}/mcp")
    process.stdin.close()
    process.wait(timeout=10)
    process.stdout.close()


def run_node(
    script: Path, *arguments: str, folder: Path, seconds: int = 90
) -> subprocess.CompletedProcess[str]:
    """Run a script of `node_modules` with its own Node, in a folder it may write to."""
    node = MODULES / ".bin" / "node"
    if not (node.exists() and script.exists()):
        pytest.skip("needs Node's tools; scripts/install --dev installs them")
    return subprocess.run(
        [str(node), str(script), *arguments],
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
