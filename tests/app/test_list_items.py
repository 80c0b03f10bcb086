"""Lists of items: every filter, every order, true totals, pages that neither repeat nor skip."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import list_items
from remembrancer.app.items.states import delete_items, set_item_state, update_task_state
from remembrancer.app.items.write import create_item, update_item
from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.testing.stores import CountingStore


async def make(bench: Bench, **given: Any) -> str:
    """Create an item a second after the last and return its id."""
    bench.runtime.advance(1_000)
    filled: ItemInput = {"title": "Water the plants", **given}  # type: ignore[typeddict-item]
    return id_of(await create_item(bench.app, bench.caller(), filled))


# Any: tests look into answers by key.
async def listed(bench: Bench, **query: Any) -> dict[str, Any]:
    return await list_items(bench.app, bench.caller(), ItemQuery(**query))


async def titles(bench: Bench, **query: Any) -> list[str]:
    return [item["title"] for item in (await listed(bench, **query))["items"]]


async def garden(bench: Bench) -> dict[str, str]:
    """A few items that differ in every filtered field: title → id."""
    ids = {
        "plan": await make(
            bench, title="plan", project="garden", project_name="Garden", due="tomorrow"
        ),
        "dig": await make(bench, title="dig", priority=3, tags=["Home Office", "c++"]),
        "旅行": await make(
            bench, title="旅行", kind="memory", topic="家", topic_name="家", tags=["家庭", "C++"]
        ),
        "rule": await make(
            bench, title="rule", kind="memory", type="rule", startup_priority=10, pinned=True
        ),
        "done": await make(bench, title="done", priority=1, due="2026-02-01"),
        "gone": await make(bench, title="gone"),
    }
    await update_task_state(bench.app, bench.caller(), ids["done"], "complete")
    await delete_items(bench.app, bench.caller(), [ids["gone"]])
    return ids


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["dig", "done", "plan", "rule", "旅行"]),
        ({"kinds": ["memory"]}, ["rule", "旅行"]),
        ({"types": ["rule", "tactical_task"]}, ["dig", "done", "plan", "rule"]),
        ({"states": ["completed"]}, ["done"]),
        ({"completed": True}, ["done"]),
        ({"completed": False}, ["dig", "plan", "rule", "旅行"]),
        ({"completed": True, "states": ["active"]}, []),
        ({"archived": True}, []),
        ({"archived": False, "kinds": ["task"]}, ["dig", "done", "plan"]),
        ({"pinned": True}, ["rule"]),
        ({"pinned": False, "kinds": ["memory"]}, ["旅行"]),
        ({"priorities": [1, 3]}, ["dig", "done"]),
        ({"startup_priority_min": 6}, ["rule"]),
        ({"startup_priority_max": 5, "kinds": ["memory"]}, ["旅行"]),
        ({"projects": ["garden"]}, ["plan"]),
        ({"projects": ["Garden"], "states": ["active"]}, ["plan"]),
        ({"topics": ["家"]}, ["旅行"]),
        ({"topics": ["家"], "current_only": True}, ["旅行"]),
        ({"topics": ["家"], "projects": ["garden"]}, []),
        ({"tags": ["home office"]}, ["dig"]),
        ({"tags": ["HOME_OFFICE", "家庭"]}, ["dig", "旅行"]),
        ({"tags": ["#c++", "家庭"], "tags_match": "all"}, ["旅行"]),
        ({"tags": ["c++", "C++"], "tags_match": "all"}, ["dig", "旅行"]),
        ({"q": "旅"}, ["旅行"]),
        ({"q": "DIG plan"}, ["dig", "plan"]),
        ({"q": "!!!"}, []),
        ({"current_only": True}, ["dig", "plan", "rule", "旅行"]),
        ({"include_deleted": True, "priorities": [2], "kinds": ["task"]}, ["gone", "plan"]),
        ({"states": ["deleted"]}, ["gone"]),
    ],
    ids=str,
)
async def test_list_filter_alone_or_together_finds_exactly_its_items(
    query: dict[str, Any], expected: list[str]
) -> None:
    bench = Bench()
    await garden(bench)
    answer = await listed(bench, **query)
    assert sorted(item["title"] for item in answer["items"]) == sorted(expected)
    assert (answer["count"], answer["total"]) == (len(expected), len(expected))
    assert not answer["total_is_minimum"]
    assert answer["next_cursor"] is None
    assert answer["as_of"] is None


async def test_list_of_ids_is_filtered_and_takes_each_once() -> None:
    bench = Bench()
    ids = await garden(bench)
    wanted = [ids["dig"], ids["旅行"], ids["dig"], "itm_none", ids["gone"]]
    assert await titles(bench, ids=wanted) == ["旅行", "dig"]
    assert await titles(bench, ids=wanted, kinds=["memory"]) == ["旅行"]
    assert await titles(bench, ids=wanted, q="dig") == ["dig"]


async def test_list_of_a_hundred_ids_works_and_of_one_more_is_refused() -> None:
    bench = Bench()
    ids = [await make(bench, title=str(number)) for number in range(limits.BULK_ITEMS_MAX)]
    assert (await listed(bench, ids=ids, limit=100))["count"] == limits.BULK_ITEMS_MAX
    with pytest.raises(LimitExceeded, match="101 ids"):
        await listed(bench, ids=[*ids, "itm_more"])


async def test_list_times_are_half_open_and_a_day_begins_with_its_first_moment() -> None:
    bench = Bench()  # Sunday 1 March 2026, 20:00 in Singapore
    await make(bench, title="today", due="2026-03-01T21:00")
    await make(bench, title="tomorrow", due="tomorrow")
    await make(bench, title="friday", due="2026-03-06T00:00")
    await make(bench, title="none")
    assert await titles(bench, due_before="tomorrow") == ["today"]
    assert await titles(bench, due_after="明天", sort="due_at") == ["tomorrow", "friday"]
    assert await titles(bench, due_before="2026-03-06", sort="due_at") == ["today", "tomorrow"]
    assert await titles(bench, due_after="2026-03-05T16:00:00Z") == ["friday"]
    assert await titles(bench, created_after="2026-03-01T12:00:03Z") == ["none", "friday"]
    assert await titles(bench, updated_before="2026-03-01T12:00:03Z") == ["tomorrow", "today"]
    assert await titles(bench, created_before="2026-03-01") == []
    assert len(await titles(bench, updated_after="2026-03-01")) == 4


async def test_list_time_in_words_is_read_in_the_namespace_zone_in_two_round_trips() -> None:
    store = CountingStore(Bench().sql)
    bench = Bench(sql=store)
    await make(bench, title="a", due="2026-03-02T00:30")
    store.counts.reset()
    assert await titles(bench, due_before="明天") == []
    assert store.counts.round_trips == 2
    store.counts.reset()
    assert await titles(bench, projects=[], kinds=["task"]) == ["a"]
    assert store.counts.round_trips == 1


async def test_list_current_only_leaves_out_the_expired_and_the_outdated() -> None:
    bench = Bench()
    await make(bench, title="stays", expires_at="in 2 days", valid_to="in 2 days")
    await make(bench, title="expires", expires_at="tomorrow")
    await make(bench, title="ends", valid_to="tomorrow")
    assert len(await titles(bench, current_only=True)) == 3
    bench.runtime.advance(DAY_MS)
    assert len(await titles(bench, current_only=True)) == 3
    bench.runtime.advance(DAY_MS)
    assert await titles(bench, current_only=True) == ["stays"]
    assert len(await titles(bench)) == 3


async def test_list_stale_only_finds_the_marked_and_the_untouched() -> None:
    bench = Bench()
    await make(bench, title="old")
    await make(bench, title="old memory", kind="memory")
    marked = await make(bench, title="marked")
    bench.runtime.advance(21 * DAY_MS)
    await make(bench, title="young")
    await set_item_state(bench.app, bench.caller(), marked, "stale")
    assert await titles(bench, stale_only=True) == ["marked", "old"]


async def test_list_sets_each_state_apart() -> None:
    bench = Bench()
    for state in ("active", "dormant", "stale", "superseded", "archived", "completed", "expired"):
        id_ = await make(bench, title=state)
        if state != "active":
            await set_item_state(bench.app, bench.caller(), id_, state)
    for state in ("active", "dormant", "stale", "superseded", "archived", "completed", "expired"):
        assert await titles(bench, states=[state]) == [state]
    assert await titles(bench, current_only=True) == ["stale", "dormant", "active"]


async def test_list_of_an_unknown_project_or_topic_is_not_found_and_named() -> None:
    bench = Bench()
    await garden(bench)
    with pytest.raises(NotFound, match="no project 'garten'"):
        await listed(bench, projects=["garden", "garten"])
    with pytest.raises(NotFound, match="no topic '旅'"):
        await listed(bench, topics=["旅"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"kinds": ["tasks"]}, "kinds"),
        ({"types": ["goal"]}, "types"),
        ({"states": ["open"]}, "states"),
        ({"tags_match": "some"}, "tags_match"),
        ({"priorities": [4]}, "priorities"),
        ({"startup_priority_min": -1}, "startup_priority_min"),
        ({"startup_priority_max": 11}, "startup_priority_max"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": 10_001}, "offset"),
        ({"sort": "--updated_at"}, "sort"),
        ({"sort": "color"}, "sort"),
        ({"due_before": "someday"}, "due_before"),
        ({"updated_after": "2026-02-30"}, "updated_after"),
        ({"tags": ["#"]}, "tags"),
        ({"projects": ["…"]}, "name"),
        ({"tags": [str(number) for number in range(51)]}, "tags"),
        ({"topics": [str(number) for number in range(51)]}, "topics"),
    ],
    ids=str,
)
async def test_list_query_that_cannot_be_taken_is_refused_by_field(
    query: dict[str, Any], field: str
) -> None:
    with pytest.raises((InvalidInput, LimitExceeded)) as caught:
        await listed(Bench(), **query)
    assert caught.value.field == field


async def test_list_total_is_true_unfiltered_and_a_minimum_beyond_a_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "COUNT_MAX", 4)
    bench = Bench()
    for number in range(6):
        await make(bench, title=str(number), pinned=number < 4)
    answer = await listed(bench, limit=2)
    assert (answer["count"], answer["total"], answer["total_is_minimum"]) == (2, 6, False)
    answer = await listed(bench, limit=2, priorities=[2])
    assert (answer["count"], answer["total"], answer["total_is_minimum"]) == (2, 4, True)
    answer = await listed(bench, limit=2, pinned=True)
    assert (answer["count"], answer["total"], answer["total_is_minimum"]) == (2, 4, False)


async def test_list_total_of_projects_and_topics_is_true_whatever_their_states() -> None:
    bench = Bench()
    for number in range(5):
        topic = ("家", "Ort")[number % 2]
        id_ = await make(
            bench, title=str(number), project="p", project_name="P", topic_name=topic, pinned=True
        )
        if number < 2:
            await update_task_state(bench.app, bench.caller(), id_, "complete")
    await make(bench, title="q", project="q", project_name="Q", topic_name="家")
    for query, total in (
        ({"projects": ["p"]}, 5),
        ({"projects": ["p", "q"]}, 6),
        ({"projects": ["p"], "completed": True}, 2),
        ({"topics": ["家"]}, 4),
        ({"topics": ["家", "ort"], "states": ["active"]}, 4),
        ({"topics": ["家"], "projects": ["p"]}, 3),
        ({"projects": ["p"], "kinds": ["memory"]}, 0),
        ({"projects": ["p"], "current_only": True}, 3),
    ):
        answer = await listed(bench, limit=1, **query)
        assert (answer["total"], answer["total_is_minimum"]) == (total, False), query


async def test_list_of_another_namespace_shows_nothing_of_this_one() -> None:
    bench = Bench()
    ids = await garden(bench)
    other = bench.caller(namespace=Namespace("other"))
    for query in (ItemQuery(), ItemQuery(ids=list(ids.values())), ItemQuery(q="dig")):
        answer = await list_items(bench.app, other, query)
        assert (answer["items"], answer["total"]) == ([], 0)
    with pytest.raises(NotFound):
        await list_items(bench.app, other, ItemQuery(projects=["garden"]))


async def test_list_shows_an_item_with_its_project_and_topic() -> None:
    bench = Bench()
    await make(bench, project="garden", project_name="Garden", topic_name="家", topic="家")
    [item] = (await listed(bench))["items"]
    assert item["project"] == {"slug": "garden", "name": "Garden"}
    assert item["topic"] == {"slug": "家", "name": "家"}


async def test_list_after_a_failed_attempt_at_fts_syntax_finds_the_literal_words() -> None:
    bench = Bench()
    await make(bench, title="learn C++ AND rust")
    await make(bench, title="foo-bar baz")
    for q in ("c++", "foo-bar", "a:b OR", "AND", '"', "foo*", "NEAR(foo", "title:foo", "^foo", "("):
        await titles(bench, q=q)
    assert await titles(bench, q="c++") == ["learn C++ AND rust"]
    assert await titles(bench, q='foo-bar"') == ["foo-bar baz"]


async def test_list_offset_skips_and_keeps_the_total() -> None:
    bench = Bench()
    for number in range(5):
        await make(bench, title=str(number))
    answer = await listed(bench, offset=3, limit=3)
    assert [item["title"] for item in answer["items"]] == ["1", "0"]
    assert (answer["total"], answer["next_cursor"]) == (5, None)
    first = await listed(bench, offset=1, limit=2)
    assert await titles(bench, cursor=first["next_cursor"], limit=2) == ["1", "0"]
    with pytest.raises(InvalidInput, match="offset 1 were both given"):
        await listed(bench, cursor=first["next_cursor"], offset=1)


async def test_list_update_moves_an_item_to_the_top_of_the_default_order() -> None:
    bench = Bench()
    first = await make(bench, title="first")
    await make(bench, title="second")
    bench.runtime.advance(HOUR_MS)
    await update_item(bench.app, bench.caller(), first, {"priority": 3})
    assert await titles(bench) == ["first", "second"]
    assert await titles(bench, sort="created_at") == ["first", "second"]
