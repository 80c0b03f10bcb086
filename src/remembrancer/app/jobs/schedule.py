"""When jobs are due: cron lines, what was missed, what is tried again; in which namespaces.

The platform's cron calls `run_line`; a server of one's own asks a `Timetable` again and again. How
a run goes is `app.jobs.running`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from cronsim import CronSim

from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.frame import Asked, Job
from remembrancer.app.jobs.running import Trigger, run
from remembrancer.app.state import App
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, MINUTE_MS
from remembrancer.ports.queue import JobMessage
from remembrancer.store import jobs as store

logger = logging.getLogger(__name__)

LATE_MS: Final = 5 * MINUTE_MS
"""Milliseconds after its moment from which a scheduled run counts as caught up. Our choice."""

WORDS_MAX: Final = 100
"""Messages that are left in the queue at once. Source: Cloudflare Queues' limit of a batch."""

RUN_STATEMENTS: Final = 44
"""Statements that a piece of a run takes at most, the frame's own included. Source: measured."""

SWEPT_STATEMENTS: Final = 24
"""As RUN_STATEMENTS, for the jobs of the sweep. Source: measured."""

SWEEP: Final = "index"
"""The job whose moments are also those of repetitions: the most frequent one."""

_Start = tuple[Job, Namespace, Trigger]


def last_moment(cron: str, now_ms: int) -> int:
    """Return the last moment of a cron line, at or before now. *Units:* ms, UTC."""
    # In reverse the library begins before its start; the minute of now counts.
    start = _time(now_ms).replace(second=0) + timedelta(minutes=1)
    return _ms(next(CronSim(cron, start, reverse=True)))


def next_moment(cron: str, now_ms: int) -> int:
    """Return the next moment of a cron line, after now. *Units:* ms, UTC."""
    return _ms(next(CronSim(cron, _time(now_ms))))


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms // 1_000, UTC)


def _ms(at: datetime) -> int:
    return int(at.timestamp()) * 1_000


async def run_line(app: App, cron: str) -> list[JSON]:
    """Do what a cron line of the platform stands for, in every namespace.

    *Shape:* with a queue a message for each job and namespace is left in it; without, the first
    piece of each runs now, and the answers come back; where requests have a bound, of as many as
    one affords, of which none is always the last. *Promise:* safe to be called twice.
    """
    jobs = [job for job in JOBS.values() if job.cron == cron]
    if any(job.name == SWEEP for job in jobs):
        return await sweep(app)
    found = await namespaces(app)
    return await _start(app, [(job, name, "cron") for name in found for job in jobs])


async def sweep(app: App) -> list[JSON]:
    """Do what cannot wait for the schedule: vectors, long texts, failed runs whose time has come,
    and lost ones.

    *Shape:* as `run_line`.
    """
    again = await due_again(app)
    if again and app.queue is None and app.spending.statements_max is not None:
        return await _start(app, [(*each, "retry") for each in again])
    jobs = [job for job in JOBS.values() if job.cron == JOBS[SWEEP].cron and _has_place(app, job)]
    swept = [(job, name) for name in await namespaces(app) for job in jobs]
    wanted: list[_Start] = [(*each, "retry") for each in again]
    wanted += [(*each, "cron") for each in swept if each not in again]
    return await _start(app, wanted)


def _has_place(app: App, job: Job) -> bool:
    """Tell whether there is anything here that the job works at: words of the queue cost."""
    return app.blobs is not None or job.name != "artifacts"


async def _start(app: App, wanted: Sequence[_Start]) -> list[JSON]:
    if app.queue is None:
        return await _run_in_turn(app, wanted)
    # With an id for its run: what is delivered twice is the same run.
    messages = [
        JobMessage(job.name, name, {"by": trigger, "run": app.runtime.new_id("run")})
        for job, name, trigger in wanted
    ]
    for first in range(0, len(messages), WORDS_MAX):
        await app.queue.send(messages[first : first + WORDS_MAX])
    return []


