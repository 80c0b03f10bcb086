"""Choosing terms by how rare they are, and scores that grow with what an item holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.search.ranking import MATCHED_ROWS_MAX, chosen_terms, score, telling
from remembrancer.core.text.segment import Term, query_terms

WORDS = st.sampled_from(["plants", "coffee", "running", "咖啡店", "C++", "2222", "买咖啡", "旅"])


def test_chosen_terms_take_the_rarest_until_the_rows_are_spent() -> None:
    terms = query_terms("alpha beta gamma delta")
    documents = {"alpha": 700, "beta": 10, "gamma": 90, "delta": 1}
    assert chosen_terms(terms, documents) == ["delta", "beta", "gamma"]
    exactly = MATCHED_ROWS_MAX - 101
    assert chosen_terms(terms, documents | {"alpha": exactly})[-1] == "alpha"
    assert "alpha" not in chosen_terms(terms, documents | {"alpha": exactly + 1})


def test_chosen_terms_have_one_at_least_unless_none_is_held() -> None:
    terms = query_terms("alpha beta")
    assert chosen_terms(terms, {"alpha": 5_000, "beta": 9_000}) == ["alpha"]
    assert chosen_terms(terms, {}) == []
    assert chosen_terms([], {}) == []


def test_telling_falls_with_the_documents_and_for_pairs_nobody_holds() -> None:
    says = [telling(1.0, documents) for documents in (0, 1, 10, 1_000, 100_000)]
    assert says == sorted(says, reverse=True)
    assert says[0] == 1.0
    assert 0 < says[-1] < 0.1
    assert telling(1.0, 0, is_pair=True) < telling(1.0, 1_000, is_pair=True)


@pytest.mark.parametrize(
    ("query", "held", "low", "high"),
    [
        ("coffee", {"coffee"}, 0.9, 1.0),
        ("coffee zebra", {"coffee"}, 0.3, 0.7),
        ("plants", {"plant"}, 0.7, 0.8),
        ("plants", {"plants", "plant"}, 0.9, 1.0),
        ("coffee", set(), 0.0, 0.0),
        ("喜欢咖啡", {"喜欢", "咖啡"}, 0.85, 0.97),
        ("!!!", set(), 0.0, 0.0),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_score_is_the_share_of_words_held(
    query: str, held: set[str], low: float, high: float
) -> None:
    documents = {"coffee": 10, "plant": 20, "plants": 5, "咖啡": 9, "喜欢": 30}
    value = score(query_terms(query), documents, held=held, strength=3.0)
    assert low <= value <= high


def test_score_gives_a_rare_word_more_than_a_common_one() -> None:
    terms = query_terms("coffee zebra")
    documents = {"coffee": 5_000, "zebra": 2}
    assert score(terms, documents, held={"zebra"}, strength=1) > score(
        terms, documents, held={"coffee"}, strength=9
    )


def test_score_does_not_let_an_unseen_form_of_a_word_hide_the_seen_one() -> None:
    terms = query_terms("releasing")
    assert [term.text for term in terms] == ["releasing", "releas"]
    assert score(terms, {"releas": 300}, held={"releas"}, strength=1) >= 0.7


@given(
    words=st.lists(WORDS, min_size=1, max_size=5),
    documents=st.dictionaries(st.sampled_from(["coffee", "plant", "咖啡"]), st.integers(0, 9_999)),
    strength=st.floats(0, 1_000),
    data=st.data(),
)
def test_score_lies_in_its_range_and_never_falls_with_more(
    words: list[str], documents: dict[str, int], strength: float, data: st.DataObject
) -> None:
    terms = query_terms(" ".join(words))
    texts = [term.text for term in terms]
    held = data.draw(st.sets(st.sampled_from(texts)))
    more = held | data.draw(st.sets(st.sampled_from(texts)))
    low = score(terms, documents, held=held, strength=strength)
    assert 0 <= low <= 1
    assert score(terms, documents, held=more, strength=strength) >= low
    assert score(terms, documents, held=held, strength=strength + 1) >= low


def test_score_of_weightless_terms_is_nothing() -> None:
    assert score([Term("a", 0.0, "word")], {}, held={"a"}, strength=1) == 0.0
