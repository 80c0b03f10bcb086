"""Conversations of the chat gateway: their rows, what their turns were given, their messages.

They are not in the ledger; retention deletes them. What a turn cost is `store.usage`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.values import HOUR_MS, canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.messages import STORED_AT

GIVEN_WITHIN_MS: Final = HOUR_MS
"""Milliseconds after a recall in which its block is kept: the answer's stream may be long. Our
choice; it bounds what finding a recall's block reads."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's row. *Shape:* `prefix` the fingerprint of what was sent last, as JSON."""

    id: str
    model: str
    prefix: str
    cached_tokens: int | None
    turn_count: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class TurnBlock:
    """What a user turn was given. *Shape:* `block` '' for nothing; `memory_ids` those it quotes;
    `thinking` JSON."""

    turn: str
    recall_id: str | None
    block: str
    memory_ids: tuple[str, ...] = ()
    thinking: str = "{}"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message that came through the gateway; its hash makes it the same when sent again."""

    id: str
    role: str
    content: str
    client_hash: str
    model: str | None = None
    is_partial: bool = False
    artifact_ids: tuple[str, ...] = ()


_COLUMNS = "id, model, prefix, cached_tokens, turn_count, created_at, updated_at"


def get_statement(namespace: Namespace, conversation_id: str) -> Statement:
    """Return the statement that reads one conversation."""
    return Statement(
        f"SELECT {_COLUMNS} FROM conversations WHERE namespace = ? AND id = ?",
        (namespace, conversation_id),
    )


def list_statement(
    namespace: Namespace, *, before: tuple[int, str] | None, limit: int
) -> Statement:
    """Return the statement that reads a page, the latest first. *Shape:* `before` time and id."""
    where = "" if before is None else " AND (updated_at, id) < (?3, ?4)"
    return Statement(
        f"SELECT {_COLUMNS} FROM conversations WHERE namespace = ?1{where}"
        " ORDER BY updated_at DESC, id DESC LIMIT ?2",
        (namespace, limit, *(before or ())),
    )


def conversation_of(row: Row) -> Conversation:
    """Return the conversation in a row."""
    return Conversation(
        id=str(row["id"]),
        model=str(row["model"]),
        prefix=str(row["prefix"]),
        cached_tokens=None if row["cached_tokens"] is None else int(str(row["cached_tokens"])),
        turn_count=int(str(row["turn_count"])),
        created_at=int(str(row["created_at"])),
        updated_at=int(str(row["updated_at"])),
    )


def blocks_statement(namespace: Namespace, conversation_id: str, turns: Sequence[str]) -> Statement:
    """Return the statement that reads what these turns of a conversation were given."""
    return Statement(
        "SELECT b.turn, b.recall_id, b.block, b.memory_ids, b.thinking FROM json_each(?3) AS j"
        " CROSS JOIN turn_blocks AS b ON b.namespace = ?1 AND b.conversation_id = ?2"
        " AND b.turn = j.value",
        (namespace, conversation_id, canonical_json([*turns])),
    )


def blocks_of(rows: Sequence[Row]) -> dict[str, TurnBlock]:
    """Return turn → what it was given, from the rows of `blocks_statement`."""
    return {
        str(row["turn"]): TurnBlock(
            str(row["turn"]),
            None if row["recall_id"] is None else str(row["recall_id"]),
            str(row["block"]),
            tuple(map(str, json.loads(str(row["memory_ids"])))),
            str(row["thinking"]),
        )
        for row in rows
    }


def given_statement(namespace: Namespace, recall_id: str, *, at_ms: int) -> Statement:
    """Return the statement that reads the block that a turn was given for a recall.

    *Shape:* `at_ms` when the recall was. *Promise:* reads the blocks of GIVEN_WITHIN_MS at most.
    """
    return Statement(
        "SELECT block FROM turn_blocks WHERE namespace = ?1 AND created_at >= ?3"
        " AND created_at <= ?4 AND recall_id = ?2 LIMIT 1",
        (namespace, recall_id, at_ms, at_ms + GIVEN_WITHIN_MS),
    )


def keep_block_statement(
    namespace: Namespace, conversation_id: str, given: TurnBlock, *, at_ms: int
) -> Statement:
    """Return the statement that keeps what a turn was given, in place of what it was before."""
    return Statement(
        "INSERT INTO turn_blocks (namespace, conversation_id, turn, recall_id, block, memory_ids,"
        " thinking, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        " ON CONFLICT (namespace, conversation_id, turn) DO UPDATE SET recall_id = ?4, block = ?5,"
        " memory_ids = ?6, thinking = ?7, created_at = ?8",
        (
            namespace,
            conversation_id,
            given.turn,
            given.recall_id,
            given.block,
            canonical_json([*given.memory_ids]),
            given.thinking,
            at_ms,
        ),
    )


def forget_blocks_statement(namespace: Namespace, item_id: str) -> Statement:
    """Return the statement that removes what quotes an item; those turns lose their cache."""
    return Statement(
        "DELETE FROM turn_blocks WHERE namespace = ? AND instr(memory_ids, ?) > 0",
        (namespace, item_id),
    )


def keep_statement(
    namespace: Namespace,
    conversation_id: str,
    *,
    model: str,
    prefix: str,
    cached_tokens: int | None,
    at_ms: int,
) -> Statement:
    """Return the statement that notes an answer in its conversation, which it makes when new."""
    return Statement(
        "INSERT INTO conversations (namespace, id, model, prefix, cached_tokens, turn_count,"
        " created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)"
        " ON CONFLICT (namespace, id) DO UPDATE SET model = ?3, prefix = ?4, cached_tokens = ?5,"
        " turn_count = turn_count + 1, updated_at = max(updated_at, ?6)",
        (namespace, conversation_id, model, prefix, cached_tokens, at_ms),
    )


def messages_statement(
    namespace: Namespace,
    messages: Sequence[ChatMessage],
    *,
    conversation_id: str,
    source: str,
    at_ms: int,
) -> Statement:
    """Return the statement that stores messages once.

    *Promise:* a user's message that is stored stays as it is; an answer that is given again to
    the same message takes the place of the one before, and keeps its id.
    """
    rows = [
        [m.id, m.role, m.content, m.client_hash, m.model, int(m.is_partial), [*m.artifact_ids]]
        for m in messages
    ]
    return Statement(
        "INSERT INTO messages (namespace, id, conversation_id, role, content, source, client_hash,"
        " created_at, model, is_partial, artifact_ids) SELECT ?1, j.value ->> 0, ?3,"
        f" j.value ->> 1, j.value ->> 2, ?4, j.value ->> 3, {STORED_AT}, j.value ->> 4,"
        " j.value ->> 5,"
        " j.value -> 6 FROM json_each(?2) AS j WHERE true"
        " ON CONFLICT (namespace, client_hash) DO UPDATE SET content = excluded.content,"
        " model = excluded.model, is_partial = excluded.is_partial"
        " WHERE messages.role = 'assistant'"
        " AND (messages.is_partial = 1 OR excluded.is_partial = 0)",
        (namespace, canonical_json(rows), conversation_id, source, at_ms),
    )
