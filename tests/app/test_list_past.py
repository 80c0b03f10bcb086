"""Lists and single items as they were: by time, in words, by position, page after page."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.app.test_list_items import listed, make, titles
from tests.builders import NAMESPACE, Bench

from remembrancer.app.forget import forget_item
from remembrancer.app.items.past import past_item
from remembrancer.app.items.read import get_artifact, get_item, list_tags
from remembrancer.app.items.states import delete_items, update_task_state
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.projects import delete_project, upsert_project
from remembrancer.app.relations import add_relation, remove_relation, supersede_items
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.query import ItemQuery, parse_sort
from remembrancer.core.moments import PastMoment, parse_past
from remembrancer.core.values import DAY_MS
from remembrancer.store import item_lists
from remembrancer.store.item_filters import Asked
from remembrancer.testing.runtime import NOON_MS
from remembrancer.testing.stores import CountingStore


async def last_position(bench: Bench) -> str:
    [row] = await bench.rows("SELECT max(position) AS position FROM events")
    return str(row["position"])


async def test_list_of_a_position_shows_what_a_list_then_showed() -> None:
    bench = Bench()
    snapshots: dict[str, Any] = {}

    async def keep() -> None:
        answer = await listed(bench, limit=100)
        snapshots[await last_position(bench)] = answer["items"]

    one = await make(bench, title="one", tags=["a"], project="p", project_name="P")
    await keep()
    two = await make(bench, title="二", kind="memory")
    await keep()
    bench.runtime.advance(1_000)
    await update_item(bench.app, bench.caller(), one, {"title": "uno", "tags": []})
    await keep()
    await update_task_state(bench.app, bench.caller(), one, "complete")
    await keep()
    bench.runtime.advance(DAY_MS)
    await delete_items(bench.app, bench.caller(), [two])
    await keep()
    for position, items in snapshots.items():
        answer = await listed(bench, limit=100, as_of=position)
        assert answer["items"] == items
        assert (answer["total"], answer["total_is_minimum"]) == (len(items), False)
        assert answer["as_of"]["position"] == int(position)
    assert (await listed(bench, as_of="0"))["items"] == []
    beyond = await listed(bench, as_of="9007199254740991")
    assert str(beyond["as_of"]["position"]) == await last_position(bench)


async def test_list_of_a_time_takes_iso_words_and_days() -> None:
    bench = Bench()
    await make(bench, title="first")
    bench.runtime.advance(2 * DAY_MS)
    await make(bench, title="second")
    assert await titles(bench, as_of="yesterday") == ["first"]
    assert await titles(bench, as_of="2 days ago") == ["first"]
    assert await titles(bench, as_of="前天") == ["first"]
    assert await titles(bench, as_of="2026-03-01T12:00:00Z") == []
    assert await titles(bench, as_of="2026-03-01T12:00:01Z") == ["first"]
    assert await titles(bench, as_of="2026-02-28") == []
    assert await titles(bench, as_of="today") == ["second", "first"]
    answer = await listed(bench, as_of="2026-03-01T20:30:00+08:00")
    assert answer["as_of"] == {"position": 1, "at": "2026-03-01T12:30:00Z"}
    assert (await listed(bench, as_of="1"))["as_of"]["at"] == "2026-03-01T12:00:01Z"


@pytest.mark.parametrize("as_of", ["tomorrow", "2030-01-01", "someday", "", "9" * 30, "-1", "٣"])
async def test_moment_that_is_no_past_one_is_refused(as_of: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await listed(bench, as_of=as_of)
    assert caught.value.field == "as_of"
    with pytest.raises(InvalidInput):
        await get_item(bench.app, bench.caller(), "itm_x", as_of=as_of)


def test_moment_a_little_ahead_of_the_clock_is_the_present() -> None:
    zone = ZoneInfo("UTC")
    assert parse_past("2026-03-01T12:04:59Z", now_ms=NOON_MS, zone=zone) == PastMoment(
        at_ms=NOON_MS
    )
    with pytest.raises(InvalidInput, match="lies ahead"):
        parse_past("2026-03-01T12:05:01Z", now_ms=NOON_MS, zone=zone)


async def test_list_of_the_past_keeps_its_moment_through_all_pages() -> None:
    bench = Bench()
    for number in range(5):
        await make(bench, title=str(number))
    bench.runtime.advance(DAY_MS)
    answer = await listed(bench, limit=2, as_of="today", current_only=True)
    assert (answer["total"], answer["total_is_minimum"]) == (2, True)
    seen = [item["title"] for item in answer["items"]]
    await make(bench, title="later")
    while answer["next_cursor"]:
        answer = await listed(
            bench, limit=2, as_of="today", cursor=answer["next_cursor"], current_only=True
        )
        seen += [item["title"] for item in answer["items"]]
        assert answer["as_of"]["at"] == "2026-03-02T12:00:05Z"
    assert seen == ["4", "3", "2", "1", "0"]
    assert (answer["total"], answer["total_is_minimum"]) == (5, False)


async def test_list_of_the_past_filters_by_what_was_true_then() -> None:
    bench = Bench()
    one = await make(
        bench, title="Café plan", tags=["Home Office", "École", "家庭"], topic="t", topic_name="T"
    )
    two = await make(bench, title="旅行 notes", kind="memory", expires_at="in 3 days")
    position = await last_position(bench)
    bench.runtime.advance(1_000)
    await update_item(bench.app, bench.caller(), one, {"tags": ["x"], "topic": None})
    await update_item(bench.app, bench.caller(), two, {"title": "gone"})
    for query in (
        {"tags": ["home_office"]},
        {"tags": ["école"]},
        {"tags": ["ECOLE", "家庭"]},
        {"tags": ["Home Office", "家庭"], "tags_match": "all"},
        {"topics": ["t"]},
        {"q": "plan"},
        {"q": "Café"},
        {"states": ["active"], "kinds": ["task"]},
        {"ids": [one, "itm_x"]},
        {"updated_after": "2026-03-01", "kinds": ["task"]},
    ):
        assert await titles(bench, as_of=position, **query) == ["Café plan"], query
    assert await titles(bench, as_of=position, q="the 旅行") == ["旅行 notes"]
    assert await titles(bench, as_of=position, tags=["x"]) == []
    assert await titles(bench, as_of=position, tags=["家庭", "x"], tags_match="all") == []
    assert await titles(bench, tags=["家庭"]) == []
    bench.runtime.advance(5 * DAY_MS)
    now_expired = {"current_only": True, "kinds": ["memory"]}
    assert await titles(bench, as_of=position, **now_expired) == ["旅行 notes"]
    assert await titles(bench, as_of="today", **now_expired) == []
    assert await titles(bench, as_of=position, stale_only=True) == []


async def test_list_of_the_past_shows_projects_as_they_were_called_even_when_deleted() -> None:
    bench = Bench()
    await make(bench, title="a", project="p", project_name="Old name")
    position = await last_position(bench)
    bench.runtime.advance(1_000)
    await upsert_project(bench.app, bench.caller(), slug="p", name="New name")
    await delete_project(bench.app, bench.caller(), "p")
    [item] = (await listed(bench, as_of=position, projects=["p"]))["items"]
    assert item["project"] == {"slug": "p", "name": "Old name"}
    past = await get_item(bench.app, bench.caller(), item["id"], as_of=position)
    assert past["item"] == item
    with pytest.raises(NotFound):
        await listed(bench, projects=["p"])
    with pytest.raises(NotFound):
        await listed(bench, projects=["p"], as_of="today")
    assert (await listed(bench))["items"][0]["project"] is None


async def test_list_of_the_past_finds_events_whose_clock_ran_ahead() -> None:
    bench = Bench()
    bench.runtime.advance(1_000)
    await make(bench, title="fast clock")
    bench.runtime.advance(-5_000)
    await make(bench, title="slow clock")
    assert await titles(bench, as_of=await last_position(bench)) == ["fast clock", "slow clock"]


async def test_list_of_the_past_takes_two_round_trips_and_few_rows() -> None:
    store = CountingStore(Bench().sql)
    bench = Bench(sql=store)
    await make(bench, title="a")
    store.counts.reset()
    await listed(bench, as_of="today", limit=50)
    assert store.counts.round_trips == 2
    store.counts.reset()
    await listed(bench, as_of="1")
    assert store.counts.round_trips == 1


async def plan_of(bench: Bench, asked: Asked, sort: str = "-updated_at") -> list[str]:
    statement = item_lists.page_statement(asked, parse_sort(sort), None)
    [outcome] = await bench.sql.read(
        [type(statement)(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params)]
    )
    return [str(row["detail"]) for row in outcome.rows]


@pytest.mark.parametrize(
    ("query", "as_of", "is_walked", "expected"),
    [
        ({}, None, True, "SEARCH i USING INDEX items_updated (namespace=?)"),
        (
            {},
            PastMoment(position=9),
            True,
            "SEARCH i USING INDEX item_versions_updated (namespace=? AND updated_at<?)",
        ),
        (
            {"tags": ["a"], "kinds": ["task"]},
            PastMoment(at_ms=9),
            True,
            "SEARCH i USING INDEX item_versions_updated (namespace=? AND updated_at<?)",
        ),
        ({"ids": ["a"]}, None, False, "SEARCH i USING INDEX items_id (namespace=? AND id=?)"),
        (
            {"ids": ["a"]},
            PastMoment(position=9),
            False,
            "SEARCH i USING PRIMARY KEY (namespace=? AND id=? AND from_position<?)",
        ),
        ({"q": "a"}, None, False, "SCAN found VIRTUAL TABLE INDEX 0:M4"),
        (
            {"projects": ["a"], "current_only": True},
            None,
            False,
            "SEARCH i USING INDEX items_project (namespace=? AND project_id=?)",
        ),
        (
            {"topics": ["a"], "states": ["active", "stale"]},
            None,
            False,
            "SEARCH i USING INDEX items_topic (namespace=? AND topic_id=?)",
        ),
    ],
    ids=str,
)
async def test_list_plan_reads_along_an_index(
    query: dict[str, Any], as_of: PastMoment | None, is_walked: bool, expected: str
) -> None:
    asked = Asked(NAMESPACE, ItemQuery(**query), NOON_MS, terms=["a"], as_of=as_of)
    plan = await plan_of(Bench(), asked)
    assert expected in plan
    # The page itself is put in order once more; a sort before that is of a few rows only.
    sorts = plan.count("USE TEMP B-TREE FOR ORDER BY")
    assert sorts == (1 if is_walked else 2)


async def test_item_comes_with_its_relations_in_one_round_trip() -> None:
    store = CountingStore(Bench().sql)
    bench = Bench(sql=store)
    one, two = await make(bench, title="one"), await make(bench, title="二")
    await add_relation(
        bench.app, bench.caller(), source_id=one, type="blocks", target_id=two, reason="order"
    )
    store.counts.reset()
    answer: Any = await get_item(bench.app, bench.caller(), two)
    assert store.counts.round_trips == 1
    assert answer["item"]["title"] == "二"
    assert answer["relations"] == [
        {
            "type": "blocks",
            "direction": "in",
            "item_id": one,
            "title": "one",
            "state": "active",
            "confidence": 1.0,
            "reason": "order",
        }
    ]


async def test_item_that_is_deleted_is_found_and_an_unknown_one_is_not() -> None:
    bench = Bench()
    one = await make(bench)
    await delete_items(bench.app, bench.caller(), [one])
    answer: Any = await get_item(bench.app, bench.caller(), one)
    assert answer["item"]["state"] == "deleted"
    with pytest.raises(NotFound, match="no item 'itm_x'"):
        await get_item(bench.app, bench.caller(), "itm_x")


async def test_item_of_the_past_is_replayed_with_the_relations_of_then() -> None:
    bench = Bench()
    one = await make(bench, title="one", topic_name="T")
    two = await make(bench, title="two")
    three = await make(bench, title="three")
    before = await last_position(bench)
    bench.runtime.advance(1_000)
    edges = [(one, "supports", two), (three, "blocks", one), (two, "supports", three)]
    for source, type_, target in edges:
        await add_relation(
            bench.app, bench.caller(), source_id=source, type=type_, target_id=target
        )
        bench.runtime.advance(1_000)
    related = await last_position(bench)
    live: Any = await get_item(bench.app, bench.caller(), one)
    await remove_relation(bench.app, bench.caller(), source_id=one, type="supports", target_id=two)
    for number in range(3):
        await update_item(bench.app, bench.caller(), one, {"title": f"uno {number}"})
    await update_item(bench.app, bench.caller(), two, {"title": "dos"})
    await delete_items(bench.app, bench.caller(), [three])
    then: Any = await get_item(bench.app, bench.caller(), one, as_of=related)
    assert then["item"] == live["item"]
    assert then["relations"] == live["relations"]
    assert [edge["title"] for edge in then["relations"]] == ["three", "two"]
    assert then["as_of"]["position"] == int(related)
    first: Any = await get_item(bench.app, bench.caller(), one, as_of=before)
    assert first["relations"] == []
    now: Any = await get_item(bench.app, bench.caller(), one, as_of="today")
    assert now["item"]["title"] == "uno 2"
    assert now["relations"] == []


async def test_item_of_the_past_shows_its_own_relations_of_a_common_event() -> None:
    bench = Bench()
    keeper, one, two = [await make(bench, title=title) for title in ("keeper", "one", "two")]
    await supersede_items(
        bench.app, bench.caller(), source_item_id=keeper, target_item_ids=[one, two]
    )
    then: Any = await get_item(bench.app, bench.caller(), one, as_of=await last_position(bench))
    assert [edge["item_id"] for edge in then["relations"]] == [keeper]


async def test_item_before_it_was_made_or_after_it_was_forgotten_is_not_found() -> None:
    bench = Bench()
    await make(bench, title="one")
    two = await make(bench, title="two")
    with pytest.raises(NotFound, match="at '1'"):
        await past_item(bench.app, bench.caller(), two, "1")
    await forget_item(bench.app, bench.caller(), two)
    with pytest.raises(NotFound):
        await past_item(bench.app, bench.caller(), two, "2")


async def test_artifact_is_read_whole_with_its_hash() -> None:
    bench = Bench()
    text = "数据 data " * 5_000
    made: Any = await create_item(bench.app, bench.caller(), {"title": "large", "content": text})
    artifact_id = made["item"]["artifact_id"]
    answer: Any = await get_artifact(bench.app, bench.caller(), artifact_id)
    artifact = answer["artifact"]
    assert artifact["text"] == text
    assert (artifact["id"], artifact["item_id"]) == (artifact_id, made["item"]["id"])
    assert artifact["chars"] == len(text)
    assert artifact["sha256"] in made["item"]["content"]
    with pytest.raises(NotFound):
        await get_artifact(bench.app, bench.caller(), "art_none")


async def test_tags_are_listed_by_key_with_counts_of_current_items() -> None:
    bench = Bench()
    await make(bench, tags=["Home Office", "c++", "家庭"])
    await make(bench, tags=["home-office", "家务", "🫨 new"])
    gone = await make(bench, tags=["gone", "家庭"])
    await update_task_state(bench.app, bench.caller(), gone, "archive")
    answer: Any = await list_tags(bench.app, bench.caller())
    assert [(tag["tag"], tag["name"], tag["count"]) for tag in answer["tags"]] == [
        ("c++", "c++", 1),
        ("home-office", "Home Office", 2),
        ("家务", "家务", 1),
        ("家庭", "家庭", 1),
        ("🫨-new", "🫨 new", 1),
    ]
    assert (answer["count"], answer["next_cursor"]) == (5, None)
    by_prefix: Any = await list_tags(bench.app, bench.caller(), prefix="#HOME_")
    assert [tag["tag"] for tag in by_prefix["tags"]] == ["home-office"]
    blank: Any = await list_tags(bench.app, bench.caller(), prefix=" ")
    assert blank["count"] == 5
    han: Any = await list_tags(bench.app, bench.caller(), prefix="家")
    assert [tag["tag"] for tag in han["tags"]] == ["家务", "家庭"]


async def test_tags_come_in_pages_that_join() -> None:
    bench = Bench()
    await make(bench, tags=["b", "a", "🫨", "家", "c"])
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        answer: Any = await list_tags(bench.app, bench.caller(), limit=2, cursor=cursor)
        seen += [tag["tag"] for tag in answer["tags"]]
        cursor = answer["next_cursor"]
    assert seen == ["a", "b", "c", "家", "🫨"]
    assert cursor is None
    for limit, broken in ((0, None), (501, None), (1, "x")):
        with pytest.raises(InvalidInput):
            await list_tags(bench.app, bench.caller(), limit=limit, cursor=broken)
