"""Names that a message says: whole ones, in any script, and no part of another word."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remembrancer.core.recall.names import is_said, names_of, said_names, spoken


@pytest.mark.parametrize(
    ("name", "message", "said"),
    [
        pytest.param("k8s", "what's my k8s deploy story?", True, id="word"),
        pytest.param("ReactJS", "REACTJS component patterns", True, id="case"),
        pytest.param("base class", "a base class hierarchy", True, id="two-words"),
        pytest.param("class hierarchies", "a class hierarchy", True, id="plural"),
        pytest.param("TS", "TSLint migration", False, id="part-of-a-word"),
        pytest.param("react", "ReactJS components", False, id="part-of-a-name"),
        pytest.param("dead letter", "a letter", False, id="half"),
        pytest.param("二宝", "二寶是哪個牌子", True, id="simplified-in-traditional"),
        pytest.param("樂團", "我们乐团的事", True, id="traditional-in-simplified"),
        pytest.param("猫", "我家的猫", False, id="one-character"),
        pytest.param("Finch & Co.", "what does Finch & Co pay", True, id="signs"),
        pytest.param("新歌 demo", "那首新歌的 demo", True, id="mixed"),
        pytest.param("🐱", "🐱", False, id="no-word"),
        pytest.param("", "anything", False, id="empty"),
    ],
)
def test_name_is_said_when_the_whole_of_it_is(name: str, message: str, said: bool) -> None:
    assert is_said(spoken(name), spoken(message)) is said
    assert said_names([name, "another"], spoken(message)) == ({name} if said else set())


@pytest.mark.parametrize(
    ("tags", "key", "names"),
    [
        pytest.param(["猫"], "pet:cat", ("猫", "cat"), id="tag-and-key"),
        pytest.param([], "belief:dead_letter_queue", ("dead letter queue",), id="words-of-a-key"),
        pytest.param(["a"], None, ("a",), id="no-key"),
        pytest.param(["cat"], "pet:cat", ("cat",), id="once"),
        pytest.param([], "", (), id="nothing"),
    ],
)
def test_names_are_tags_and_the_last_part_of_the_key(
    tags: list[str], key: str | None, names: tuple[str, ...]
) -> None:
    assert names_of(tags, key) == names


@given(st.text(min_size=1))
@example("\U00016e40")  # a capital of a script beyond the first plane
@example("ǅ\u0301東京")
def test_message_says_itself_or_nothing(text: str) -> None:
    is_itself = is_said(spoken(text), spoken(text))
    assert said_names([text], spoken(text)) == ({text} if is_itself else set())
    assert not is_said(spoken(text), spoken(""))
