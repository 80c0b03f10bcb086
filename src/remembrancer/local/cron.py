"""The clock of a server of one's own: it asks again and again what is due.

What is due, and what was missed while the machine slept, is the timetable's business, which is
handed in. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

logger = logging.getLogger(__name__)

FIRST_S: Final = 5.0
"""Seconds before the first look: whoever starts a server wants its first answer. Our choice."""

TICK_S: Final = 30.0
"""Seconds between two looks: half of a schedule's finest grain. Our choice."""

Tick = Callable[[], Awaitable[object]]
"""Runs what is due by now."""

Pause = Callable[[float], Awaitable[object]]
"""Waits for seconds."""


async def tick_on(tick: Tick, pause: Pause = asyncio.sleep) -> None:
    """Tick until cancelled; one that fails is logged, and the next one comes all the same."""
    await pause(FIRST_S)
    while True:
        try:
            await tick()
        except Exception:
            logger.exception("a tick of the schedule failed")
        await pause(TICK_S)


@asynccontextmanager
async def at_work(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Keep endless work going while the block runs, and stop it afterwards.

    *Promise:* when it returns nothing of it runs any more: a job that is stopped gives back its
    lease.
    """
    tasks = [asyncio.get_running_loop().create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
