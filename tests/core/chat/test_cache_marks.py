"""Marks for Claude's prompt cache: at most four, at the places that pay."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.cache_marks import (
    MARKS_MAX,
    CacheOptions,
    count_marks,
    place_marks,
    sort_tools,
)
from remembrancer.core.chat.shapes import Body, objects_of
from remembrancer.core.chat.wrapping import wrap

SHORT: Body = {"type": "ephemeral"}
LONG: Body = {"type": "ephemeral", "ttl": "1h"}
MEMORY = wrap("memory", "- 住在里斯本", block_id="rcl_1")
OPTIONS = CacheOptions()


def text(value: str, mark: Body | None = None) -> Body:
    block: Body = {"type": "text", "text": value}
    return {**block, "cache_control": mark} if mark else block


def user(*blocks: Body) -> Body:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Body) -> Body:
    return {"role": "assistant", "content": list(blocks)}


def use(number: int) -> Body:
    return {"type": "tool_use", "id": f"t{number}", "name": "f", "input": {}}


def result(number: int) -> Body:
    return {"type": "tool_result", "tool_use_id": f"t{number}", "content": "晴"}


def body_of(*messages: Body, tools: str = "ab", system: int = 2) -> Body:
    return {
        "tools": [{"name": name, "input_schema": {}} for name in tools],
        "system": [text(f"规则 {n}") for n in range(system)],
        "messages": list(messages),
    }


def marked(body: Body) -> list[str]:
    """Where a body is marked: `tool 1`, `system 0`, `message 2.0`."""
    places = [
        f"{level} {index}"
        for level, name in (("tool", "tools"), ("system", "system"))
        for index, block in enumerate(objects_of(body.get(name)))
        if "cache_control" in block
    ]
    for at, message in enumerate(objects_of(body["messages"])):
        for index, block in enumerate(objects_of(message["content"])):
            if "cache_control" in block:
                places.append(f"message {at}.{index}")
    return places


def test_place_marks_first_turn_marks_tools_system_and_the_message() -> None:
    body = body_of(user(text("天气？")))
    before = copy.deepcopy(body)
    placed = place_marks(body, OPTIONS)
    assert marked(placed) == ["tool 1", "system 1", "message 0.0"] and body == before
    assert place_marks(placed, OPTIONS) == placed


def test_place_marks_later_turn_marks_the_last_complete_one_too() -> None:
    turns = [user(text("一")), assistant(text("二")), user(text("三"), text("四"))]
    placed = place_marks(body_of(*turns), OPTIONS)
    assert marked(placed) == ["tool 1", "system 1", "message 1.0", "message 2.1"]


def test_place_marks_memory_stays_behind_the_last_mark() -> None:
    turns = [user(text("一")), assistant(text("二")), user(text("三"), text(MEMORY))]
    placed = place_marks(body_of(*turns), OPTIONS)
    assert marked(placed) == ["tool 1", "system 1", "message 1.0", "message 2.0"]
    system: Body = {"role": "system", "content": [text(MEMORY)]}
    placed = place_marks(body_of(*turns[:2], user(text("三")), system), OPTIONS)
    assert marked(placed)[-1] == "message 2.0"


def test_place_marks_tool_loop_marks_its_end() -> None:
    loop = [user(text("一"), text(MEMORY)), assistant(use(1)), user(result(1))]
    assert marked(place_marks(body_of(*loop), OPTIONS)) == ["tool 1", "system 1", "message 2.0"]
    longer = [user(text("零")), assistant(text("好")), *loop, assistant(use(2)), user(result(2))]
    assert marked(place_marks(body_of(*longer), OPTIONS)) == [
        "tool 1",
        "system 1",
        "message 1.0",
        "message 6.0",
    ]


def test_place_marks_wide_round_gets_a_bridge_in_place_of_the_tools() -> None:
    many = range(10)
    loop = [
        user(text("零")),
        assistant(text("好")),
        user(text("一")),
        assistant(use(99)),
        user(result(99)),
        assistant(*(use(n) for n in many)),
        user(*(result(n) for n in many)),
    ]
    assert marked(place_marks(body_of(*loop), OPTIONS)) == [
        "system 1",
        "message 1.0",
        "message 4.0",
        "message 6.9",
    ]
    assert marked(place_marks(body_of(*loop), CacheOptions(window=21))) == [
        "tool 1",
        "system 1",
        "message 1.0",
        "message 6.9",
    ]


def test_place_marks_long_turn_before_gets_a_bridge_at_its_beginning() -> None:
    loop = [step for n in range(12) for step in (assistant(use(n)), user(result(n)))]
    turns = [user(text("一")), *loop, assistant(text("完")), user(text("二"))]
    assert marked(place_marks(body_of(*turns), OPTIONS)) == [
        "system 1",
        "message 0.0",
        "message 25.0",
        "message 26.0",
    ]


def test_place_marks_not_on_thinking_empty_text_or_deferred_tools() -> None:
    thinking: Body = {"type": "thinking", "thinking": "想", "signature": "s"}
    body = body_of(user(text("一")), assistant(text("二"), thinking), user(text("三"), text(" ")))
    body["tools"] = [{"name": "a"}, {"name": "b", "defer_loading": True}]
    assert marked(place_marks(body, OPTIONS)) == [
        "tool 0",
        "system 1",
        "message 1.0",
        "message 2.0",
    ]
    illegal = body_of(assistant({**thinking, "cache_control": SHORT}), tools="", system=0)
    assert marked(place_marks(illegal, CacheOptions(enabled=False))) == []


def test_place_marks_stable_system_is_the_callers_to_say() -> None:
    body = body_of(user(text("一")), system=3)
    assert marked(place_marks(body, OPTIONS, stable_system=1))[1] == "system 0"
    assert marked(place_marks(body, OPTIONS, stable_system=0)) == ["tool 1", "message 0.0"]


def test_place_marks_strings_become_blocks() -> None:
    body: Body = {"system": "规则", "messages": [{"role": "user", "content": "一"}]}
    placed = place_marks(body, OPTIONS)
    assert placed["system"] == [text("规则", SHORT)]
    assert objects_of(placed["messages"])[0]["content"] == [text("一", SHORT)]


def test_place_marks_clients_marks_count_first() -> None:
    turns = [user(text("一", SHORT)), assistant(text("二", SHORT)), user(text("三", SHORT))]
    assert marked(place_marks(body_of(*turns), OPTIONS)) == [
        "system 1",
        "message 0.0",
        "message 1.0",
        "message 2.0",
    ]
    full = [user(text("一", SHORT), text("甲", SHORT)), *turns[1:]]
    assert marked(place_marks(body_of(*full), OPTIONS)) == [
        "message 0.0",
        "message 0.1",
        "message 1.0",
        "message 2.0",
    ]


def test_place_marks_too_many_of_the_client_lose_the_inner_and_the_oldest() -> None:
    inner: Body = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [text("果", SHORT), text("实", SHORT)],
    }
    body = body_of(user(inner, *(text(f"{n}", SHORT) for n in range(4))))
    assert count_marks(body) == 6
    placed = place_marks(body, CacheOptions(enabled=False))
    assert marked(placed) == ["message 0.1", "message 0.2", "message 0.3", "message 0.4"]
    assert count_marks(placed) == 4 and count_marks(body) == 6


def test_place_marks_automatic_one_takes_a_place_and_the_end() -> None:
    turns = [user(text("一")), assistant(text("二")), user(text("三"))]
    placed = place_marks(body_of(*turns), CacheOptions(auto=True))
    assert placed["cache_control"] == SHORT and count_marks(placed) == MARKS_MAX
    assert marked(placed) == ["tool 1", "system 1", "message 1.0"]
    given = {**body_of(*turns), "cache_control": LONG}
    assert place_marks(given, OPTIONS)["cache_control"] == LONG


def test_place_marks_without_rolling_only_tools_and_system() -> None:
    turns = [user(text("一")), assistant(text("二")), user(text("三"))]
    assert marked(place_marks(body_of(*turns), CacheOptions(rolling=False))) == [
        "tool 1",
        "system 1",
    ]
    assert marked(place_marks(body_of(*turns), CacheOptions(enabled=False))) == []


@pytest.mark.parametrize(
    ("client", "wanted", "tools_ttl", "end_ttl"),
    [
        pytest.param(SHORT, "1h", LONG, SHORT, id="short_in_between"),
        pytest.param(LONG, "5m", LONG, SHORT, id="long_in_between"),
        pytest.param(LONG, "1h", LONG, LONG, id="all_long"),
    ],
)
def test_place_marks_longer_life_stands_before_a_shorter(
    client: Body, wanted: str, tools_ttl: Body, end_ttl: Body
) -> None:
    body = body_of(user(text("一")))
    body["system"] = [text("规则", client)]
    options = CacheOptions(ttl="1h" if wanted == "1h" else "5m")
    placed = place_marks(body, options)
    assert objects_of(placed["tools"])[1]["cache_control"] == tools_ttl
    last = objects_of(objects_of(placed["messages"])[0]["content"])[0]
    assert last["cache_control"] == end_ttl


def test_sort_tools_by_name_with_sorted_schemas_and_one_mark() -> None:
    tools: list[Body] = [
        {"name": "b", "input_schema": {"z": [{"y": 1, "x": 2}], "a": 0}, "cache_control": LONG},
        {"type": "function", "function": {"name": "a", "description": "甲"}},
        {"name": "c", "cache_control": SHORT},
    ]
    before = copy.deepcopy(tools)
    ordered = sort_tools(tools)
    assert [str(tool) for tool in ordered] == [
        "{'type': 'function', 'function': {'description': '甲', 'name': 'a'}}",
        "{'name': 'b', 'input_schema': {'a': 0, 'z': [{'x': 2, 'y': 1}]}}",
        "{'name': 'c', 'cache_control': {'type': 'ephemeral', 'ttl': '1h'}}",
    ]
    assert sort_tools(tools[::-1]) == ordered and tools == before and sort_tools([]) == []


BLOCKS = st.lists(
    st.sampled_from(
        [text("甲"), text("乙", SHORT), text(""), use(1), result(1), text(MEMORY), text("丙", LONG)]
    ),
    max_size=6,
)
BODIES = st.builds(
    lambda tools, system, contents: {
        "tools": [{"name": str(n), **({"cache_control": SHORT} if m else {})} for n, m in tools],
        "system": system,
        "messages": [
            {"role": "user" if n % 2 == 0 else "assistant", "content": content}
            for n, content in enumerate(contents)
        ],
    },
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=3),
    BLOCKS,
    st.lists(BLOCKS, max_size=6),
)


@given(BODIES, st.booleans(), st.booleans(), st.booleans())
def test_place_marks_any_body_has_at_most_four_and_nothing_else_changed(
    body: Body, is_enabled: bool, is_auto: bool, is_rolling: bool
) -> None:
    before = copy.deepcopy(body)
    options = CacheOptions(enabled=is_enabled, auto=is_auto, rolling=is_rolling, ttl="1h")
    placed = place_marks(body, options)
    assert body == before and count_marks(placed) <= MARKS_MAX
    assert _unmarked(placed) == _unmarked(body)
    assert place_marks(placed, options) == placed


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def test_place_marks_inner_marks_go_only_as_far_as_needed() -> None:
    inner: Body = {**result(1), "content": [text("果", SHORT), text("实", SHORT)]}
    body = body_of(user(inner, *(text(f"{n}", SHORT) for n in range(3))))
    placed = place_marks(body, CacheOptions(enabled=False))
    kept = objects_of(objects_of(objects_of(placed["messages"])[0]["content"])[0]["content"])
    assert ["cache_control" in block for block in kept] == [False, True]
