"""What the platform hands to the Worker's entrypoint, as far as it is looked at. Types alone."""

from __future__ import annotations

from typing import Protocol

from remembrancer.edge import bridge


class SdkRequest(Protocol):
    """The SDK's view of a request."""

    @property
    def js_object(self) -> bridge.Request: ...


class ScheduledController(Protocol):
    """What the platform hands over when a line of the schedule is due."""

    @property
    def cron(self) -> str: ...
