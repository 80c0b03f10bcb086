"""Projecting candidates and the diary's pages. Reading them is `store.candidates`, `store.days`.

It knows columns, no rule: every write imports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Statement
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import ColumnType, Placed, lives

_TEXT: Final[ColumnType] = "text"
_JSON: Final[ColumnType] = "json"

CANDIDATE_COLUMNS: Final[Mapping[str, ColumnType]] = MappingProxyType(
    {
        "kind": _TEXT,
        "status": _TEXT,
        "type": _TEXT,
        "content": _TEXT,
        "fact_key": _TEXT,
        "confidence": "real",
        "importance": "real",
        "tags": _JSON,
        "source_message_ids": _JSON,
        "source": _TEXT,
        "target_ids": _JSON,
        "why": _TEXT,
        "decision_note": _TEXT,
        "decided_at": "integer",
        "result_id": _TEXT,
        "fact": _TEXT,
        "text_hash": _TEXT,
    }
)
"""Field of a candidate → how its column holds it."""

PAGE_FIELDS: Final = ("kind", "path", "starts_on", "title", "summary", "content", "through_id")
"""Fields of a page, which are its columns, all of them text."""


def project_candidates(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the candidates up to these events, each stream's in their order.

    *Promise:* a second pending candidate of one fact is a clash, and the batch is not written.
    """
    gone, kept = lives(round_, "kind")
    # What is decided goes before what takes its fact.
    kept.sort(key=lambda each: each[0].after.get("status") == "pending")
    namespace = round_[0].event.namespace
    result: list[Statement] = []
    if gone:
        marks = Marks(namespace)
        where = marks.keys(("id",), [[placed.id] for placed in gone])
        result.append(Statement(f"DELETE FROM {shadow}candidates WHERE {where}", marks.values))
    if kept:
        result.append(_upsert(namespace, kept, shadow))
    return result


def _upsert(namespace: Namespace, kept: Sequence[tuple[Placed, int]], shadow: str) -> Statement:
    rows = [
        [placed.id, placed.event.version, born_ms, placed.event.at_ms, *_values(placed.after)]
        for placed, born_ms in kept
    ]
    names = ", ".join(CANDIDATE_COLUMNS)
    picks = ", ".join(f"j.value ->> {index + 4}" for index in range(len(CANDIDATE_COLUMNS)))
    sets = ", ".join(f"{name} = excluded.{name}" for name in CANDIDATE_COLUMNS)
    return Statement(
        f"INSERT INTO {shadow}candidates (namespace, id, version, created_at, updated_at, {names})"
        " SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3,"
        f" {picks} FROM json_each(?2) AS j WHERE 1"
        " ON CONFLICT (namespace, id) DO UPDATE SET version = excluded.version,"
        f" updated_at = excluded.updated_at, {sets}",
        (namespace, canonical_json(rows)),
    )


def _values(fields: Mapping[str, JSON]) -> list[JSON]:
    result: list[JSON] = []
    for name, type_ in CANDIDATE_COLUMNS.items():
        value = fields.get(name)
        result.append(canonical_json(value) if type_ == "json" and value is not None else value)
    return result


def project_pages(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the pages up to these events, each stream's in their order."""
    namespace = round_[0].event.namespace
    gone, kept = lives(round_, "kind")
    result: list[Statement] = []
    if gone:
        marks = Marks(namespace)
        where = marks.keys(("label",), [[placed.id] for placed in gone])
        result.append(Statement(f"DELETE FROM {shadow}pages WHERE {where}", marks.values))
    if kept:
        rows = [
            [
                placed.id,
                placed.event.version,
                born_ms,
                placed.event.at_ms,
                *(placed.after.get(name) for name in PAGE_FIELDS),
            ]
            for placed, born_ms in kept
        ]
        picks = ", ".join(f"j.value ->> {index + 4}" for index in range(len(PAGE_FIELDS)))
        sets = ", ".join(f"{name} = excluded.{name}" for name in PAGE_FIELDS)
        sql = (
            f"INSERT INTO {shadow}pages (namespace, label, version, created_at, updated_at,"
            f" {', '.join(PAGE_FIELDS)}) SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2,"
            f" j.value ->> 3, {picks} FROM json_each(?2) AS j WHERE 1"
            " ON CONFLICT (namespace, label) DO UPDATE SET version = excluded.version,"
            f" updated_at = excluded.updated_at, {sets}"
        )
        result.append(Statement(sql, (namespace, canonical_json(rows))))
    return result
