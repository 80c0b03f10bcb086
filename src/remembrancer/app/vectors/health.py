"""How the vectors are: what waits, whether index and store agree, whether a canary comes back.

The short look is a part of every health check; the long one is asked for by hand. Repairs are
`app.vectors.repair`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.models.embedding import OFF
from remembrancer.app.state import App
from remembrancer.app.vectors.index import described, next_pair
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import LimitExceeded, PlatformError
from remembrancer.core.values import JSON, Caller
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.ports.models import Embedder
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.ports.vectors import VectorIndex, VectorRow, VectorScope
from remembrancer.store import vector_books as store
from remembrancer.store import vector_models as models

WAIT_MS_MAX: Final = 1_800_000
"""Milliseconds that a change may wait for its vector before health says so: two sweeps of a
quarter of an hour. Our choice."""

CANARY_POLLS_MAX: Final = 8
"""Times that the canary is looked for, and its end. Source: the predecessor's health check."""

CANARY_PAUSE_MS: Final = 2_500
"""Milliseconds between them. Source: as above."""

CANARY_TEXT: Final = "A canary sings in the mine. 矿井里的金丝雀。"
"""What the canary says; the scope it is filed under is nobody's."""

_CANARY: Final = "canary"

Pause = Callable[[float], Awaitable[object]]
"""Waits for seconds; the door hands it in."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in the outbox, of the first thousand rows. *Units:* `oldest_ms` its age."""

    waiting: int
    removals: int
    failing: int
    oldest_ms: int
    oldest_at: int | None
    last_error: str | None


def backlog_statement(caller: Caller | None = None) -> Statement:
    """Return the statement that `backlog` reads; without a caller of all namespaces."""
    return store.queue_statement(None if caller is None else caller.namespace)


def backlog(outcome: Outcome, now_ms: int) -> Backlog:
    """Return what waits."""
    row = outcome.rows[0]
    oldest = None if row["oldest_at"] is None else int(str(row["oldest_at"]))
    return Backlog(
        int(str(row["waiting"])),
        int(str(row["removals"])),
        int(str(row["failing"])),
        0 if oldest is None else max(0, now_ms - oldest),
        oldest,
        None if row["last_error"] is None else str(row["last_error"]),
    )


def vector_reasons(app: App, waits: Backlog, paused: set[str]) -> list[str]:
    """Return why searches by meaning may miss something; nothing where there are no vectors."""
    if app.vectors is None or app.embedder is None:
        return []
    reasons = []
    if waits.oldest_ms > WAIT_MS_MAX:
        minutes = waits.oldest_ms // 60_000
        reasons.append(
            f"the vectors are behind: a change waits for {minutes} minutes; words find it"
        )
    if models.label_of(app.embedder.model) in paused:
        reasons.append("the embedder's quota is spent; it is asked again later")
    return reasons


async def vector_health(app: App, caller: Caller, *, pause: Pause | None) -> dict[str, JSON]:
    """Look at index, store and outbox, and send a canary through unless `pause` is None.

    *Shape:* `{"status": "ok"|"degraded"|"off", "reasons", "model", "dims", "items", "vectors",
    "all_items", "all_vectors", "index_count", "outbox", "canary", "next"}`: `items` of the
    namespace should have a vector and `vectors` were written; `index_count` is what the index
    shows of all namespaces. *Raises:* StoreUnavailable of the database; what embedder and index
    fail with is a reason. *Promise:* leaves nothing behind but a canary whose removal failed.
    """
    if app.vectors is None or app.embedder is None:
        return {"status": "off", "reasons": [why_off(app)]}
    label, now = models.label_of(app.embedder.model), app.runtime.now_ms()
    ours, everyone = caller.namespace, None
    read = await app.sql.read(
        [
            store.wanted_statement(ours),
            store.booked_statement(ours, label),
            store.wanted_statement(everyone),
            store.booked_statement(everyone, label),
            backlog_statement(caller),
            models.pauses_statement(now),
        ]
    )
    items, vectors, all_items, all_vectors = (store.count_of(each) for each in read[:4])
    waits = backlog(read[4], now)
    reasons = vector_reasons(app, waits, models.paused(read[5]))
    if not waits.waiting and items != vectors:
        reasons.append(f"{items} items should have a vector, {vectors} were written: reindex")
    count = await _count(app.vectors, reasons)
    if count is not None and count != all_vectors:
        reasons.append(f"the index shows {count} vectors of {all_vectors} that were written")
    canary: dict[str, JSON] | None = None
    if pause is not None:
        canary = await _Canary(app, app.embedder, app.vectors, caller, pause).fly(reasons)
    return {
        "status": "degraded" if reasons else "ok",
        "reasons": [*reasons],
        "model": app.embedder.model.name,
        "dims": app.embedder.model.dims,
        "items": items,
        "vectors": vectors,
        "all_items": all_items,
        "all_vectors": all_vectors,
        "index_count": count,
        "outbox": _outbox(waits),
        "canary": canary,
        "next": await _next(app),
    }


