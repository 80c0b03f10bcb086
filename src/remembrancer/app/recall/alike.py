"""Items that say nearly the same without sharing a tag: the newest, each with what is near to it.

Meaning finds them and decides nothing: what differs in numbers, dates or negations is named, and
never called a duplicate. Groups by tags are `app.consolidation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from remembrancer.app.recall.meaning import PATIENT_MS, within
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.memories.wording import whole_of
from remembrancer.core.search.likeness import compare, gist_of
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.values import JSON, Caller
from remembrancer.core.vectors.embedding import embedding_text, item_of_vector
from remembrancer.ports.models import Embedder
from remembrancer.ports.vectors import VectorIndex, VectorMatch, VectorScope
from remembrancer.store import search as store
from remembrancer.store.item_filters import Asked

NEWEST: Final = 8
"""Items that are looked up, the newest: each asks the index once. Our choice: at the edge every
question is a request of its own."""

NEAREST: Final = 6
"""Vectors that are asked for of each; its own is among them."""

_EXCERPT_CHARS: Final = 200


async def alike_groups(
    app: App, caller: Caller, *, kind: str, together: Collection[frozenset[str]]
) -> list[JSON]:
    """Return pairs of active items of a kind that are near in meaning, the newest first.

    *Shape:* groups as `find_consolidation_candidates` gives them, of two, with the `score` and the
    `differences`; pairs that are `together` already are left out. None without vectors, or while
    they fail. *Promise:* two round trips; at most `NEWEST` questions to the index.
    """
    if app.embedder is None or app.vectors is None:
        return []
    asked = Asked(
        caller.namespace,
        ItemQuery(kinds=(kind,), states=("active",), current_only=True),
        app.runtime.now_ms(),
    )
    [outcome] = await app.sql.read([store.newest_statement(asked, limit=NEWEST)])
    newest = [match.record for match in store.matches_of(outcome.rows)[0]]
    try:
        near = await within(_near(app.embedder, app.vectors, asked, newest), PATIENT_MS)
    except RemembrancerError:
        return []
    pairs = _pairs(near, least=app.settings.dedup_cosine, together=together)
    others = sorted({id_ for pair in pairs for id_ in pair} - {record.id for record in newest})
    records = {record.id: record for record in newest}
    if others:
        [outcome] = await app.sql.read([store.named_statement(asked, others, [])])
        records |= {match.record.id: match.record for match in store.matches_of(outcome.rows)[0]}
    return [
        _group(records[one], records[other], score)
        for (one, other), score in pairs.items()
        if other in records
    ]


async def _near(
    embedder: Embedder, index: VectorIndex, asked: Asked, newest: Sequence[ItemRecord]
) -> list[tuple[str, list[VectorMatch]]]:
    values = await embedder.embed([embedding_text(record.fields) for record in newest])
    scope = VectorScope(asked.namespace, asked.query.kinds[0])
    found = await asyncio.gather(*(index.query(scope, vector, top=NEAREST) for vector in values))
    return [(record.id, matches) for record, matches in zip(newest, found, strict=True)]


def _pairs(
    near: Sequence[tuple[str, Sequence[VectorMatch]]],
    *,
    least: float,
    together: Collection[frozenset[str]],
) -> Mapping[tuple[str, str], float]:
    """Return each pair once, the newer item first, with its cosine."""
    pairs: dict[tuple[str, str], float] = {}
    seen = set(together)
    for one, matches in near:
        for match in matches:
            other = item_of_vector(match.id)
            both = frozenset((one, other))
            if match.score < least or len(both) < 2 or both in seen:
                continue
            seen.add(both)
            pairs[one, other] = match.score
    return pairs


def _group(one: ItemRecord, other: ItemRecord, score: float) -> JSON:
    newer, older = sorted((one, other), key=lambda record: (-record.updated_at, record.id))
    likeness = compare(gist_of(whole_of(newer.fields)), gist_of(whole_of(older.fields)))
    is_update = bool(likeness.differences)
    return {
        "tags": [],
        "items": [_member(newer), _member(older)],
        "count": 2,
        "suggested_relationship": "supersedes" if is_update else "duplicate_of",
        "source_item_id": newer.id,
        "target_item_ids": [older.id],
        "score": round(score, 4),
        "differences": list(likeness.differences),
    }


def _member(record: ItemRecord) -> dict[str, JSON]:
    fields = record.fields
    tags = fields.get("tags")
    return {
        "id": record.id,
        "title": fields["title"],
        "excerpt": shorten(str(fields.get("content") or ""), _EXCERPT_CHARS),
        "state": fields["state"],
        "pinned": bool(fields.get("pinned")),
        "tags": tags if isinstance(tags, list) else [],
        "updated_at": format_iso(record.updated_at),
    }
