"""The echo guard: what we put in comes out again in every form, and nothing else does."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.echo import strip_injected, strip_injected_messages
from remembrancer.core.chat.shapes import Body
from remembrancer.core.chat.wrapping import append_block, wrap

SECRET = "住在里斯本"
BLOCK = append_block(
    wrap("context", "现在 10:22\n\\n raw", block_id="ctx_1"),
    wrap(
        "memory",
        f'- {SECRET} 🦷\n\n- likes "quotes", C:\\new & <b>{SECRET}</b> it\'s\n> {SECRET}',
        block_id="rcl_01HX",
        language="zh",
    ),
)
OWN = st.text(st.sampled_from("ab 你好，🦷\n\\\"'<>&|`*#-n"), min_size=0, max_size=30).filter(
    lambda text: "\n|" not in text
)
"""What a user types: without a line that starts with a bar, which would look like ours."""

NEXT = OWN.filter(lambda text: text.strip() != "" and text[0] not in "|<> \n&")


@given(OWN, NEXT)
def test_strip_injected_complete_block_leaves_both_sides(before: str, after: str) -> None:
    assert strip_injected(append_block(before, BLOCK)) == before
    whole = f"{append_block(before, BLOCK)}\n\n{after}"
    assert strip_injected(whole) == (f"{before}\n\n{after}" if before else after)


@given(OWN, NEXT)
def test_strip_injected_inside_json_leaves_json(before: str, after: str) -> None:
    value = {"a": append_block(before, BLOCK), "b": [f"{before}\n\n{BLOCK}\n\n{after}"], "c": after}
    clean = {"a": before, "b": [f"{before}\n\n{after}"], "c": after}
    for is_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=is_ascii)
        assert json.loads(strip_injected(once)) == clean
        twice = json.dumps({"result": once, "c": after})
        again = json.loads(strip_injected(twice))
        assert json.loads(again["result"]) == clean and again["c"] == after


@given(OWN, st.integers(0, len(BLOCK)))
def test_strip_injected_cut_off_copy_leaves_the_text_before_it(before: str, cut: int) -> None:
    stripped = strip_injected(append_block(before, BLOCK[:cut]))
    assert stripped.startswith(before) and SECRET not in stripped
    assert "<remembrancer-context ".startswith(stripped[len(before) :].strip()) or (
        "<remembrancer-memory ".startswith(stripped[len(before) :].strip())
    )


@given(OWN, st.integers(0, len(BLOCK)), NEXT)
def test_strip_injected_cut_off_copy_leaves_the_text_behind_it(
    before: str, cut: int, after: str
) -> None:
    stripped = strip_injected(f"{append_block(before, BLOCK[:cut])}\n\n{after}")
    assert stripped.startswith(before) and stripped.endswith(after) and SECRET not in stripped


@given(st.integers(0, len(BLOCK)), NEXT)
def test_strip_injected_cut_off_inside_json_leaves_json(cut: int, after: str) -> None:
    value = {"a": BLOCK[:cut], "b": after}
    clean = json.loads(strip_injected(json.dumps(value, ensure_ascii=False)))
    assert clean["b"] == after and SECRET not in clean["a"]


def test_strip_injected_head_cut_off_leaves_the_text_around() -> None:
    start = BLOCK.index("- likes") - 2
    text = f"前言\n{BLOCK[start:]}\n\n后话"
    assert strip_injected(text) == "前言\n\n后话"
    assert strip_injected("说明 </remembrancer-memory> 是什么？") == (
        "说明 </remembrancer-memory> 是什么？"
    )
    assert strip_injected("</remembrancer-memory>\nx") == "</remembrancer-memory>\nx"


@pytest.mark.parametrize("prefix", ["> ", ">", ">> ", "> > ", "  > "])
def test_strip_injected_quoted_copy_leaves_the_quoted_text(prefix: str) -> None:
    lines = f"你说：\n\n{BLOCK}\n\n对吗？".split("\n")
    quoted = "\n".join(prefix + line for line in lines)
    stripped = strip_injected(f"看：\n{quoted}\n\n回答。")
    assert SECRET not in stripped and "remembrancer" not in stripped
    assert stripped.startswith(f"看：\n{prefix}你说：")
    assert stripped.endswith(f"{prefix}对吗？\n\n回答。")


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(html.escape, id="html"),
        pytest.param(lambda text: html.escape(html.escape(text)), id="html_twice"),
        pytest.param(lambda text: html.escape(text, quote=False), id="html_without_quotes"),
        pytest.param(repr, id="python_literal"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="crlf"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="cr"),
        pytest.param(lambda text: text.replace("\n", "<br>\n"), id="html_breaks"),
        pytest.param(lambda text: text.replace("\n", " "), id="one_line"),
        pytest.param(lambda text: text.replace("\n| ", "\n"), id="without_bars"),
        pytest.param(
            lambda text: json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e"),
            id="json_for_html",
        ),
        pytest.param(lambda text: json.dumps(text).replace("/", "\\/"), id="json_with_slashes"),
    ],
)
def test_strip_injected_other_forms_leave_the_text_around(form: Callable[[str], str]) -> None:
    written = form(f"begin\n\n{BLOCK}\n\nend")
    stripped = strip_injected(f"{written} 丙")
    assert SECRET not in stripped and "remembrancer" not in stripped
    assert "begin" in stripped and "end" in stripped and stripped.endswith(" 丙")


@pytest.mark.parametrize(
    "text",
    [
        "什么是 <remembrancer-memory>？",
        'In code: <remembrancer-memory id="rcl_1"> opens it.',
        "remembrancer-memory remembrancer-boot",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "ends with <remembrancer-memory",
    ],
)
def test_strip_injected_words_about_the_element_stay(text: str) -> None:
    assert strip_injected(text) == text


PIECES = st.sampled_from(
    [
        '<remembrancer-memory id="a">',
        '<remembrancer-boot id=\\"a\\">\\n',
        "&lt;remembrancer-context id=&quot;a&quot;&gt;",
        "</remembrancer-memory>",
        "<\\/remembrancer-boot>",
        "\n| x",
        "\\n| x",
        "\n\n",
        '"',
        "> ",
        "你好",
        BLOCK,
        BLOCK[:90],
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_strip_injected_any_pieces_never_raise_nor_grow(pieces: list[str]) -> None:
    text = "".join(pieces)
    stripped = strip_injected(text)
    assert len(stripped) <= len(text)
    assert strip_injected("你好" + stripped).startswith("你好")


@given(st.text(max_size=60))
def test_strip_injected_text_without_our_name_is_itself(text: str) -> None:
    assert strip_injected(text) is text or "remembrancer-" in text


def test_strip_injected_long_text_is_read_in_linear_time() -> None:
    text = ("| a | b |\n" * 50_000) + BLOCK + ("\n> > x" * 20_000) + BLOCK
    assert SECRET not in strip_injected(text)


def test_strip_injected_messages_every_place_and_nothing_else() -> None:
    thinking: Body = {"type": "thinking", "thinking": BLOCK, "signature": "s"}
    kept: list[Body] = [
        {"role": "user", "content": "问", "name": "x"},
        {"role": "assistant", "content": [thinking], "reasoning_content": BLOCK},
        {"role": "observer", "content": None},
    ]
    image: Body = {"type": "image_url", "image_url": {"url": "data:,"}}
    messages: list[Body] = [
        {"role": "system", "content": BLOCK},
        {"role": "system", "content": append_block("规则", BLOCK)},
        *kept,
        {
            "role": "user",
            "content": [{"type": "text", "text": "看"}, image, {"type": "text", "text": BLOCK}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "function": {"arguments": json.dumps({"q": BLOCK, "n": 1})}},
                {"id": "b", "function": {"arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": json.dumps([f"晴\n\n{BLOCK}"])},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "text", "text": append_block("果", BLOCK)}],
                }
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [BLOCK, 2], "b": "x"}}
            ],
        },
    ]
    clean = strip_injected_messages(messages)
    assert clean[0] == {"role": "system", "content": "规则"}
    assert all(new is old for new, old in zip(clean[1:4], kept, strict=True))
    assert clean[4] == {"role": "user", "content": [{"type": "text", "text": "看"}, image]}
    rest = json.dumps(clean[4:], ensure_ascii=False)
    assert SECRET not in rest
    assert '"{\\"q\\": \\"\\", \\"n\\": 1}"' in rest and '"input": {"a": ["", 2], "b": "x"}' in rest
    assert '"content": "[\\"\\\\u6674\\"]"' in rest and '"text": "果"' in rest


def test_strip_injected_tail_of_a_text_that_starts_with_bars() -> None:
    assert strip_injected("| a\n</remembrancer-memory>\n\n后") == "后"


def test_strip_injected_copies_inside_copies_are_gone() -> None:
    def nested(depth: int) -> str:
        inner = nested(depth - 1) if depth else ""
        return f'<remembrancer-memory id="a{inner}">\n| {SECRET}\n</remembrancer-memory>'

    for depth in range(9):
        assert SECRET not in strip_injected(f"问\n\n{nested(depth)}")
