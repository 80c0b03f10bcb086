"""Candidates for consolidation by meaning: pairs without a common tag, and what they differ in."""

from __future__ import annotations

from typing import Any

from tests.app.recall.shelf import Shelf, with_vectors

from remembrancer.app.consolidation import find_consolidation_candidates
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.testing.models import FaultyEmbedder


async def groups(shelf: Shelf, **given: Any) -> list[dict[str, Any]]:
    answer: Any = await find_consolidation_candidates(shelf.app, shelf.bench.caller(), **given)
    assert answer["count"] == len(answer["groups"])
    found: list[dict[str, Any]] = answer["groups"]
    return found


async def test_pairs_that_are_near_are_reported_once_with_what_differs() -> None:
    shelf = with_vectors(variables={"DEDUP_COSINE": "0.6"})
    port = await shelf.save("the staging database server listens on port 2222")
    same = await shelf.save("小雨对芒果严重过敏")
    await shelf.save("在阳台上种番茄")
    shelf.bench.runtime.advance(60_000)
    newer = await shelf.save("the staging database server listens on port 2223")
    again = await shelf.save("小雨对芒果过敏，严重")
    found = {group["source_item_id"]: group for group in await groups(shelf)}
    assert found.keys() == {newer, again}
    assert found[newer]["target_item_ids"] == [port]
    assert found[newer]["differences"] == ["numbers"]
    assert found[newer]["suggested_relationship"] == "supersedes"
    assert found[again]["target_item_ids"] == [same]
    assert found[again]["suggested_relationship"] == "duplicate_of"
    assert found[again]["score"] >= 0.6
    assert await groups(shelf, min_group_size=3) == []
    assert len(await groups(shelf, limit=1)) == 1


async def test_pair_that_shares_a_tag_is_reported_by_it_alone() -> None:
    shelf = with_vectors(variables={"DEDUP_COSINE": "0.6"})
    await shelf.save("port 2222 for ssh", tags=["ssh"])
    await shelf.save("port 2223 for ssh", tags=["ssh"])
    [group] = await groups(shelf)
    assert group["tags"] == ["ssh"]


async def test_without_vectors_or_while_they_fail_tags_alone_count() -> None:
    shelf = with_vectors(variables={"DEDUP_COSINE": "0.6"})
    first = await shelf.save("port 2222 for ssh")
    await shelf.save("port 2223 for ssh")
    healthy = shelf.embedder
    assert healthy is not None
    shelf.embedder = FaultyEmbedder(healthy, fail_every=1)
    assert await groups(shelf) == []
    shelf.embedder = None
    assert await groups(shelf) == []
    shelf.embedder = healthy
    assert shelf.vectors is not None
    await shelf.index("itm_gone", "port 2223 for ssh", "memory")
    await shelf.vectors.delete([vector_id("default", first)])
    assert await groups(shelf) == []
