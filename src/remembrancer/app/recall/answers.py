"""Recall in the form of answers: hits for an agent, and the explanation of an earlier recall."""

from __future__ import annotations

from typing import Final, cast

from remembrancer.app.commit import Answer
from remembrancer.app.recall.recall import EVERYTHING, LIMIT_MAX, Hit, RecallScope, recall
from remembrancer.app.state import App
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.library.matching import GlossaryHit
from remembrancer.core.recall.scale import SHOWN_MIN
from remembrancer.core.values import JSON, Caller
from remembrancer.store import conversations
from remembrancer.store import recalls as store
from remembrancer.store.recalls import RecallRow

RECALLED: Final = 20
"""Memories of one recall over MCP unless asked otherwise. Source: the predecessor's schema."""

SCORE_DIGITS: Final = 4
"""Digits of a score in answers."""

_REPEATS: Final = frozenset({"visible", "duplicate", "in_digest", "in_precious"})
_FLOORS: Final = frozenset({"score_floor", "far_below_best"})


async def recall_memories(
    app: App,
    caller: Caller,
    query: str,
    *,
    k: int = RECALLED,
    min_score: float = SHOWN_MIN,
    scope: RecallScope = EVERYTHING,
) -> Answer:
    """Recall for an agent: the predecessor's answer, and the text that quotes it.

    *Shape:* `{"hits": [{"id", "content", "type", "score", "source_layer"}], "glossary_hits",
    "text", "recall_id", "degraded", "meta": {"decayed", "deduped", "floored", "min_score",
    "total"}}`; `content` condensed, `decayed` ids that a recent recall put off. What is answered
    counts as used. *Raises:* as `recall`. *Promise:* as `recall`.
    """
    check_query_text(query)
    found = await recall(
        app,
        caller,
        query,
        limit=k,
        min_score=min_score,
        scope=scope,
        purpose="mcp",
        used="hits",
    )
    gates = [(one.id, one.gate) for one in found.explained]
    return {
        "recall_id": found.id,
        "hits": [_hit(hit) for hit in found.hits],
        "glossary_hits": [_term(hit) for hit in found.glossary],
        "text": found.patch,
        "degraded": list(found.degraded),
        "meta": {
            "decayed": list(found.reordered),
            "deduped": [id_ for id_, gate in gates if gate in _REPEATS],
            "floored": [id_ for id_, gate in gates if gate in _FLOORS],
            "min_score": min_score,
            "total": len(gates),
        },
    }


def check_query_text(query: str) -> None:
    """Refuse a query without any sign in it. *Raises:* InvalidInput."""
    if not query.strip():
        raise InvalidInput(f"the query {query[:20]!r} is empty", hint="give words", field="query")


def _hit(hit: Hit) -> JSON:
    return {
        "id": hit.record.id,
        "content": hit.text,
        "type": hit.record.fields["type"],
        "score": round(hit.score, SCORE_DIGITS),
        "source_layer": hit.layer,
    }


def _term(hit: GlossaryHit) -> JSON:
    return {
        "term": hit.entry.term,
        "matched": hit.name,
        "definition": hit.entry.definition,
        "aliases": list(hit.entry.aliases),
    }


async def explain_recall(app: App, caller: Caller, recall_id: str) -> Answer:
    """Show why an earlier recall brought up what it did.

    *Shape:* `{"recall": {"id", "at", "purpose", "query", "degraded", "injected", "tokens", "found",
    "text", "candidates": [{"id", "title", "state", "words", "meaning", "score", "rerank", "layer",
    "gate"}]}}`; `text` what a conversation was given, null for a search and when it is gone; a gate
    of null was brought up, a title of null is gone. *Raises:* NotFound. *Promise:* two round
    trips.
    """
    [outcome] = await app.sql.read([store.recall_statement(caller.namespace, recall_id)])
    rows = store.recalls_of(outcome.rows)
    if not rows:
        raise NotFound(
            f"there is no recall {recall_id[:60]!r}",
            hint="it is kept for a month; list_recalls shows the ids",
        )
    [row] = rows
    candidates = [cast("dict[str, JSON]", one) for one in row.candidates]
    ids = [str(one["id"]) for one in candidates]
    named, given = await app.sql.read(
        [
            store.titles_statement(caller.namespace, ids),
            conversations.given_statement(caller.namespace, recall_id, at_ms=row.at_ms),
        ]
    )
    text = str(given.rows[0]["block"]) if given.rows else None
    known = {str(item["id"]): item for item in named.rows}
    shown: list[JSON] = []
    for one in candidates:
        item = known.get(str(one["id"]))
        title = None if item is None else str(item["title"])
        state = None if item is None else str(item["state"])
        shown.append({**one, "title": title, "state": state})
    return {"recall": {**_view(row), "text": text, "candidates": shown}}


async def list_recalls(
    app: App, caller: Caller, *, limit: int = 50, cursor: str | None = None
) -> Answer:
    """List recalls, the newest first, without their candidates.

    *Shape:* `{"recalls", "count", "next_cursor"}`. *Raises:* InvalidInput. *Promise:* one round
    trip.
    """
    if isinstance(limit, bool) or not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {LIMIT_MAX}", field="limit"
        )
    before = None
    if cursor is not None:
        before = str(decode_cursor(cursor, kind="recalls", types=(str,))[0])
    [outcome] = await app.sql.read(
        [store.recalls_statement(caller.namespace, before_id=before, limit=limit + 1)]
    )
    rows = store.recalls_of(outcome.rows)
    shown = rows[:limit]
    is_more = len(rows) > limit
    return {
        "recalls": [_view(row) for row in shown],
        "count": len(shown),
        "next_cursor": encode_cursor("recalls", [shown[-1].id]) if is_more else None,
    }


def _view(row: RecallRow) -> dict[str, JSON]:
    return {
        "id": row.id,
        "at": format_iso(row.at_ms),
        "purpose": row.purpose,
        "query": row.query,
        "degraded": list(row.degraded),
        "injected": list(row.injected),
        "tokens": row.tokens,
        "found": row.found,
    }
