"""Use cases of precious quotes: add, list, remove with a reason. The text is never rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.ids import PRECIOUS
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Head
from remembrancer.core.library import precious as rules
from remembrancer.core.library.precious import PreciousSource, Quote
from remembrancer.core.library.words import required_reason
from remembrancer.core.values import Caller
from remembrancer.store import ledger
from remembrancer.store import library as store
from remembrancer.store.ledger import StreamEdit

PAGE_MAX: Final = 200
"""Quotes or glossary entries of one page. Source: the predecessor's route."""


async def add_precious(
    app: App,
    caller: Caller,
    content: str,
    *,
    context_message_ids: Sequence[str] = (),
    source: PreciousSource | None = None,
) -> Answer:
    """Keep a quote for ever, byte for byte; the same bytes are kept once.

    *Shape:* `{"precious", "outcome": "created" | "unchanged"}`; without a `source` it is `human`
    for a person's key, else `secretary`. *Raises:* InvalidInput, LimitExceeded.
    *Promise:* two round trips.
    """
    content = rules.check_content(content)
    message_ids = rules.check_message_ids(context_message_ids)

    async def decide() -> Plan:
        same, heads = await app.sql.read(
            [
                store.same_quote_statement(caller.namespace, rules.content_hash(content)),
                ledger.heads_statement(caller.namespace, [PRECIOUS]),
            ]
        )
        now_ms = app.runtime.now_ms()
        for kept in store.quotes_of(same.rows):
            return Plan({"precious": kept.view, "outcome": "unchanged"}, now_ms)
        quote = Quote(
            id=app.runtime.new_id("pcz"),
            content=content,
            context_message_ids=message_ids,
            source=source or ("human" if caller.authored_by == "human" else "secretary"),
            created_at=now_ms,
        )
        head = ledger.heads(heads.rows).get(PRECIOUS, Head())
        edit = StreamEdit(PRECIOUS, head, {}, (rules.add_quote(quote),))
        return Plan({"precious": quote.view, "outcome": "created"}, now_ms, [edit])

    return await write_in_turn(app, caller, decide)


async def list_precious(
    app: App, caller: Caller, *, limit: int = 100, cursor: str | None = None
) -> Answer:
    """List precious quotes, newest first.

    *Shape:* `{"precious", "count", "total", "next_cursor"}`. *Raises:* InvalidInput.
    *Promise:* one round trip.
    """
    check_limit(limit)
    before = None
    if cursor is not None:
        before = str(decode_cursor(cursor, kind="precious", types=(str,))[0])
    page, counted = await app.sql.read(
        [
            store.quotes_statement(caller.namespace, before_id=before, limit=limit + 1),
            store.quote_count_statement(caller.namespace),
        ]
    )
    quotes = store.quotes_of(page.rows)
    shown = quotes[:limit]
    is_more = len(quotes) > limit
    return {
        "precious": [quote.view for quote in shown],
        "count": len(shown),
        "total": store.total_of(counted.rows),
        "next_cursor": encode_cursor("precious", [shown[-1].id]) if is_more else None,
    }


async def remove_precious(app: App, caller: Caller, precious_id: str, *, reason: str) -> Answer:
    """Remove a quote; the ledger keeps it with the reason, and undo brings it back.

    *Shape:* `{"removed": true, "precious", "cause"}`, the cause for undo.
    *Raises:* NotFound, InvalidInput without a reason, LimitExceeded.
    *Promise:* two round trips.
    """
    reason = required_reason(reason, chars_max=limits.REASON_CHARS_MAX)

    async def decide() -> Plan:
        found, heads = await app.sql.read(
            [
                store.named_quotes_statement(caller.namespace, [precious_id]),
                ledger.heads_statement(caller.namespace, [PRECIOUS]),
            ]
        )
        quotes = store.quotes_of(found.rows)
        if not quotes:
            raise NotFound(
                f"there is no precious quote {precious_id[:60]!r}",
                hint="precious_list shows the ids",
            )
        present: Fields = {quote.id: quote.fields for quote in quotes}
        draft = rules.remove_quote(present, precious_id, reason=reason)
        head = ledger.heads(heads.rows).get(PRECIOUS, Head())
        return Plan(
            answer={"removed": True, "precious": quotes[0].view, "cause": caller.cause},
            at_ms=app.runtime.now_ms(),
            edits=[StreamEdit(PRECIOUS, head, present, (draft,))],
        )

    return await write_in_turn(app, caller, decide)


def check_limit(limit: int) -> None:
    """Refuse a page's size that is out of range. *Raises:* InvalidInput."""
    if isinstance(limit, bool) or not 1 <= limit <= PAGE_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {PAGE_MAX}", field="limit"
        )
