"""Quick capture: what is a marker, what is text, and that no word is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.capture import CAPTURE_TITLE_CHARS_MAX, Capture, parse_capture
from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import TAG_CHARS_MAX, TAGS_MAX
from remembrancer.core.text.fold import clean

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)
TYPED = st.text('ab1中，。：#＃+＋@＠!！ \n"`due:note记住.-_/🎉\u200d', max_size=60)


def _fields(text: str) -> dict[str, Any]:
    capture = parse_capture(text)
    found = {name: getattr(capture, name) for name in Capture.__slots__}
    return {name: value for name, value in found.items() if value not in (None, "", ())}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param(
            "Buy milk #shopping +home @errands due:next friday",
            {
                "title": "Buy milk",
                "tags": ("shopping",),
                "project": "home",
                "topic": "errands",
                "due": "next friday",
            },
            id="english",
        ),
        pytest.param(
            "买牛奶 #购物 @家 due:明天下午三点",
            {"title": "买牛奶", "tags": ("购物",), "topic": "家", "due": "明天下午三点"},
            id="chinese",
        ),
        pytest.param(
            "＃工作 写报告 ＋项目甲 ＠公司 due：周五",
            {
                "title": "写报告",
                "tags": ("工作",),
                "project": "项目甲",
                "topic": "公司",
                "due": "周五",
            },
            id="full_width",
        ),
        pytest.param(
            "買牛奶，#購物，@家，然後回家",
            {"title": "買牛奶，然後回家", "tags": ("購物",), "topic": "家"},
            id="after_chinese_commas",
        ),
        pytest.param("买牛奶，#购物", {"title": "买牛奶", "tags": ("购物",)}, id="last_comma"),
        pytest.param("买牛奶，#购物。", {"title": "买牛奶。", "tags": ("购物",)}, id="full_stop"),
        pytest.param("#购物，买牛奶", {"title": "买牛奶", "tags": ("购物",)}, id="first_comma"),
        pytest.param(
            "买牛奶 #购物，再回家", {"title": "买牛奶，再回家", "tags": ("购物",)}, id="no_gap"
        ),
        pytest.param("买牛奶。#购物。", {"title": "买牛奶。", "tags": ("购物",)}, id="one_stop"),
        pytest.param("（#购物）牛奶", {"title": "（）牛奶", "tags": ("购物",)}, id="in_brackets"),
        pytest.param("#a-b #c_d x", {"title": "x", "tags": ("a-b", "c_d")}, id="inner_signs"),
        pytest.param("#foo- x", {"title": "- x", "tags": ("foo",)}, id="last_hyphen_is_text"),
        pytest.param("#Work #work #WORK x", {"title": "x", "tags": ("Work",)}, id="one_tag_thrice"),
        pytest.param(
            "#c++ #c# #node.js #a/b x",
            {"title": "x", "tags": ("c++", "c#", "node.js", "a/b")},
            id="code_tags",
        ),
        pytest.param("#c++11 x", {"title": "#c++11 x"}, id="not_a_suffix"),
        pytest.param("#foo. x", {"title": ". x", "tags": ("foo",)}, id="dot_ends_a_name"),
        pytest.param("#工作.x y", {"title": ".x y", "tags": ("工作",)}, id="dot_after_chinese"),
        pytest.param("#हिन्दी #ไทยก็ x", {"title": "x", "tags": ("हिन्दी", "ไทยก็")}, id="marks"),
        pytest.param("#party🎉 x", {"title": "x", "tags": ("party🎉",)}, id="emoji_in_a_name"),
        pytest.param("#wave👋🏽 x", {"title": "x", "tags": ("wave👋🏽",)}, id="skin_tone"),
        pytest.param("#a#b x", {"title": "x", "tags": ("a", "b")}, id="touching"),
        pytest.param("#a#12 x", {"title": "#12 x", "tags": ("a",)}, id="touching_number"),
        pytest.param("#话题#正文", {"title": "正文", "tags": ("话题",)}, id="closed_tag"),
        pytest.param("#a+b x", {"title": "#a+b x"}, id="plus_inside"),
        pytest.param(
            "pay @alice, ask @bob", {"title": "pay, ask @bob", "topic": "alice"}, id="second_topic"
        ),
        pytest.param("+a +b x", {"title": "+b x", "project": "a"}, id="second_project"),
        pytest.param(
            "x due:fri\ny due:sat",
            {"title": "x", "content": "x\ny due:sat", "due": "fri"},
            id="second_due",
        ),
        pytest.param("! ! x", {"title": "! x", "priority": 1}, id="second_priority"),
        pytest.param(
            "todo: x due:fri #t !high",
            {"kind": "task", "title": "x", "due": "fri", "tags": ("t",), "priority": 3},
            id="due_before_markers",
        ),
        pytest.param("x due: fri ,", {"title": "x,", "due": "fri"}, id="due_without_comma"),
        pytest.param(
            'due:"next friday" call', {"title": "call", "due": "next friday"}, id="quoted"
        ),
        pytest.param(
            "due:“下周五”打电话", {"title": "打电话", "due": "下周五"}, id="chinese_quotes"
        ),
        pytest.param("due:「月底」交房租", {"title": "交房租", "due": "月底"}, id="corner_quotes"),
        pytest.param('due:"" x', {"title": 'due:"" x'}, id="quoted_nothing"),
        pytest.param("x due:", {"title": "x due:"}, id="due_without_value"),
        pytest.param("x due: #t", {"title": "x due:", "tags": ("t",)}, id="due_then_tag"),
        pytest.param(
            "x due:明天。再说", {"title": "x。再说", "due": "明天"}, id="due_to_full_stop"
        ),
        pytest.param(
            "x due:明天，#购物 y",
            {"title": "x， y", "due": "明天", "tags": ("购物",)},
            id="due_to_tag",
        ),
        pytest.param("x DUE:Fri", {"title": "x", "due": "Fri"}, id="upper_case_due"),
        pytest.param("overdue:fri", {"title": "overdue:fri"}, id="due_inside_a_word"),
        pytest.param(
            "x due:tomorrow !!",
            {"title": "x", "due": "tomorrow", "priority": 2},
            id="due_then_bangs",
        ),
        pytest.param(
            "x due:tomorrow 3pm !High +home",
            {"title": "x", "due": "tomorrow 3pm", "priority": 3, "project": "home"},
            id="due_then_priority",
        ),
        pytest.param(
            "写周报 due:明天下午三点 ！高",
            {"title": "写周报", "due": "明天下午三点", "priority": 3},
            id="chinese_due_then_priority",
        ),
        pytest.param(
            "x due:friday !highest", {"title": "x", "due": "friday !highest"}, id="due_then_word"
        ),
        pytest.param("x !", {"title": "x", "priority": 1}, id="one_bang"),
        pytest.param("x !!!", {"title": "x", "priority": 3}, id="three_bangs"),
        pytest.param("x !!!!", {"title": "x !!!!"}, id="four_bangs"),
        pytest.param("！！ x", {"title": "x", "priority": 2}, id="full_width_bangs"),
        pytest.param("!LOW x", {"title": "x", "priority": 1}, id="low"),
        pytest.param("!medium x", {"title": "x", "priority": 2}, id="medium"),
        pytest.param("！高 打电话", {"title": "打电话", "priority": 3}, id="chinese_high"),
        pytest.param("!highest x", {"title": "!highest x"}, id="longer_word"),
        pytest.param("太好了！！ 明天去", {"title": "太好了！！ 明天去"}, id="exclamation"),
    ],
)
def test_parse_capture_markers_become_fields(text: str, fields: dict[str, Any]) -> None:
    assert _fields(text) == fields


@pytest.mark.parametrize(
    "text",
    [
        "mail ann@example.com",
        "learn C++ and C#",
        "1+1 is 2, 3 + 4 is 7",
        "fix #123 and #4567",
        "costs $5 or ¥30",
        "see https://example.com/a#frag and http://x.org/@me",
        "use `#param @self +x due:now !` here",
        "``a `#b` c`` d",
        "call +86 138 0013 8000",
        "meet @ 3pm, @3pm",
        "a#b c+d e@f",
        "买牛奶#购物",
        "@user@example.org hi",
        "@a=1 x",
        "# heading",
        "## heading",
        "#-x",
        "#🎉 x",
        "(#foo) x",
        "\\#foo x",
        "note this: x",
        "x note: y",
        "#" + "a" * (TAG_CHARS_MAX + 1) + " x",
        "+" + "a" * (TAG_CHARS_MAX + 1) + " x",
        "#" + "ﷺ" * 10 + " x",
        "+\u3164 x",
    ],
)
def test_parse_capture_lookalikes_are_text(text: str) -> None:
    assert _fields(text) == {"title": text}


@pytest.mark.parametrize(
    ("text", "kind", "title"),
    [
        ("note: x", "memory", "x"),
        ("Memory: x", "memory", "x"),
        ("CONTEXT：x", "memory", "x"),
        ("remember :x", "memory", "x"),
        ("记住：我怕黑", "memory", "我怕黑"),
        ("记住:我怕黑", "memory", "我怕黑"),
        ("記住：我怕黑", "memory", "我怕黑"),
        ("记一下：电话", "memory", "电话"),
        ("请记住：电话", "memory", "电话"),
        ("备注：电话", "memory", "电话"),
        ("  note: x", "memory", "x"),
        ("todo: x", "task", "x"),
        ("Task：x", "task", "x"),
        ("待办：交房租", "task", "交房租"),
        ("任务：交房租", "task", "交房租"),
        ("x", None, "x"),
        ("note: todo: x", "memory", "todo: x"),
        ("记住：#测试 暗号", "memory", "暗号"),
    ],
)
def test_parse_capture_prefix_names_the_kind(text: str, kind: str | None, title: str) -> None:
    capture = parse_capture(text)
    assert (capture.kind, capture.title) == (kind, title)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "#tag",
        "#a +b @c due:now",
        "note:",
        "记住：",
        "!!!",
        "\u200e\ud800",
        "todo: #t !",
    ],
)
def test_parse_capture_without_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_capture(text)
    assert raised.value.field == "input"


@pytest.mark.parametrize(
    ("text", "title", "content"),
    [
        pytest.param("one line", "one line", "", id="one_line"),
        pytest.param("  a   b\tc ", "a b c", "", id="tidied"),
        pytest.param("a\nb", "a", "a\nb", id="two_lines"),
        pytest.param("a\r\nb #t\r\n", "a", "a\nb", id="windows_lines"),
        pytest.param("#a\n#b\nhello\n#c\nworld", "hello", "hello\nworld", id="marker_lines_go"),
        pytest.param("a\n\n  - b #x\n  - c", "a", "a\n\n  - b\n  - c", id="indent_stays"),
        pytest.param("---\nreal title", "real title", "---\nreal title", id="rule_is_no_title"),
        pytest.param("---\n***", "---", "---\n***", id="signs_only"),
        pytest.param("a\n#t，b", "a", "a\nb", id="comma_after_a_marker_line"),
        pytest.param("x" * 160, "x" * 160, "", id="at_the_limit"),
        pytest.param("x" * 161, "x" * 159 + "…", "x" * 161, id="over_the_limit"),
        pytest.param("中" * 161, "中" * 159 + "…", "中" * 161, id="chinese_over_the_limit"),
        pytest.param(
            "第一句。" + "很" * 200, "第一句。", "第一句。" + "很" * 200, id="chinese_sentence"
        ),
        pytest.param(
            "First. Second! " + "x" * 200,
            "First. Second!",
            "First. Second! " + "x" * 200,
            id="sentences",
        ),
        pytest.param(
            "v3.14 " + "y" * 200, "v3.14 " + "y" * 153 + "…", "v3.14 " + "y" * 200, id="decimal"
        ),
        pytest.param(
            "a" * 158 + "👨\u200d👩\u200d👧x",
            "a" * 158 + "…",
            "a" * 158 + "👨\u200d👩\u200d👧x",
            id="cluster_goes_whole",
        ),
        pytest.param(
            "x\n```\n#define A\n@b\n```\n#t", "x", "x\n```\n#define A\n@b\n```", id="fence"
        ),
        pytest.param("x\n```\n#define A", "x", "x\n```\n#define A", id="open_fence"),
    ],
)
def test_parse_capture_text_becomes_title_and_content(text: str, title: str, content: str) -> None:
    capture = parse_capture(text)
    assert (capture.title, capture.content) == (title, content)


def test_parse_capture_tags_over_the_limit_are_text() -> None:
    names = [f"t{number}" for number in range(TAGS_MAX + 1)]
    capture = parse_capture(" ".join(f"#{name}" for name in names) + " #t0 x")
    assert capture.tags == tuple(names[:-1])
    assert capture.title == f"#{names[-1]} x"


@given(ANY_TEXT | TYPED)
def test_parse_capture_any_text_gives_a_capture_or_refuses(text: str) -> None:
    try:
        capture = parse_capture(text)
    except InvalidInput as error:
        assert error.field == "input"
        return
    assert 1 <= len(capture.title) <= CAPTURE_TITLE_CHARS_MAX
    assert "\n" not in capture.title
    for part in (capture.title, capture.content, *capture.tags, capture.due or ""):
        assert part == part.strip()
        part.encode("utf-8")


@given(ANY_TEXT | TYPED)
def test_parse_capture_any_text_loses_no_word(text: str) -> None:
    try:
        capture = parse_capture(text)
    except InvalidInput:
        return
    known = [*capture.tags, capture.project, capture.topic, capture.due]
    markers = " ".join(part for part in known if part)
    kept = f"{capture.title}\n{capture.content}"
    prefixes = "note memory context remember todo task due low medium high 记住 低 中 高"
    for word in re.findall(r"[^\W_]+", clean(text)):
        assert word in kept or word in markers or word.casefold() in prefixes


WORDS = st.sampled_from(["milk", "牛奶", "C++", "a@b.com", "#12", "1+1", "再说。", "ok", "🎉"])
MARKERS = st.sampled_from(["#tag", "#标签", "+proj", "@家", "!high", "＃甲"])


@given(st.lists(WORDS | MARKERS, min_size=1, max_size=30), st.sampled_from([" ", "\n", "  "]))
def test_parse_capture_words_and_markers_part(parts: list[str], gap: str) -> None:
    words = [part for part in parts if part[0] not in "#＃+@!" or part == "#12"]
    words = [*words, "end"]
    parts = [*parts, "end"]
    capture = parse_capture(gap.join(parts))
    kept = (capture.content or capture.title).split()
    rest = [part for part in kept if part not in ("+proj", "@家", "!high")]
    assert rest == words
    assert set(capture.tags) == {part[1:] for part in parts if part[0] in "#＃"} - {"12"}
    assert (capture.project is not None) == ("+proj" in parts)
    assert (capture.priority is not None) == ("!high" in parts)
