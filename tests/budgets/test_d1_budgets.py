"""Round trips, rows read and rows written on a real D1 of 1,000 and of 10,000 items."""

from __future__ import annotations

import asyncio

import pytest
from tests.budgets.cost_page import PAGES, read_page
from tests.budgets.operations import DESIGNED, OWN
from tests.budgets.places import Cost, Place, make_place, measure
from tests.conftest import ROOT
from tests.d1.bridge import D1Bridge

from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX

pytestmark = pytest.mark.timeout(900)  # the first test waits for all that is measured

BUDGETS = {**DESIGNED, **OWN}

GROWTH_MAX = 3
"""Times as many rows that ten times the items may cost. Source: DESIGN section 14."""

PAGE_SLACK, PAGE_ROWS = 0.03, 10
"""By how much the cost page may be behind what is counted: a share, and rows."""

GROWTH_ROWS = 20
"""Rows more that are no growth: a page that is full now and was not, an entry more in a list."""


@pytest.fixture(scope="module")
def places(d1_bridge: D1Bridge) -> dict[int, Place]:
    """Two databases that differ in nothing but their size."""

    async def seeded() -> dict[int, Place]:
        return {count: await make_place(d1_bridge.fresh(), count) for count in (1_000, 10_000)}

    return asyncio.run(seeded())


@pytest.fixture(scope="module")
def costs(places: dict[int, Place]) -> dict[str, dict[int, Cost]]:
    """Every operation once on each of them."""

    async def measured() -> dict[str, dict[int, Cost]]:
        return {
            name: {count: await measure(place, budget.run) for count, place in places.items()}
            for name, budget in BUDGETS.items()
        }

    return asyncio.run(measured())


@pytest.mark.parametrize("name", BUDGETS)
def test_operation_at_ten_thousand_items_is_within_its_budget(
    costs: dict[str, dict[int, Cost]], name: str
) -> None:
    cost, budget = costs[name][10_000], BUDGETS[name]
    assert cost.trips <= budget.trips, cost
    assert cost.read <= budget.read, cost
    assert cost.written <= budget.written, cost
    assert cost.statements <= SQL_BATCH_STATEMENTS_MAX, cost


@pytest.mark.parametrize("name", [name for name, each in BUDGETS.items() if each.is_steady])
def test_operation_at_ten_times_the_items_costs_at_most_three_times_as_much(
    costs: dict[str, dict[int, Cost]], name: str
) -> None:
    small, large = costs[name][1_000], costs[name][10_000]
    assert large.trips <= small.trips + 1
    assert large.read <= max(GROWTH_MAX * small.read, small.read + GROWTH_ROWS)
    assert large.written <= max(GROWTH_MAX * small.written, small.written + GROWTH_ROWS)


@pytest.mark.parametrize("name", OWN)
def test_promise_of_our_own_is_near_to_what_is_measured(
    costs: dict[str, dict[int, Cost]], name: str
) -> None:
    # One that is three times too generous would hide a lost index.
    cost, budget = costs[name][10_000], OWN[name]
    assert budget.read <= max(3 * cost.read, cost.read + GROWTH_ROWS), cost
    assert budget.written <= max(3 * cost.written, cost.written + GROWTH_ROWS), cost


@pytest.mark.parametrize("page", PAGES)
def test_cost_page_says_what_is_counted(costs: dict[str, dict[int, Cost]], page: str) -> None:
    for name, row in read_page(ROOT / page).items():
        cost = costs[name][10_000]
        said = (row.trips, row.read, row.written)
        assert row.trips == cost.trips, (name, said, cost)
        assert row.read == pytest.approx(cost.read, rel=PAGE_SLACK, abs=PAGE_ROWS), (name, cost)
        assert row.written == pytest.approx(cost.written, rel=PAGE_SLACK, abs=2), (name, cost)
        # The page rounds to the hundreds below, or to the tens where it is little.
        assert row.a_day == pytest.approx(row.affords(), rel=PAGE_SLACK), (name, row.affords())


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_recall_at_a_hundred_thousand_items_is_within_its_budget(d1_bridge: D1Bridge) -> None:
    names = [name for name in BUDGETS if name.startswith("recall")]

    async def measured() -> dict[str, Cost]:
        place = await make_place(d1_bridge.fresh(), 100_000)
        return {name: await measure(place, BUDGETS[name].run) for name in names}

    costs = asyncio.run(measured())
    assert len(costs) >= 3
    for name, cost in costs.items():
        budget = BUDGETS[name]
        assert (cost.trips <= budget.trips, cost.read <= budget.read) == (True, True), (name, cost)
        assert cost.written <= budget.written, (name, cost)
