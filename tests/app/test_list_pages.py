"""Pages of lists: each order is total, cursors neither repeat nor skip, others are refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_list_items import listed, make, titles
from tests.builders import Bench

from remembrancer.core.cursors import encode_cursor
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.query import SORTS, Place, decode_place, encode_place, parse_sort
from remembrancer.core.moments import PastMoment

ORDERS = [sign + name for name in SORTS for sign in ("", "-")]


async def filled(bench: Bench, count: int = 11) -> None:
    """Items with many equal keys: same titles, no dates, equal priorities."""
    for number in range(count):
        given: dict[str, Any] = {"priority": number % 3 + 1, "pinned": number % 4 == 0}
        if number % 2:
            given["due"] = f"2026-03-{10 + number % 5:02}T10:00"
        title = ("甲", "beta", "Beta", "long " * 30, "🧑‍🚀 a\u3000b\n")[number % 5]
        if number % 3:
            bench.runtime.advance(-1_000)  # equal times
        await make(bench, title=title, startup_priority=number % 2 * 8, **given)


async def walk(bench: Bench, limit: int, **query: Any) -> list[str]:
    ids: list[str] = []
    cursor: str | None = None
    while True:
        answer = await listed(bench, limit=limit, cursor=cursor, **query)
        ids += [item["id"] for item in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            return ids


@pytest.mark.parametrize("order", ORDERS)
async def test_pages_of_every_order_join_to_the_whole_list(order: str) -> None:
    bench = Bench()
    await filled(bench)
    whole = [item["id"] for item in (await listed(bench, limit=100, sort=order))["items"]]
    assert len(whole) == len(set(whole)) == 11
    for limit in (1, 2, 5, 11):
        assert await walk(bench, limit, sort=order) == whole


@pytest.mark.parametrize("order", ORDERS)
async def test_order_and_its_reverse_hold_the_same_items(order: str) -> None:
    bench = Bench()
    await filled(bench)
    items = (await listed(bench, limit=100, sort=order))["items"]
    other = f"-{order}" if not order.startswith("-") else order[1:]
    back = (await listed(bench, limit=100, sort=other))["items"]
    assert {item["id"] for item in items} == {item["id"] for item in back}
    if not order.endswith("due_at"):
        assert items == back[::-1]
    else:
        dated = [item["due_at"] is not None for item in items]
        assert dated == sorted(dated, reverse=True)


async def test_startup_order_is_the_order_of_the_context_levels() -> None:
    bench = Bench()
    await filled(bench)
    items = (await listed(bench, limit=100, sort="startup"))["items"]
    keys = [(-item["startup_priority"], not item["pinned"], -item["priority"]) for item in items]
    assert keys == sorted(keys)
    for one, two in pairwise(items):
        if (one["startup_priority"], one["pinned"], one["priority"]) == (
            two["startup_priority"],
            two["pinned"],
            two["priority"],
        ):
            assert (one["updated_at"], two["id"]) > (two["updated_at"], one["id"])


async def test_title_order_does_not_look_at_the_case_of_letters() -> None:
    bench = Bench()
    for title in ("b", "A", "a", "B"):
        await make(bench, title=title)
    assert await titles(bench, sort="title") == ["A", "a", "b", "B"]


async def test_pages_under_inserts_neither_repeat_nor_skip_what_was_there() -> None:
    bench = Bench()
    for number in range(9):
        await make(bench, title=str(number))
    seen: list[str] = []
    cursor: str | None = None
    for round_ in range(3):
        answer = await listed(bench, limit=3, cursor=cursor)
        seen += [item["title"] for item in answer["items"]]
        cursor = answer["next_cursor"]
        await make(bench, title=f"new {round_}")
    assert seen == ["8", "7", "6", "5", "4", "3", "2", "1", "0"]
    assert cursor is None


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "eyJhIjoxfQ", "=", "甲", "W10", "bnVsbA", "W1tdXQ", "A" * 2_000, "WyJpdGVtcyJd"],
    ids=["empty", "letter", "object", "padding", "han", "list", "null", "nested", "long", "short"],
)
async def test_broken_cursor_is_refused_by_field(cursor: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await listed(Bench(), cursor=cursor)
    assert caught.value.field == "cursor"


async def test_cursor_of_another_order_or_moment_is_refused() -> None:
    bench = Bench()
    await filled(bench)
    cursor = (await listed(bench, limit=2))["next_cursor"]
    for query in ({"sort": "updated_at"}, {"sort": "title"}, {"as_of": "5"}):
        with pytest.raises(InvalidInput) as caught:
            await listed(bench, cursor=cursor, **query)
        assert caught.value.field == "cursor"
    past = (await listed(bench, limit=2, as_of="9"))["next_cursor"]
    with pytest.raises(InvalidInput):
        await listed(bench, cursor=past)


def test_cursor_whose_title_is_not_ours_is_refused() -> None:
    sort = parse_sort("title")
    good = encode_place(sort, Place(("甲", 5), None, 1))
    assert decode_place(sort, good) == Place(("甲", 5), None, 1)
    for text in ("&&", "/w==", "gA=="):
        with pytest.raises(InvalidInput):
            decode_place(sort, encode_cursor("items+title", [None, None, 1, text, 5]))


@given(
    title=st.text(max_size=100),
    seq=st.integers(1, 2**53 - 1),
    moment=st.none() | st.builds(PastMoment, st.integers(0, 2**53 - 1), st.integers(0, 2**50)),
)
def test_place_of_any_title_survives_its_cursor(
    title: str, seq: int, moment: PastMoment | None
) -> None:
    title = title.encode("utf-8", "ignore").decode()
    place = Place((title, seq), moment, 3)
    assert decode_place(parse_sort("-title"), encode_place(parse_sort("-title"), place)) == place


def test_cursor_of_the_longest_title_fits() -> None:
    sort = parse_sort("title")
    place = Place(("\U0001f9d1" * 100, 2**53 - 1), PastMoment(2**53 - 1, 2**50), 10_000)
    assert decode_place(sort, encode_place(sort, place)) == place


def test_sort_with_a_plus_is_the_plain_one() -> None:
    assert parse_sort("+due_at") == parse_sort("due_at")