def why_off(app: App) -> str:
    """Return why nothing is searched by meaning, and the way out."""
    model = app.settings.embedding_model
    if model is not None and model.lower() == OFF:
        return "EMBEDDING_MODEL is off: search is by words"
    if app.embedder is not None:
        return "no vector index is bound: search is by words"
    return (
        "nothing embeds here, search is by words: install the extra 'local',"
        " bind Workers AI, or set EMBEDDING_MODEL"
    )


def _outbox(waits: Backlog) -> dict[str, JSON]:
    return {
        "waiting": waits.waiting,
        "removals": waits.removals,
        "failing": waits.failing,
        "oldest_at": None if waits.oldest_at is None else format_iso(waits.oldest_at),
        "oldest_age_s": waits.oldest_ms // 1_000,
        "last_error": waits.last_error,
    }


async def _count(index: VectorIndex, reasons: list[str]) -> int | None:
    try:
        return (await index.describe()).count
    except (PlatformError, LimitExceeded) as error:
        reasons.append(f"the index does not answer ({described(error)})")
        return None


async def _next(app: App) -> dict[str, JSON] | None:
    """Return how far the index of the next model is; None when there is none."""
    pair = next_pair(app)
    if pair is None:
        return None
    model = pair[0].model
    wanted, booked = await app.sql.read(
        [store.wanted_statement(None), store.booked_statement(None, models.label_of(model))]
    )
    return {
        "model": model.name,
        "dims": model.dims,
        "vectors": store.count_of(booked),
        "total": store.count_of(wanted),
    }


class _Canary:
    """A vector that is written, found, removed and found no more."""

    def __init__(
        self, app: App, embedder: Embedder, index: VectorIndex, caller: Caller, pause: Pause
    ) -> None:
        self._runtime = app.runtime
        self._embedder = embedder
        self._index = index
        # One of its own for each look, so that two at once do not disturb each other.
        name = f"{_CANARY}-{app.runtime.random_bytes(8).hex()}"
        self._row = VectorRow(
            vector_id(caller.namespace, name), VectorScope(caller.namespace, _CANARY), ()
        )
        self._pause = pause
        self._polls = 0

    async def fly(self, reasons: list[str]) -> dict[str, JSON]:
        """Send it; what goes wrong becomes a reason."""
        begun = self._runtime.now_ms()
        told: dict[str, JSON] = {"written": False, "found": False, "deleted": False}
        try:
            [values] = await self._embedder.embed([CANARY_TEXT])
            self._row = replace(self._row, values=values)
            await self._index.upsert([self._row])
            told["written"] = True
            told["found"] = await self._see(is_there=True)
            await self._index.delete([self._row.id])
            told["deleted"] = await self._see(is_there=False)
        except (PlatformError, LimitExceeded) as error:
            reasons.append(f"the canary did not come back ({described(error)})")
            await self._fetch_back()
        else:
            if not told["found"]:
                reasons.append(f"the canary was not found in {CANARY_POLLS_MAX} looks")
            elif not told["deleted"]:
                reasons.append(f"the removed canary is found after {CANARY_POLLS_MAX} looks")
        return {**told, "polls": self._polls, "ms": self._runtime.now_ms() - begun}

    async def _see(self, *, is_there: bool) -> bool:
        for look in range(CANARY_POLLS_MAX):
            if look:
                await self._pause(CANARY_PAUSE_MS / 1_000)
            self._polls += 1
            found = await self._index.query(self._row.scope, self._row.values, top=10)
            if any(match.id == self._row.id for match in found) is is_there:
                return True
        return False

    async def _fetch_back(self) -> None:
        with suppress(PlatformError, LimitExceeded):
            await self._index.delete([self._row.id])
