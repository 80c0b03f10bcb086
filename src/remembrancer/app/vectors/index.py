"""Draining the vector outbox: texts are embedded, vectors written and removed, rows taken off.

Everything may be repeated, two drains may run at once, and one may be killed anywhere: a row goes
only when its vector is written and nothing was changed meanwhile. Queries are not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.errors import (
    InvalidInput,
    LimitExceeded,
    PlatformError,
    RemembrancerError,
)
from remembrancer.core.values import JSON
from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX
from remembrancer.core.vectors.embedding import embedding_text, vector_id, vector_kind
from remembrancer.ports.models import Embedder
from remembrancer.ports.sql import Statement
from remembrancer.ports.vectors import VectorIndex, VectorRow, VectorScope
from remembrancer.store import vector_models as models
from remembrancer.store import vector_outbox as store
from remembrancer.store.vector_models import ModelState
from remembrancer.store.vector_outbox import Waiting

DRAIN_ROWS: Final = 500
"""Rows of one drain unless asked otherwise: some seconds of work. Our choice."""

BACKOFF_MS: Final = 5_000
"""Milliseconds after which a failed row is tried again; doubled by each failure. Our choice."""

BACKOFF_MS_MAX: Final = 3_600_000
"""The longest such wait. Nothing is ever given up. Our choice."""

PAUSE_MS: Final = 900_000
"""Milliseconds for which a model whose quota is spent is left alone, unless it says itself how
long. Source: Workers AI counts by the day; a quarter of an hour late is early enough."""

PAUSE_MS_MAX: Final = 3_600_000
"""The longest such pause, whatever was asked for. Our choice."""

FAILED_CALLS_MAX: Final = 3
"""Failing calls after which a drain ends: the other side is away. Our choice."""

RETRIED_TEXTS: Final = 10
"""Texts of a call after one failure; after two each goes alone, so that a text that is refused
holds nothing else up. Our choice."""

_ERROR_CHARS: Final = 200
"""Characters of a failure that are kept; ours name codes, never a text."""


async def drain_outbox(
    app: App, *, namespace: str | None = None, limit: int = DRAIN_ROWS
) -> dict[str, JSON]:
    """Do what waits in the outbox: removals first, then what is to be embedded.

    *Shape:* `{"embedded", "deleted", "retried", "postponed", "left"}`; `retried` counts rows that
    failed and come again later, `postponed` those that met a spent quota, `left` what is still
    queued, counted to 1,000. Without an index nothing is done. *Units:* `limit` rows.
    *Raises:* StoreUnavailable, TimedOut of the database; a failing embedder or index is noted
    beside the rows instead. *Promise:* safe to repeat, beside another drain as well.
    """
    run = _Run(app, namespace, limit)
    if app.vectors is not None:
        await run.drain()
    [counted] = await app.sql.read([store.left_statement(namespace, limits.COUNT_MAX)])
    return {
        "embedded": run.embedded,
        "deleted": run.deleted,
        "retried": run.retried,
        "postponed": run.postponed,
        "left": int(str(counted.rows[0]["count"])),
    }


def next_pair(app: App) -> tuple[Embedder, VectorIndex] | None:
    """Return embedder and index of the model that is to answer next; None when there is none."""
    if app.embedder_next is None or app.vectors_next is None:
        return None
    if app.embedder is not None and app.embedder.model == app.embedder_next.model:
        return None  # it answers already
    return app.embedder_next, app.vectors_next


async def write_vectors(embedder: Embedder, index: VectorIndex, rows: Sequence[Waiting]) -> None:
    """Embed items and write their vectors. *Raises:* what embedder and index do."""
    values = await embedder.embed([text_of(row) for row in rows])
    await index.upsert([vector_row(row, vector) for row, vector in zip(rows, values, strict=True)])


def pause_of(error: LimitExceeded) -> int:
    """Return for how many milliseconds a model is left alone whose quota is spent."""
    asked = error.details.get("retry_after_ms")
    return min(asked, PAUSE_MS_MAX) if isinstance(asked, int) and asked > 0 else PAUSE_MS


def vector_row(row: Waiting, values: Sequence[float]) -> VectorRow:
    """Return the vector of an item, under its id and scope."""
    assert row.fields is not None
    kind = vector_kind(row.fields)
    project = row.fields.get("project_id")
    scope = VectorScope(row.namespace, kind or "", str(project or ""))
    return VectorRow(vector_id(row.namespace, row.item_id), scope, values)


def text_of(row: Waiting) -> str:
    """Return what is embedded of a row's item."""
    assert row.fields is not None
    return embedding_text(row.fields, project=row.project, topic=row.topic)


def described(error: RemembrancerError) -> str:
    """Return how a failure is kept: its code and its sentence, which hold no memory text."""
    return f"{error.code}: {error.message}"[:_ERROR_CHARS]


