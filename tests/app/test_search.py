"""Search: Chinese sub-words, mixed text, syntax as text, filters, scores, conflicts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.app.test_list_items import make
from tests.builders import Bench

from remembrancer.app.items.states import delete_items, set_item_state, update_task_state
from remembrancer.app.items.write import update_item
from remembrancer.app.search import find_semantic_conflicts, search_items
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.core.values import DAY_MS
from remembrancer.store import search as store
from remembrancer.testing.stores import CountingStore


# Any: tests look into answers by key.
async def found(bench: Bench, query: str, **filters: Any) -> list[str]:
    answer: Any = await search_items(bench.app, bench.caller(), query, **filters)
    assert answer["count"] == len(answer["matches"])
    assert answer["query"] == query
    assert answer["degraded"] == ["no_vectors"]
    scores = [match["score"] for match in answer["matches"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    return [match["item"]["title"] for match in answer["matches"]]


async def conflicts(bench: Bench, **given: Any) -> list[dict[str, Any]]:
    answer: Any = await find_semantic_conflicts(bench.app, bench.caller(), **given)
    assert answer["count"] == len(answer["matches"])
    matches: list[dict[str, Any]] = answer["matches"]
    return matches


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("咖啡", "我喜欢去咖啡馆写代码"),
        ("写代码", "我喜欢去咖啡馆写代码"),
        ("where is the passport", "Passport in the blue drawer"),
        ("PASSPORTS", "Passport in the blue drawer"),
        ("c++", "learn C++ AND rust"),
        ("getUserName", "fix getUserName()"),
        ("user name", "fix getUserName()"),
        ("用Python写的脚本", "Python脚本放在home目录"),
        ("🚀", "launch 🚀 day"),
        ("2222", "SSH 端口 2222"),
        ("端口", "SSH 端口 2222"),
        ("home-office", "desk"),
        ("fact:timezone", "zone"),
        ("second note", "with a note"),
    ],
    ids=str,
)
async def test_search_finds_sub_words_in_any_script(query: str, expected: str) -> None:
    bench = Bench()
    for title in (
        "我喜欢去咖啡馆写代码",
        "Passport in the blue drawer",
        "learn C++ AND rust",
        "fix getUserName()",
        "Python脚本放在home目录",
        "launch 🚀 day",
        "SSH 端口 2222",
    ):
        await make(bench, title=title, kind="memory")
    await make(bench, title="desk", tags=["Home Office"])
    await make(bench, title="zone", kind="memory", fact_key="fact:timezone", content="UTC")
    noted = await make(bench, title="with a note")
    await update_item(bench.app, bench.caller(), noted, {"add_note": "the second one"})
    assert (await found(bench, query))[0] == expected


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip()))
async def test_search_takes_any_text_as_text(query: str) -> None:
    bench = Bench()
    await make(bench, title="foo-bar AND c++")
    await found(bench, query)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "foo-bar",
        "a:b",
        "AND",
        "NOT foo",
        "foo*",
        "title:foo",
        "(",
        "^foo",
        "NEAR(a b)",
        "-",
        "😀",
    ],
)
async def test_search_syntax_of_the_index_is_never_obeyed(query: str) -> None:
    bench = Bench()
    await make(bench, title="foo-bar: a b AND not")
    await found(bench, query)


async def test_search_score_is_the_share_of_the_words_held() -> None:
    bench = Bench()
    await make(bench, title="coffee in the garden", kind="memory")
    await make(bench, title="coffee only", kind="memory")
    await make(bench, title="tea", content="coffee garden", kind="memory")
    for number in range(9):
        await make(bench, title=f"filler {number}")
    answer: Any = await search_items(bench.app, bench.caller(), "coffee garden")
    by_title = {match["item"]["title"]: match["score"] for match in answer["matches"]}
    assert by_title["coffee in the garden"] > by_title["tea"] > 0.9 > by_title["coffee only"] > 0.2


async def test_search_filters_before_it_ranks() -> None:
    bench = Bench()
    await make(bench, title="coffee one", project="p", project_name="P", tags=["Hot"])
    await make(bench, title="coffee two", kind="memory", type="rule", topic="家", topic_name="家")
    for number in range(5):
        await make(bench, title=f"coffee {number}", content="coffee " * 5)
    assert await found(bench, "coffee", project="p") == ["coffee one"]
    assert await found(bench, "coffee", topic="家") == ["coffee two"]
    assert await found(bench, "coffee", tags=["hot"]) == ["coffee one"]
    assert await found(bench, "coffee", kinds=["memory"]) == ["coffee two"]
    assert await found(bench, "coffee", types=["rule"]) == ["coffee two"]
    assert len(await found(bench, "coffee", limit=3)) == 3
    with pytest.raises(NotFound, match="no project 'q'"):
        await found(bench, "coffee", project="q")
    with pytest.raises(NotFound, match="no topic 'q'"):
        await found(bench, "zebra", topic="q")


async def test_search_leaves_out_what_is_obsolete_unless_asked() -> None:
    bench = Bench()
    for state in ("active", "dormant", "stale", "superseded", "archived", "completed", "expired"):
        id_ = await make(bench, title=f"coffee {state}")
        if state != "active":
            await set_item_state(bench.app, bench.caller(), id_, state)
    deleted = await make(bench, title="coffee deleted")
    await delete_items(bench.app, bench.caller(), [deleted])
    await make(bench, title="coffee old", expires_at="tomorrow")
    bench.runtime.advance(2 * DAY_MS)
    current = {"coffee active", "coffee dormant", "coffee stale"}
    assert set(await found(bench, "coffee")) == current
    everything = set(await found(bench, "coffee", include_obsolete=True))
    assert everything > current
    assert "coffee old" in everything
    assert "coffee deleted" not in everything
    assert await found(bench, "coffee", states=["completed"]) == ["coffee completed"]
    assert await found(bench, "coffee", states=["active"]) == ["coffee active"]


async def test_search_of_another_namespace_finds_nothing_of_this_one() -> None:
    bench = Bench()
    await make(bench, title="coffee")
    answer = await search_items(bench.app, bench.caller(namespace=Namespace("other")), "coffee")
    assert answer["matches"] == []


async def test_search_takes_two_round_trips_and_writes_nothing() -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    await make(bench, title="coffee")
    counting.counts.reset()
    await found(bench, "coffee zebra")
    assert (counting.counts.reads, counting.counts.writes) == (2, 0)
    counting.counts.reset()
    assert await found(bench, "zebra !") == []
    assert (counting.counts.reads, counting.counts.writes) == (1, 0)


async def test_search_of_common_words_looks_at_the_newest_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "MATCHES_READ_MAX", 3)
    bench = Bench()
    for number in range(5):
        await make(bench, title=f"coffee {number}")
    assert await found(bench, "coffee") == ["coffee 4", "coffee 3", "coffee 2"]


@pytest.mark.parametrize(
    ("query", "filters", "field"),
    [
        (" ", {}, "query"),
        ("a", {"limit": 0}, "limit"),
        ("a", {"limit": 51}, "limit"),
        ("a", {"kinds": ["x"]}, "kinds"),
        ("a", {"states": ["open"]}, "states"),
    ],
    ids=str,
)
async def test_search_that_cannot_be_taken_is_refused_by_field(
    query: str, filters: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await found(Bench(), query, **filters)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("stored", "query", "action", "differences"),
    [
        ("User prefers dark mode", "user prefers DARK mode.", "duplicate", []),
        ("SSH port is 2222", "The SSH port is 2223", "supersede_or_merge", ["numbers"]),
        ("我对青霉素过敏", "我对青霉素不过敏", "supersede_or_merge", ["negation"]),
        ("会议在周三下午", "会议在周四下午", "supersede_or_merge", ["dates"]),
        ("dark mode is preferred", "prefers dark mode", "merge_or_link", []),
    ],
    ids=str,
)
async def test_conflict_says_what_to_do_and_what_differs(
    stored: str, query: str, action: str, differences: list[str]
) -> None:
    bench = Bench()
    await make(bench, title=stored, kind="memory")
    await make(bench, title="something else entirely", kind="memory")
    [match] = await conflicts(bench, query=query, threshold=0.6)
    assert match["item"]["title"] == stored
    assert (match["suggested_action"], match["differences"]) == (action, differences)
    assert match["score"] >= 0.6


async def test_conflict_with_an_old_item_suggests_to_supersede_it() -> None:
    bench = Bench()
    await make(bench, title="dark mode is preferred", kind="memory")
    bench.runtime.advance(8 * DAY_MS)
    [match] = await conflicts(bench, query="prefers dark mode", threshold=0.6)
    assert match["suggested_action"] == "supersede_or_merge"


async def test_conflict_of_an_item_leaves_out_itself_the_done_and_the_past() -> None:
    bench = Bench()
    mine = await make(bench, title="buy oat milk", content="buy oat milk today")
    for state in ("completed", "archived", "superseded", "dormant"):
        other = await make(bench, title="buy oat milk", content=f"buy oat milk {state}")
        await set_item_state(bench.app, bench.caller(), other, state)
    done = await make(bench, title="buy oat milk", content="buy oat milk today")
    await update_task_state(bench.app, bench.caller(), done, "complete")
    await make(bench, title="buy oat milk", content="a long story of another farm and its cows")
    twin = await make(bench, title="buy oat milk", content="Buy oat milk today!")
    assert [match["item"]["id"] for match in await conflicts(bench, item_id=mine)] == [twin]


async def test_conflict_of_a_statement_may_be_with_a_title_or_a_content() -> None:
    bench = Bench()
    await make(bench, title="milk", content="buy oat milk", project="p", project_name="P")
    assert len(await conflicts(bench, query="Milk")) == 1
    assert len(await conflicts(bench, query="buy oat milk!")) == 1
    assert len(await conflicts(bench, query="milk", project="p", limit=1)) == 1
    assert await conflicts(bench, query="tea") == []
    with pytest.raises(NotFound):
        await conflicts(bench, query="milk", project="q")


async def test_conflict_query_that_cannot_be_taken_is_refused() -> None:
    bench = Bench()
    for given_ in ({}, {"query": "a", "item_id": "b"}, {"query": "a", "threshold": 1.1}):
        with pytest.raises(InvalidInput):
            await conflicts(bench, **given_)
    with pytest.raises(NotFound):
        await conflicts(bench, item_id="itm_x")


async def test_conflicts_take_three_round_trips_at_most_and_write_nothing() -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    mine = await make(bench, title="coffee")
    counting.counts.reset()
    await conflicts(bench, item_id=mine)
    assert (counting.counts.reads, counting.counts.writes) == (3, 0)
