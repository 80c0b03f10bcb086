"""Relations: add, remove, list, refuse circles."""

from __future__ import annotations

import itertools

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import delete_items, restore_item, update_task_state
from remembrancer.app.items.write import create_item
from remembrancer.app.relations import add_relation, list_relations, remove_relation
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.relations.decide import ACYCLIC, TYPES
from remembrancer.core.values import JSON
from remembrancer.store.relations import SHOWN_MAX
from remembrancer.testing.stores import CountingStore, memory_store


async def items(bench: Bench, count: int) -> list[str]:
    app = bench.app
    return [
        id_of(await create_item(app, bench.caller(), {"title": f"物 {number}"}))
        for number in range(count)
    ]


async def relate(bench: Bench, source: str, type_: str, target: str) -> str:
    answer = await add_relation(
        bench.app, bench.caller(), source_id=source, type=type_, target_id=target
    )
    return str(answer["outcome"])


async def shown(bench: Bench, item_id: str) -> list[dict[str, JSON]]:
    answer = await list_relations(bench.app, bench.caller(), item_id)
    relations = answer["relations"]
    assert isinstance(relations, list) and answer["count"] == len(relations)
    return [relation for relation in relations if isinstance(relation, dict)]


@pytest.mark.parametrize("type_", TYPES)
async def test_a_relation_of_every_type_is_seen_from_both_ends(type_: str) -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    answer = await add_relation(
        bench.app,
        bench.caller(),
        source_id=a,
        type=type_,
        target_id=b,
        confidence=0.5,
        reason=" 因为 ",
    )
    assert answer == {
        "relation": {
            "source_id": a,
            "type": type_,
            "target_id": b,
            "confidence": 0.5,
            "reason": "因为",
            "created_at": "2026-03-01T12:00:00Z",
        },
        "outcome": "created",
    }
    facts = {"type": type_, "confidence": 0.5, "reason": "因为", "state": "active"}
    assert await shown(bench, a) == [{**facts, "direction": "out", "item_id": b, "title": "物 1"}]
    assert await shown(bench, b) == [{**facts, "direction": "in", "item_id": a, "title": "物 0"}]


async def test_adding_twice_is_unchanged_and_writes_nothing() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    assert await relate(bench, a, "blocks", b) == "created"
    before = await bench.rows("SELECT max(position) AS p FROM events")
    again = await add_relation(
        bench.app,
        bench.caller(),
        source_id=a,
        type="blocks",
        target_id=b,
        confidence=0.1,
        reason="other",
    )
    assert again["outcome"] == "unchanged"
    assert isinstance(again["relation"], dict) and again["relation"]["confidence"] == 1.0
    assert await bench.rows("SELECT max(position) AS p FROM events") == before


async def test_two_items_may_have_relations_of_several_types_and_ways() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    for type_ in ("blocks", "supports", "contradicts"):
        await relate(bench, a, type_, b)
    await relate(bench, b, "contradicts", a)
    assert len(await shown(bench, a)) == 4


async def test_unknown_items_are_not_found_and_named() -> None:
    bench = Bench()
    [a] = await items(bench, 1)
    for source, target in ((a, "itm_nobody"), ("itm_nobody", a)):
        with pytest.raises(NotFound, match="itm_nobody"):
            await relate(bench, source, "blocks", target)
    with pytest.raises(NotFound, match="itm_nobody"):
        await list_relations(bench.app, bench.caller(), "itm_nobody")


async def test_deleted_items_cannot_be_related() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await delete_items(bench.app, bench.caller(), [b])
    for source, target in ((a, b), (b, a)):
        with pytest.raises(Conflict, match=b) as caught:
            await relate(bench, source, "supports", target)
        assert caught.value.details["state"] == "deleted"


@pytest.mark.parametrize(
    ("type_", "target", "field"),
    [("likes", "b", "relationship_type"), ("blocks", "a", "target_item_id")],
)
async def test_an_unknown_type_and_a_relation_to_itself_are_refused(
    type_: str, target: str, field: str
) -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    with pytest.raises(InvalidInput) as caught:
        await relate(bench, a, type_, {"a": a, "b": b}[target])
    assert caught.value.field == field


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
async def test_a_confidence_out_of_range_is_refused(confidence: float) -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    with pytest.raises(InvalidInput) as caught:
        await add_relation(
            bench.app,
            bench.caller(),
            source_id=a,
            type="blocks",
            target_id=b,
            confidence=confidence,
        )
    assert caught.value.field == "confidence"


