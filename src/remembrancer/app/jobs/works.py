"""What works beside a server of one's own: the queue's words, and the schedule.

Both are imported when they have something to do, so that a start pays for neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any

from remembrancer.app.state import App
from remembrancer.ports.queue import JobMessage

if TYPE_CHECKING:
    from remembrancer.app.jobs.schedule import Timetable
    from remembrancer.app.recall.segments import Segments

Work = Coroutine[Any, Any, None]
"""Work without an end."""


def works_of(
    app: App,
    consume: Callable[[Callable[[JobMessage], Awaitable[object]]], Work],
    tick_on: Callable[[Callable[[], Awaitable[object]]], Work],
) -> list[Work]:
    """Return what works beside a server; without the schedule where it is switched off.

    With the schedule goes the watch over the index's segments, which needs no run of a job.
    *Shape:* `consume` hands each word on, `tick_on` asks again and again; both are the server's.
    """
    tables: list[tuple[Timetable, Segments]] = []

    async def handle(word: JobMessage) -> None:
        running = import_module("remembrancer.app.jobs.running")
        await running.handle_message(app, word, pieces_max=None)

    async def tick() -> None:
        if not tables:
            schedule = import_module("remembrancer.app.jobs.schedule")
            segments = import_module("remembrancer.app.recall.segments")
            tables.append((schedule.Timetable(app), segments.Segments(app)))
        for each in tables[0]:
            await each.tick()

    works = [consume(handle)]
    if app.settings.scheduler_enabled:
        works.append(tick_on(tick))
    return works
