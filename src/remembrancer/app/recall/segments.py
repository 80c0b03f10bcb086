"""The segments of the index of words: each write makes one, and each look-up asks all of them.

FTS5 merges them by itself, but lets some twenty be, in which a recall's words take ten times as
long to look up as in one. A server of one's own brings them together while nobody writes. Nothing
is found otherwise, or counted otherwise, for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.values import MINUTE_MS
from remembrancer.store import search as store

SEGMENTS_MAX: Final = 4
"""Segments that are left as they are. Our choice: merging rewrites the whole index, four megabytes
for ten thousand items, for the sake of what the last few writes added."""

PATIENCE_MS: Final = 10 * MINUTE_MS
"""Milliseconds after which segments are merged though somebody writes all the time. Our choice."""


class Segments:
    """The watch over the segments of an app's index."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._seen: Sequence[int] = ()
        self._since_ms: int | None = None

    async def tick(self) -> None:
        """Merge the segments if there are many and none was added since the last tick, or they have
        been many for long.

        *Raises:* StoreUnavailable. *Promise:* a write waits for `MERGED_PAGES` of it at most.
        """
        pages = await self._pages()
        segments, now_ms = sorted(pages), self._app.runtime.now_ms()
        seen, self._seen = self._seen, segments
        if len(segments) <= SEGMENTS_MAX:
            self._since_ms = None
            return
        if self._since_ms is None:
            self._since_ms = now_ms
        if segments == seen or now_ms - self._since_ms >= PATIENCE_MS:
            await self._merge(sum(pages.values()))
            self._since_ms = None

    async def _merge(self, pages: int) -> None:
        await self._app.sql.write([store.merge_statement(is_first=True)])
        # What is written meanwhile makes segments of its own, so it need not come to one.
        for _ in range(2 + 2 * pages // store.MERGED_PAGES):
            if len(await self._pages()) == 1:
                return
            await self._app.sql.write([store.merge_statement()])

    async def _pages(self) -> dict[int, int]:
        [outcome] = await self._app.sql.read([store.segments_statement()])
        return store.segments_of(outcome.rows)
