"""Running a job: its lease, its run's record, what follows a failure.

One place for cron, queue, panel, command line and REST. When a run is due is `app.jobs.schedule`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.catalogue import require_job
from remembrancer.app.jobs.frame import (
    LEASE_MS,
    SETTLING_STATEMENTS,
    STATEMENTS_MAX,
    Asked,
    Budget,
    Job,
    JobContext,
    JobReport,
    LeaseLost,
)
from remembrancer.app.state import App
from remembrancer.core.errors import CODES, Conflict, RemembrancerError
from remembrancer.core.ids import Namespace
from remembrancer.core.jobs import backoff
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.queue import JobMessage
from remembrancer.ports.sql import Outcome, SqlStore, Statement
from remembrancer.store import jobs as store
from remembrancer.store.jobs import Earlier, Failure, JobState

Trigger = Literal["cron", "queue", "hand", "catch-up", "retry"]
"""What started a run."""

PIECES_MAX: Final = 10_000
"""Pieces of one run where nothing bounds it; the last one is as good as the first. Our choice."""

LOOKING_STATEMENTS: Final = 2
"""Statements that tell what is left behind a piece; a request that affords no more says that there
is some. Our choice."""

IDLE_PIECES_MAX: Final = 3
"""Pieces in a row that count nothing, after which a run ends: it does not come any further."""


async def run_job(
    app: App,
    name: str,
    namespace: Namespace,
    *,
    asked: Asked | None = None,
    trigger: Trigger = "hand",
) -> Answer:
    """Run a job of the catalogue now, in this namespace. *Raises:* NotFound; as `run`."""
    return await run(app, require_job(name), namespace, asked=asked, trigger=trigger)


async def run(
    app: App,
    job: Job,
    namespace: Namespace,
    *,
    asked: Asked | None = None,
    trigger: Trigger = "hand",
) -> Answer:
    """Run a job now, unless nothing is to be done or something stands against it.

    *Shape:* `{"job", "status", "run_id", "counts", "details"}`; status is `done`, `failed`, `lost`,
    or, when no run began, `nothing`, `paused`, `waiting` (for its next try), `dead`, `busy`; a
    bounded run that left work says `"more": true` and in `left` how much. *Raises:* by hand what
    failed, otherwise nothing of ours but StoreUnavailable. *Promise:* without work nothing is
    written, no model is asked.
    """
    asked = asked or Asked()
    app.spending.reserved = max(app.spending.reserved, SETTLING_STATEMENTS)
    if trigger == "hand" and asked.pieces_max is None:
        most = app.settings.job_pieces_max or app.request_pieces
        asked = replace(asked, pieces_max=most)
    wanted = [store.states_statement(namespace, job.name)]
    if asked.run_id is not None:
        wanted.append(store.run_statement(namespace, asked.run_id))
    found = await app.sql.read(wanted)
    state = store.states_of(found[0].rows).get(job.name, JobState(job.name))
    ctx = make_context(app, job, namespace, asked)
    if asked.run_id is not None:
        is_first = trigger != "queue" and not found[1].rows
        begun = Earlier({}, 0) if is_first else store.earlier_of(found[1].rows, job.name)
        _go_on(ctx, begun)
    now_ms = ctx.now_ms
    refused = None if ctx.force else _standing(state, trigger, now_ms)
    if refused is not None:
        return _not_run(job, refused)
    pending = await job.load().pending(ctx)
    if not any(pending.values()):
        is_held = state.owner is not None and state.lease_until > now_ms
        is_settled = state.owner is None and state.next_at is None and not state.attempts
        if not is_settled and not is_held:
            await app.sql.write(store.calm_statements(namespace, job.name, now_ms))
        return _not_run(job, "nothing")
    ctx.total = max(ctx.total, sum(pending.values()))
    if job.is_light and trigger == "queue":
        ctx.is_leased = False
        await _do_pieces(job, ctx)
        return _not_run(job, "done") | {"counts": dict(ctx.counts)}
    taken = await app.sql.write(
        store.take_statements(
            ctx.lease,
            started_by=trigger,
            attempt=state.attempts + 1,
            now_ms=now_ms,
            until_ms=now_ms + LEASE_MS,
        )
    )
    if not taken[1].rows:
        return _not_run(job, "busy")
    return await _Run(app, job, ctx, state, trigger).run()


def _go_on(ctx: JobContext, earlier: Earlier | None) -> None:
    """Let a run go on that was begun for an earlier word, or has its id from its first one; without
    one it is a run as any other."""
    run_id = ctx.asked.run_id
    if earlier is None or run_id is None:
        # What somebody insisted on was for that run.
        ctx.asked = replace(ctx.asked, run_id=None, force=False, runs_max=None)
        return
    ctx.holder, ctx.run_id = ctx.run_id, run_id
    ctx.caller = replace(ctx.caller, cause=run_id)
    ctx.counts.update(earlier.counts)
    ctx.total = earlier.total


def make_context(app: App, job: Job, namespace: Namespace, asked: Asked) -> JobContext:
    """Return what a job is handed, for a run of its own or to ask what is pending."""
    run_id = app.runtime.new_id("run")
    sql = _Counted(app.sql, Budget())
    return JobContext(
        app=replace(app, sql=sql),
        caller=Caller(namespace, f"job:{job.name}", run_id),
        job=job.name,
        namespace=namespace,
        run_id=run_id,
        now_ms=app.runtime.now_ms(),
        asked=asked,
        budget=sql.budget,
    )


async def handle_message(app: App, message: JobMessage, *, pieces_max: int | None = 1) -> Answer:
    """Do what a word of the queue is about: one piece of the work, and another word for the rest.

    *Shape:* as `run`; `pieces_max` None does all of it. *Raises:* NotFound, StoreUnavailable.
    *Promise:* twice, late or out of order makes no difference: what there is to do is read from
    the store.
    """
    body = message.body
    run_id, runs_max = body.get("run"), body.get("max_runs")
    asked = Asked(
        force=body.get("force") is True,
        dates=_texts(body.get("dates")),
        runs_max=runs_max if isinstance(runs_max, int) else None,
        pieces_max=pieces_max,
        messages=_texts(body.get("messages")),
        run_id=run_id if isinstance(run_id, str) else None,
    )
    by = body.get("by")
    trigger: Trigger = "cron" if by == "cron" else "retry" if by == "retry" else "queue"
    namespace = Namespace(message.namespace)
    return await run_job(app, message.kind, namespace, asked=asked, trigger=trigger)


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def message_of(job: str, namespace: Namespace, asked: Asked) -> JobMessage:
    """Return the word that there is work for a job, and of which run it is the rest."""
    body: dict[str, JSON] = {
        "dates": list(asked.dates),
        "force": asked.force,
        "max_runs": asked.runs_max,
        "messages": list(asked.messages),
        "run": asked.run_id,
    }
    return JobMessage(job, namespace, {name: value for name, value in body.items() if value})


def _standing(state: JobState, trigger: Trigger, now_ms: int) -> str | None:
    """Tell what stands against a run; None when nothing does."""
    if state.paused_at is not None:
        return "paused"
    if state.owner is not None and state.lease_until > now_ms:
        return "busy"
    if trigger == "hand":
        return None
    if state.dead_at is not None:
        # Only its schedule and a person still try it.
        return None if trigger in ("cron", "catch-up") else "dead"
    if state.next_at is not None and state.next_at > now_ms:
        return "waiting"
    return None


async def _do_pieces(job: Job, ctx: JobContext) -> tuple[JobReport, dict[str, JSON]]:
    """Call a job's code until it is done, bounded, or comes no further."""
    code, idle = job.load(), 0
    details: dict[str, JSON] = {}
    report = JobReport(is_done=False)
    for piece in range(ctx.asked.pieces_max or PIECES_MAX):
        if piece:
            ctx.budget.statements = STATEMENTS_MAX
            await ctx.still_mine()
        before = ctx.counts.copy()
        report = await code.run(ctx)
        details |= report.answer
        idle = idle + 1 if ctx.counts == before else 0
        if report.is_done or idle == IDLE_PIECES_MAX:
            break
    return report, details


