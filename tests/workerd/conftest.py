"""The Worker in the platform's own runtime, with npm's Pyodide: one for all tests of a session."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from worker_runtime import Runtime, serve


@pytest.fixture(scope="session")
def runtime() -> Iterator[Runtime]:
    """What deploying uploads, served by `pywrangler dev` on an empty database."""
    with serve() as started:
        yield started


@pytest.fixture
def client(runtime: Runtime) -> Iterator[httpx.Client]:
    """A client with the owner's key."""
    headers = {"authorization": f"Bearer {runtime.token}"}
    with httpx.Client(base_url=runtime.url, headers=headers, timeout=60, trust_env=False) as made:
        yield made
