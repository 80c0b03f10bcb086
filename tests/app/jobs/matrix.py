"""Every fault at every await: a prepared world is copied, disturbed at one call, and recovers.

A scenario prepares its world once; each case copies the database's bytes instead of preparing it
again. The calls of all ports are counted together, so an await that is added to a job is met by
every fault without a word here.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, cast

from tests.app.distill.nightly import Distiller, Script
from tests.builders import NAMESPACE

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.frame import LEASE_MS, Asked
from remembrancer.app.jobs.running import run_job
from remembrancer.app.state import App
from remembrancer.app.verify import verify
from remembrancer.core.errors import (
    LimitExceeded,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.local.connection import MEMORY
from remembrancer.local.sqlite import SqliteStore
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.sql import SqlStore
from remembrancer.ports.vectors import VectorRow
from remembrancer.testing.blobs import MemoryBlobs
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.models import HashingEmbedder
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import memory_store

How = Literal[
    "killed before", "killed after", "refused", "answer lost", "twice", "cancelled", "timed out",
    "spent",
]  # fmt: skip
"""What happens at the chosen call. Killed: it and all later calls never return to the process."""

HOWS: tuple[How, ...] = (
    "killed before", "killed after", "refused", "answer lost", "twice", "cancelled",
)  # fmt: skip
"""What happens at any port."""

MODEL_HOWS: tuple[How, ...] = ("timed out", "spent")
"""What happens at a model alone."""

MODELS = ("chat", "embedder")

VISITS_MAX = 60
"""Visits of the schedule after which a world that does not come to rest has failed."""


class Killed(BaseException):
    """The process is gone: no handler of its own sees this."""


@dataclass(slots=True)
class Fate:
    """One fault at call `at`, from 1, of all ports together; 0 for none. `log` names the calls."""

    at: int = 0
    how: How = "refused"
    log: list[str] = field(default_factory=list)
    is_dead: bool = False

    async def meet(self, port: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        self.log.append(f"{port}.{name}")
        is_due = len(self.log) == self.at
        if self.is_dead or (is_due and self.how == "killed before"):
            self.is_dead = True
            raise Killed
        if is_due and self.how == "cancelled":
            raise asyncio.CancelledError
        if is_due and self.how in ("refused", "timed out", "spent"):
            raise self._error(port)
        outcome = await call()
        if is_due and self.how == "twice":
            outcome = await call()
        if is_due and self.how == "killed after":
            self.is_dead = True
            raise Killed
        if is_due and self.how == "answer lost":
            raise self._error(port)
        return outcome

    def _error(self, port: str) -> RemembrancerError:
        if self.how == "timed out":
            return TimedOut("too late on purpose")
        if self.how == "spent":
            return LimitExceeded("the quota is spent on purpose")
        if port in MODELS:
            return UpstreamFailed("it fails on purpose")
        return StoreUnavailable("it is away on purpose")


class Fated:
    """A port whose every call meets the fate."""

    def __init__(self, inner: Any, port: str, fate: Fate) -> None:
        self._inner, self._port, self._fate = inner, port, fate

    def session(self, bookmark: str | None) -> Fated:
        del bookmark
        return self

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(value):
            return value

        async def call(*args: Any, **named: Any) -> Any:
            return await self._fate.meet(self._port, name, lambda: value(*args, **named))

        return call


class RememberingVectors:
    """A vector index whose rows can be copied."""

    def __init__(self, rows: Mapping[str, VectorRow]) -> None:
        self.inner = LocalVectors(MEMORY, HashingEmbedder().model, threads=0)
        self.rows = dict(rows)

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        await self.inner.upsert(rows)
        self.rows |= {row.id: row for row in rows}

    async def delete(self, ids: Sequence[str]) -> None:
        await self.inner.delete(ids)
        for id_ in ids:
            self.rows.pop(id_, None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(slots=True)
class World:
    """One scenario's ports, whole, and the app over them."""

    bench: Distiller
    app: App
    vectors: RememberingVectors
    blobs: MemoryBlobs
    queue: RecordingQueue

    def fated(self, fate: Fate) -> App:
        """The same app, whose ports meet a fate."""
        ports: dict[str, Any] = {
            name: Fated(getattr(self.app, name), name, fate)
            for name in ("sql", "kv", "chat", "embedder", "vectors", "queue", "blobs")
            if getattr(self.app, name) is not None
        }
        return replace(self.app, **ports)


