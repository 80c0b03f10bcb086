"""Which conversation and which turn a request is, whatever a client does with its history."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.app.gateway.history import Reading, hashes_at, read_history
from remembrancer.core.messages import ONCE_MS
from remembrancer.core.values import canonical_json

Json = Any


def user(text: Json) -> Json:
    return {"role": "user", "content": text}


def assistant(text: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": text, **more}


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "晴"}


def read(messages: list[Json], *, system: str = "", **body: Json) -> Reading:
    headers: dict[str, str] = body.pop("headers", {})
    return read_history(messages, headers=headers, body=body, stable_system=system)


def test_tool_loop_is_one_turn() -> None:
    first = read([user("天气?")])
    loop = read([user("天气?"), assistant("let me see", tool_calls=[CALL]), RESULT])
    assert loop.is_going_on
    assert not first.is_going_on
    assert (loop.key, loop.reply_hash) == (first.key, first.reply_hash)
    assert [one.hash for one in loop.said] == [one.hash for one in first.said]


def test_white_space_makes_no_other_turn_and_another_word_does() -> None:
    assert read([user("a  b\n")]).key == read([user("a b")]).key
    assert read([user("a b")]).key != read([user("a c")]).key


def test_same_words_at_another_place_are_another_turn() -> None:
    history = [user("yes"), assistant("ok"), user("yes")]
    assert read(history[:1]).key != read(history).key
    assert len(read(history).said) == 1


def test_message_sent_while_tools_run_is_said_beside_the_first() -> None:
    reading = read([user("one"), assistant(None, tool_calls=[CALL]), RESULT, user("two")])
    assert [one.text for one in reading.said] == ["one", "two"]
    assert [index for index, _ in reading.places] == [0, 3]
    assert reading.key == reading.places[-1][1]


def test_edited_message_changes_its_turn_and_those_after_it() -> None:
    before = read([user("a"), assistant("b"), user("c"), assistant("d"), user("e")])
    after = read([user("a"), assistant("b"), user("C"), assistant("d"), user("e")])
    assert before.conversation_id == after.conversation_id
    same = [one == other for one, other in zip(before.places, after.places, strict=True)]
    assert same == [True, False, False]


@pytest.mark.parametrize(
    ("body", "headers", "wanted"),
    [
        ({}, {"x-remembrancer-conversation": " c-1 "}, "c-1"),
        ({}, {"x-openwebui-chat-id": "c-2"}, "c-2"),
        ({"metadata": {"chat_id": "对话"}}, {}, "对话"),
        ({"metadata": {"user_id": "user_1_account__session_ab-cd"}}, {}, "ab-cd"),
        ({"metadata": {"chat_id": ""}}, {}, None),
        ({"metadata": "odd"}, {}, None),
    ],
)
def test_conversation_is_named_by_header_or_metadata(
    body: Json, headers: dict[str, str], wanted: str | None
) -> None:
    found = read([user("hi")], headers=headers, **body).conversation_id
    assert found == wanted or (wanted is None and found.startswith("auto-"))


def test_conversation_without_a_name_is_known_by_how_it_begins() -> None:
    first = read([user("hi")], system="Be kind.")
    later = read([user("hi"), assistant("yes?"), user("more")], system="Be  kind.")
    assert first.conversation_id == later.conversation_id
    others = [
        read([user("ho")], system="Be kind."),
        read([user("hi")], system="Be brief."),
        read([user("hi")], system="Be kind.", user="alice"),
    ]
    assert len({first.conversation_id, *(one.conversation_id for one in others)}) == 4


def test_files_are_told_from_addresses() -> None:
    parts = [
        {"type": "text", "text": "看"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
        {"type": "image_url", "image_url": "https://p.example/a.png"},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ=="}},
    ]
    [said] = read([user(parts)]).said
    assert said.text == "看"
    assert said.files == ("data:image/png;base64,QQ==", "data:application/pdf;base64,QQ==")
    other = [parts[0], {"type": "image_url", "image_url": {"url": "data:image/png;base64,Qg=="}}]
    assert read([user(other)]).key != read([user(parts[:2])]).key


MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.text(max_size=5)),
        st.builds(assistant, st.text(max_size=5)),
        st.just(assistant(None, tool_calls=[CALL])),
        st.just(RESULT),
        st.just({"role": "system", "content": "later"}),
    ),
    min_size=1,
    max_size=8,
)


@given(MESSAGES, MESSAGES)
def test_what_comes_later_never_changes_an_earlier_turn(one: list[Json], more: list[Json]) -> None:
    named = {"x-remembrancer-conversation": "c"}
    short, long = read(one, headers=named), read([*one, *more], headers=named)
    assert long.places[: len(short.places)] == short.places


def test_opening_is_the_same_for_a_while_and_all_else_for_ever() -> None:
    opening, later = read([user("hi")]), read([user("hi"), assistant("yes?"), user("go on")])
    named = read([user("hi")], headers={"x-conversation-id": "c"})
    assert opening.is_opening
    assert not later.is_opening
    assert not named.is_opening
    first = hashes_at(opening.key, opening, now_ms=50 * ONCE_MS)
    assert first[0] in hashes_at(opening.key, opening, now_ms=51 * ONCE_MS)
    assert first[0] not in hashes_at(opening.key, opening, now_ms=52 * ONCE_MS)
    assert hashes_at(later.key, later, now_ms=1) == hashes_at(later.key, later, now_ms=10**12)


def test_hashes_are_those_under_which_turns_are_kept() -> None:
    first = read([user('说 "hi"\n\\ \u2028 \ud83d')])
    parts = ["", "", " ".join('说 "hi"\n\\ \u2028 \ud83d'.split())]
    sealed = hashlib.sha256(canonical_json(parts).encode(errors="replace")).hexdigest()
    assert first.conversation_id == "auto-" + sealed[:32]


REMINDER = "<system-reminder>\n请记住：用 tabs\n</system-reminder>\n"


def test_what_a_client_adds_to_a_message_is_not_said() -> None:
    reading = read([user([{"type": "text", "text": REMINDER}, {"type": "text", "text": "修 bug"}])])
    assert [one.text for one in reading.said] == ["修 bug"]
    assert reading.message == "修 bug"
    bare = read([user("修 bug")])
    assert (reading.key, reading.conversation_id) == (bare.key, bare.conversation_id)


def test_reminder_in_a_tool_loop_is_no_turn() -> None:
    first = read([user("天气?")])
    loop = read([user("天气?"), assistant(None, tool_calls=[CALL]), RESULT, user(REMINDER)])
    assert loop.is_going_on
    assert (loop.key, loop.places) == (first.key, first.places)
    assert [one.text for one in loop.said] == ["天气?"]


def test_reminder_with_a_picture_is_a_turn() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    reading = read([user([{"type": "text", "text": REMINDER}, picture])])
    assert [(one.text, len(one.files)) for one in reading.said] == [("", 1)]


def test_words_behind_a_clients_summary_are_said() -> None:
    summary = "This session is being continued from a previous conversation. 请记住：住火星"
    reading = read([user([{"type": "text", "text": summary}, {"type": "text", "text": "接着做"}])])
    assert reading.message == "接着做"
