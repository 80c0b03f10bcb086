"""Finding glossary names in a text: a table of cases, Chinese and English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.library.matching import glossary_hits


def entry(term: str, *aliases: str) -> GlossaryEntry:
    return GlossaryEntry(f"glo_{term}", term, aliases, "x", (), 0, 0)


ENTRIES = [
    entry("苹果星星", "星星计划"),
    entry("黑话"),
    entry("Go"),
    entry("C++", "cpp"),
    entry("R"),
    entry("火"),
    entry("OKR", "目标与关键结果"),
    entry("deep work", "深度工作"),
    entry("Zürich"),
    entry("小助手v2"),
    entry("🍎🌟"),
    entry("제주도"),
]

CASES: dict[str, tuple[str, list[str]]] = {
    "chinese term": ("我的苹果星星是什么", ["苹果星星"]),
    "chinese alias": ("那个星星计划呢？", ["苹果星星"]),
    "two chinese characters inside a run": ("这句黑话什么意思", ["黑话"]),
    "one chinese character is too short": ("点火了", []),
    "one letter is too short": ("write it in R please", []),
    "word": ("I write Go at night", ["Go"]),
    "case and width": ("用ＧＯ写的", ["Go"]),
    "latin beside chinese": ("用Go写的", ["Go"]),
    "latin inside a word": ("Google and cargo and Gopher", []),
    "latin beside a digit": ("Go2 and 3go", []),
    "latin beside an underscore": ("go_build", []),
    "inside first and alone later": ("Google uses Go", ["Go"]),
    "sign at the end": ("C++17 or c++", ["C++"]),
    "alias in another case": ("CPP rules", ["C++"]),
    "apostrophe ends a word": ("Go's tools, the OKR's owner", ["Go", "OKR"]),
    "space runs fold": ("Deep \n  WORK today", ["deep work"]),
    "order of the text": ("OKR 之后是 Go 和黑话", ["OKR", "Go", "黑话"]),
    "diacritics are letters": ("Zürich, not Zurich", ["Zürich"]),
    "plain letters are not diacritics": ("Zurich", []),
    "decomposed text": ("Zu\u0308rich", ["Zürich"]),
    "mixed script ends in a digit": ("小助手v2好用", ["小助手v2"]),
    "mixed script goes on": ("小助手v20好用", []),
    "emoji": ("look 🍎🌟!", ["🍎🌟"]),
    "korean has endings": ("제주도에서", ["제주도"]),
    "nothing": ("", []),
    "small talk": ("哈哈", []),
}


@pytest.mark.parametrize(("text", "terms"), CASES.values(), ids=list(CASES))
def test_hits_are_the_entries_that_the_text_names(text: str, terms: list[str]) -> None:
    assert [hit.entry.term for hit in glossary_hits(text, ENTRIES)] == terms


def test_hit_says_which_name_was_found_and_prefers_the_longer() -> None:
    [hit] = glossary_hits("目标与关键结果 (OKR)", ENTRIES)
    assert hit.name == "目标与关键结果"
    [hit] = glossary_hits("深度工作法", [entry("深度", "深度工作")])
    assert hit.name == "深度工作"


@given(left=st.text(), right=st.text())
def test_chinese_name_is_found_whatever_stands_beside_it(left: str, right: str) -> None:
    # A space keeps marks of the neighbours from melting into the name.
    hits = glossary_hits(f"{left} 苹果星星 {right}", [entry("苹果星星")])
    assert len(hits) == 1


@given(text=st.text())
def test_hits_of_any_text_are_literal(text: str) -> None:
    for hit in glossary_hits(text, ENTRIES):
        assert hit.at >= 0
        assert hit.name in (hit.entry.term, *hit.entry.aliases)
