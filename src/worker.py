"""The Worker: the platform calls its methods. Everything else is `remembrancer.edge.wire`."""

from __future__ import annotations

from workers import WorkerEntrypoint

from remembrancer.edge.wire import Isolate, SdkRequest

_ISOLATE = Isolate()


class Default(WorkerEntrypoint):  # type: ignore[misc] # the SDK is there on the platform alone
    """The entrypoint of HTTP requests."""

    async def fetch(self, request: SdkRequest) -> object:
        """Answer one request."""
        return await _ISOLATE.fetch(self.env, self.ctx, request)
