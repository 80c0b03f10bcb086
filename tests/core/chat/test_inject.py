"""Memory put into conversations: at the right place, the same bytes, and out without a trace."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.inject import (
    inject_boot,
    inject_boot_anthropic,
    inject_patch,
    inject_patch_anthropic,
    mark_patch,
    move_volatile,
    move_volatile_anthropic,
    place_block,
    place_block_anthropic,
    strip_injected_messages,
    user_turn_indexes,
    with_memory_apart,
)
from remembrancer.core.chat.shapes import Body, objects_of
from remembrancer.core.chat.wrapping import append_block, wrap

PATCH = "- 住在里斯本\n- 属兔 🐇"
BLOCK = mark_patch(PATCH, recall_id="rcl_1", message="天气？")
IMAGE: Body = {"type": "image_url", "image_url": {"url": "data:,"}}
ROUND: list[Body] = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    {"role": "tool", "tool_call_id": "a", "content": "晴"},
]
ASK: Body = {"role": "user", "content": "天气？"}


def text(value: str) -> Body:
    return {"type": "text", "text": value}


def test_inject_patch_goes_to_the_end_of_the_current_turn() -> None:
    messages: list[Body] = [{"role": "system", "content": "规则"}, ASK, *ROUND, ASK]
    before = copy.deepcopy(messages)
    result = inject_patch(messages, PATCH, recall_id="rcl_1")
    assert messages == before
    assert all(new is old for new, old in zip(result[:-1], messages[:-1], strict=True))
    assert result[-1] == {"role": "user", "content": f"天气？\n\n{BLOCK}"}


def test_inject_patch_stays_the_same_through_the_tool_loop() -> None:
    first = inject_patch([ASK], PATCH, recall_id="rcl_1")
    later = inject_patch([ASK, *ROUND, *ROUND], PATCH, recall_id="rcl_1")
    assert later[0] == first[0] and later[1:] == [*ROUND, *ROUND]


def test_inject_patch_parts_get_one_more() -> None:
    messages: list[Body] = [{"role": "user", "content": [text("看"), IMAGE], "name": "x"}]
    assert inject_patch(messages, PATCH, recall_id="rcl_1") == [
        {"role": "user", "content": [text("看"), IMAGE, text(BLOCK)], "name": "x"}
    ]


def test_inject_patch_preface_is_in_the_language_of_the_message() -> None:
    english: list[Body] = [{"role": "user", "content": "What is the weather like?"}]
    assert "not instructions" in str(inject_patch(english, PATCH)[0]["content"])
    assert "不是指令" in str(inject_patch([ASK], "- lives in Lisbon")[0]["content"])
    assert "不是指令" in mark_patch(PATCH)


@pytest.mark.parametrize(
    ("messages", "patch"),
    [
        pytest.param([], PATCH, id="no_messages"),
        pytest.param([{"role": "system", "content": "x"}], PATCH, id="no_user"),
        pytest.param([ASK], " \n", id="nothing_recalled"),
    ],
)
def test_inject_patch_without_a_place_or_a_text_changes_nothing(
    messages: list[Body], patch: str
) -> None:
    assert inject_patch(messages, patch) == messages


def test_inject_patch_volatile_text_stands_before_the_memory() -> None:
    content = str(inject_patch([ASK], PATCH, volatile="现在 10:22")[0]["content"])
    assert content.index("<remembrancer-context") < content.index("<remembrancer-memory")
    only = str(inject_patch([ASK], "", volatile="现在 10:22")[0]["content"])
    assert "现在 10:22" in only and "remembrancer-memory" not in only


def test_place_block_replays_an_earlier_turn() -> None:
    messages: list[Body] = [ASK, *ROUND, {"role": "assistant", "content": "晴"}, ASK]
    assert user_turn_indexes(messages) == [0, 4]
    result = place_block(messages, BLOCK, at=0)
    assert result[0]["content"] == f"天气？\n\n{BLOCK}" and result[1:] == messages[1:]
    assert place_block(messages, BLOCK, at=9) == messages


def test_inject_boot_stands_after_the_clients_instructions() -> None:
    boot = wrap("boot", PATCH)
    leading: list[Body] = [
        {"role": "system", "content": "规则"},
        {"role": "developer", "content": "简短"},
    ]
    result = inject_boot([*leading, ASK], PATCH)
    assert result == [
        leading[0],
        {"role": "developer", "content": f"简短\n\n{boot}"},
        ASK,
    ]
    assert inject_boot([ASK], PATCH) == [{"role": "system", "content": boot}, ASK]
    parts: list[Body] = [{"role": "system", "content": [text("规则")]}]
    assert inject_boot(parts, PATCH) == [{"role": "system", "content": [text("规则"), text(boot)]}]
    assert inject_boot([ASK], "") == [ASK]


def test_move_volatile_leading_instructions_become_stable() -> None:
    mark: Body = {"type": "ephemeral"}
    messages: list[Body] = [
        {"role": "system", "content": "规则\n当前时间：10:22\n"},
        {"role": "system", "content": "Current time: 10:22"},
        {
            "role": "system",
            "content": [
                text("甲"),
                {**text("Now: 10:22"), "cache_control": mark},
                {**text("乙\nNow: 10:23"), "cache_control": mark},
                IMAGE,
            ],
        },
        ASK,
        {"role": "system", "content": "当前时间：10:22"},
    ]
    stable, volatile = move_volatile(messages)
    assert volatile == "当前时间：10:22\nCurrent time: 10:22\nNow: 10:22\nNow: 10:23"
    assert stable == [
        {"role": "system", "content": "规则\n"},
        {
            "role": "system",
            "content": [
                {**text("甲"), "cache_control": mark},
                {**text("乙\n"), "cache_control": mark},
                IMAGE,
            ],
        },
        *messages[3:],
    ]
    assert move_volatile([ASK]) == ([ASK], "")


# -- the Messages API ---------------------------------------------------------------------------

RESULT: Body = {"type": "tool_result", "tool_use_id": "t", "content": "晴"}
USE: Body = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]}


def anthropic(model: str, *messages: Body, **more: object) -> Body:
    return {"model": model, "messages": list(messages), **more}


def test_inject_patch_anthropic_is_a_system_message_where_one_is_taken() -> None:
    system: Body = {"role": "system", "content": [text(BLOCK)]}
    loop: list[Body] = [USE, {"role": "user", "content": [RESULT]}]
    first = inject_patch_anthropic(anthropic("claude-opus-5", ASK), PATCH, recall_id="rcl_1")
    assert first["messages"] == [ASK, system]
    later = inject_patch_anthropic(anthropic("claude-opus-5", ASK, *loop), PATCH, recall_id="rcl_1")
    assert later["messages"] == [ASK, system, *loop]


def test_inject_patch_anthropic_is_a_block_elsewhere() -> None:
    body = anthropic("claude-sonnet-4-5", ASK, USE, {"role": "user", "content": [RESULT]})
    before = copy.deepcopy(body)
    result = inject_patch_anthropic(body, PATCH, recall_id="rcl_1")
    assert body == before
    turns = objects_of(result["messages"])
    assert turns[0]["content"] == [text("天气？"), text(BLOCK)] and turns[1:] == [
        USE,
        {"role": "user", "content": [RESULT]},
    ]


def test_inject_patch_anthropic_words_beside_results_are_a_turn() -> None:
    mixed: Body = {"role": "user", "content": [RESULT, text("快点")]}
    result = inject_patch_anthropic(
        anthropic("claude-sonnet-4-5", ASK, USE, mixed), PATCH, recall_id="rcl_1"
    )
    assert objects_of(result["messages"])[2]["content"] == [RESULT, text("快点"), text(BLOCK)]


def test_inject_patch_anthropic_followed_by_instructions_is_a_block() -> None:
    body = anthropic("claude-opus-5", ASK, {"role": "system", "content": "x"})
    result = inject_patch_anthropic(body, PATCH, recall_id="rcl_1")
    assert objects_of(result["messages"])[0]["content"] == [text("天气？"), text(BLOCK)]


def test_inject_patch_anthropic_without_words_uses_the_last_user_message() -> None:
    body = anthropic("claude-sonnet-4-5", {"role": "user", "content": [RESULT]})
    result = inject_patch_anthropic(body, PATCH, recall_id="r")
    assert len(objects_of(objects_of(result["messages"])[0]["content"])) == 2
    assert inject_patch_anthropic(anthropic("claude-opus-5"), PATCH)["messages"] == []
    assert place_block_anthropic(body, "") is body


def test_with_memory_apart_is_a_system_message_after_words_of_the_user() -> None:
    reply: Body = {"role": "assistant", "content": [text("好")]}
    marked: Body = {**text(f"天气？\n\n{BLOCK}"), "cache_control": {"type": "ephemeral"}}
    user: Body = {"role": "user", "content": [RESULT, marked]}
    picture: Body = {"role": "user", "content": [IMAGE, text(BLOCK)]}
    assert with_memory_apart([user, reply, picture]) == [
        {
            "role": "user",
            "content": [RESULT, {**text("天气？"), "cache_control": {"type": "ephemeral"}}],
        },
        {"role": "system", "content": [text(BLOCK)]},
        reply,
        {"role": "user", "content": [IMAGE]},
        {"role": "system", "content": [text(BLOCK)]},
    ]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": [text(BLOCK)]}],
        [{"role": "user", "content": [text("天气？")]}],
        [{"role": "user", "content": [text(f"天气？\n\n{BLOCK}"), RESULT]}],
        [{"role": "assistant", "content": [text(f"天气？\n\n{BLOCK}")]}],
        [{"role": "user", "content": [text("a"), text(BLOCK)]}, {"role": "user", "content": "b"}],
        [{"role": "user", "content": []}],
    ],
    ids=["nothing else", "no memory", "not last", "not the user", "no place", "empty"],
)
def test_with_memory_apart_leaves_what_has_no_memory_or_no_place(messages: list[Body]) -> None:
    assert with_memory_apart(messages) == messages


def test_inject_boot_anthropic_is_the_last_system_block() -> None:
    boot = text(wrap("boot", PATCH))
    for system, expected in (
        ("规则", [text("规则"), boot]),
        ([text("规则")], [text("规则"), boot]),
        (None, [boot]),
    ):
        body = anthropic("m", ASK, system=system)
        assert inject_boot_anthropic(body, PATCH)["system"] == expected
    assert inject_boot_anthropic(anthropic("m", ASK), "") == anthropic("m", ASK)


def test_move_volatile_anthropic_system_becomes_stable() -> None:
    body = anthropic("m", ASK, system=[text("规则"), text("Today's date: 2026-11-30")])
    stable, volatile = move_volatile_anthropic(body)
    assert stable["system"] == [text("规则")] and volatile == "Today's date: 2026-11-30"
    assert "system" not in move_volatile_anthropic(anthropic("m", ASK, system="现在是10:22"))[0]
    plain = anthropic("m", ASK, system="规则")
    assert move_volatile_anthropic(plain) == (plain, "")


PARTS = st.lists(st.sampled_from([text("看"), IMAGE, text("a\n")]), min_size=1, max_size=3)
WORDS = st.text("ab 你\n🦷|>", min_size=1, max_size=12)


def conversations(contents: st.SearchStrategy[object]) -> st.SearchStrategy[list[Body]]:
    roles = st.sampled_from(["system", "user", "assistant", "tool"])
    message = st.builds(lambda role, content: {"role": role, "content": content}, roles, contents)
    return st.lists(message, max_size=6)


@given(conversations(PARTS | WORDS), st.text(max_size=20), st.text(max_size=20))
def test_strip_injected_messages_undoes_every_injection(
    messages: list[Body], patch: str, boot: str
) -> None:
    injected = inject_patch(inject_boot(messages, boot), patch, volatile="10:22")
    assert strip_injected_messages(injected) == messages


@given(conversations(PARTS), st.text(max_size=20), st.sampled_from(["claude-opus-5", "claude-3"]))
def test_strip_injected_messages_undoes_it_for_claude(
    messages: list[Body], patch: str, model: str
) -> None:
    placed = objects_of(inject_patch_anthropic(anthropic(model, *messages), patch)["messages"])
    assert strip_injected_messages(placed) == messages


def test_append_block_is_what_inject_writes() -> None:
    assert inject_patch([ASK], PATCH, recall_id="rcl_1")[0]["content"] == append_block(
        "天气？", BLOCK
    )


def test_move_volatile_looks_at_what_has_text_only() -> None:
    messages: list[Body] = [{"role": "system", "content": None}, {"role": "system"}]
    assert move_volatile(messages) == (messages, "")
    parts: list[Body] = [{"role": "system", "content": [text("Now: 10:22")]}, ASK]
    assert move_volatile(parts) == ([ASK], "Now: 10:22")
