"""The memory of one turn: what its prefix and its message are given, within a time limit.

A turn that was given something keeps it: through a tool loop, and when the client asks again.
Nothing here can fail a chat; what had no part is named in the turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from remembrancer.app.gateway.boot import QUOTES_MAX, boot_text
from remembrancer.app.gateway.forms import Thinking
from remembrancer.app.gateway.turns import Turn
from remembrancer.app.recall.recall import Recalled, recall
from remembrancer.app.state import App
from remembrancer.core.chat.shapes import write_json
from remembrancer.core.errors import RemembrancerError
from remembrancer.store import conversations as store
from remembrancer.store import library
from remembrancer.store import messages as message_store
from remembrancer.store.conversations import TurnPatch

PATCH_TOKENS_MAX: Final = 600
"""Tokens of the memories that one turn is given. Our choice: five condensed ones."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is recalled for. *Shape:* `turns` what was said before, oldest first; `visible` texts
    that the request holds already; `is_going_on` when tool results were sent, nothing said."""

    message: str
    turns: Sequence[str]
    visible: Sequence[str]
    is_going_on: bool


@dataclass(frozen=True, slots=True)
class Given:
    """What a turn is given. *Shape:* `is_new` False when it was given the same before."""

    boot: str = ""
    patch: str = ""
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class _Read:
    boot: str
    given: TurnPatch | None


async def give(app: App, turn: Turn, asked: Asked) -> Given:
    """Return the memory of a turn; it is noted in the turn.

    *Promise:* never raises ours; at most RECALL_TIMEOUT_MS; one round trip and a recall's.
    """
    limit_s = app.settings.recall_timeout_ms / 1_000
    until = asyncio.get_running_loop().time() + limit_s
    reading = asyncio.ensure_future(_read(app, turn))
    recalling = None if asked.is_going_on else asyncio.ensure_future(_recall(app, turn, asked))
    try:
        await asyncio.wait({one for one in (reading, recalling) if one}, timeout=limit_s)
        read = _result(app, turn, reading, "memory")
        if read is not None and read.given is not None and read.given.turn == turn.key:
            turn.recall_id, turn.patch = read.given.recall_id, read.given.patch
            return Given(read.boot, turn.patch, is_new=False)
        if recalling is None and asked.message:
            recalling = asyncio.ensure_future(_recall(app, turn, asked))
            left_s = max(0.0, until - asyncio.get_running_loop().time())
            await asyncio.wait({recalling}, timeout=left_s)
        recalled = None if recalling is None else _result(app, turn, recalling, "recall")
    finally:
        for one in (reading, recalling):
            if one is not None:
                one.cancel()
    if recalled is not None:
        turn.recall_id, turn.patch = recalled.id, recalled.patch
        for reason in recalled.degraded:
            turn.degrade(reason)
    if turn.is_kept:
        app.runtime.run_later(keep_patch(app, turn))
    return Given(read.boot if read is not None else "", turn.patch)


def _result(app: App, turn: Turn, work: asyncio.Future[T], name: str) -> T | None:
    """Return what work came to; None when it is late or failed, which the turn notes."""
    if not work.done():
        turn.degrade(f"{name}_timeout")
        return None
    error = work.exception()
    if error is None:
        return work.result()
    if not isinstance(error, RemembrancerError):
        app.runtime.run_later(_report(error))  # a defect: it is logged, the chat goes on
    turn.degrade(f"{name}_failed")
    return None


async def _recall(app: App, turn: Turn, asked: Asked) -> Recalled | None:
    if not asked.message:
        return None
    return await recall(
        app,
        turn.caller,
        asked.message,
        turns=asked.turns,
        visible=asked.visible,
        token_budget=PATCH_TOKENS_MAX,
        purpose="chat",
    )


async def _read(app: App, turn: Turn) -> _Read:
    namespace = turn.caller.namespace
    row, patch, known, digest, quotes, entries = await app.sql.read(
        [
            store.get_statement(namespace, turn.conversation_id),
            store.patch_statement(namespace, turn.conversation_id),
            message_store.known_statement(namespace, [one.hash for one in turn.said]),
            library.digest_statement(namespace),
            library.quotes_statement(namespace, before_id=None, limit=QUOTES_MAX),
            library.entries_statement(namespace),
        ]
    )
    turn.before = store.conversation_of(row.rows[0]) if row.rows else None
    turn.known = message_store.known_of(known.rows)
    given = store.patch_of(patch.rows)
    if given is not None and given.turn == turn.key:
        turn.thinking = cast("Thinking", json.loads(given.thinking))
    boot = boot_text(
        list(reversed(library.quotes_of(quotes.rows))),
        str(library.digest_of(digest.rows).get("content") or ""),
        "",
        library.entries_of(entries.rows),
    )
    return _Read(boot, given)


async def keep_patch(app: App, turn: Turn) -> None:
    """Keep what a turn was given, for the rest of it."""
    given = TurnPatch(turn.key, turn.recall_id, turn.patch, write_json(turn.thinking))
    statement = store.keep_patch_statement(
        turn.caller.namespace, turn.conversation_id, given, at_ms=app.runtime.now_ms()
    )
    await app.sql.write([statement])


async def _report(error: BaseException) -> None:
    """Fail after the answer, where the runtime logs it."""
    raise error