async def test_a_reason_is_taken_at_its_limit_and_refused_above() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    for length in (limits.REASON_CHARS_MAX + 1, limits.REASON_CHARS_MAX):
        call = add_relation(
            bench.app,
            bench.caller(),
            source_id=a,
            type="blocks",
            target_id=b,
            reason="因" * length,
        )
        if length > limits.REASON_CHARS_MAX:
            with pytest.raises(LimitExceeded):
                await call
        else:
            assert (await call)["outcome"] == "created"


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("length", [2, 3, 6])
async def test_a_circle_is_refused_where_it_makes_no_sense(type_: str, length: int) -> None:
    bench = Bench()
    chain = await items(bench, length)
    for source, target in itertools.pairwise(chain):
        await relate(bench, source, type_, target)
    if type_ not in ACYCLIC:
        assert await relate(bench, chain[-1], type_, chain[0]) == "created"
        return
    with pytest.raises(Conflict) as caught:
        await relate(bench, chain[-1], type_, chain[0])
    assert caught.value.code == "cycle"
    assert caught.value.details == {"source_id": chain[-1], "target_id": chain[0]}
    other = next(iter(ACYCLIC - {type_}))
    assert await relate(bench, chain[-1], other, chain[0]) == "created"


async def test_two_ways_to_one_item_are_no_circle() -> None:
    bench = Bench()
    a, b, c, d = await items(bench, 4)
    for source, target in ((a, b), (a, c), (b, d), (c, d), (a, d)):
        assert await relate(bench, source, "depends_on", target) == "created"


async def test_a_circle_through_other_types_is_none() -> None:
    bench = Bench()
    a, b, c = await items(bench, 3)
    await relate(bench, a, "blocks", b)
    await relate(bench, b, "depends_on", c)
    assert await relate(bench, c, "blocks", a) == "created"


async def test_a_removed_relation_no_longer_closes_a_circle() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "blocks", b)
    answer = await remove_relation(
        bench.app, bench.caller(), source_id=a, type="blocks", target_id=b
    )
    assert answer["removed"] is True
    assert await shown(bench, a) == []
    assert await relate(bench, b, "blocks", a) == "created"


async def test_removing_what_is_not_there_is_not_found() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "blocks", b)
    for source, type_, target in ((b, "blocks", a), (a, "supports", b), ("x|y", "blocks", b)):
        with pytest.raises(NotFound, match="there is no relation"):
            await remove_relation(
                bench.app, bench.caller(), source_id=source, type=type_, target_id=target
            )
    with pytest.raises(InvalidInput):
        await remove_relation(bench.app, bench.caller(), source_id=a, type="likes", target_id=b)


async def test_relations_with_a_deleted_item_come_back_with_it() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "blocks", b)
    await delete_items(bench.app, bench.caller(), [b])
    assert await shown(bench, a) == []
    await restore_item(bench.app, bench.caller(), b)
    assert [relation["item_id"] for relation in await shown(bench, a)] == [b]


async def test_a_list_of_relations_shows_the_newest_up_to_its_limit() -> None:
    bench = Bench()
    hub, *others = await items(bench, SHOWN_MAX + 2)
    for other in others:
        bench.runtime.advance(1)
        await relate(bench, hub, "supports", other)
    found = await shown(bench, hub)
    assert len(found) == SHOWN_MAX
    assert found[0]["item_id"] == others[-1]


async def test_a_relation_does_not_touch_its_items() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "supersedes", b)
    rows = await bench.rows("SELECT state, version FROM items ORDER BY id")
    assert [tuple(row.values()) for row in rows] == [("active", 1), ("active", 1)]


async def test_adding_a_relation_takes_two_round_trips() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    a, b = await items(bench, 2)
    store.counts.reset()
    await relate(bench, a, "blocks", b)
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    store.counts.reset()
    await shown(bench, a)
    assert store.counts.round_trips == 1


async def test_relations_of_another_namespace_do_not_exist() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "blocks", b)
    stranger = bench.caller(namespace="other")
    with pytest.raises(NotFound):
        await list_relations(bench.app, stranger, a)
    with pytest.raises(NotFound):
        await remove_relation(bench.app, stranger, source_id=a, type="blocks", target_id=b)


async def test_a_finished_task_keeps_its_relations() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "blocks", b)
    await update_task_state(bench.app, bench.caller(), a, "complete")
    assert [relation["state"] for relation in await shown(bench, b)] == ["completed"]


async def test_forgetting_tells_how_many_relations_went_with_the_item() -> None:
    bench = Bench()
    a, b, c = await items(bench, 3)
    await relate(bench, a, "supports", b)
    await relate(bench, c, "supports", a)
    await relate(bench, b, "supports", c)
    answer = await forget_item(bench.app, bench.caller(), a)
    assert answer["relations_removed"] == 2
