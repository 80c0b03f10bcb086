"""The Worker's budgets, as ratios of one run: `scripts/bench edge` prints the same figures."""

from __future__ import annotations

import pytest
from tests.pyodide.conftest import require_parts

import bench_edge


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_worker_is_within_its_budgets() -> None:
    require_parts()
    # No budget is about first requests: they need no isolates of their own here.
    figures = bench_edge.measure(rounds=4, firsts=1)
    values = bench_edge.against_budgets(figures)
    assert set(values) == set(bench_edge.BUDGETS)
    over = {name: value for name, value in values.items() if value > bench_edge.BUDGETS[name]}
    assert not over, figures
    trips = {name: case["round_trips"] for name, case in figures["requests"].items()}
    assert trips["cached startup, REST"] == trips["cached startup, MCP"] == 1
    assert max(trips["capture, REST"], trips["capture, MCP"]) <= 3