@dataclass(slots=True)
class _Run:
    """One drain: what it may still do and what it did."""

    app: App
    namespace: str | None
    room: int
    embedded: int = 0
    deleted: int = 0
    retried: int = 0
    postponed: int = 0
    failed_calls: int = 0
    is_paused: bool = False

    @property
    def indexes(self) -> list[VectorIndex]:
        pair = next_pair(self.app)
        found = [self.app.vectors, None if pair is None else pair[1]]
        return [each for each in found if each is not None]

    @property
    def is_over(self) -> bool:
        return self.app.indexing.is_closed or self.failed_calls >= FAILED_CALLS_MAX

    async def drain(self) -> None:
        while self.room > 0 and not self.is_over:
            now = self.app.runtime.now_ms()
            gone, due, known = await self.app.sql.read(
                [
                    store.gone_statement(self.namespace, now, min(self.room, store.GONE_ROWS_MAX)),
                    store.due_statement(self.namespace, now, min(self.room, EMBED_TEXTS_MAX)),
                    models.states_statement(),
                ]
            )
            states = models.states(known)
            if self._is_outdated(states):
                return
            paused = {label for label, state in states.items() if state.paused_until > now}
            removals, wanted = store.waiting(gone), store.waiting(due)
            removals += [row for row in wanted if not _is_embedded(row)]
            texts = [row for row in wanted if _is_embedded(row)]
            self.room -= len(removals)
            if removals:
                await self._remove(removals)
            if not await self._embed(texts, paused) and not removals:
                return

    async def _remove(self, rows: list[Waiting]) -> None:
        ids = [vector_id(row.namespace, row.item_id) for row in rows]
        try:
            for index in self.indexes:
                await index.delete(ids)
        except (PlatformError, LimitExceeded, InvalidInput) as error:
            await self._fail(rows, error)
            return
        await self.app.sql.write(store.removed_statements(rows, self.app.runtime.now_ms()))
        self.deleted += len(rows)

    async def _embed(self, rows: list[Waiting], paused: set[str]) -> bool:
        """Embed what may be; tells whether there was anything to do."""
        embedder = self.app.embedder
        if embedder is None or self.app.vectors is None:
            return False
        if self.is_paused:
            return False
        if models.label_of(embedder.model) in paused:
            self.is_paused = True
            self.postponed += len(rows)
            return False
        for batch in _batches(rows):
            if self.room <= 0 or self.is_over or self.is_paused:
                break
            batch = batch[: self.room]
            self.room -= len(batch)
            await self._embed_batch(embedder, self.app.vectors, batch)
        return bool(rows)

    async def _embed_batch(
        self, embedder: Embedder, vectors: VectorIndex, rows: list[Waiting]
    ) -> None:
        try:
            await write_vectors(embedder, vectors, rows)
        except LimitExceeded as error:
            await self._pause(embedder, error)
            self.postponed += len(rows)
            return
        except (PlatformError, InvalidInput) as error:
            await self._fail(rows, error)
            return
        noted = await self._embed_next(rows)
        label, now = models.label_of(embedder.model), self.app.runtime.now_ms()
        await self.app.sql.write([*noted, *store.embedded_statements(rows, label, now)])
        self.embedded += len(rows)

    async def _embed_next(self, rows: list[Waiting]) -> list[Statement]:
        """Keep the index of the next model up to date; what fails there, its filling repeats."""
        pair = next_pair(self.app)
        if pair is None:
            return []
        label = models.label_of(pair[0].model)
        try:
            await write_vectors(*pair, rows)
        except (PlatformError, LimitExceeded, InvalidInput):
            return [store.unnoted_statement(rows, label)]
        return [store.noted_statement(rows, label)]

    def _is_outdated(self, states: Mapping[str, ModelState]) -> bool:
        """Tell whether another process has changed over to a model that this one does not know."""
        serving = models.serving(states)
        known = [self.app.embedder, self.app.embedder_next]
        labels = {models.label_of(each.model) for each in known if each is not None}
        return bool(labels) and serving is not None and serving not in labels

    async def _pause(self, embedder: Embedder, error: LimitExceeded) -> None:
        self.is_paused = True
        until = self.app.runtime.now_ms() + pause_of(error)
        label = models.label_of(embedder.model)
        await self.app.sql.write([models.pause_statement(label, until, described(error))])

    async def _fail(self, rows: list[Waiting], error: RemembrancerError) -> None:
        self.failed_calls += 1
        self.retried += len(rows)
        now = self.app.runtime.now_ms()
        again = [(row, now + _backoff(row.attempts)) for row in rows]
        await self.app.sql.write([store.failed_statement(again, described(error))])


def _is_embedded(row: Waiting) -> bool:
    return row.fields is not None and vector_kind(row.fields) is not None


def _batches(rows: list[Waiting]) -> list[list[Waiting]]:
    """Return the rows in parts: those that failed before in small ones."""
    batches: list[list[Waiting]] = []
    for size, chosen in (
        (EMBED_TEXTS_MAX, [row for row in rows if row.attempts == 0]),
        (RETRIED_TEXTS, [row for row in rows if row.attempts == 1]),
        (1, [row for row in rows if row.attempts > 1]),
    ):
        batches += [chosen[start : start + size] for start in range(0, len(chosen), size)]
    return batches


def _backoff(attempts: int) -> int:
    return min(BACKOFF_MS << min(attempts, 30), BACKOFF_MS_MAX)
