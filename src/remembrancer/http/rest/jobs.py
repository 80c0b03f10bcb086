"""REST of jobs: what they do and did, running, pausing, taking back. Only parsing and form."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from remembrancer.app.jobs import listing, preview, running
from remembrancer.app.jobs.frame import Asked
from remembrancer.core.errors import InvalidInput
from remembrancer.core.jobs.days import check_day
from remembrancer.core.values import JSON
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Limit, Query, Shape
from remembrancer.http.rest.history import Reversed
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

JOB: Final = {"name": "`extract`, `dream`, `retention` or `index`."}
RUN: Final = {"run_id": "The run's id, `run_…`."}

Day = Annotated[str, Field(max_length=10, description="A local date of the namespace's zone.")]


class Running(Named):
    """How to run a job."""

    force: bool = Field(
        False, description="Also when it is paused, waits or is dead; days are done again."
    )
    date: Day = optional()
    dates: list[Day] = optional(max_length=10)
    max_runs: int = optional(ge=1, le=100, description="Batches of this run, at most.")

    def asked(self) -> Asked:
        """Return what is asked for. *Raises:* InvalidInput for a date that is none."""
        given = self.given()
        named = [*([given["date"]] if "date" in given else []), *given.get("dates", [])]
        for day in named:
            check_day(day)
        return Asked(
            force=self.force, dates=tuple(dict.fromkeys(named)), runs_max=given.get("max_runs")
        )


class Dreaming(Running):
    """Which days to dream again."""

    max_runs: int = optional(ge=1, le=10, description="Batches of each day, at most.")


class RunsQuery(Query):
    """A page of runs, newest first."""

    job: str | None = Field(None, max_length=40, description="Only this job's.")
    limit: Limit = 50
    cursor: Cursor | None = None


class PreviewQuery(Query):
    """How far to look ahead."""

    days: int = Field(7, ge=0, le=preview.DAYS_MAX)
    limit: int = Field(50, ge=1, le=preview.ITEMS_MAX)


class Progress(Shape):
    """How far a run is."""

    done: int
    total: int


class RunShape(Shape):
    """One run of a job; `error` is a code and its meaning."""

    id: str
    job: str
    started_by: Literal["cron", "queue", "hand", "catch-up", "retry"]
    status: Literal["running", "done", "failed", "lost"]
    attempt: int
    started_at: str
    finished_at: str | None
    counts: dict[str, int]
    progress: Progress | None
    error: str | None
    undone_at: str | None


class Lease(Shape):
    """Which run holds a job, and until when at least."""

    run_id: str
    until: str


class JobShape(Shape):
    """Where a job stands."""

    name: str
    title: str
    cron: str | None
    next_due_at: str | None
    status: Literal["idle", "running", "paused", "waiting", "dead"]
    attempts: int
    next_try_at: str | None
    failing_since: str | None
    last_success_at: str | None
    lease: Lease | None


class ListedJob(JobShape):
    """A job with its last run, and how much waits for it."""

    last_run: RunShape | None
    backlog: dict[str, int]


class JobsAnswer(Shape):
    """Every job."""

    jobs: list[ListedJob]


class OneJob(Shape):
    """One job."""

    job: JobShape


class RunsAnswer(Shape):
    """A page of runs."""

    runs: list[RunShape]
    count: int
    next_cursor: str | None


class OneRun(Shape):
    """One run."""

    run: RunShape


class RanAnswer(Shape):
    """What came of running a job; without a `run_id` no run began, and `status` says why."""

    job: str
    status: Literal["done", "lost", "nothing", "paused", "busy", "waiting", "dead", "failed"]
    run_id: str | None
    counts: dict[str, int]
    details: dict[str, object] = Field(
        default_factory=dict, description="What else the job says of this run."
    )
    more: bool = Field(False, description="Work is left: the queue, or the schedule, goes on.")
    left: dict[str, int] = Field(default_factory=dict, description="How much is left, if more is.")


class DreamtAnswer(Shape):
    """What came of each day."""

    data: list[dict[str, object]]


class UndoneRun(Shape):
    """A run that was taken back; `kept` are streams that others use by now."""

    run: RunShape
    undone: list[Reversed]
    kept: list[str]


class Expiring(Shape):
    """A memory that nobody uses."""

    item_id: str
    title: str
    last_used_at: str
    goes_at: str


class Purging(Shape):
    """An item that cannot be restored for much longer."""

    item_id: str
    title: str
    state: str
    ended_at: str
    goes_at: str


class PreviewAnswer(Shape):
    """What retention takes next; counts go up to a thousand."""

    days: int
    counts: dict[str, int]
    expire: list[Expiring]
    purge: list[Purging]
    messages_passed_to: str | None
    messages_dreamt_to: str | None
    messages_waiting: int


async def _list(call: Call[None, None]) -> Answer:
    return Answer(await listing.list_jobs(call.app, call.caller))


async def _runs(call: Call[RunsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await listing.list_runs(
            call.app, call.caller, job=query.job, limit=query.limit, cursor=query.cursor
        )
    )


async def _run(call: Call[None, None]) -> Answer:
    return Answer(await listing.get_run(call.app, call.caller, call.path["run_id"]))


async def _start(call: Call[None, Running]) -> Answer:
    namespace = call.caller.namespace
    asked = call.body.asked()
    return Answer(await running.run_job(call.app, call.path["name"], namespace, asked=asked))


async def _dream(call: Call[None, Dreaming]) -> Answer:
    whole = call.body.asked()
    namespace = call.caller.namespace
    data: list[JSON] = []
    # Without a date the job itself knows which days are to be done.
    for asked in [replace(whole, dates=(day,)) for day in whole.dates] or [whole]:
        answer = await running.run_job(call.app, "dream", namespace, asked=asked)
        data.append({"date": asked.dates[0] if asked.dates else None, **answer})
    return Answer({"data": data})


async def _pause(call: Call[None, None]) -> Answer:
    return Answer(await listing.pause_job(call.app, call.caller, call.path["name"]))


async def _resume(call: Call[None, None]) -> Answer:
    return Answer(await listing.resume_job(call.app, call.caller, call.path["name"]))


async def _undo(call: Call[None, None]) -> Answer:
    return Answer(await listing.undo_run(call.app, call.caller, call.path["run_id"]))


async def _preview(call: Call[PreviewQuery, None]) -> Answer:
    if call.path["name"] != "retention":
        raise InvalidInput(
            f"{call.path['name'][:40]!r} has no preview", hint="retention has one", field="name"
        )
    query = call.query
    return Answer(
        await preview.preview_retention(call.app, call.caller, days=query.days, limit=query.limit)
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/jobs",
        name="list_jobs",
        area="jobs",
        summary="Every job: its schedule, its last run, what waits for it",
        scope="memory:read",
        response=JobsAnswer,
        handler=_list,
    ),
    Route(
        method="GET",
        path="/v1/jobs/runs",
        name="list_runs",
        area="jobs",
        summary="What jobs have run, newest first",
        scope="memory:read",
        query=RunsQuery,
        response=RunsAnswer,
        errors=("not_found",),
        handler=_runs,
    ),
    Route(
        method="GET",
        path="/v1/jobs/runs/{run_id}",
        name="get_run",
        area="jobs",
        summary="One run",
        params=RUN,
        scope="memory:read",
        response=OneRun,
        handler=_run,
    ),
    Route(
        method="POST",
        path="/v1/jobs/runs/{run_id}/undo",
        name="undo_run",
        area="jobs",
        summary="Take back everything that a run changed",
        description="All or nothing; a later edit that stands in the way is named. What retention "
        "has purged is gone.",
        params=RUN,
        scope="memory:write",
        response=UndoneRun,
        handler=_undo,
    ),
    Route(
        method="POST",
        path="/v1/jobs/{name}/run",
        name="run_job",
        area="jobs",
        summary="Run a job now, and answer when it is done",
        description="Without work no run begins: `status` is `nothing`. A model's failure is this "
        "request's; the job is tried again later by itself. On Cloudflare a request does one piece "
        "of the work; `more` says that the queue goes on with what is `left`.",
        params=JOB,
        scope="memory:write",
        body=Running,
        response=RanAnswer,
        errors=("model_refused", "upstream_failed", "timed_out", "limit_exceeded"),
        handler=_start,
    ),
    Route(
        method="POST",
        path="/v1/jobs/{name}/pause",
        name="pause_job",
        area="jobs",
        summary="Let a job run no more until it is resumed",
        params=JOB,
        scope="memory:write",
        response=OneJob,
        handler=_pause,
    ),
    Route(
        method="POST",
        path="/v1/jobs/{name}/resume",
        name="resume_job",
        area="jobs",
        summary="Let a paused or dead job run again",
        params=JOB,
        scope="memory:write",
        response=OneJob,
        handler=_resume,
    ),
    Route(
        method="GET",
        path="/v1/jobs/{name}/preview",
        name="preview_job",
        area="jobs",
        summary="What retention takes next, if nothing changes",
        params={"name": "`retention`."},
        scope="memory:read",
        query=PreviewQuery,
        response=PreviewAnswer,
        handler=_preview,
    ),
    Route(
        method="POST",
        path="/v1/memories/dream",
        aliases=("/v1/memories/digest", "/v1/memory/dream", "/v1/memory/digest"),
        name="dream",
        area="jobs",
        summary="Dream now, each named day in its own run",
        scope="memory:write",
        body=Dreaming,
        response=DreamtAnswer,
        errors=("model_refused", "upstream_failed", "timed_out", "limit_exceeded"),
        handler=_dream,
    ),
)
"""The routes of jobs."""
