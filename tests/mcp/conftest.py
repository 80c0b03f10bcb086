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
from tests.e2e.serving import WAIT_S, Launcher

MODULES = ROOT / "node_modules"
"""Where `scripts/install --dev` puts the tools of the Node world."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server to test: how to start it, what to send with each request, one tool that works.

    *Shape:* `command` is empty where a fixture of its own starts the server.
    """

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

PRODUCT_KEY = "sk-product"
PRODUCT = Target(
    "product",
    (),
    "quick_capture",
    {"input": "买牛奶 and bread #家 due:tomorrow"},
    {"authorization": f"Bearer {PRODUCT_KEY}"},
)
"""The product itself, as `remembrancer serve` starts it."""

OPEN_PRODUCT = Target("open product", (sys.executable, "-m", "tests.mcp.serve_product"), "", {})
"""The product for clients that can send no key."""


@dataclass(frozen=True, slots=True)
class Served:
    """A target that listens."""

    target: Target
    url: str


@pytest.fixture(scope="session", params=["fixtures", "product"])
def served(request: pytest.FixtureRequest) -> Served:
    """Each target in turn, listening."""
    found: Served = request.getfixturevalue(f"served_{request.param}")
    return found


@pytest.fixture(scope="session")
def served_fixtures() -> Iterator[Served]:
    """The fixtures, which only the conformance suite needs."""
    yield from _serve(FIXTURES)


@pytest.fixture(scope="session")
def served_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The product on an empty data folder, with every tool listed."""
    launcher = Launcher(tmp_path_factory.mktemp("product") / "data")
    server = launcher.serve(CHATBOX_API_KEY=PRODUCT_KEY)
    yield Served(PRODUCT, f"{server.url}/mcp?tools=all")
    launcher.close()


@pytest.fixture(scope="session")
def served_open_product() -> Iterator[Served]:
    """The product without a key, which only the conformance suite needs."""
    yield from _serve(OPEN_PRODUCT)


def _serve(target: Target) -> Iterator[Served]:
    process = subprocess.Popen(
        target.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    port = process.stdout.readline().strip()
    assert port.isdigit(), f"{target.name} did not start"
    yield Served(target, f"http://127.0.0.1:{port}/mcp")
    process.stdin.close()
    process.wait(timeout=WAIT_S)
    process.stdout.close()


def run_node(
    script: Path, *arguments: str, folder: Path, seconds: int = 280
) -> subprocess.CompletedProcess[str]:
    """Run a script of `node_modules` with its own Node, in a folder it may write to."""
    node = MODULES / ".bin" / "node"
    if not (node.exists() and script.exists()):
        pytest.skip("needs Node's tools; scripts/install --dev installs them")
    return subprocess.run(
        [str(node), str(script), *arguments],
        cwd=folder,
        env={
            "HOME": str(folder),
            "PATH": "/usr/bin:/bin",
            "NO_COLOR": "1",
            # What it compiled serves the next of these many starts; a Node before 22 ignores it.
            "NODE_COMPILE_CACHE": str(ROOT / ".wrangler" / "compiled"),
        },
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
