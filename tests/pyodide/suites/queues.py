"""What the queue's driver promises, over the platform's own queue; inside Pyodide only.

The platform refuses what is over its limits without a reason, so that the driver must never send
it; and what it takes arrives as it was.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Final

import _harness  # type: ignore[import-not-found] # registered by the harness
import pytest

from remembrancer.core.errors import LimitExceeded, StoreUnavailable
from remembrancer.core.values import canonical_json
from remembrancer.edge.convert import required_binding
from remembrancer.edge.queues import MESSAGE_BYTES_MAX, SENT_AT_ONCE, WorkersQueue
from remembrancer.ports.queue import JobMessage


def make_queue() -> WorkersQueue:
    """The driver over the real queue; the same for all tests, which leave it empty."""
    return WorkersQueue(required_binding(_harness.queue(), "JOBS"))


async def arrived() -> list[JobMessage]:
    """What was delivered since the last time."""
    found = [one["body"] for one in json.loads(await _harness.delivered())]
    return [JobMessage(one["kind"], one["namespace"], one["body"]) for one in found]


def message_of_bytes(size: int) -> JobMessage:
    """A message whose JSON has this many bytes, most of them of signs with three."""
    empty = {"kind": "index", "namespace": "默认", "body": {"x": ""}}
    left = size - len(canonical_json(empty).encode())
    return JobMessage("index", "默认", {"x": "字" * (left // 3) + "x" * (left % 3)})


async def message_arrives_as_it_was_sent() -> None:
    sent = [
        JobMessage("extract", "默认", {"dates": ["2026-12-01"], "n": [1, 2.5, None, True]}),
        JobMessage("index", "default"),
    ]
    await make_queue().send(sent)
    assert await arrived() == sent


async def more_than_a_call_takes_arrive_all() -> None:
    sent = [JobMessage("index", f"n{number}") for number in range(2 * SENT_AT_ONCE + 50)]
    await make_queue().send(sent)
    names = {message.namespace for message in await arrived()}
    assert names == {message.namespace for message in sent}


async def largest_messages_arrive_and_larger_ones_are_refused() -> None:
    sent = [message_of_bytes(MESSAGE_BYTES_MAX)] * 5
    await make_queue().send(sent)
    assert await arrived() == sent
    with pytest.raises(LimitExceeded):
        await make_queue().send([message_of_bytes(MESSAGE_BYTES_MAX + 1)])
    assert await arrived() == []


async def delay_is_taken_and_one_too_long_is_an_unavailable_store() -> None:
    await make_queue().send([JobMessage("index", "default")], delay_s=86_400)
    assert len(await arrived()) == 1
    with pytest.raises(StoreUnavailable):
        await make_queue().send([JobMessage("index", "default")], delay_s=86_401)
    assert await arrived() == []


async def platform_refuses_what_is_over_its_limits() -> None:
    """Were these limits wider than the driver's by mistake, it would show here."""
    send = make_queue()._send
    body = {"kind": "index", "namespace": "default", "body": {}}
    one = {"body": body, "contentType": "json", "delaySeconds": 0}
    await send([one] * SENT_AT_ONCE)
    assert len(await arrived()) == SENT_AT_ONCE
    large = {**one, "body": {**body, "x": "x" * 130_000}}
    middling = {**one, "body": {**body, "x": "x" * 100_000}}
    for over in ([one] * (SENT_AT_ONCE + 1), [large], [middling] * 3):
        with pytest.raises(StoreUnavailable):
            await send(over)
    assert await arrived() == []


CHECKS: Final[tuple[Callable[[], Awaitable[None]], ...]] = (
    message_arrives_as_it_was_sent,
    more_than_a_call_takes_arrive_all,
    largest_messages_arrive_and_larger_ones_are_refused,
    delay_is_taken_and_one_too_long_is_an_unavailable_store,
    platform_refuses_what_is_over_its_limits,
)
"""Each in turn: they share the queue."""
