"""SQL of what a model will not read: the batch that is narrowed, and the messages set aside.

When a batch is narrowed is `app.jobs.narrowing`; every statement is part of a step's batch, beside
its cursor or its guard.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.distilling import MESSAGE_CHARS_READ


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with a batch that was refused.

    *Shape:* `until` the place of its last message; `attempts` times that it was refused whole;
    `size` messages that are read instead, 0 while it is still tried whole.
    """

    until: Cursor
    attempts: int
    size: int = 0


@dataclass(frozen=True, slots=True)
class Skip:
    """A message that is set aside. *Shape:* `reason` as ModelRefused has it."""

    message_id: str
    said_at: int
    reason: str


def standing_statement(namespace: Namespace, job: str) -> Statement:
    """Return the statement that reads how a job's refused batch stands."""
    return Statement(
        "SELECT until_at AS at_ms, until_id AS id, json_array(attempts, size) AS value"
        " FROM refused_batches"
        " WHERE namespace = ? AND job = ?",
        (namespace, job),
    )


def standing_of(rows: Sequence[Row]) -> Standing | None:
    """Return the standing in the rows of `standing_statement`."""
    for row in rows:
        attempts, size = json.loads(str(row["value"]))
        return Standing(Cursor(int(str(row["at_ms"])), str(row["id"])), attempts, size)
    return None


def keep_standing_statement(namespace: Namespace, job: str, standing: Standing) -> Statement:
    """Return the statement that notes how a refused batch stands."""
    return Statement(
        "INSERT INTO refused_batches (namespace, job, until_at, until_id, attempts, size)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (namespace, job) DO UPDATE SET"
        " until_at = ?3, until_id = ?4, attempts = ?5, size = ?6",
        (
            namespace,
            job,
            standing.until.at_ms,
            standing.until.id,
            standing.attempts,
            standing.size,
        ),
    )


def drop_standing_statement(namespace: Namespace, job: str) -> Statement:
    """Return the statement that forgets a refused batch: the cursor has passed it."""
    return Statement(
        "DELETE FROM refused_batches WHERE namespace = ? AND job = ?", (namespace, job)
    )


def skip_statement(namespace: Namespace, skip: Skip, *, run_id: str, now_ms: int) -> Statement:
    """Return the statement that sets a message aside; again, it counts the try."""
    return Statement(
        "INSERT INTO skipped_messages"
        " (namespace, message_id, said_at, skipped_at, run_id, reason, tries)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1) ON CONFLICT (namespace, message_id) DO UPDATE SET"
        " reason = excluded.reason, run_id = excluded.run_id, tries = tries + 1",
        (namespace, skip.message_id, skip.said_at, now_ms, run_id, skip.reason),
    )


def settle_statement(namespace: Namespace, message_id: str) -> Statement:
    """Return the statement that takes a message off those set aside; `changes` tells whether."""
    return Statement(
        "DELETE FROM skipped_messages WHERE namespace = ? AND message_id = ?",
        (namespace, message_id),
    )


_SKIPPED: Final = (
    # The few first: left to itself SQLite walks all messages.
    " FROM skipped_messages AS k CROSS JOIN messages AS m"
    " ON m.namespace = k.namespace AND m.id = k.message_id WHERE k.namespace = ?1"
)


def skipped_statement(
    namespace: Namespace, ids: Sequence[str], *, chars_max: int = MESSAGE_CHARS_READ
) -> Statement:
    """Return the statement that reads those of these messages that are set aside, as
    `store.distilling.messages_of` takes them, of each its first `chars_max` characters."""
    return Statement(
        f"SELECT m.id, m.role, substr(m.content, 1, {chars_max}) AS content, m.created_at,"
        " length(m.content) AS chars"
        f"{_SKIPPED} AND k.message_id IN (SELECT value FROM json_each(?2))"
        " ORDER BY m.created_at, m.id",
        (namespace, canonical_json(list(ids))),
    )


def skips_statement(
    namespace: Namespace, *, after: tuple[int, str], chars: int, limit: int
) -> Statement:
    """Return the statement that reads a page of what is set aside, the oldest message first."""
    return Statement(
        "SELECT k.message_id, k.said_at, k.skipped_at, k.run_id, k.reason, k.tries,"
        f" m.conversation_id, substr(m.content, 1, ?4) AS content{_SKIPPED}"
        " AND (k.said_at, k.message_id) > (?2, ?3) ORDER BY k.said_at, k.message_id LIMIT ?5",
        (namespace, *after, chars, limit),
    )


def skips_count_statement(namespace: Namespace) -> Statement:
    """Return the statement that counts what is set aside."""
    return Statement(f"SELECT count(*) AS total{_SKIPPED}", (namespace,))