@dataclass(slots=True)
class Scenario:
    """A job with work of every kind that it knows.

    *Shape:* `prepare` fills the world; `seen` is what must be the same in the end, whatever ids and
    times are; `uses` the optional ports; `wait_ms` between two visits of the schedule.
    """

    job: str
    prepare: Callable[[World], Awaitable[object]]
    seen: Callable[[World], Awaitable[object]]
    script: Script | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    asked: Callable[[World], Awaitable[Asked]] | None = None
    wait_ms: int = LEASE_MS
    _image: tuple[bytes, Any, dict[str, VectorRow], dict[str, bytes]] | None = None
    _expected: object = None

    async def world(self) -> World:
        """A fresh copy of the prepared world."""
        if self._image is None:
            world = self.made(memory_store())
            await self.prepare(world)
            store = cast(SqliteStore, world.bench.sql)
            image = store.with_writer_now(lambda raw: raw.serialize())
            self._image = (image, world.bench.runtime, world.vectors.rows, world.blobs.held)
        image, runtime, rows, held = self._image
        store = memory_store(is_migrated=False)
        store.with_writer_now(lambda raw: raw.deserialize(image))
        world = self.made(store, copy.deepcopy(runtime), rows, held)
        if rows:
            await world.vectors.inner.upsert(list(rows.values()))
        return world

    def made(
        self,
        store: SqlStore,
        runtime: Any = None,
        rows: Mapping[str, VectorRow] = MappingProxyType({}),
        held: Mapping[str, bytes] = MappingProxyType({}),
    ) -> World:
        """A world that is not prepared, over any store."""
        bench = Distiller(actor="agent:claude", sql=store, given=dict(self.given))
        if runtime is not None:
            bench.runtime = runtime
        if self.script is not None:
            bench.teach(self.script)
        vectors, blobs, queue = RememberingVectors(rows), MemoryBlobs(), RecordingQueue()
        blobs.held = dict(held)
        given: dict[str, Any] = {"vectors": vectors, "embedder": HashingEmbedder(), "blobs": blobs}
        app = replace(bench.app, queue=queue, **{name: given[name] for name in self.uses})
        app.indexing.is_eager = False
        return World(bench, app, vectors, blobs, queue)

    async def visit(self, world: World, app: App) -> Answer | None:
        """One visit of the schedule; None when it ended badly."""
        asked = Asked() if self.asked is None else await self.asked(world)
        try:
            return await run_job(app, self.job, NAMESPACE, asked=asked, trigger="cron")
        except (Killed, RemembrancerError, asyncio.CancelledError):
            return None

    async def settle(self, world: World) -> object:
        """Let the schedule come by until nothing is left; return what is seen then."""
        for _ in range(VISITS_MAX):
            world.bench.runtime.advance(self.wait_ms)
            answer = await self.visit(world, world.app)
            if answer is not None and answer["status"] == "nothing":
                break
        else:
            raise AssertionError(f"{self.job} comes to no rest: {answer}")
        left = "SELECT id FROM job_runs WHERE status = 'running'"
        assert await world.bench.rows(left) == []
        assert await world.bench.rows("SELECT job FROM job_states WHERE owner IS NOT NULL") == []
        assert (await verify(world.app))["ok"]
        return await self.seen(world)

    async def expected(self) -> object:
        """What is seen after a run that nothing disturbs."""
        if self._expected is None:
            self._expected = await self.settle(await self.world())
        return self._expected

    async def awaits(self) -> list[str]:
        """The calls of a run that nothing disturbs, in order."""
        world, fate = await self.world(), Fate()
        world.bench.runtime.advance(self.wait_ms)
        await self.visit(world, world.fated(fate))
        return fate.log

    async def disturbed(self, at: int, how: How) -> bool:
        """Meet one fault, recover, compare; tell whether the call was reached."""
        world, fate = await self.world(), Fate(at, how)
        world.bench.runtime.advance(self.wait_ms)
        await self.visit(world, world.fated(fate))
        assert await self.settle(world) == await self.expected(), (self.job, at, how)
        return len(fate.log) >= at

    async def crashed(self, point: CrashPoint) -> bool:
        """Die inside one batch, recover, compare; tell whether the place was reached."""
        world = await self.world()
        faults = Faults(crash=point)
        app = replace(world.app, sql=FaultyStore(world.app.sql, faults))
        world.bench.runtime.advance(self.wait_ms)
        await self.visit(world, app)
        if not faults.has_crashed:
            return False
        assert await self.settle(world) == await self.expected(), (self.job, point)
        return True
