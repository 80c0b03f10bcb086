"""The queue port over Cloudflare Queues, and the messages of a batch that it delivers.

What a message asks for is done by `app.jobs`; here it only comes and goes. `edge.wire` imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from remembrancer.core.errors import LimitExceeded, RemembrancerError
from remembrancer.core.values import canonical_json
from remembrancer.edge.convert import JsObject, js_value, json_value
from remembrancer.edge.errors import queue_errors
from remembrancer.ports.queue import JobMessage

logger = logging.getLogger(__name__)

MESSAGE_BYTES_MAX: Final = 120_000
"""Bytes of one message. Source: Queues' limits, 128 KB, of which some are the platform's own."""

SENT_AT_ONCE: Final = 100
"""Messages of one call. Source: Queues' limits, as above."""

SENT_BYTES_MAX: Final = 240_000
"""Bytes of one call. Source: Queues' limits, 256 KB."""

RETRY_S: Final = (30, 120, 600, 3_600)
"""Seconds before a failed message comes again, by how often it has been tried. Our choice."""


class Producer(Protocol):
    """Queue."""

    def sendBatch(self, messages: JsObject) -> Awaitable[None]: ...  # noqa: N802 - the platform's


class WorkersQueue:
    """A queue of the platform behind the queue port."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer

    async def send(self, messages: Sequence[JobMessage], *, delay_s: int = 0) -> None:
        """Leave messages, in as few calls as the limits allow; see the port."""
        batch: list[dict[str, object]] = []
        size = 0
        for message in messages:
            body = {"kind": message.kind, "namespace": message.namespace, "body": {**message.body}}
            length = len(canonical_json(body).encode())
            if length > MESSAGE_BYTES_MAX:
                raise LimitExceeded(
                    f"a message of {length} bytes is over the limit of {MESSAGE_BYTES_MAX}",
                    hint="send where the work is, not the work",
                )
            if batch and (len(batch) == SENT_AT_ONCE or size + length > SENT_BYTES_MAX):
                await self._send(batch)
                batch, size = [], 0
            batch.append({"body": body, "contentType": "json", "delaySeconds": delay_s})
            size += length
        if batch:
            await self._send(batch)

    async def _send(self, batch: Sequence[dict[str, object]]) -> None:
        with queue_errors():
            await self._producer.sendBatch(js_value([*batch]))


async def consume(batch: JsObject, handle: Callable[[JobMessage], Awaitable[object]]) -> None:
    """Hand each message of a batch on, and tell the platform which are done.

    *Shape:* `batch` the platform's own; a message that fails comes again later, the others do not;
    one that is none of ours is done with, and said in the log. *Promise:* never raises: that would
    bring back the others, also where one meets a defect.
    """
    for message in batch.messages:
        try:
            told = json_value(message.body)
            job = JobMessage(str(told["kind"]), str(told["namespace"]), dict(told.get("body", {})))
        except (KeyError, TypeError, ValueError) as error:
            logger.warning("a message of the queue is not ours", exc_info=error)
            message.ack()
            continue
        try:
            await handle(job)
        except RemembrancerError as error:
            logger.warning("a job from the queue failed and comes again", exc_info=error)
            _again(message)
        except Exception as error:
            logger.error("a job from the queue met a defect and comes again", exc_info=error)
            _again(message)
        else:
            message.ack()


def _again(message: JsObject) -> None:
    tried = max(1, int(message.attempts))
    message.retry(delaySeconds=RETRY_S[min(tried, len(RETRY_S)) - 1])
