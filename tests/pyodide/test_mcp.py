"""The conformance suite and the official clients, on the Worker in place of a local server.

The tests are those of `tests/mcp`; only what they talk to is another.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.d1.bridge import D1Bridge
from tests.mcp.conftest import FIXTURES, Served, Target
from tests.mcp.test_conformance import test_conformance_requirements_hold
from tests.mcp.test_sdk_clients import (
    test_python_client_answers_two_rounds,
    test_python_client_hears_progress,
    test_python_client_lists_and_calls,
    test_python_client_wrong_argument_gets_an_error_result,
    test_typescript_client_lists_calls_and_reads_errors,
)
from tests.pyodide.conftest import TOKEN, Edge, serve

__all__ = [
    "test_conformance_requirements_hold",
    "test_python_client_answers_two_rounds",
    "test_python_client_hears_progress",
    "test_python_client_lists_and_calls",
    "test_python_client_wrong_argument_gets_an_error_result",
    "test_typescript_client_lists_calls_and_reads_errors",
]

PRODUCT = Target(
    "product", (), "list_items", {"limit": 5}, headers={"authorization": f"Bearer {TOKEN}"}
)
"""The product itself, with its owner's key."""


@pytest.fixture(scope="module")
def served_fixtures(d1_bridge: D1Bridge) -> Iterator[Served]:
    """The fixtures, served by a Worker."""
    edge = serve(d1_bridge, module="tests.pyodide.mcp_worker")
    yield Served(FIXTURES, f"{edge.url}/mcp")
    assert edge.stop() == 0


@pytest.fixture(params=["fixtures", "product"])
def served(request: pytest.FixtureRequest) -> Served:
    """The fixtures, and the product."""
    if request.param == "fixtures":
        found: Served = request.getfixturevalue("served_fixtures")
        return found
    edge: Edge = request.getfixturevalue("edge")
    return Served(PRODUCT, f"{edge.url}/mcp")
