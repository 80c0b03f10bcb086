"""Jobs as people see and steer them: each job's state, its runs, pausing, taking a run back."""

from __future__ import annotations

import json

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.catalogue import JOBS, require_job
from remembrancer.app.jobs.frame import Asked, Job
from remembrancer.app.jobs.running import make_context
from remembrancer.app.jobs.schedule import next_moment
from remembrancer.app.state import App
from remembrancer.app.undo import undo
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import Conflict, InvalidInput, NotFound
from remembrancer.core.limits import INTEGER_MAX, PAGE_ITEMS_MAX
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row, SqlValue
from remembrancer.store import jobs as store
from remembrancer.store.jobs import JobState


async def list_jobs(app: App, caller: Caller) -> Answer:
    """Return every job: its schedule, state, last run, and how much waits for it.

    *Shape:* `{"jobs": [{"name", "title", "cron", "next_due_at", "status", "attempts",
    "next_try_at", "failing_since", "last_success_at", "lease", "last_run", "backlog"}]}`; status is
    `idle`, `running`, `paused`, `waiting` (for its next try) or `dead`. *Promise:* writes nothing.
    """
    states_outcome, runs_outcome = await app.sql.read(
        [store.states_statement(caller.namespace), store.last_runs_statement(caller.namespace)]
    )
    states = store.states_of(states_outcome.rows)
    last = {str(row["job"]): run_view(row) for row in runs_outcome.rows}
    jobs: list[JSON] = []
    for job in JOBS.values():
        state = states.get(job.name, JobState(job.name))
        view = job_view(job, state, app.runtime.now_ms())
        ctx = make_context(app, job, caller.namespace, Asked())
        backlog: dict[str, JSON] = dict(await job.load().pending(ctx))
        jobs.append({**view, "last_run": last.get(job.name), "backlog": backlog})
    return {"jobs": jobs}


def job_view(job: Job, state: JobState, now_ms: int) -> Answer:
    """Return a job as every door shows it, without its runs and backlog."""
    is_held = state.owner is not None and state.lease_until > now_ms
    if is_held:
        status = "running"
    elif state.paused_at is not None:
        status = "paused"
    elif state.dead_at is not None:
        status = "dead"
    else:
        status = "waiting" if (state.next_at or 0) > now_ms else "idle"
    lease: JSON = None
    if is_held:
        lease = {"run_id": state.holding_run, "until": format_iso(state.lease_until)}
    return {
        "name": job.name,
        "title": job.title,
        "cron": job.cron,
        "next_due_at": None if job.cron is None else format_iso(next_moment(job.cron, now_ms)),
        "status": status,
        "attempts": state.attempts,
        "next_try_at": _at(state.next_at),
        "failing_since": _at(state.failing_since),
        "last_success_at": _at(state.last_success_at),
        "lease": lease,
    }


def run_view(row: Row) -> Answer:
    """Return a run as every door shows it."""
    counts: JSON = json.loads(str(row["counts"]))
    progress: JSON = None
    if row["total"] is not None:
        progress = {"done": _number(row["done"]), "total": _number(row["total"])}
    return {
        "id": str(row["id"]),
        "job": str(row["job"]),
        "started_by": str(row["started_by"]),
        "status": str(row["status"]),
        "attempt": _number(row["attempt"]),
        "started_at": _at(row["started_at"]),
        "finished_at": _at(row["finished_at"]),
        "counts": counts,
        "progress": progress,
        "error": None if row["error"] is None else str(row["error"]),
        "undone_at": _at(row["undone_at"]),
    }


async def list_runs(
    app: App,
    caller: Caller,
    *,
    job: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Answer:
    """Return runs, newest first.

    *Shape:* `{"runs", "count", "next_cursor"}`. *Raises:* NotFound (the job), InvalidInput.
    """
    if job is not None:
        require_job(job)
    if not 1 <= limit <= PAGE_ITEMS_MAX:
        raise InvalidInput(f"limit is {limit!r}", hint=f"1 to {PAGE_ITEMS_MAX}", field="limit")
    before: tuple[int, str] = (INTEGER_MAX, "")
    if cursor is not None:
        at_ms, id_ = decode_cursor(cursor, kind="runs", types=(int, str))
        before = (int(str(at_ms)), str(id_))
    [outcome] = await app.sql.read(
        [store.runs_statement(caller.namespace, job=job, before=before, limit=limit + 1)]
    )
    shown = outcome.rows[:limit]
    following: str | None = None
    if len(outcome.rows) > limit:
        last = shown[-1]
        following = encode_cursor("runs", [int(str(last["started_at"])), str(last["id"])])
    return {
        "runs": [run_view(row) for row in shown],
        "count": len(shown),
        "next_cursor": following,
    }


async def get_run(app: App, caller: Caller, run_id: str) -> Answer:
    """Return one run. *Shape:* `{"run"}`. *Raises:* NotFound."""
    [outcome] = await app.sql.read([store.run_statement(caller.namespace, run_id)])
    if not outcome.rows:
        raise NotFound(f"there is no run {run_id[:60]!r}", hint="the list of runs shows ids")
    return {"run": run_view(outcome.rows[0])}


async def pause_job(app: App, caller: Caller, name: str) -> Answer:
    """Let a job run no more until it is resumed, unless a person forces it.

    *Shape:* `{"job"}`. *Raises:* NotFound. *Promise:* a run that has begun goes on; safe to repeat.
    """
    require_job(name)
    now_ms = app.runtime.now_ms()
    await app.sql.write([store.pause_statement(caller.namespace, name, now_ms)])
    return await _one(app, caller, name)


async def resume_job(app: App, caller: Caller, name: str) -> Answer:
    """Let a paused, waiting or dead job run again; the schedule's next look tries it.

    *Shape:* as `pause_job`. *Promise:* safe to repeat.
    """
    require_job(name)
    now_ms = app.runtime.now_ms()
    await app.sql.write([store.resume_statement(caller.namespace, name, now_ms)])
    return await _one(app, caller, name)


async def _one(app: App, caller: Caller, name: str) -> Answer:
    [outcome] = await app.sql.read([store.states_statement(caller.namespace, name)])
    state = store.states_of(outcome.rows).get(name, JobState(name))
    return {"job": job_view(JOBS[name], state, app.runtime.now_ms())}


async def undo_run(app: App, caller: Caller, run_id: str) -> Answer:
    """Take back everything that a run changed.

    *Shape:* `{"run", "undone", "kept"}` as `app.undo` answers; what retention purged is gone and no
    part of it. *Raises:* NotFound, Conflict naming every later edit that stands in the way.
    *Promise:* all of the run or nothing; an undo like any other, which `redo` takes back.
    """
    run = (await get_run(app, caller, run_id))["run"]
    assert isinstance(run, dict)
    if run["status"] == "running":
        raise Conflict(
            f"the run {run_id} has not ended", hint="wait until it has, or until its lease runs out"
        )
    try:
        answer = await undo(app, caller, cause=run_id)
    except NotFound as error:
        raise Conflict(
            f"the run {run_id} has changed nothing that can be taken back",
            hint="its counts tell what it did",
        ) from error
    now_ms = app.runtime.now_ms()
    await app.sql.write([store.undone_statement(caller.namespace, run_id, now_ms)])
    shown = await get_run(app, caller, run_id)
    return {**shown, "undone": answer["undone"], "kept": answer["kept"]}


def _at(value: SqlValue) -> str | None:
    return format_iso(value) if isinstance(value, int) else None


def _number(value: SqlValue) -> int | None:
    return value if isinstance(value, int) else None
