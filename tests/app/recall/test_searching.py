"""Searching items and looking for conflicts, with vectors beside the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.app.recall.shelf import Shelf, with_vectors

from remembrancer.app.items.write import create_item
from remembrancer.app.recall.recall import recall
from remembrancer.app.search import find_semantic_conflicts, search_items
from remembrancer.core.ids import Namespace
from remembrancer.core.recall import frequencies
from remembrancer.core.search.likeness import Likeness, nearer
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.ports.models import EmbeddingModel, Vector
from remembrancer.ports.sql import Statement
from remembrancer.ports.vectors import VectorRow, VectorScope
from remembrancer.store import search


class SameEmbedder:
    """An embedder to which all texts mean the same."""

    def __init__(self, shelf: Shelf) -> None:
        assert shelf.embedder is not None
        self._model = shelf.embedder.model

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    async def embed(self, texts: Any) -> list[Vector]:
        return [(1.0, *[0.0] * (self.model.dims - 1)) for _ in texts]


async def found(shelf: Shelf, query: str, **filters: Any) -> list[str]:
    answer: Any = await search_items(shelf.app, shelf.bench.caller(), query, **filters)
    assert answer["degraded"] == []
    scores = [match["score"] for match in answer["matches"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    return [match["item"]["title"] for match in answer["matches"]]


async def test_search_finds_by_words_and_by_meaning_and_leaves_out_what_is_far() -> None:
    shelf = with_vectors()
    await shelf.save("在阳台上种番茄")
    await shelf.save("unrelated words altogether")
    assert await found(shelf, "阳台的番茄") == ["在阳台上种番茄"]
    shelf.embedder = SameEmbedder(shelf)
    near = await shelf.save("nothing shared")
    await shelf.index(near, "x", "task")
    assert await found(shelf, "番茄", kinds=["memory"], types=["rule"]) == []


async def test_search_for_what_is_over_reads_words_alone_beside_it() -> None:
    shelf = with_vectors()
    await create_item(shelf.app, shelf.bench.caller(), {"title": "番茄 done", "state": "completed"})
    assert await found(shelf, "番茄", include_obsolete=True) == ["番茄 done"]
    assert await found(shelf, "番茄") == []


async def test_conflicts_are_found_by_meaning_and_what_differs_is_named() -> None:
    shelf = with_vectors()
    for text in ("SSH listens on port 2222", "对花生过敏", "全然不同"):
        await shelf.save(text)
    shelf.embedder = SameEmbedder(shelf)
    assert shelf.vectors is not None
    from_index = await shelf.recall("port 2223", is_search=True, is_filtered=False)
    near = from_index.hits[0].record.id
    [values] = await shelf.embedder.embed([""])
    scope = VectorScope("default", "memory")
    await shelf.vectors.upsert([VectorRow(vector_id("default", near), scope, values)])
    answer: Any = await find_semantic_conflicts(
        shelf.app, shelf.bench.caller(), query="the door for secure shell is 2223"
    )
    [match] = answer["matches"]
    assert match["item"]["id"] == near
    assert match["differences"] == ["numbers"]
    assert match["suggested_action"] == "supersede_or_merge"
    assert match["score"] < 0.95


@pytest.mark.parametrize(
    ("likeness", "cosine", "score"),
    [
        (Likeness(0.2), 0.9, 0.9),
        (Likeness(0.95), 0.8, 0.95),
        (Likeness(0.2, ("numbers",)), 0.9, 0.855),
        (Likeness(0.2, ("negation", "numbers")), 1.0, 0.8799),
        (Likeness(0.2), 1.0, 0.975),
    ],
    ids=range(5),
)
def test_nearness_counts_less_where_something_differs(
    likeness: Likeness, cosine: float, score: float
) -> None:
    assert nearer(likeness, cosine).score == pytest.approx(score, abs=1e-4)
    assert nearer(likeness, cosine).differences == likeness.differences


async def test_common_words_are_counted_once_and_rare_ones_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[list[str]] = []
    statement = search.frequencies_statement

    def noted(namespace: Namespace, terms: Sequence[str]) -> Statement:
        counted.append(sorted({"番茄", "tomatoes"}.intersection(terms)))
        return statement(namespace, terms)

    monkeypatch.setattr(search, "frequencies_statement", noted)
    monkeypatch.setattr(frequencies, "COMMON_MIN", 3)
    shelf = Shelf()
    for number in range(3):
        await shelf.save(f"番茄 {number}")
    app, caller = shelf.app, shelf.bench.caller()

    async def texts() -> list[str]:
        found = await recall(app, caller, "番茄 and tomatoes", is_search=True)
        return sorted(hit.text for hit in found.hits)

    assert await texts() == ["番茄 0", "番茄 1", "番茄 2"]
    await shelf.save("tomatoes!")
    counted.clear()
    assert await texts() == ["tomatoes!", "番茄 0", "番茄 1", "番茄 2"]
    assert counted == [["tomatoes"]]
    shelf.bench.runtime.advance(frequencies.KEPT_MS)
    await texts()
    assert counted[1:] == [["tomatoes", "番茄"]]
    await shelf.bench.runtime.drain()
