"""What each answer of an upstream cost: tokens, time, and what the prompt cache did.

No text of anybody's is in it. The jobs' retention deletes old rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.record_table import load_json


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as the upstream reports them; None where it does not."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One answer. *Units:* milliseconds; `cost` in the currency of the prices that are set."""

    id: str
    conversation_id: str
    turn: str
    request_id: str
    model: str
    status: int
    is_stream: bool
    is_complete: bool
    finish_reason: str | None
    tokens: Tokens
    cost: float | None
    first_byte_ms: int
    total_ms: int
    recall_id: str | None
    saved: Sequence[str] = field(default_factory=tuple)
    degraded: Sequence[str] = field(default_factory=tuple)
    cache_note: str | None = None


def keep_statement(namespace: Namespace, used: Usage, *, at_ms: int) -> Statement:
    """Return the statement that keeps one row."""
    return Statement(
        "INSERT INTO usage (namespace, id, conversation_id, turn, request_id, model, status,"
        " is_stream, is_complete, finish_reason, prompt_tokens, completion_tokens, cached_tokens,"
        " cache_write_tokens, reasoning_tokens, cost, first_byte_ms, total_ms, recall_id, saved,"
        " degraded, cache_note, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            namespace,
            used.id,
            used.conversation_id,
            used.turn,
            used.request_id,
            used.model,
            used.status,
            int(used.is_stream),
            int(used.is_complete),
            used.finish_reason,
            used.tokens.prompt,
            used.tokens.completion,
            used.tokens.cached,
            used.tokens.cache_write,
            used.tokens.reasoning,
            used.cost,
            used.first_byte_ms,
            used.total_ms,
            used.recall_id,
            canonical_json([*used.saved]),
            canonical_json([*used.degraded]),
            used.cache_note,
            at_ms,
        ),
    )


def page_statement(
    namespace: Namespace, conversation_id: str, *, before_id: str | None, limit: int
) -> Statement:
    """Return the statement that reads a conversation's rows, the latest first."""
    where = "" if before_id is None else " AND id < ?4"
    place = () if before_id is None else (before_id,)
    return Statement(
        f"SELECT * FROM usage WHERE namespace = ?1 AND conversation_id = ?2{where}"
        " ORDER BY id DESC LIMIT ?3",
        (namespace, conversation_id, limit, *place),
    )


def totals_statement(namespace: Namespace, conversation_ids: Sequence[str]) -> Statement:
    """Return the statement that adds up the rows of each conversation."""
    return Statement(
        "SELECT u.conversation_id, count(*) AS answers, sum(u.prompt_tokens) AS prompt_tokens,"
        " sum(u.completion_tokens) AS completion_tokens, sum(u.cached_tokens) AS cached_tokens,"
        " sum(u.cost) AS cost FROM json_each(?2) AS j CROSS JOIN usage AS u"
        " ON u.namespace = ?1 AND u.conversation_id = j.value GROUP BY u.conversation_id",
        (namespace, canonical_json([*conversation_ids])),
    )


def view_of(row: Row) -> dict[str, JSON]:
    """Return a row as answers show it, its time still in milliseconds."""
    shown: dict[str, JSON] = {
        name: value
        for name, value in row.items()
        if name not in ("namespace", "conversation_id") and not isinstance(value, bytes)
    }
    for name in ("saved", "degraded"):
        shown[name] = load_json(row[name])
    for name in ("is_stream", "is_complete"):
        shown[name] = bool(row[name])
    return shown
