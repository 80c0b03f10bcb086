"""Filling the index of another model while the old one answers, until it is whole.

It goes on where it was stopped; what changes meanwhile reaches both indexes through the outbox.
Changing over is `app.vectors.composing` on one machine, a setting at the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.app.state import App
from remembrancer.app.vectors.index import described, next_pair, pause_of, write_vectors
from remembrancer.core.errors import (
    InvalidInput,
    LimitExceeded,
    PlatformError,
    RemembrancerError,
    UpstreamFailed,
)
from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX
from remembrancer.ports.models import Embedder
from remembrancer.ports.vectors import VectorIndex
from remembrancer.store import vector_books as books
from remembrancer.store import vector_filling as store
from remembrancer.store import vector_models as models
from remembrancer.store import vector_outbox
from remembrancer.store.vector_outbox import Waiting

FILL_ITEMS: Final = 500
"""Items of one step unless asked otherwise. Our choice, as for a drain."""

PROBE: Final = "probe"
"""A text that every model takes."""

START: Final = ("", "")
"""The place before every item."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What one step did.

    *Shape:* `filled` vectors written; `refused` texts that the model does not take; `is_whole`
    when nothing is left to do and the index shows what was written; `failure` why it stopped.
    """

    filled: int = 0
    refused: int = 0
    is_whole: bool = False
    failure: str | None = None


async def fill_next(app: App, *, limit: int = FILL_ITEMS) -> Filled:
    """Embed items that the next index lacks, in the order of their ids.

    *Raises:* StoreUnavailable of the database. *Promise:* safe to repeat and to interrupt; texts
    that the model refuses are left out, and found by words.
    """
    pair = next_pair(app)
    if pair is None:
        return Filled(is_whole=True)
    filling = _Filling(app, *pair)
    return await filling.run(limit)


class _Filling:
    """One step of filling."""

    def __init__(self, app: App, embedder: Embedder, index: VectorIndex) -> None:
        self._app = app
        self._embedder = embedder
        self._index = index
        self._label = models.label_of(embedder.model)
        self._filled = 0
        self._refused = 0

    async def run(self, limit: int) -> Filled:
        place, paused_until = await self._state()
        if paused_until > self._app.runtime.now_ms():
            return Filled(failure="the quota of the next model is spent")
        is_whole_walk = place == START
        while limit > 0 and not self._app.indexing.is_closed:
            rows = await self._missing(place, min(limit, EMBED_TEXTS_MAX))
            if not rows:
                return await self._end(is_whole_walk=is_whole_walk)
            limit -= len(rows)
            failure = await self._embed(rows)
            if failure is not None:
                return Filled(self._filled, self._refused, failure=failure)
            place = (rows[-1].namespace, rows[-1].item_id)
            await self._app.sql.write([models.filled_statement(self._label, place)])
        return Filled(self._filled, self._refused)

    async def _end(self, *, is_whole_walk: bool) -> Filled:
        """Tell whether it is whole. Until a walk over all finds nothing to do, another begins."""
        if (self._filled or not is_whole_walk) and await self._missing(START, 1):
            await self._app.sql.write([models.filled_statement(self._label, START)])
            return Filled(self._filled, self._refused)
        [booked] = await self._app.sql.read([books.booked_statement(None, self._label)])
        try:
            shown = (await self._index.describe()).count
        except (PlatformError, LimitExceeded) as error:
            return Filled(self._filled, self._refused, failure=described(error))
        wanted = books.count_of(booked)
        if shown < wanted:
            failure = f"the next index shows {shown} vectors of {wanted} that were written"
            return Filled(self._filled, self._refused, failure=failure)
        return Filled(self._filled, self._refused, is_whole=True)

    async def _state(self) -> tuple[tuple[str, str], int]:
        [read] = await self._app.sql.read([models.states_statement()])
        state = models.states(read).get(self._label, models.ModelState())
        return state.filled, state.paused_until

    async def _missing(self, after: tuple[str, str], limit: int) -> list[Waiting]:
        [read] = await self._app.sql.read([store.missing_statement(self._label, after, limit)])
        return vector_outbox.waiting(read)

    async def _embed(self, rows: list[Waiting]) -> str | None:
        """Embed a page; one that fails goes text by text. Returns why nothing can be done now."""
        error = await self._write(rows)
        if error is not None and await self._refuses(error):
            error = await self._embed_each(rows)
        if isinstance(error, LimitExceeded):
            until = self._app.runtime.now_ms() + pause_of(error)
            paused = models.pause_statement(self._label, until, described(error))
            await self._app.sql.write([paused])
        return None if error is None else described(error)

    async def _embed_each(self, rows: list[Waiting]) -> RemembrancerError | None:
        for row in rows:
            error = await self._write([row])
            if error is not None and not await self._refuses(error):
                return error
            self._refused += error is not None
        return None

    async def _refuses(self, error: RemembrancerError) -> bool:
        """Tell whether it is the text that the model does not take: another one it does."""
        if not isinstance(error, UpstreamFailed | InvalidInput):
            return False
        try:
            await self._embedder.embed([PROBE])
        except (PlatformError, LimitExceeded, InvalidInput):
            return False
        return True

    async def _write(self, rows: list[Waiting]) -> RemembrancerError | None:
        try:
            await write_vectors(self._embedder, self._index, rows)
        except (PlatformError, LimitExceeded, InvalidInput) as error:
            return error
        now = self._app.runtime.now_ms()
        await self._app.sql.write(store.filled_statements(rows, self._label, now))
        self._filled += len(rows)
        return None