async def _run_in_turn(app: App, wanted: Sequence[_Start]) -> list[JSON]:
    """Run one piece of each, or of as many as the event affords, beginning anywhere."""
    answers: list[JSON] = []
    bounded = Asked(pieces_max=1)
    is_bound = app.spending.statements_max is not None
    first = int.from_bytes(app.runtime.random_bytes(4)) % len(wanted) if wanted and is_bound else 0
    for job, name, trigger in [*wanted[first:], *wanted[:first]]:
        if answers and is_bound and not app.spending.affords(_most(job)):
            logger.warning(
                "%d jobs wait for the next moment of the schedule: bind a queue",
                len(wanted) - len(answers),
            )
            break
        answers.append(dict(await run(app, job, name, asked=bounded, trigger=trigger)))
    return answers


def _most(job: Job) -> int:
    return SWEPT_STATEMENTS if job.cron == JOBS[SWEEP].cron else RUN_STATEMENTS


async def namespaces(app: App) -> list[Namespace]:
    """Return every namespace that has events or messages. One round trip."""
    [outcome] = await app.sql.read([store.namespaces_statement()])
    return [Namespace(str(row["name"])) for row in outcome.rows]


async def due_again(app: App) -> list[tuple[Job, Namespace]]:
    """Return failed jobs whose wait is over, and those whose run vanished with its process."""
    [outcome] = await app.sql.read([store.due_again_statement(app.runtime.now_ms())])
    found = [(JOBS.get(str(row["job"])), Namespace(str(row["namespace"]))) for row in outcome.rows]
    return [(job, name) for job, name in found if job is not None]


@dataclass(slots=True)
class Timetable:
    """The schedule of one process: which moments of each job it has seen to.

    A moment that passed while the process slept, or before it started, is caught up once, unless
    the job has begun since. *Shape:* `jobs` are those of the catalogue unless a test says so.
    """

    app: App
    jobs: Iterable[Job] = field(default_factory=lambda: tuple(JOBS.values()))
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)

    async def tick(self) -> list[JSON]:
        """Run what is due by now; the answers of what was tried come back.

        *Promise:* a job that another process holds is tried again at the next tick.
        """
        answers: list[JSON] = []
        by_name = {job.name: job for job in self.jobs}
        [again] = await self.app.sql.read([store.due_again_statement(self.app.runtime.now_ms())])
        for row in again.rows:
            job = by_name.get(str(row["job"]))
            if job is not None:
                name = Namespace(str(row["namespace"]))
                answers.append(dict(await run(self.app, job, name, trigger="retry")))
        for name in await namespaces(self.app):
            answers += await self._scheduled(name)
        return answers

    async def _scheduled(self, namespace: Namespace) -> list[JSON]:
        due = [job for job in self.jobs if self._is_due(job, namespace)]
        if not due:
            return []
        [outcome] = await self.app.sql.read([store.states_statement(namespace)])
        states = store.states_of(outcome.rows)
        answers: list[JSON] = []
        for job in due:
            assert job.cron is not None
            now_ms = self.app.runtime.now_ms()
            moment = last_moment(job.cron, now_ms)
            state = states.get(job.name)
            if state is None or (state.last_started_at or 0) < moment:
                trigger: Trigger = "cron" if now_ms - moment < LATE_MS else "catch-up"
                answers.append(await self._run(job, namespace, moment, trigger))
            else:
                self._seen[namespace, job.name] = moment
        return answers

    async def _run(
        self, job: Job, namespace: Namespace, moment: int, trigger: Trigger
    ) -> dict[str, JSON]:
        # Seen before it runs: a job with a defect must not keep the others from theirs.
        key = (namespace, job.name)
        self._seen[key] = moment
        try:
            answer = await run(self.app, job, namespace, trigger=trigger)
        except RemembrancerError:  # the database is away: the moment is not seen to
            del self._seen[key]
            raise
        if answer["status"] == "busy":
            del self._seen[key]
        return dict(answer)

    def _is_due(self, job: Job, namespace: Namespace) -> bool:
        if job.cron is None:
            return False
        seen = self._seen.get((namespace, job.name), 0)
        return last_moment(job.cron, self.app.runtime.now_ms()) > seen
