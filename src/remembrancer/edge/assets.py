"""The assets port over the platform's static assets: the panel's files as they were uploaded.

The Worker comes first for every path and HTML handling is off (`wrangler.toml`), so a file is
answered under its own name and nothing else is. `edge.wire` imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, Protocol
from urllib.parse import quote

from remembrancer.core.errors import StoreUnavailable
from remembrancer.edge.convert import JsObject, header_texts, to_bytes
from remembrancer.edge.errors import asset_errors
from remembrancer.ports.assets import Asset

ORIGIN: Final = "https://assets.invalid"
"""Any host does: the binding looks at the path alone."""


class Fetcher(Protocol):
    """The binding of static assets."""

    def fetch(self, url: str) -> Awaitable[JsObject]: ...


class WorkersAssets:
    """The uploaded files behind the assets port."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def read(self, path: str) -> Asset | None:
        """Return a file, or None when there is none; see the port."""
        if not all(part.strip(".") for part in path.split("/")):  # an address has no such parts
            return None
        with asset_errors():
            answer = await self._fetcher.fetch(f"{ORIGIN}/{quote(path)}")
            if answer.status == 200:
                told = dict(header_texts(answer.headers)).get("content-type")
                body = to_bytes(await answer.arrayBuffer())
                return Asset(told or "application/octet-stream", body)
        if answer.status >= 500:
            raise StoreUnavailable("the panel's files did not answer", hint="load the page again")
        return None
