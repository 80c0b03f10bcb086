"""Cutting: no character that a person sees as one is torn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.graphemes import cut, is_boundary, shorten

FAMILY = "👨\u200d👩\u200d👧"
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
TANGLED = st.text("ae\u0301\u200d\u200c👨👩🇨🇳🏽कषि\u094dᄀ각각\r\n\ufe0f", max_size=30)


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        pytest.param("abc", ["a", "b", "c"], id="ascii"),
        pytest.param("中文", ["中", "文"], id="han"),
        pytest.param("a\r\nb", ["a", "\r\n", "b"], id="line_end"),
        pytest.param("\r\u0301", ["\r", "\u0301"], id="mark_after_line_end"),
        pytest.param("e\u0301x", ["e\u0301", "x"], id="accent"),
        pytest.param(f"{FAMILY}!", [FAMILY, "!"], id="family"),
        pytest.param("👍🏽👍", ["👍🏽", "👍"], id="skin_tone"),
        pytest.param("❤\ufe0fx", ["❤\ufe0f", "x"], id="variation_selector"),
        pytest.param("🇨🇳🇩🇪", ["🇨🇳", "🇩🇪"], id="flags"),
        pytest.param("a🇨🇳", ["a", "🇨🇳"], id="flag_after_letter"),
        pytest.param("हिन्दी", ["हि", "न्दी"], id="hindi_conjunct"),
        pytest.param("ก็ดี", ["ก็", "ดี"], id="thai_marks"),
        pytest.param("\u1100\u1161\u11a8\u1100", ["\u1100\u1161\u11a8", "\u1100"], id="jamo"),
        pytest.param("\u1100\uac00\u11a8\u11a8", ["\u1100\uac00\u11a8\u11a8"], id="jamo_syllable"),
        pytest.param("\uac00\u1161\u1161", ["\uac00\u1161\u1161"], id="jamo_vowels"),
        pytest.param("가나", ["가", "나"], id="hangul"),
        pytest.param("ｶﾞx", ["ｶﾞ", "x"], id="half_width_voicing"),
        pytest.param("🏴\U000e0067\U000e007f.", ["🏴\U000e0067\U000e007f", "."], id="tag_flag"),
    ],
)
def test_is_boundary_clusters_stay_whole(text: str, clusters: list[str]) -> None:
    starts = [index for index in range(len(text)) if is_boundary(text, index)]
    ends = [*starts[1:], len(text)]
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == clusters
    assert is_boundary(text, len(text))


@pytest.mark.parametrize(
    ("text", "chars_max", "kept"),
    [
        pytest.param("abcdef", 3, "abc", id="plain"),
        pytest.param("abc", 3, "abc", id="fits"),
        pytest.param("abc", 0, "", id="nothing"),
        pytest.param("abc", -1, "", id="negative"),
        pytest.param(f"a{FAMILY}", 3, "a", id="family_goes_whole"),
        pytest.param(FAMILY, 3, "", id="not_even_one"),
        pytest.param("🇨🇳🇩🇪", 3, "🇨🇳", id="second_flag_goes"),
        pytest.param("a" + "\u0301" * 200, 100, "a" + "\u0301" * 99, id="pile_of_marks"),
    ],
)
def test_cut_text_ends_at_a_boundary(text: str, chars_max: int, kept: str) -> None:
    assert cut(text, chars_max) == kept


@pytest.mark.parametrize(
    ("text", "chars_max", "short"),
    [
        pytest.param("hello", 5, "hello", id="fits"),
        pytest.param("hello!", 5, "hell…", id="cut"),
        pytest.param("hell o", 5, "hell…", id="no_space_before_mark"),
        pytest.param("你好世界", 3, "你好…", id="chinese"),
        pytest.param("你好", 1, "…", id="mark_only"),
        pytest.param("你好", 0, "", id="nothing"),
    ],
)
def test_shorten_long_text_ends_with_the_mark(text: str, chars_max: int, short: str) -> None:
    assert shorten(text, chars_max) == short


@given(ANY_TEXT | TANGLED, st.integers(-2, 45))
def test_cut_any_text_is_a_start_within_the_limit(text: str, chars_max: int) -> None:
    kept = cut(text, chars_max)
    assert text.startswith(kept)
    assert len(kept) <= max(0, chars_max)
    assert len(shorten(text, chars_max)) <= max(0, chars_max)
    assert is_boundary(text, len(kept))
