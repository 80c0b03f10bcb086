"""The memory of one request: what its prefix and its messages are given, within a time limit.

A turn that was given something keeps it: through its tool loop and in every later request, so that
the prefix stays what it was. Asked anew, it is recalled anew. Nothing here can fail a chat; what
had no part is named in the turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, cast
from zoneinfo import ZoneInfo

from remembrancer.app.gateway.boot import QUOTES_MAX, boot_text
from remembrancer.app.gateway.forms import Thinking
from remembrancer.app.gateway.history import Reading
from remembrancer.app.gateway.together import HeldBack, SharedStore
from remembrancer.app.gateway.turns import Turn
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.recall.recall import Recalled, recall
from remembrancer.app.state import App
from remembrancer.core.chat.inject import mark_patch
from remembrancer.core.chat.shapes import write_json
from remembrancer.core.dates import day_bounds, format_iso, format_local
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.recall.patch import lines_of
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Row
from remembrancer.store import conversations as store
from remembrancer.store import days, items, library
from remembrancer.store import messages as message_store
from remembrancer.store.conversations import TurnBlock

TURNS_RECALLED: Final = 6
"""Texts before a message that help to understand it. Our choice; thin messages need the last."""

VISIBLE_TEXTS: Final = 12
"""Texts of a request, the latest, in which a memory may stand already. Our choice."""

VISIBLE_CHARS: Final = 4_000
"""Characters of one of them that are looked at. Our choice: a page."""

PAGES_READ: Final = 3
"""Pages of the diary that are read, of which one may be yesterday's: the zone is read with them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is recalled for. *Shape:* `turns` texts that were said before, oldest first; `keys` of
    the turns in the request; `volatile` what the client's instructions say of the moment."""

    reading: Reading
    volatile: str

    @property
    def keys(self) -> list[str]:
        """The turns that may have been given something, this one last."""
        return [key for _, key in self.reading.places]


@dataclass(frozen=True, slots=True)
class Given:
    """What a request is given. *Shape:* `blocks` turn → marked text, this turn's too."""

    boot: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Read:
    boot: str = ""
    given: Mapping[str, TurnBlock] = field(default_factory=dict)


async def give(app: App, turn: Turn, asked: Asked, held: HeldBack) -> Given:
    """Return the memory of a request; this turn's is noted in it.

    *Promise:* never raises ours; at most RECALL_TIMEOUT_MS; the round trips of a recall, whose
    first one reads what the gateway itself wants as well; what is written waits in `held`.
    """
    shared = SharedStore(app.sql)
    app = replace(app, sql=shared, runtime=held)
    limit_s = app.settings.recall_timeout_ms / 1_000
    until = asyncio.get_running_loop().time() + limit_s
    reading = asyncio.ensure_future(_read(app, turn, asked))
    recalling: asyncio.Future[Recalled | None] | None = None
    if not asked.reading.is_going_on:
        recalling = asyncio.ensure_future(_recall(app, turn, asked))
    try:
        await asyncio.wait({one for one in (reading, recalling) if one}, timeout=limit_s)
        read = _result(app, turn, reading, "memory") or _Read()
        blocks = {key: one.block for key, one in read.given.items() if one.block}
        mine = read.given.get(turn.key)
        if mine is not None and asked.reading.is_going_on:
            _take(turn, mine)
            return Given(read.boot, blocks)
        if recalling is None:
            recalling = asyncio.ensure_future(_recall(app, turn, asked))
            left_s = max(0.0, until - asyncio.get_running_loop().time())
            await asyncio.wait({recalling}, timeout=left_s)
        recalled = _result(app, turn, recalling, "recall")
    finally:
        for one in (reading, recalling):
            if one is not None:
                one.cancel()
        shared.give_up()
    earlier = [one for key, one in read.given.items() if key != turn.key]
    _give_anew(turn, asked, recalled, earlier)
    held.promise(lambda: keep_block(app, turn))
    return Given(read.boot, {**blocks, turn.key: turn.block})


