"""The Worker in the platform's own runtime, with npm's Pyodide: one for all tests of a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from tests.chat.upstream import Upstream, running_upstream
from tests.mcp.conftest import PRODUCT, Served

from worker_runtime import VARIABLES, Runtime, serve

CHATS = {
    "CF_AIG_TOKEN": "upstream-secret-token",
    "CHAT_MODEL": "mock-chat",
    "EXTRACT_MODEL": "off",
}
"""The Worker's variables for chats, whose messages rules read; where chats go is added."""


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    """A model's server of the tests."""
    with running_upstream() as one:
        yield one


@pytest.fixture(scope="session")
def runtime(upstream: Upstream) -> Iterator[Runtime]:
    """What deploying uploads, served by `pywrangler dev` on an empty database."""
    with serve({**VARIABLES, **CHATS, "AI_GATEWAY_BASE_URL": upstream.url}) as started:
        yield started


@pytest.fixture
def client(runtime: Runtime) -> Iterator[httpx.Client]:
    """A client with the owner's key."""
    headers = {"authorization": f"Bearer {runtime.token}"}
    with httpx.Client(base_url=runtime.url, headers=headers, timeout=300, trust_env=False) as made:
        yield made


@pytest.fixture
def served_product(runtime: Runtime) -> Served:
    """The product, with its owner's key and every tool listed."""
    target = replace(PRODUCT, headers={"authorization": f"Bearer {runtime.token}"})
    return Served(target, f"{runtime.url}/mcp?tools=all")
