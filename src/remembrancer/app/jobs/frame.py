"""The frame that every job stands on: what a job is, and what it is handed while it runs.

A job reads its work from the store, does it in steps, and writes each step's effects together
with the cursor that says so, in one batch that fails when its lease is lost. So it may be killed
anywhere, delivered twice or come late, and the result is that of the undisturbed run.
`app.jobs.running` takes the lease and writes the run down; `app.jobs.catalogue` names the jobs.

How to write a job: a module with `CODE = JobCode(pending, run)`. `pending(ctx)` reads how much
there is to do and writes nothing: where all its counts are 0 no run begins. `run(ctx)` does at most
what `ctx.budget` affords, counts what it did with `ctx.count`, and returns
`JobReport(is_done=False)` when there is more: it is called again with a fresh budget, unless it
counts nothing any more. Each step ends with `app.commit.write(ctx.app, ctx.caller, decide)`,
whose plan has `ctx.cursor_statement(…)` or `*ctx.guard_statements()` in its `extra`; before
each call of a model, and before each step, `await ctx.still_mine()`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import Namespace
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import JSON, MINUTE_MS, Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import job_cursors as cursors
from remembrancer.store import jobs as store
from remembrancer.store.job_cursors import ReadMessages
from remembrancer.store.jobs import Lease

LEASE_MS: Final = 12 * MINUTE_MS
"""Milliseconds for which a lease is taken and renewed; longer than any question to a model, which
is asked twice, five minutes at most, where it takes no form."""

STATEMENTS_MAX: Final = 34
"""Statements of one piece of a run; with the frame's own they stay under the 45 of a request."""


SETTLING_STATEMENTS: Final = 6
"""Statements of a request that are set aside for writing down how a run ended, and for asking what
is left. Our choice."""

LATE_MAX: Final = 5
"""Batches of a run that are read again because something came between. Our choice."""


class LeaseLost(Conflict):
    """The run's lease is another's by now; it must end without writing."""


@dataclass(slots=True)
class Budget:
    """What one piece of a run may still spend. *Shape:* a step asks `affords` before it begins."""

    statements: int = STATEMENTS_MAX

    def affords(self, statements: int) -> bool:
        """Tell whether so many statements may still be sent."""
        return self.statements >= statements

    def spend(self, statements: int) -> None:
        """Count statements that were sent."""
        self.statements -= statements


@dataclass(frozen=True, slots=True)
class Asked:
    """What whoever starts a run asks for.

    *Shape:* `force` runs a paused, waiting or dead job, and does again what its job documents;
    `dates` are the days that a job of days shall do; `runs_max` bounds its batches; `pieces_max`
    bounds the pieces of this run, the queue brings the rest; `messages` that were set aside are
    read again, and nothing else; `run_id` is the run that this goes on with.
    """

    force: bool = False
    dates: tuple[str, ...] = ()
    runs_max: int | None = None
    pieces_max: int | None = None
    messages: tuple[str, ...] = ()
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class JobReport:
    """What one call of a job's `run` comes back with.

    *Shape:* `answer` stands in the door's answer, under `details`.
    """

    is_done: bool = True
    answer: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(slots=True)
class JobContext:
    """What a job is handed.

    *Shape:* `caller` acts as `job:<name>` and its cause is the run's id; `now_ms` is when this call
    began, and what the job takes for the present throughout; `total` what was pending when the run
    did; `counts` those of the whole run, also where it goes on from word to word of the queue.
    """

    app: App
    caller: Caller
    job: str
    namespace: Namespace
    run_id: str
    now_ms: int
    asked: Asked = field(default_factory=Asked)
    budget: Budget = field(default_factory=Budget)
    counts: Counter[str] = field(default_factory=Counter)
    total: int = 0
    done_of: tuple[int, int] | None = None
    is_leased: bool = True
    holder: str = ""

    @property
    def force(self) -> bool:
        """Whether whoever started the run insists."""
        return self.asked.force

    @property
    def lease(self) -> Lease:
        """What the run holds."""
        return Lease(self.namespace, self.job, self.run_id, self.holder)

    def count(self, **counts: int) -> None:
        """Add to the run's counts; they are shown, and kept with the run."""
        self.counts.update(counts)

    def progress(self, done: int, total: int) -> None:
        """Say how far the run is; shown with the next renewal of the lease."""
        self.done_of = (done, max(done, total))

    async def cursor(self, name: str) -> Cursor | None:
        """Return a cursor of this namespace, None before its first move. One round trip."""
        return (await self.cursors(name)).get(name)

    async def cursors(self, prefix: str) -> dict[str, Cursor]:
        """Return the cursors whose names begin so. One round trip."""
        [outcome] = await self.app.sql.read([cursors.cursors_statement(self.namespace, prefix)])
        return cursors.cursors_of(outcome.rows)

    def cursor_statement(
        self, name: str, cursor: Cursor, read: ReadMessages | None = None
    ) -> Statement:
        """Return the statement that moves a cursor; it belongs into the batch of the effects.

        *Promise:* the whole batch fails when the lease is lost, or when messages came late among
        those that were read: see `read_again`.
        """
        return cursors.cursor_statement(self.lease, name, cursor, read)

    async def read_again(self, clash: Conflict) -> None:
        """Count that a batch is to be read again, since a message may have come late. *Raises:*
        LeaseLost; the clash, when it has happened too often to be that, or when the request affords
        no more than was sent so far: the run's next try reads it."""
        await self.still_mine()
        is_dear = not self.app.spending.affords(STATEMENTS_MAX - self.budget.statements)
        if self.counts["late"] >= LATE_MAX or is_dear:
            raise clash
        self.count(late=1)

    def guard_statements(self) -> list[Statement]:
        """Return what makes a batch without a cursor fail when the lease is lost."""
        return store.guard_statements(self.lease)

    async def still_mine(self) -> None:
        """Renew the lease and show counts and progress. *Raises:* LeaseLost. One round trip."""
        if not self.is_leased:
            return
        renewed = await self.app.sql.write(
            store.renew_statements(
                self.lease,
                until_ms=self.app.runtime.now_ms() + LEASE_MS,
                counts=dict(self.counts),
                progress=self.done_of,
            )
        )
        if not renewed[0].rows:
            raise LeaseLost(
                f"the run {self.run_id} of {self.job!r} has lost its lease",
                hint="another run goes on with the work",
            )


@dataclass(frozen=True, slots=True)
class JobCode:
    """What a job does: see the head of this module."""

    pending: Callable[[JobContext], Awaitable[Mapping[str, int]]]
    run: Callable[[JobContext], Awaitable[JobReport]]


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the catalogue names it.

    *Shape:* `cron` five fields in UTC, None when only a queue or a hand starts it; `module` holds
    the code as `CODE` and is imported when it is needed, unless `code` is given. What is light may
    run beside itself: a word of the queue runs it without a lease, and no run is written down.
    """

    name: str
    title: str
    cron: str | None
    module: str = ""
    code: JobCode | None = None
    is_light: bool = False

    def load(self) -> JobCode:
        """Import the code."""
        if self.code is not None:
            return self.code
        code: JobCode = import_module(self.module).CODE
        return code
