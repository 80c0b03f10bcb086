"""Selecting: gates on the score itself, order by standing, nothing twice, the cold tier last."""

from __future__ import annotations

import pytest

from remembrancer.core.recall.explain import EXPLAINED_MAX, Explained, explanation_of, kept_query
from remembrancer.core.recall.freshness import standing, was_recalled
from remembrancer.core.recall.fusion import Candidate, asked_of
from remembrancer.core.recall.gates import SCORE_MIN
from remembrancer.core.recall.query import build_query
from remembrancer.core.recall.repeats import Shown
from remembrancer.core.recall.scale import SHOWN_MIN, hidden, shown
from remembrancer.core.recall.selection import Bar, Contender, Selected, select
from remembrancer.core.text.fold import fold_key
from remembrancer.core.values import DAY_MS, MINUTE_MS

NOW = 400 * DAY_MS


WORDS = ("alpha", "beta", "gamma", "delta", "omega")
QUERY = build_query(" ".join(WORDS))
assert QUERY is not None
ASKED = asked_of(QUERY, dict.fromkeys(WORDS, 1))


def contender(id_: str, text: str, count: int = 5) -> Contender:
    """A candidate that holds so many of the query's five words."""
    return Contender(Candidate(id_, held=frozenset(WORDS[:count])), text, "fact", NOW - DAY_MS)


def gates(selected: list[Selected]) -> dict[str, str | None]:
    return {one.id: one.gate for one in selected}


def chosen(
    contenders: list[Contender], shown_: Shown | None = None, floor: float = 0
) -> list[Selected]:
    return select(contenders, ASKED, shown_ or Shown(), Bar(NOW, floor))


def test_select_orders_what_it_keeps_before_what_it_drops() -> None:
    found = chosen([contender("weak", "x", 0), contender("b", "b", 4), contender("a", "a")])
    assert gates(found) == {"a": None, "b": None, "weak": "score_floor"}
    assert [one.id for one in found] == ["a", "b", "weak"]


def test_select_drops_what_is_below_the_wanted_floor() -> None:
    contenders = [contender("a", "a"), contender("b", "b", 4)]
    first, second = (one.score for one in chosen(contenders))
    assert first > second
    found = chosen(contenders, floor=(first + second) / 2)
    assert gates(found) == {"a": None, "b": "score_floor"}


def test_search_shows_what_may_answer_and_says_what_is_sure() -> None:
    contenders = [contender("a", "a"), contender("b", "b", 3), contender("c", "c", 0)]
    found = select(contenders, ASKED, Shown(), Bar(NOW, floor=0.01, is_search=True))
    strict = chosen(contenders)
    assert {one.id for one in found if one.is_sure} == {one.id for one in strict if not one.gate}
    assert {one.id for one in found if not one.gate} == {"a", "b"}
    assert not any(one.is_sure for one in found if one.gate)


def test_select_keeps_one_of_equal_texts() -> None:
    found = chosen([contender("a", "喜欢喝茶。"), contender("b", "喜欢喝茶", 4)])
    assert gates(found) == {"a": None, "b": "duplicate"}


def test_only_as_many_are_compared_as_are_wanted() -> None:
    contenders = [contender(id_, "喜欢喝茶") for id_ in "abc"] + [contender("d", "茶", 4)]
    shown_ = Shown(visible=["喜欢喝茶"])
    found = select(contenders, ASKED, shown_, Bar(NOW, is_search=True, wanted=1))
    assert gates(found) == {"d": None, "a": "visible", "b": "visible", "c": "visible"}
    few = select(contenders, ASKED, Shown(), Bar(NOW, is_search=True, wanted=1))
    assert [one.id for one in few] == ["a", "b", "c", "d"]
    raw = select(contenders, ASKED, shown_, Bar(NOW, is_search=True, is_filtered=False))
    assert [one.is_sure for one in raw][:3] == [False, False, False]
    assert gates(raw) == dict.fromkeys("abcd")


def test_recent_recall_only_reorders() -> None:
    recent = contender("a", "a")._replace(recalled_at=NOW - 5 * MINUTE_MS)
    found = chosen([recent, contender("b", "b")])
    assert [one.id for one in found] == ["b", "a"]
    assert gates(found) == {"a": None, "b": None}
    alone = chosen([recent])
    assert gates(alone) == {"a": None}


