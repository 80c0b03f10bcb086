"""Candidates: reading the queue, and what is known of a fact; decisions are `app.candidates`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.candidates.decide import Candidate
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import Head
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Outcome, Row, SqlValue, Statement
from remembrancer.store.distill_projection import CANDIDATE_COLUMNS
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import decode

_NAMES: Final = ", ".join(f"c.{name}" for name in CANDIDATE_COLUMNS)
_READ: Final = f"c.id, c.version, c.created_at, c.updated_at, {_NAMES}"
_CHAIN: Final = (
    "(SELECT e.chain FROM events AS e WHERE e.namespace = ?1"
    " AND e.stream = 'candidate/' || c.id AND e.version = c.version) AS chain"
)


def candidate_stream(candidate_id: str) -> Stream:
    """Name the stream of one candidate."""
    return Stream(f"candidate/{candidate_id}")


@dataclass(frozen=True, slots=True)
class LoadedCandidate:
    """A candidate with the head of its stream."""

    candidate: Candidate
    head: Head


def candidate_of(row: Row) -> Candidate:
    """Return the candidate in a row of the reading statements."""
    return Candidate(
        id=str(row["id"]),
        version=int(str(row["version"])),
        created_at=int(str(row["created_at"])),
        updated_at=int(str(row["updated_at"])),
        fields={
            name: decode(type_, row[name])
            for name, type_ in CANDIDATE_COLUMNS.items()
            if row[name] is not None
        },
    )


def queue_statement(
    namespace: Namespace, status: str, *, after: tuple[float, str], limit: int
) -> Statement:
    """Return the statement that reads a page of the queue, the least sure first."""
    return Statement(
        f"SELECT {_READ} FROM candidates AS c WHERE c.namespace = ?1 AND c.status = ?2"
        " AND (c.confidence, c.id) > (?3, ?4) ORDER BY c.confidence, c.id LIMIT ?5",
        (namespace, status, *after, limit),
    )


def count_statement(namespace: Namespace, status: str) -> Statement:
    """Return the statement that counts the candidates of a status."""
    return Statement(
        "SELECT count(*) AS total FROM candidates WHERE namespace = ? AND status = ?",
        (namespace, status),
    )


def load_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads candidates by id, with their heads."""
    marks = Marks(namespace)
    return Statement(
        f"SELECT {_READ}, {_CHAIN} FROM {marks.many(ids)} AS j CROSS JOIN candidates AS c"
        " ON c.namespace = ?1 AND c.id = j.value",
        marks.values,
    )


def pending_statement(namespace: Namespace, facts: Sequence[str]) -> Statement:
    """Return the statement that reads the pending candidates of these facts, with their heads."""
    return Statement(
        f"SELECT {_READ}, {_CHAIN} FROM json_each(?2) AS j CROSS JOIN candidates AS c"
        " ON c.namespace = ?1 AND c.fact = j.value AND c.status = 'pending'",
        (namespace, canonical_json(list(facts))),
    )


def loaded(outcome: Outcome) -> list[LoadedCandidate]:
    """Return the candidates from the outcome of `load_statement` or `pending_statement`."""
    found: list[LoadedCandidate] = []
    for row in outcome.rows:
        candidate = candidate_of(row)
        found.append(LoadedCandidate(candidate, Head(candidate.version, str(row["chain"]))))
    return found


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of texts before. *Shape:* `discards` text hash → times it was discarded;
    `forgotten` the hashes of what was forgotten on request."""

    discards: Mapping[str, int]
    forgotten: frozenset[str]


def fates_statement(
    namespace: Namespace, proposed: Sequence[str], saved: Sequence[str]
) -> Statement:
    """Return the statement that reads how often the texts of candidates were discarded, and which
    of those that are to be saved were forgotten. *Shape:* text hashes."""
    return Statement(
        "SELECT 'discarded' AS fate, c.text_hash, count(*) AS total FROM json_each(?2) AS j"
        " CROSS JOIN candidates AS c ON c.namespace = ?1 AND c.text_hash = j.value"
        " AND c.status = 'discarded' GROUP BY c.text_hash"
        " UNION ALL SELECT DISTINCT 'forgotten', text_hash, 1 FROM tombstones"
        " WHERE namespace = ?1 AND text_hash IN (SELECT value FROM json_each(?3))",
        (namespace, canonical_json(list(proposed)), canonical_json(list(saved))),
    )


def fates_of(rows: Sequence[Row]) -> Fates:
    """Return what the rows of `fates_statement` say."""
    return Fates(
        {str(row["text_hash"]): _int(row["total"]) for row in rows if row["fate"] == "discarded"},
        frozenset(str(row["text_hash"]) for row in rows if row["fate"] == "forgotten"),
    )


def _int(value: SqlValue) -> int:
    return int(str(value))