def _not_run(job: Job, status: str) -> Answer:
    return {"job": job.name, "status": status, "run_id": None, "counts": {}, "details": {}}


@dataclass(slots=True)
class _Run:
    """One run that holds its lease."""

    app: App
    job: Job
    ctx: JobContext
    state: JobState
    trigger: Trigger

    async def run(self) -> Answer:
        settled = False
        try:
            answer = await self._work()
            settled = True
        except asyncio.CancelledError:  # this process is told to end
            settled = True
            await self._let_go()
            raise
        except LeaseLost:
            settled = True
            answer = self._answer("lost")
        except RemembrancerError as error:
            settled = True
            if isinstance(error, Conflict) and not await self._is_held():
                answer = self._answer("lost")
            else:
                await self._fail(error.code)
                if self.trigger == "hand":
                    raise
                answer = self._answer("failed") | {"error": {"code": error.code}}
        finally:
            if not settled:  # a defect
                await self._fail("internal_error")
        return answer

    async def _work(self) -> Answer:
        ctx = self.ctx
        report, details = await _do_pieces(self.job, ctx)
        await self.app.sql.write(
            store.finish_statements(
                ctx.lease, counts=dict(ctx.counts), now_ms=self.app.runtime.now_ms()
            )
        )
        answer = self._answer("done") | {"details": details}
        if report.is_done:
            return answer
        left: dict[str, JSON] = {}
        if self.app.spending.affords(LOOKING_STATEMENTS - SETTLING_STATEMENTS):
            # A piece that was full may have been the last one.
            left = dict(await self.job.load().pending(ctx))
            if not any(left.values()):
                return answer
        if self.app.queue is not None:
            rest = replace(ctx.asked, run_id=ctx.run_id)
            await self.app.queue.send([message_of(self.job.name, ctx.namespace, rest)])
        return answer | {"more": True, "left": left}

    async def _let_go(self) -> None:
        now_ms = self.app.runtime.now_ms()
        counts = dict(self.ctx.counts)
        await self.app.sql.write(store.let_go_statements(self.ctx.lease, counts, now_ms))

    async def _fail(self, code: str) -> None:
        attempts = self.state.attempts + 1
        now_ms = self.app.runtime.now_ms()
        failure = Failure(
            error=f"{code}: {CODES[code].meaning}",
            attempts=attempts,
            next_at=now_ms + backoff.wait_ms(attempts),
            is_dead=backoff.is_dead(attempts),
        )
        counts = dict(self.ctx.counts)
        await self.app.sql.write(
            store.fail_statements(self.ctx.lease, failure, counts=counts, now_ms=now_ms)
        )

    async def _is_held(self) -> bool:
        [outcome] = await self.app.sql.read(
            [store.states_statement(self.ctx.namespace, self.job.name)]
        )
        state = store.states_of(outcome.rows).get(self.job.name)
        return state is not None and state.owner == self.ctx.lease.owner

    def _answer(self, status: str) -> Answer:
        return {
            "job": self.job.name,
            "status": status,
            "run_id": self.ctx.run_id,
            "counts": dict(self.ctx.counts),
            "details": {},
        }


class _Counted:
    """The SQL port of a run: what is sent is counted against the piece's budget."""

    def __init__(self, inner: SqlStore, budget: Budget) -> None:
        self.inner = inner
        self.budget = budget

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        self.budget.spend(len(statements))
        return await self.inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        self.budget.spend(len(statements))
        return await self.inner.write(statements)

    def session(self, bookmark: str | None) -> SqlStore:
        return _Counted(self.inner.session(bookmark), self.budget)

    def bookmark(self) -> str | None:
        return self.inner.bookmark()

    async def scrub(self) -> None:
        await self.inner.scrub()
