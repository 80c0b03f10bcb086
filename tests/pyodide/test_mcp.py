"""The conformance suite and the official clients, on the Worker in place of a local server.

The tests are those of `tests/mcp`; only what they talk to is another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.d1.bridge import D1Bridge
from tests.mcp.conftest import FIXTURES, PRODUCT, Served
from tests.mcp.test_conformance import test_conformance_requirements_hold
from tests.mcp.test_product_session import (
    test_python_client_lives_a_day_over_http,
    test_typescript_client_lives_a_day_over_http,
)
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
    "test_python_client_lives_a_day_over_http",
    "test_python_client_wrong_argument_gets_an_error_result",
    "test_typescript_client_lists_calls_and_reads_errors",
    "test_typescript_client_lives_a_day_over_http",
]


@pytest.fixture(scope="module")
def served_fixtures(d1_bridge: D1Bridge) -> Iterator[Served]:
    """The fixtures, served by a Worker."""
    edge = serve(d1_bridge, module="tests.pyodide.mcp_worker")
    yield Served(FIXTURES, f"{edge.url}/mcp")
    assert edge.stop() == 0


@pytest.fixture
def served_product(edge: Edge) -> Served:
    """The product, with its owner's key and every tool listed."""
    target = replace(PRODUCT, headers={"authorization": f"Bearer {TOKEN}"})
    return Served(target, f"{edge.url}/mcp?tools=all")


@pytest.fixture(params=["fixtures", "product"])
def served(request: pytest.FixtureRequest) -> Served:
    """Each of them in turn."""
    found: Served = request.getfixturevalue(f"served_{request.param}")
    return found
