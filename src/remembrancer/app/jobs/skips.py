"""Messages that a model refused, as people see and decide them: list, try again, let go.

How a message comes to be set aside is `narrowing.py`; the rules have read it, and it stays in the
store until it is decided or SKIPPED_KEEP_DAYS have passed.
"""

from __future__ import annotations

from typing import Final

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.running import run_job
from remembrancer.app.state import App
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.limits import PAGE_ITEMS_MAX
from remembrancer.core.values import DAY_MS, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import skips as store

JOB: Final = "extract"
"""The job that sets messages aside; a night that is refused sums the message up by rule."""

SHOWN_CHARS: Final = 300
"""Characters of a message that the list shows. Our choice: enough to know it again."""


async def list_skips(
    app: App, caller: Caller, *, limit: int = 50, cursor: str | None = None
) -> Answer:
    """Return the messages that wait for a person, the oldest first.

    *Shape:* `{"skipped": [{"message_id", "conversation_id", "content", "said_at", "skipped_at",
    "goes_at", "reason", "tries", "run_id"}], "count", "total", "next_cursor"}`. *Raises:*
    InvalidInput. *Promise:* one round trip; writes nothing.
    """
    if isinstance(limit, bool) or not 1 <= limit <= PAGE_ITEMS_MAX:
        raise InvalidInput(f"limit is {limit!r}", hint=f"1 to {PAGE_ITEMS_MAX}", field="limit")
    after = (-1, "")
    if cursor is not None:
        at_ms, id_ = decode_cursor(cursor, kind="skips", types=(int, str))
        after = (int(str(at_ms)), str(id_))
    page, counted = await app.sql.read(
        [
            store.skips_statement(
                caller.namespace, after=after, chars=SHOWN_CHARS, limit=limit + 1
            ),
            store.skips_count_statement(caller.namespace),
        ]
    )
    shown = page.rows[:limit]
    following: str | None = None
    if len(page.rows) > limit:
        last = shown[-1]
        following = encode_cursor("skips", [int(str(last["said_at"])), str(last["message_id"])])
    keep_ms = app.settings.skipped_keep_days * DAY_MS
    return {
        "skipped": [_view(row, keep_ms) for row in shown],
        "count": len(shown),
        "total": int(str(counted.rows[0]["total"])),
        "next_cursor": following,
    }


def _view(row: Row, keep_ms: int) -> Answer:
    skipped_at = int(str(row["skipped_at"]))
    return {
        "message_id": str(row["message_id"]),
        "conversation_id": str(row["conversation_id"]),
        "content": str(row["content"]),
        "said_at": format_iso(int(str(row["said_at"]))),
        "skipped_at": format_iso(skipped_at),
        "goes_at": format_iso(skipped_at + keep_ms),
        "reason": str(row["reason"]),
        "tries": int(str(row["tries"])),
        "run_id": str(row["run_id"]),
    }


async def retry_skip(app: App, caller: Caller, message_id: str) -> Answer:
    """Let the model read a message again that it refused, now.

    *Shape:* as `app.jobs.running.run`. *Raises:* NotFound, ModelRefused when it refuses again (the
    message stays), Conflict without a model, and what else the model raises.
    """
    await _require(app, caller, message_id)
    asked = Asked(force=True, messages=(message_id,))
    return await run_job(app, JOB, caller.namespace, asked=asked)


async def drop_skip(app: App, caller: Caller, message_id: str) -> Answer:
    """Let a message go: nothing more is learned from it, and its days are counted as any other's.

    *Shape:* `{"dropped": message id}`. *Raises:* NotFound.
    """
    [outcome] = await app.sql.write([store.settle_statement(caller.namespace, message_id)])
    if not outcome.changes:
        raise _unknown(message_id)
    return {"dropped": message_id}


async def _require(app: App, caller: Caller, message_id: str) -> None:
    [outcome] = await app.sql.read([store.skipped_statement(caller.namespace, [message_id])])
    if not outcome.rows:
        raise _unknown(message_id)


def _unknown(message_id: str) -> NotFound:
    return NotFound(
        f"no message {message_id[:60]!r} is set aside", hint="/v1/jobs/extract/skipped lists them"
    )
