"""The isolate's runtime: ids in order, chance, and work on the account of its request."""

from __future__ import annotations

import asyncio
import json
import logging
import time

import pytest
from tests.edge.standins import PRINTED, Context

from remembrancer.core.ids import is_id
from remembrancer.edge.logs import line_of, log_to_platform
from remembrancer.edge.runtime import EdgeRuntime, serving


@pytest.mark.parametrize("clock", ["running", "still", "backwards"])
def test_ids_of_one_isolate_sort_in_the_order_they_were_made(
    clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if clock != "running":
        step = {"still": 0, "backwards": -1_000_000}[clock]
        times = iter(range(1_800_000_000_000_000_000, 0, step) if step else [])
        monkeypatch.setattr(time, "time_ns", lambda: next(times, 1_800_000_000_000_000_000))
    runtime = EdgeRuntime()
    made = [runtime.new_id("itm") for _ in range(2_000)]
    assert made == sorted(set(made))
    assert all(is_id(one, "itm") for one in made)


def test_last_number_of_a_millisecond_is_followed_by_the_next_millisecond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_800_000_000_000_000_000)
    monkeypatch.setattr("os.urandom", lambda count: b"\xff" * count)
    runtime = EdgeRuntime()
    first, second = runtime.new_id("itm"), runtime.new_id("itm")
    assert first < second


def test_random_bytes_have_the_count_and_differ() -> None:
    runtime = EdgeRuntime()
    assert len(runtime.random_bytes(16)) == 16
    assert runtime.random_bytes(16) != runtime.random_bytes(16)


async def test_later_work_is_registered_with_the_request_that_started_it() -> None:
    runtime, context, done = EdgeRuntime(), Context(), list[str]()

    async def inner() -> None:
        done.append("inner")

    async def outer() -> None:
        done.append("outer")
        runtime.run_later(inner())

    with serving(context):
        runtime.run_later(outer())
    assert done == []
    await context.settle()
    assert done == ["outer", "inner"]


async def test_later_work_without_a_request_is_done_all_the_same() -> None:
    done = asyncio.Event()

    async def work() -> None:
        done.set()

    EdgeRuntime().run_later(work())
    await asyncio.wait_for(done.wait(), 5)


async def test_failing_later_work_is_logged_without_its_text() -> None:
    log_to_platform()
    PRINTED.clear()
    context = Context()

    async def work() -> None:
        raise ValueError("secret words")

    with serving(context):
        EdgeRuntime().run_later(work())
    await context.settle()
    ((method, line),) = PRINTED
    assert method == "error"
    assert '"builtins.ValueError"' in line
    assert "secret" not in line


@pytest.mark.parametrize(
    ("level", "method"),
    [(logging.INFO, "log"), (logging.WARNING, "warn"), (logging.ERROR, "error")],
)
def test_line_goes_to_the_console_by_its_severity(level: int, method: str) -> None:
    log_to_platform()
    PRINTED.clear()
    logging.getLogger("remembrancer.any").log(level, "words and %s", "荔枝")
    ((seen, line),) = PRINTED
    assert seen == method
    assert json.loads(line) == {
        "event": "log",
        "logger": "remembrancer.any",
        "text": "words and 荔枝",
    }


def test_line_that_is_json_stays_as_it_is() -> None:
    record = logging.LogRecord("a", logging.INFO, "", 1, '{"event": "x"}', (), None)
    assert line_of(record) == '{"event": "x"}'
