"""The queue driver: what is sent and in which parts, and what becomes of delivered messages."""

from __future__ import annotations

import json
import tomllib

import pytest
from tests.conftest import ROOT
from tests.edge.platform import Delivered, Producer
from tests.edge.standins import PRINTED, JsObject

from remembrancer.core.errors import LimitExceeded, StoreUnavailable, UpstreamFailed
from remembrancer.edge.logs import log_to_platform
from remembrancer.edge.queues import RETRY_S, WorkersQueue, consume
from remembrancer.ports.queue import JobMessage


def batch_of(*messages: Delivered) -> JsObject:
    return JsObject(messages=list(messages))


def test_platform_hands_over_one_message_at_a_time() -> None:
    # Each may send as many statements as the free plan lets one event send.
    declared = tomllib.loads((ROOT / "wrangler.toml").read_text())
    assert [each["max_batch_size"] for each in declared["queues"]["consumers"]] == [1]


async def test_message_is_sent_as_json_with_its_delay() -> None:
    producer = Producer()
    await WorkersQueue(producer).send([JobMessage("extract", "默认", {"a": [1]})], delay_s=30)
    [[sent]] = producer.batches
    assert json.loads(json.dumps(sent, default=vars)) == {
        "body": {"kind": "extract", "namespace": "默认", "body": {"a": [1]}},
        "contentType": "json",
        "delaySeconds": 30,
    }


async def test_batches_keep_to_the_limits_of_number_and_size() -> None:
    producer = Producer()
    await WorkersQueue(producer).send([JobMessage("index", "default")] * 250)
    assert [len(batch) for batch in producer.batches] == [100, 100, 50]
    producer.batches.clear()
    await WorkersQueue(producer).send([JobMessage("index", "default", {"x": "字" * 30_000})] * 3)
    assert [len(batch) for batch in producer.batches] == [2, 1]
    with pytest.raises(LimitExceeded):
        await WorkersQueue(producer).send([JobMessage("index", "default", {"x": "字" * 50_000})])


async def test_nothing_to_send_sends_nothing() -> None:
    await WorkersQueue(Producer(is_broken=True)).send([])


async def test_failing_queue_is_an_unavailable_store() -> None:
    with pytest.raises(StoreUnavailable):
        await WorkersQueue(Producer(is_broken=True)).send([JobMessage("index", "default")])


async def test_each_message_has_its_own_fate() -> None:
    good = Delivered({"kind": "index", "namespace": "default", "body": {}})
    failing = Delivered({"kind": "extract", "namespace": "default"}, attempts=2)
    hopeless = Delivered({"kind": "extract", "namespace": "default"}, attempts=99)
    foreign = Delivered("not ours")
    last = Delivered({"kind": "index", "namespace": "另一个", "body": {"b": 1}})
    handled: list[JobMessage] = []

    async def handle(message: JobMessage) -> None:
        handled.append(message)
        if message.kind == "extract":
            raise UpstreamFailed("the model fails on purpose")

    await consume(batch_of(good, failing, hopeless, foreign, last), handle)
    assert [one.fate for one in (good, failing, hopeless, foreign, last)] == [
        "ack",
        f"retry {RETRY_S[1]}",
        f"retry {RETRY_S[-1]}",
        "ack",
        "ack",
    ]
    assert handled[-1] == JobMessage("index", "另一个", {"b": 1})


async def test_defect_in_one_message_brings_back_that_one_alone() -> None:
    PRINTED.clear()
    log_to_platform()
    good = Delivered({"kind": "index", "namespace": "default"})
    defect = Delivered({"kind": "extract", "namespace": "default"}, attempts=1)
    last = Delivered({"kind": "index", "namespace": "另一个"})

    async def handle(message: JobMessage) -> None:
        if message.kind == "extract":
            raise KeyError("secret words")

    await consume(batch_of(good, defect, last), handle)
    assert [one.fate for one in (good, defect, last)] == ["ack", f"retry {RETRY_S[0]}", "ack"]
    [(method, line)] = PRINTED
    assert (method, "KeyError" in line, "secret" in line) == ("error", True, False)
