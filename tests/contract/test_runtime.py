"""The runtime port's promises, over every implementation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.core.ids import is_id
from remembrancer.local.runtime import LocalRuntime
from remembrancer.testing.runtime import FixedRuntime

Made = LocalRuntime | FixedRuntime


@pytest.fixture(params=[LocalRuntime, FixedRuntime], ids=["local", "fixed"])
def make(request: pytest.FixtureRequest) -> Callable[[], Made]:
    """Makes a runtime of each kind."""
    factory: Callable[[], Made] = request.param
    return factory


def test_ids_of_one_process_sort_in_the_order_they_were_made(make: Callable[[], Made]) -> None:
    runtime = make()
    made = [runtime.new_id("itm") for _ in range(5_000)]
    assert made == sorted(set(made))
    assert all(is_id(one, "itm") for one in made)


def test_ids_of_two_prefixes_differ_after_the_prefix(make: Callable[[], Made]) -> None:
    runtime = make()
    item, project = runtime.new_id("itm"), runtime.new_id("prj")
    assert is_id(item, "itm")
    assert is_id(project, "prj")
    assert item[4:] < project[4:]


@pytest.mark.parametrize("count", [0, 1, 10, 16, 32, 100])
def test_random_bytes_have_the_count_and_differ(make: Callable[[], Made], count: int) -> None:
    runtime = make()
    first, second = runtime.random_bytes(count), runtime.random_bytes(count)
    assert len(first) == len(second) == count
    assert count < 10 or first != second


def test_time_is_in_milliseconds_of_this_century(make: Callable[[], Made]) -> None:
    assert 1_700_000_000_000 < make().now_ms() < 4_102_444_800_000


async def test_later_work_is_done_after_drain_and_so_is_what_it_starts(
    make: Callable[[], Made],
) -> None:
    runtime = make()
    done: list[str] = []

    async def inner() -> None:
        done.append("inner")

    async def outer(name: str) -> None:
        done.append(name)
        runtime.run_later(inner())

    runtime.run_later(outer("first"))
    runtime.run_later(outer("second"))
    assert done == []
    await runtime.drain()
    assert sorted(done) == ["first", "inner", "inner", "second"]
    await runtime.drain()
    assert len(done) == 4
