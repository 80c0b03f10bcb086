"""Warming up: what the first chat would wait for is loaded once the server answers.

The gateway's modules and the client towards a model's server are 0.4 s of imports, which a start
does not pay for, and somebody's first question should not. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Final

logger = logging.getLogger(__name__)

FIRST_S: Final = 1.0
"""Seconds before it begins: whoever starts a server wants its first answer. Our choice."""

MODULES: Final = ("remembrancer.http.rest.chat", "remembrancer.app.memories.remember")
"""What a chat imports when it comes; the rest comes with these."""

SAMPLE: Final = "现在就热身: warm up now, 2 users' e-mails"
"""A text of every kind, whose tables are made when they are first asked for."""


async def warm_up(
    open_client: Callable[[], object], pause: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """Load what a chat needs, in a thread, a moment after the start; a failure is only logged.

    *Shape:* `open_client` makes the client that calls models' servers.
    """
    await pause(FIRST_S)
    try:
        await asyncio.to_thread(_load, open_client)
    except (ImportError, OSError, ValueError):  # the first chat will say what is wrong
        logger.exception("warming up failed")


def _load(open_client: Callable[[], object]) -> None:
    for name in MODULES:
        import_module(name)
    import_module("remembrancer.core.recall.evidence").wanted_of(SAMPLE)
    open_client()