def _take(turn: Turn, given: TurnBlock) -> None:
    """Note in the turn what its tool loop began with."""
    turn.is_new = False
    turn.recall_id, turn.block, turn.memory_ids = given.recall_id, given.block, given.memory_ids
    turn.thinking = cast("Thinking", json.loads(given.thinking))


def _give_anew(
    turn: Turn, asked: Asked, recalled: Recalled | None, given: Sequence[TurnBlock]
) -> None:
    """Note in the turn what it is given; what an earlier turn shows is not shown again."""
    patch = ""
    if recalled is not None:
        turn.recall_id = recalled.id
        for reason in recalled.degraded:
            turn.degrade(reason)
        earlier = {id_ for one in given for id_ in one.memory_ids}
        turn.memory_ids = tuple(recalled.injected)
        if not recalled.injected or not earlier.issuperset(recalled.injected):
            patch = lines_of(recalled.patch)  # the block has a frame and a preface of its own
    turn.block = mark_patch(
        patch,
        recall_id=turn.recall_id or "",
        volatile=asked.volatile,
        message=asked.reading.message,
    )


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
    reading = asked.reading
    if not reading.message:
        return None
    seen = [text[:VISIBLE_CHARS] for text in reading.before[-VISIBLE_TEXTS:]]
    return await recall(
        app,
        turn.caller,
        reading.message,
        turns=reading.before[-TURNS_RECALLED:],
        visible=seen,
        purpose="chat",
    )


def _hashes(turn: Turn) -> list[str]:
    """Return every hash under which something of the turn may be stored."""
    said = [hash_ for one in turn.said for hash_ in one.hashes]
    return [*said, *turn.reply_hashes]


async def _read(app: App, turn: Turn, asked: Asked) -> _Read:
    namespace = turn.caller.namespace
    now_ms = app.runtime.now_ms()
    row, given, known, digest, quotes, entries, settings, pages = await app.sql.read(
        [
            store.get_statement(namespace, turn.conversation_id),
            store.blocks_statement(namespace, turn.conversation_id, asked.keys),
            message_store.known_statement(namespace, _hashes(turn)),
            library.digest_statement(namespace),
            library.quotes_statement(namespace, before_id=None, limit=QUOTES_MAX),
            library.entries_statement(namespace),
            items.setting_statement(namespace),
            days.latest_statement(namespace, "day", before=_day(now_ms), limit=PAGES_READ),
        ]
    )
    turn.before = store.conversation_of(row.rows[0]) if row.rows else None
    turn.known = message_store.known_of(known.rows)
    boot = boot_text(
        list(reversed(library.quotes_of(quotes.rows))),
        str(library.digest_of(digest.rows).get("content") or ""),
        _yesterday(app, now_ms, settings.rows, pages.rows),
        library.entries_of(entries.rows),
    )
    return _Read(boot, store.blocks_of(given.rows))


def _day(at_ms: int, zone: ZoneInfo | None = None) -> str:
    """Return a moment's day; without a zone the day after, by which every zone's day has begun."""
    if zone is None:
        return format_iso(at_ms + DAY_MS)[:10]
    return format_local(at_ms, zone)[:10]


def _yesterday(app: App, now_ms: int, settings: Sequence[Row], pages: Sequence[Row]) -> str:
    """Return the summary of yesterday's page, in the namespace's zone; '' when there is none."""
    if not pages:
        return ""
    zone = zone_of(app, {**SETTINGS, **items.settings_of(settings)})
    wanted = _day(day_bounds(now_ms, zone)[0] - 1, zone)
    found = [days.page_of(row).summary for row in pages if row["label"] == wanted]
    return found[0] if found else ""


async def keep_block(app: App, turn: Turn) -> None:
    """Keep what a turn was given, for every later request of the conversation."""
    given = TurnBlock(
        turn.key, turn.recall_id, turn.block, turn.memory_ids, write_json(turn.thinking)
    )
    statement = store.keep_block_statement(
        turn.caller.namespace, turn.conversation_id, given, at_ms=app.runtime.now_ms()
    )
    await app.sql.write([statement])


async def _report(error: BaseException) -> None:
    """Fail after the answer, where the runtime logs it."""
    raise error
