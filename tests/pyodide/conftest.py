"""The Worker on loopback: its code in Pyodide, its bindings on Miniflare's D1, KV and Queue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.d1.bridge import D1Bridge
from tests.d1.plugin import d1_bridge
from tests.pyodide.serving import HARNESS, TOKEN, VARIABLES, Edge, require_parts, serve
from tests.pyodide.whole import Whole, serving_whole

from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX

__all__ = [
    "HARNESS",
    "TOKEN",
    "VARIABLES",
    "Edge",
    "d1_bridge",
    "require_parts",
    "serve",
]


@pytest.fixture(scope="session")
def edge(d1_bridge: D1Bridge) -> Iterator[Edge]:
    """The Worker, for all tests that need no more than to talk to it."""
    served = serve(d1_bridge, is_whole=True)
    yield served
    assert served.statements() <= SQL_BATCH_STATEMENTS_MAX
    assert served.stop() == 0


@pytest.fixture(scope="module")
def served_whole(d1_bridge: D1Bridge) -> Iterator[Whole]:
    """A Worker with every binding, for the tests of one file: what another file's tests have kept
    would be found by their searches."""
    with serving_whole(d1_bridge) as served:
        yield served


@pytest.fixture
def whole(served_whole: Whole) -> Whole:
    """It, with nothing left to do and nothing that fails."""
    served_whole.calm()
    return served_whole
