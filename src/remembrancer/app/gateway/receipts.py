"""Use cases of reading conversations: what each turn cost, and what the prompt cache kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.dates.iso import format_iso
from remembrancer.core.errors import NotFound
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import conversations as store
from remembrancer.store import messages, usage
from remembrancer.store.conversations import Conversation

_LIST: Final = "conversations"
_TURNS: Final = "turns"
_MESSAGES: Final = "messages"
_SUMS: Final = ("answers", "prompt_tokens", "completion_tokens", "cached_tokens", "cost")


async def list_conversations(
    app: App, caller: Caller, *, limit: int, cursor: str | None = None
) -> Answer:
    """Return a page of conversations, the latest first, each with its sums.

    *Shape:* `{"data": […], "next_cursor"}`; `said` is how the user's latest message begins, null
    when it is gone. *Raises:* InvalidInput (the cursor).
    *Promise:* two round trips.
    """
    before = None
    if cursor is not None:
        at_ms, id_ = decode_cursor(cursor, kind=_LIST, types=[int, str])
        assert isinstance(at_ms, int)
        before = (at_ms, str(id_))
    [found] = await app.sql.read(
        [store.list_statement(caller.namespace, before=before, limit=limit + 1)]
    )
    rows = [store.conversation_of(row) for row in found.rows]
    page = rows[:limit]
    sums: Mapping[str, Row] = {}
    said: Mapping[str, str] = {}
    if page:
        ids = [one.id for one in page]
        counted, latest = await app.sql.read(
            [
                usage.totals_statement(caller.namespace, ids),
                messages.latest_statement(caller.namespace, ids),
            ]
        )
        sums = {str(row["conversation_id"]): row for row in counted.rows}
        said = messages.latest_of(latest.rows)
    data: list[JSON] = [{**_shown(one, sums.get(one.id)), "said": said.get(one.id)} for one in page]
    more = len(rows) > limit
    last = page[-1] if more else None
    return {
        "data": data,
        "next_cursor": encode_cursor(_LIST, [last.updated_at, last.id]) if last else None,
    }


async def get_conversation(
    app: App, caller: Caller, conversation_id: str, *, limit: int, cursor: str | None = None
) -> Answer:
    """Return a conversation with a page of its turns, the latest first.

    *Shape:* `{"conversation", "turns", "next_cursor"}`; a turn of several answers, as a tool loop
    has, is several entries with the same `turn`. *Raises:* NotFound, InvalidInput (the cursor).
    *Promise:* one round trip.
    """
    before = None
    if cursor is not None:
        before = str(decode_cursor(cursor, kind=_TURNS, types=[str])[0])
    found, turns, sums = await app.sql.read(
        [
            store.get_statement(caller.namespace, conversation_id),
            usage.page_statement(
                caller.namespace, conversation_id, before_id=before, limit=limit + 1
            ),
            usage.totals_statement(caller.namespace, [conversation_id]),
        ]
    )
    if not found.rows:
        raise NotFound(
            f"there is no conversation {conversation_id[:60]!r}",
            hint="GET /v1/conversations lists them",
        )
    page = turns.rows[:limit]
    has_more = len(turns.rows) > limit
    conversation = store.conversation_of(found.rows[0])
    return {
        "conversation": _shown(conversation, sums.rows[0] if sums.rows else None),
        "turns": _turns(page),
        "next_cursor": encode_cursor(_TURNS, [str(page[-1]["id"])]) if has_more else None,
    }


async def list_messages(
    app: App, caller: Caller, conversation_id: str, *, limit: int, cursor: str | None = None
) -> Answer:
    """Return a page of a conversation's stored messages, the latest first.

    *Shape:* `{"data": [{"id", "conversation_id", "role", "content", "chars", "source", "model",
    "is_partial", "created_at"}], "next_cursor"}`; `content` is the beginning of a long one, `chars`
    its whole length; retention takes messages after their time. *Raises:* InvalidInput (the
    cursor). *Promise:* one round trip.
    """
    before = None
    if cursor is not None:
        at_ms, id_ = decode_cursor(cursor, kind=_MESSAGES, types=[int, str])
        assert isinstance(at_ms, int)
        before = (at_ms, str(id_))
    [found] = await app.sql.read(
        [
            messages.conversation_statement(
                caller.namespace, conversation_id, before=before, limit=limit + 1
            )
        ]
    )
    page = found.rows[:limit]
    last = page[-1] if len(found.rows) > limit else None
    following: str | None = None
    if last is not None:
        following = encode_cursor(_MESSAGES, [int(str(last["created_at"])), str(last["id"])])
    return {"data": [messages.message_view(row) for row in page], "next_cursor": following}


def _turns(rows: Sequence[Row]) -> list[JSON]:
    shown: list[JSON] = []
    for row in rows:
        view = usage.view_of(row)
        view["created_at"] = format_iso(int(str(row["created_at"])))
        shown.append(view)
    return shown


def _shown(one: Conversation, sums: Row | None) -> dict[str, JSON]:
    totals: dict[str, JSON] = {}
    for name in _SUMS:
        value = None if sums is None else sums[name]
        totals[name] = value if isinstance(value, int | float) else 0
    return {
        "id": one.id,
        "model": one.model,
        "created_at": format_iso(one.created_at),
        "updated_at": format_iso(one.updated_at),
        **totals,
    }
