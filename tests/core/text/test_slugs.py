"""Slugs and tags: any script, no silent collision, no silent loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import TAG_CHARS_MAX, TAGS_MAX
from remembrancer.core.text.slugs import (
    SLUG_CHARS_MAX,
    SLUG_NUMBERS,
    TAG_DISPLAY_CHARS_MAX,
    normalise_tags,
    numbered_slugs,
    slug_ranges,
    slugify,
    tag_key,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        pytest.param("Home Office", "home-office", id="english"),
        pytest.param("  --Trim__me!! ", "trim-me", id="trimmed"),
        pytest.param("工作计划", "工作计划", id="chinese"),
        pytest.param("工作 计划（2026）", "工作-计划-2026", id="chinese_with_signs"),
        pytest.param("繁體專案", "繁體專案", id="traditional"),
        pytest.param("ＡＢＣ　１２", "abc-12", id="full_width"),
        pytest.param("हिन्दी भाषा", "हिन्दी-भाषा", id="hindi_marks"),
        pytest.param("ภาษาไทย", "ภาษาไทย", id="thai_marks"),
        pytest.param("Ünïcödé Straße", "ünïcödé-strasse", id="diacritics"),
        pytest.param("プロジェクト", "プロジェクト", id="kana"),
        pytest.param("한국어 프로젝트", "한국어-프로젝트", id="hangul"),
        pytest.param("C++ & C#", "c-c", id="signs"),
        pytest.param("party 🎉 plan", "party-plan", id="emoji"),
        pytest.param("-\u0301a", "a", id="orphan_mark"),
        pytest.param("a/../b", "a-b", id="path"),
        pytest.param("x'; DROP TABLE", "x-drop-table", id="sql"),
        pytest.param("v1.2.3", "v1-2-3", id="version"),
    ],
)
def test_slugify_name_keeps_letters_of_any_script(name: str, slug: str) -> None:
    assert slugify(name) == slug


@pytest.mark.parametrize(
    "name", ["", "  ", "🎉", "---", "!?", "\u200b", "\ud800", "\u0301", "。，"]
)
def test_slugify_without_letters_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        slugify(name)
    assert raised.value.field == "name"
    raised.value.message.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        pytest.param("a" * 80, "a" * 80, id="at_the_limit"),
        pytest.param("a" * 81, "a" * 80, id="over_the_limit"),
        pytest.param("a" * 79 + " b", "a" * 79, id="no_hyphen_at_the_end"),
        pytest.param("中" * 200, "中" * 80, id="chinese"),
        pytest.param("a" * 79 + "ก็", "a" * 79, id="cluster_goes_whole"),
    ],
)
def test_slugify_long_name_is_cut_between_characters(name: str, slug: str) -> None:
    assert slugify(name) == slug


@given(ANY_TEXT)
def test_slugify_any_name_gives_a_stable_slug_or_refuses(name: str) -> None:
    try:
        slug = slugify(name)
    except InvalidInput:
        return
    assert 1 <= len(slug) <= SLUG_CHARS_MAX
    assert slugify(slug) == slug
    assert slug == slug.strip("-")
    assert "--" not in slug
    slug.encode("utf-8")


def first_free(name: str, taken: set[str]) -> str:
    return next(slug for slug in numbered_slugs(name) if slug not in taken)


def test_numbered_slugs_give_taken_names_a_number() -> None:
    taken: set[str] = set()
    for name in ["项目", "项目!", "项目 ", "项目-2", "Home", "home?"]:
        taken.add(first_free(name, taken))
    assert taken == {"项目", "项目-2", "项目-3", "项目-2-2", "home", "home-2"}


def test_numbered_slugs_of_a_long_name_stay_within_the_limit() -> None:
    assert numbered_slugs("a" * 100)[:2] == ["a" * 80, "a" * 78 + "-2"]


@given(ANY_TEXT)
def test_numbered_slugs_of_any_name_are_as_many_different_slugs(name: str) -> None:
    try:
        slugs = numbered_slugs(name)
    except InvalidInput:
        return
    assert len(set(slugs)) == len(slugs) == SLUG_NUMBERS
    assert all(slugify(slug) == slug for slug in slugs)


@pytest.mark.parametrize(
    ("tag", "key"),
    [
        pytest.param("#Work", "work", id="sign_and_case"),
        pytest.param("＃工作", "工作", id="full_width_sign"),
        pytest.param("# # x", "x", id="several_signs"),
        pytest.param("to  read", "to-read", id="space"),
        pytest.param("to_read", "to-read", id="underscore"),
        pytest.param("to-read", "to-read", id="hyphen"),
        pytest.param(" _to - read_ ", "to-read", id="ends"),
        pytest.param("C++", "c++", id="plus"),
        pytest.param("#C#", "c#", id="sharp"),
        pytest.param("Node.js", "node.js", id="dot"),
        pytest.param("a/b", "a/b", id="slash"),
        pytest.param("工作 计划", "工作-计划", id="chinese_space"),
        pytest.param("🎉", "🎉", id="emoji"),
        pytest.param("ＡＢ", "ab", id="width"),
        pytest.param("a\u200bb", "ab", id="zero_width"),
    ],
)
def test_tag_key_spellings_share_one_key(tag: str, key: str) -> None:
    assert tag_key(tag) == key


@pytest.mark.parametrize("tag", ["", " ", "#", "##", "_", "-", "# _ #", "\u200b", "\ud800"])
def test_tag_key_empty_tag_is_refused(tag: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        tag_key(tag)
    assert raised.value.field == "tags"


def test_tag_key_length_limit_counts_characters() -> None:
    assert tag_key("中" * TAG_CHARS_MAX) == "中" * TAG_CHARS_MAX
    with pytest.raises(InvalidInput) as raised:
        tag_key("中" * (TAG_CHARS_MAX + 1))
    assert raised.value.field == "tags"


@given(ANY_TEXT)
def test_slug_ranges_any_name_hold_its_numbered_slugs_and_nothing_before_them(name: str) -> None:
    try:
        slugs = numbered_slugs(name)
    except InvalidInput:
        return
    ranges = slug_ranges(name)
    assert len(ranges) <= 3
    for slug in slugs:
        assert any(first <= slug < end for first, end in ranges)
        assert len(slug) <= SLUG_CHARS_MAX
    assert not any(first <= slugs[0][:-1] < end for first, end in ranges)


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("Work 工作", [("work-工作", "work-工作-:")]),
        ("a" * 78, [("a" * 78, "a" * 78 + "-:"), ("a" * 77 + "-", "a" * 77 + "-:")]),
        (
            "a" * 80,
            [
                ("a" * 80, "a" * 80 + "-"),
                ("a" * 78 + "-", "a" * 78 + "-:"),
                ("a" * 77 + "-", "a" * 77 + "-:"),
            ],
        ),
    ],
    ids=["short", "cut for two digits", "cut for any number"],
)
def test_slug_ranges_of_a_name_are_few(name: str, ranges: list[tuple[str, str]]) -> None:
    assert slug_ranges(name) == ranges


@given(ANY_TEXT)
def test_tag_key_any_tag_gives_a_stable_key_or_refuses(tag: str) -> None:
    try:
        key = tag_key(tag)
    except InvalidInput:
        return
    assert tag_key(key) == key
    assert 1 <= len(key) <= TAG_CHARS_MAX
    assert not any(char.isspace() for char in key)


def test_normalise_tags_duplicates_keep_the_first_spelling() -> None:
    assert normalise_tags(["#Work", "work", "＃工作", "To Read", "to_read", "C#"]) == [
        ("work", "Work"),
        ("工作", "工作"),
        ("to-read", "To Read"),
        ("c#", "C#"),
    ]


def test_normalise_tags_invisible_spelling_is_shown_by_its_key() -> None:
    padded = "a" + "\u200d" * TAG_DISPLAY_CHARS_MAX
    assert normalise_tags([padded]) == [("a", "a")]


def test_normalise_tags_count_limit_ignores_duplicates() -> None:
    names = [f"t{number}" for number in range(TAGS_MAX)]
    assert len(normalise_tags(names + names)) == TAGS_MAX
    with pytest.raises(InvalidInput) as raised:
        normalise_tags([*names, "one more"])
    assert raised.value.field == "tags"


def test_normalise_tags_empty_tag_is_refused() -> None:
    with pytest.raises(InvalidInput):
        normalise_tags(["ok", " # "])
