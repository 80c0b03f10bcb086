"""The Worker: the platform calls its methods. Everything else is `remembrancer.edge.wire`."""

from __future__ import annotations

from workers import WorkerEntrypoint

from remembrancer.edge.events import ScheduledController, SdkRequest
from remembrancer.edge.wire import Isolate

_ISOLATE = Isolate()


class Default(WorkerEntrypoint):  # type: ignore[misc] # the SDK is there on the platform alone
    """The entrypoint of requests, of the queue's messages and of the schedule."""

    async def fetch(self, request: SdkRequest) -> object:
        """Answer one request."""
        return await _ISOLATE.fetch(self.env, self.ctx, request)

    async def queue(self, batch: object, *_: object) -> None:
        """Do what the messages of a batch are about."""
        await _ISOLATE.queue(self.env, self.ctx, batch)

    async def scheduled(self, controller: ScheduledController, *_: object) -> None:
        """Do what a line of the schedule stands for."""
        await _ISOLATE.scheduled(self.env, self.ctx, str(controller.cron))
