"""`remembrancer jobs`: what is done without anybody asking; running it by hand, taking it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote, urlencode

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import finish, open_store
from remembrancer.cli.groups import group
from remembrancer.cli.items import local_time
from remembrancer.cli.options import Limit
from remembrancer.cli.output import (
    Column,
    Progress,
    print_fields,
    print_json,
    print_line,
    print_table,
    progress,
)
from remembrancer.cli.place import Place, placed
from remembrancer.core.jobs.days import check_day
from remembrancer.core.values import JSON

if TYPE_CHECKING:
    from remembrancer.app.state import App
    from remembrancer.core.values import Caller

RUN_S_MAX: Final = 3_600.0
"""Seconds that a remote server has for a run that was asked for by hand. Our choice."""

LOOK_S: Final = 1.0
"""Seconds between two looks at a run that is watched. Our choice."""

jobs = group("Jobs: list, run, show, undo, pause, resume, preview; what a model refused.")

Name = Annotated[str, typer.Argument(metavar="JOB", help="extract, dream, retention or index.")]
MessageId = Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id, `msg_…`.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, `run_…`.")]


def list_jobs(place: Place) -> None:
    """List the jobs: when each is due, how its last run went, what waits for it."""
    from remembrancer.app.jobs import listing

    answer = _answer(place, listing.list_jobs, ("GET", "/v1/jobs"))
    if answer is None:
        return
    _print_timed(
        ("job", "status", "next due", "last success", "last run", "waits"),
        [
            [
                words(job, "name"),
                words(job, "status"),
                local_time(job.get("next_due_at"), None),
                local_time(job.get("last_success_at"), None),
                _outcome(part(job, "last_run")),
                _counts(part(job, "backlog")),
            ]
            for job in rows(answer, "jobs")
        ],
    )


def _outcome(run: Answer) -> str:
    return f"{words(run, 'status')}  {words(run, 'id')}" if run else ""


def _counts(counts: Mapping[str, JSON]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


def run_job(
    place: Place,
    name: Name,
    force: Annotated[
        bool, typer.Option("--force", help="Also when it is paused, waits or is dead.")
    ] = False,
    date: Annotated[
        list[str] | None,
        typer.Option(metavar="DAY", help="A day, for a job of days; repeatable."),
    ] = None,
    max_runs: Annotated[int | None, typer.Option(min=1, max=100, help="Batches at most.")] = None,
) -> None:
    """Run a job now and wait until it is done."""
    body: Answer = {"force": force}
    if date:
        body["dates"] = [*date]
    if max_runs is not None:
        body["max_runs"] = max_runs
    with progress(f"Running {name}", quiet=place.is_json) as shown:
        answer = finish(_watched(place, name, body, shown))
    if place.is_json:
        print_json(answer)
        return
    _print_ran(answer)


def _print_ran(answer: Answer) -> None:
    print_line(f"{words(answer, 'job')}: {words(answer, 'status')}  {words(answer, 'run_id')}")
    print_fields([(each, words(part(answer, "counts"), each)) for each in part(answer, "counts")])
    if answer.get("more"):
        print_line("More is left; run it again, or leave it to the schedule.")


async def _watched(place: Place, name: str, body: Answer, shown: Progress) -> Answer:
    from remembrancer.app.jobs import listing, running
    from remembrancer.app.jobs.frame import Asked

    dates, runs_max = body.get("dates"), body.get("max_runs")
    asked = Asked(
        force=body["force"] is True,
        dates=tuple(check_day(str(day)) for day in dates) if isinstance(dates, list) else (),
        runs_max=runs_max if isinstance(runs_max, int) else None,
    )

    def start(app: App, caller: Caller) -> Awaitable[Answer]:
        return running.run_job(app, name, caller.namespace, asked=asked)

    def look(app: App, caller: Caller) -> Awaitable[Answer]:
        return listing.list_runs(app, caller, job=name, limit=1)

    path = f"/v1/jobs/{quote(name, safe='')}/run"
    last = f"/v1/jobs/runs?{urlencode({'job': name, 'limit': 1})}"
    async with _open(place) as ask:
        task = asyncio.ensure_future(ask(start, ("POST", path, body)))
        while not (await asyncio.wait([task], timeout=LOOK_S))[0]:
            for run in rows(await ask(look, ("GET", last)), "runs"):
                how = part(run, "progress")
                done, total = how.get("done"), how.get("total")
                if isinstance(done, int) and isinstance(total, int):
                    shown(done, total)
        return await task


def show_run(
    place: Place,
    run_id: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The run's id; without one, the last.")
    ] = None,
    job: Annotated[str | None, typer.Option(metavar="JOB", help="Only runs of this job.")] = None,
    limit: Limit = 20,
) -> None:
    """Show one run, or the last ones."""
    from remembrancer.app.jobs import listing

    if run_id is not None:
        answer = _answer(
            place,
            lambda app, caller: listing.get_run(app, caller, run_id),
            ("GET", f"/v1/jobs/runs/{quote(run_id, safe='')}"),
        )
        run = part(answer, "run") if answer else {}
        fields = [(each, words(run, each)) for each in run if each not in ("counts", "progress")]
        if run:
            print_fields([*fields, ("counts", _counts(part(run, "counts")))])
        return
    query = urlencode({"limit": limit, **({"job": job} if job else {})})
    answer = _answer(
        place,
        lambda app, caller: listing.list_runs(app, caller, job=job, limit=limit),
        ("GET", f"/v1/jobs/runs?{query}"),
    )
    if answer is None:
        return
    _print_timed(
        ("run", "job", "started", "by", "status", "counts"),
        [
            [
                words(run, "id"),
                words(run, "job"),
                local_time(run.get("started_at"), None),
                words(run, "started_by"),
                words(run, "status"),
                words(run, "error") or _counts(part(run, "counts")),
            ]
            for run in rows(answer, "runs")
        ],
    )


def undo_run(place: Place, run_id: RunId) -> None:
    """Take back everything that a run changed."""
    from remembrancer.app.jobs import listing

    answer = _answer(
        place,
        lambda app, caller: listing.undo_run(app, caller, run_id),
        ("POST", f"/v1/jobs/runs/{quote(run_id, safe='')}/undo"),
    )
    if answer is None:
        return
    for each in rows(answer, "undone"):
        print_line(f"undone: {words(each, 'kind')} of {words(each, 'stream')}")


def pause_job(place: Place, name: Name) -> None:
    """Let a job run no more until it is resumed."""
    _steer(place, name, "pause")


def resume_job(place: Place, name: Name) -> None:
    """Let a paused or dead job run again."""
    _steer(place, name, "resume")


def _steer(place: Place, name: str, verb: str) -> None:
    from remembrancer.app.jobs import listing

    work = listing.pause_job if verb == "pause" else listing.resume_job
    answer = _answer(
        place,
        lambda app, caller: work(app, caller, name),
        ("POST", f"/v1/jobs/{quote(name, safe='')}/{verb}"),
    )
    if answer is not None:
        job = part(answer, "job")
        print_line(f"{words(job, 'name')}: {words(job, 'status')}")


def list_skipped(place: Place, limit: Limit = 50) -> None:
    """List messages that the model refused to read; the rules have read them."""
    from remembrancer.app.jobs.skips import list_skips

    answer = _answer(
        place,
        lambda app, caller: list_skips(app, caller, limit=limit),
        ("GET", f"/v1/jobs/extract/skipped?{urlencode({'limit': limit})}"),
    )
    if answer is None:
        return
    _print_timed(
        ("message", "said", "goes", "why", "tries", "text"),
        [
            [
                words(each, "message_id"),
                local_time(each.get("said_at"), None),
                local_time(each.get("goes_at"), None),
                words(each, "reason"),
                words(each, "tries"),
                " ".join(words(each, "content").split()),
            ]
            for each in rows(answer, "skipped")
        ],
    )


def retry_skipped(place: Place, message_id: MessageId) -> None:
    """Let the model read a refused message again, now."""
    from remembrancer.app.jobs.skips import retry_skip

    answer = _answer(
        place,
        lambda app, caller: retry_skip(app, caller, message_id),
        ("POST", f"/v1/jobs/extract/skipped/{quote(message_id, safe='')}/retry"),
    )
    if answer is not None:
        _print_ran(answer)


def drop_skipped(place: Place, message_id: MessageId) -> None:
    """Let a refused message go: nothing more is learned from it."""
    from remembrancer.app.jobs.skips import drop_skip

    answer = _answer(
        place,
        lambda app, caller: drop_skip(app, caller, message_id),
        ("POST", f"/v1/jobs/extract/skipped/{quote(message_id, safe='')}/drop"),
    )
    if answer is not None:
        print_line(f"let go: {words(answer, 'dropped')}")


def preview(
    place: Place,
    days: Annotated[int, typer.Option(min=0, max=366, help="How far to look ahead.")] = 7,
    limit: Limit = 50,
) -> None:
    """Show what retention takes next, if nothing changes."""
    query = urlencode({"days": days, "limit": limit})
    from remembrancer.app.jobs.preview import preview_retention

    answer = _answer(
        place,
        lambda app, caller: preview_retention(app, caller, days=days, limit=limit),
        ("GET", f"/v1/jobs/retention/preview?{query}"),
    )
    if answer is None:
        return
    counts = part(answer, "counts")
    print_line(f"Within {days} days: {_counts(counts) or 'nothing'}")
    if answer["messages_waiting"]:
        print_line(f"{answer['messages_waiting']} old messages stay until they are read")
    lines = [
        [local_time(each.get("goes_at"), None), how, words(each, "item_id"), words(each, "title")]
        for name, how in (("expire", "expires"), ("purge", "for ever"))
        for each in rows(answer, name)
    ]
    if lines:
        _print_timed(("goes", "how", "id", "title"), lines)


Request = tuple[str, str] | tuple[str, str, Answer]
"""A REST request: method, path and, of some, a body."""

Work = Callable[["App", "Caller"], Awaitable[Answer]]
"""The use case that answers as the request does."""

Ask = Callable[[Work, Request], Awaitable[Answer]]
"""Does the work here, or sends the request."""


@asynccontextmanager
async def _open(place: Place) -> AsyncIterator[Ask]:
    if place.url is not None:
        from remembrancer.cli.remote import RemoteServer

        async with RemoteServer(place) as server:
            yield lambda _, request: server.ask(*request, timeout_s=RUN_S_MAX)
        return
    async with open_store(place) as local:
        yield lambda work, _: work(local.app, local.owner(place.namespace))


def _answer(place: Place, work: Work, request: Request) -> Answer | None:
    """Return the answer; None when it was printed as JSON, and there is no more to say."""

    async def ask() -> Answer:
        async with _open(place) as asking:
            return await asking(work, request)

    answer = finish(ask())
    if place.is_json:
        print_json(answer)
        return None
    return answer


_WHOLE: Final = frozenset(
    {
        *("job", "status", "next due", "last success", "last run", "run", "started", "by"),
        *("goes", "id", "message", "said", "why", "tries"),
    }
)
"""Columns that are never cut: what is copied from them must be whole."""


def _print_timed(names: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table whose times are in UTC."""
    print_table([Column(name, whole=name in _WHOLE) for name in names], lines)
    print_line("Times are in UTC.")


for _name, _command in (
    ("list", list_jobs),
    ("run", run_job),
    ("show", show_run),
    ("undo", undo_run),
    ("pause", pause_job),
    ("resume", resume_job),
    ("preview", preview),
    ("skipped", list_skipped),
    ("retry", retry_skipped),
    ("drop", drop_skipped),
):
    jobs.command(_name)(placed(_command))