def test_age_decides_between_equals_and_hides_nothing() -> None:
    old = contender("old", "old")._replace(at_ms=0)
    found = chosen([old, contender("new", "new")])
    assert [one.id for one in found] == ["new", "old"]
    lasting = chosen([old._replace(type="identity"), contender("new", "new")])
    assert [one.id for one in lasting] == ["old", "new"]
    pinned = chosen([old._replace(is_pinned=True), contender("new", "new")])
    assert [one.id for one in pinned] == ["old", "new"]


def test_cold_tier_comes_only_when_nothing_else_was_found() -> None:
    cold = contender("cold", "cold")._replace(is_cold=True)
    assert gates(chosen([cold, contender("a", "a")])) == {"a": None}
    assert gates(chosen([cold, contender("a", "a", 0)])) == {"cold": None, "a": "score_floor"}


@pytest.mark.parametrize(
    ("shown_", "text", "where"),
    [
        (Shown(visible=["itm_1"]), "anything", "visible"),
        (Shown(visible=["我说过：喜欢喝茶。还有别的。"]), "喜欢喝茶", "visible"),
        (Shown(visible=["我不喜欢喝茶"]), "喜欢喝茶", None),
        (Shown(visible=["I am not allergic to nuts"]), "allergic to nuts", None),
        (Shown(digest="Works at night. Allergic to nuts."), "allergic to nuts", "in_digest"),
        (Shown(digest="喜欢喝茶；不吃香菜"), "不吃香菜", "in_digest"),
        (Shown(digest="The port is 2222."), "The port is 2223.", None),
        (Shown(digest="User really likes green tea"), "user likes green tea", "in_digest"),
        (Shown(precious=["永远不要放弃"]), "永远不要放弃。", "in_precious"),
        (Shown(precious=["永远不要放弃"]), "永远要放弃", None),
        (Shown(digest="茶"), "喜欢喝茶", None),
        (Shown(digest="喜欢喝茶"), "。", None),
        (Shown(), "喜欢喝茶", None),
        (Shown(visible=["小雨对芒果过敏吗？"]), "小雨对芒果过敏", None),
        (Shown(visible=["Is it so: allergic to nuts?"]), "allergic to nuts", None),
        (Shown(visible=["要不要换工作？"]), "要不要换工作？", "visible"),
    ],
    ids=range(16),
)
def test_what_stands_before_the_reader_is_not_brought_up_again(
    shown_: Shown, text: str, where: str | None
) -> None:
    assert shown_.holds("itm_1", text, fold_key(text)) == where


@pytest.mark.parametrize("score", [0.0, 0.001, SCORE_MIN, 0.2, 0.9, 1.0])
def test_shown_scale_goes_both_ways(score: float) -> None:
    assert hidden(shown(score)) == pytest.approx(score)
    assert 0 <= shown(score) <= 1


def test_shown_scale_puts_the_floor_where_clients_know_it() -> None:
    assert shown(SCORE_MIN) == pytest.approx(SHOWN_MIN)
    assert shown(-1) == hidden(-1) == 0


def test_standing_takes_little() -> None:
    worst = standing(1.0, now_ms=NOW * 100, at_ms=0, recalled_at=NOW * 100)
    assert 0.85 <= worst < standing(1.0, now_ms=NOW, at_ms=NOW, recalled_at=None) == 1.0
    assert not was_recalled(NOW - 30 * MINUTE_MS, NOW)
    assert not was_recalled(NOW + 1, NOW)


def test_explanation_holds_what_was_brought_up_then_what_came_nearest() -> None:
    many = [Explained(f"d{number}", 0.1, None, number / 100, "score_floor") for number in range(50)]
    kept = Explained("k", 0.123456, 0.5, 0.9, rerank=0.7, layer="cold", answers=0.712345)
    found = explanation_of([*many, kept])
    assert len(found) == EXPLAINED_MAX
    assert found[0] == {
        "id": "k",
        "words": 0.1235,
        "meaning": 0.5,
        "score": 0.9,
        "answers": 0.7123,
        "rerank": 0.7,
        "layer": "cold",
        "gate": None,
    }
    second = found[1]
    assert isinstance(second, dict)
    assert second["id"] == "d49"


def test_kept_query_has_no_secrets_and_an_end() -> None:
    assert "hunter2" not in kept_query("password: hunter2 的意思？")
    assert len(kept_query("长" * 2_000)) == 500
