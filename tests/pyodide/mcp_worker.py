"""A Worker that serves the conformance suite's fixtures through the bridge."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.mcp.fixture_app import fixture_app
from workers import WorkerEntrypoint

from remembrancer.edge.bridge import respond
from remembrancer.edge.runtime import serving

fixtures = cache(fixture_app)
"""Made at the first request: it draws chance, as nothing may at import."""


class Default(WorkerEntrypoint):  # type: ignore[misc] # the SDK is there on the platform alone
    """The entrypoint."""

    async def fetch(self, request: Any) -> object:
        with serving(self.ctx):
            return await respond(fixtures(), request.js_object)
