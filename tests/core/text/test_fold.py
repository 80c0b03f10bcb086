"""Folding: what makes two texts equal, and what must never do so."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.fold import clean, fold, fold_key, normalise

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("  Hello \t\n World ", "hello world", id="space"),
        pytest.param("ＡＢＣ１２３", "abc123", id="full_width"),
        pytest.param("ｶﾀｶﾅ", "カタカナ", id="half_width_kana"),
        pytest.param("你好，世界！", "你好,世界!", id="chinese_punctuation"),
        pytest.param("你好\u3000世界", "你好 世界", id="ideographic_space"),
        pytest.param("Straße", "strasse", id="sharp_s"),
        pytest.param("ΣΊΣΥΦΟΣ", "σίσυφοσ", id="sigma"),
        pytest.param("Cafe\u0301", "café", id="composed"),
        pytest.param("a\u200bb\u200dc\ufeffd\u00ade", "abcde", id="zero_width"),
        pytest.param("a\u202eb\u2066c\u200f", "abc", id="bidi"),
        pytest.param("a\ud800b\udfff", "ab", id="surrogates"),
        pytest.param("a\x00b\x1bc", "abc", id="controls"),
        pytest.param("好耶🎉", "好耶🎉", id="emoji"),
        pytest.param("❤\ufe0f", "❤", id="variation_selector"),
        pytest.param("hid\U000e0041\U000e0042den", "hidden", id="tag_characters"),
        pytest.param("繁體中文", "繁體中文", id="traditional_stays"),
    ],
)
def test_fold_text_becomes_one_form(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(ANY_TEXT)
def test_fold_twice_equals_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(ANY_TEXT)
def test_fold_any_text_is_storable_and_normal(text: str) -> None:
    folded = fold(text)
    folded.encode("utf-8")
    assert unicodedata.is_normalized("NFKC", folded)
    assert folded == folded.strip()
    assert "  " not in folded


def test_fold_every_code_point_reaches_a_fixed_point() -> None:
    for start in range(0, 0x110000, 0x1000):
        once = fold(" ".join(f"a{chr(code)}b" for code in range(start, start + 0x1000)))
        assert fold(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("我住在杭州。", "我住在杭州", id="full_stop"),
        pytest.param("我住在杭州。", "我住在杭州.", id="full_stop_width"),
        pytest.param("Likes tea.", "likes tea", id="period_and_case"),
        pytest.param("Likes tea!", "likes tea", id="exclamation"),
        pytest.param("“Likes tea”", "likes tea.", id="quotes"),
        pytest.param("他说「好」", "他说“好”", id="chinese_quotes"),
        pytest.param("It’s late", "It's late", id="apostrophes"),
        pytest.param("用 Python 写后端", "用Python写后端", id="space_beside_han"),
        pytest.param("ＡＰＩ　ｋｅｙ", "api key", id="width"),
        pytest.param("他住杭州。爱喝茶。", "他住杭州. 爱喝茶", id="inner_stop"),
        pytest.param("well…", "well...", id="ellipsis"),
    ],
)
def test_fold_key_same_text_gives_one_key(one: str, other: str) -> None:
    assert fold_key(one) == fold_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("喝咖啡", "不喝咖啡", id="negation"),
        pytest.param("I do eat meat", "I don't eat meat", id="english_negation"),
        pytest.param("we're here", "were here", id="apostrophe"),
        pytest.param("I'll go", "ill go", id="contraction"),
        pytest.param("喝茶？", "喝茶。", id="question"),
        pytest.param("5'10\"", "510", id="feet_and_inches"),
        pytest.param("10²", "102", id="superscript"),
        pytest.param("H₂O", "H2O", id="subscript"),
        pytest.param("1½ cups", "11/2 cups", id="fraction"),
        pytest.param("-5 degrees", "5 degrees", id="sign"),
        pytest.param("5! ways", "5 ways", id="inner_factorial"),
        pytest.param("n is 5!", "n is 5", id="factorial"),
        pytest.param("1“2”3", "123", id="quoted_digits"),
        pytest.param("50%", "50", id="per_cent"),
        pytest.param("0.5", "05", id="decimal"),
        pytest.param("C++", "C", id="plus"),
        pytest.param("1 2 个", "12 个", id="digits_apart"),
        pytest.param("好🎉", "好", id="emoji"),
    ],
)
def test_fold_key_different_meaning_gives_two_keys(one: str, other: str) -> None:
    assert fold_key(one) != fold_key(other)


@pytest.mark.parametrize("text", ["。。。", "!!!", "“”", "...", '"'])
def test_fold_key_punctuation_alone_is_its_own_key(text: str) -> None:
    assert fold_key(text) == fold(text)


@given(ANY_TEXT)
def test_fold_key_twice_equals_once(text: str) -> None:
    assert fold_key(fold_key(text)) == fold_key(text)


@given(ANY_TEXT)
def test_fold_key_any_text_keeps_its_digits(text: str) -> None:
    def digits(value: str) -> str:
        return "".join(char for char in value if char.isdigit())

    assert digits(fold_key(text)) == digits(fold(text))


@given(ANY_TEXT)
def test_fold_key_empty_only_for_empty(text: str) -> None:
    assert bool(fold_key(text)) == bool(fold(text))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line_ends"),
        pytest.param("tab\tstays", "tab\tstays", id="tab"),
        pytest.param("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", id="joined_emoji"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", id="persian_joiner"),
        pytest.param("abc\u202edef", "abcdef", id="bidi_override"),
        pytest.param("x\ud83dy", "xy", id="lone_surrogate"),
        pytest.param("x\x00y", "xy", id="null"),
    ],
)
def test_clean_unsafe_characters_go_and_others_stay(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(ANY_TEXT)
def test_clean_any_text_is_storable_and_stable(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


def test_normalise_case_and_space_stay() -> None:
    assert normalise("Ａ  b\u200bC") == "A  bC"
