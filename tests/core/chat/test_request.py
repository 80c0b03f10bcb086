"""A chat request as it comes in: seen, checked, and never changed."""

from __future__ import annotations

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.request import (
    has_images,
    is_tool_loop,
    last_user_index,
    parse_chat_request,
    text_of,
)
from remembrancer.core.chat.shapes import Body
from remembrancer.core.errors import InvalidInput

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)

ODD_REQUEST: Body = {
    "model": "companion",
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "unknown_field": {"nested": [1, None]},
    "tools": [{"type": "function", "function": {"name": "weather"}}],
    "messages": [
        {"role": "developer", "content": "简短回答。"},
        {"role": "observer", "content": None, "weight": 0},
        {"role": "user", "content": [{"type": "text", "text": "这是什么？"}, {"type": "blob"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": "晴"},
        {"role": "tool", "tool_call_id": "b", "content": ""},
    ],
}


def test_parse_chat_request_odd_but_legal_is_seen_and_left_alone() -> None:
    body = copy.deepcopy(ODD_REQUEST)
    request = parse_chat_request(body)
    assert body == ODD_REQUEST and request.body is body and request.messages is body["messages"]
    assert (request.model, request.stream, request.wants_usage) == ("companion", True, True)
    assert (request.last_user, request.is_tool_loop, request.has_images) == (2, True, False)
    assert [tool["type"] for tool in request.tools] == ["function"]


def test_parse_chat_request_least_request_has_defaults() -> None:
    request = parse_chat_request({"messages": [{"role": "user"}]})
    assert (request.model, request.stream, request.wants_usage) == ("", False, False)
    assert request.tools == [] and request.last_user == 0 and not request.is_tool_loop


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param([], "the body must be an object, and is an array", id="no_object"),
        pytest.param({}, "messages must be an array, and is missing", id="no_messages"),
        pytest.param({"messages": "你好"}, "messages must be an array, and is a string", id="text"),
        pytest.param({"messages": []}, "messages is empty", id="none"),
        pytest.param({"messages": ["hi"]}, "messages[0] must be an object", id="not_objects"),
        pytest.param({"messages": [{}]}, "messages[0].role must be a string", id="no_role"),
        pytest.param(
            {"messages": [{"role": "user", "content": 5}]},
            "messages[0].content must be a string, an array of parts or null, and is a number",
            id="content",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "text"}, "x"]}]},
            "messages[0].content[1] must be an object with a type, and is a string",
            id="part",
        ),
        pytest.param({"messages": [{"role": "user"}], "model": 3}, "model must be", id="model"),
        pytest.param({"messages": [{"role": "user"}], "stream": "yes"}, "stream must", id="stream"),
        pytest.param(
            {"messages": [{"role": "user"}], "stream_options": True},
            "stream_options must be an object, and is a boolean",
            id="options",
        ),
        pytest.param({"messages": [{"role": "user"}], "tools": {}}, "tools must be", id="tools"),
    ],
)
def test_parse_chat_request_unreadable_is_refused_by_name(body: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
        parse_chat_request(body)
    assert caught.value.field and message.startswith(("the body", caught.value.field[:8]))


@given(JSON_VALUES | st.fixed_dictionaries({"messages": st.lists(JSON_VALUES, max_size=2)}))
def test_parse_chat_request_any_json_is_a_view_or_a_refusal(body: object) -> None:
    before = copy.deepcopy(body)
    try:
        parse_chat_request(body)
    except InvalidInput as error:
        assert error.field
    assert body == before


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("请记住：我属兔 🐇", "请记住：我属兔 🐇", id="string"),
        pytest.param(None, "", id="null"),
        pytest.param(
            [
                {"type": "text", "text": "看图"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
                {"type": "text", "text": ""},
                {"type": "input_text", "text": "please"},
                {"type": "text"},
            ],
            "看图\nplease",
            id="parts",
        ),
        pytest.param(7, "", id="neither"),
    ],
)
def test_text_of_content_is_what_a_person_reads(content: object, text: str) -> None:
    assert text_of(content) == text


def test_has_images_finds_pictures_of_both_forms_anywhere() -> None:
    picture: Body = {"role": "user", "content": [{"type": "image", "source": {}}]}
    assert has_images([picture, {"role": "user", "content": "and?"}])
    assert has_images([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])
    assert not has_images([{"role": "user", "content": "image_url"}])


def test_is_tool_loop_only_when_a_result_stands_last() -> None:
    user: Body = {"role": "user", "content": "天气？"}
    result: Body = {"role": "tool", "content": "晴"}
    assert is_tool_loop([user, {"role": "assistant"}, result])
    assert is_tool_loop([user, {"role": "function", "name": "f", "content": "1"}])
    assert not is_tool_loop([user, {"role": "assistant"}, result, user])
    assert not is_tool_loop([])


def test_last_user_index_none_when_the_user_says_nothing() -> None:
    assert last_user_index([{"role": "system"}, {"role": "assistant"}]) is None
    assert last_user_index([{"role": "user"}, {"role": "user"}, {"role": "tool"}]) == 1
