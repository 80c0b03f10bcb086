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

Work = Coroutine[Any, Any, None]
"""Work without an end."""


def works_of(
    app: App,
    consume: Callable[[Callable[[JobMessage], Awaitable[object]]], Work],
    tick_on: Callable[[Callable[[], Awaitable[object]]], Work],
) -> list[Work]:
    """Return what works beside a server; without the schedule where it is switched off.

    *Shape:* `consume` hands each word on, `tick_on` asks again and again; both are the server's.
    """
    tables: list[Timetable] = []

    async def handle(word: JobMessage) -> None:
        running = import_module("remembrancer.app.jobs.running")
        await running.handle_message(app, word, pieces_max=None)

    async def tick() -> None:
        if not tables:
            tables.append(import_module("remembrancer.app.jobs.schedule").Timetable(app))
        await tables[0].tick()

    works = [consume(handle)]
    if app.settings.scheduler_enabled:
        works.append(tick_on(tick))
    return works
