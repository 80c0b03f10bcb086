"""Arguments of tools: what is published, what is forgiven, and how a refusal reads."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, Field, field_validator
from tests.protocol.mcp.sample import AddArguments, AddResult

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.mcp.arguments import Arguments, NoArguments, parse_arguments, shown
from remembrancer.mcp.schema import input_schema, output_schema


def test_input_schema_is_compact_and_always_the_same_bytes() -> None:
    first = json.dumps(input_schema(AddArguments), separators=(",", ":"))
    assert first == json.dumps(input_schema(AddArguments), separators=(",", ":"))
    assert first == (
        '{"type":"object","properties":{'
        '"title":{"type":"string","description":"What is to be done","maxLength":200,'
        '"minLength":1},'
        '"kind":{"type":"string","enum":["task","memory"],"default":"task"},'
        '"priority":{"type":"integer","description":"1 low, 3 high","maximum":3,"minimum":1},'
        '"topic":{"type":"string"},'
        '"tags":{"type":"array","items":{"type":"string"}},'
        '"steps":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},'
        '"steps":{"type":"array","items":{"type":"object"}}},"required":["text"]}},'
        '"due":{"anyOf":[{"type":"integer"},{"type":"string"}]},'
        '"is_pinned":{"type":"boolean","default":false}},'
        '"required":["title"],"additionalProperties":false}'
    )


def test_input_schema_without_arguments_forbids_all() -> None:
    assert input_schema(NoArguments) == {"type": "object", "additionalProperties": False}


def test_output_schema_keeps_null_and_requires_nothing() -> None:
    assert output_schema(AddResult) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "topic": {"type": ["string", "null"]},
            "priority": {"type": ["integer", "null"]},
        },
    }


class Leaf(BaseModel):
    """Not for clients."""

    size: int


class Nothing(BaseModel):
    """A part without members."""


class Tree(BaseModel):
    """A result with every form of null, choice and map."""

    nothing: Nothing = Nothing()

    leaf: Leaf | None = Field(default=None, description="The first leaf")
    either: Leaf | int | None = None
    by_name: dict[str, Leaf] = Field(default_factory=dict)
    pair: tuple[int, str] = (1, "a")
    kind: str | None = Field(default=None, json_schema_extra={"enum": ["a", None]})


def test_output_schema_inlines_references_in_every_position() -> None:
    leaf = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    properties = output_schema(Tree)["properties"]
    assert isinstance(properties, dict)
    assert properties["nothing"] == {"type": "object"}
    assert properties["leaf"] == {
        "description": "The first leaf",
        "anyOf": [leaf, {"type": "null"}],
    }
    assert properties["either"] == {"anyOf": [leaf, {"type": "integer"}, {"type": "null"}]}
    assert properties["by_name"] == {"type": "object", "additionalProperties": leaf}
    assert isinstance(properties["pair"], dict)
    assert properties["pair"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert isinstance(properties["kind"], dict)
    assert "anyOf" in properties["kind"]


class Branch(BaseModel):
    """A thing whose only member is its own kind."""

    below: Branch | None = None


def test_schema_of_a_recursive_model_ends() -> None:
    assert (
        output_schema(Branch)["properties"]
        == {"below": {"anyOf": [{"type": "object"}, {"type": "null"}]}}
        or json.dumps(output_schema(Branch)).count("below") <= 2
    )


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        pytest.param({"priority": "2"}, "priority", 2, id="number-as-text"),
        pytest.param({"priority": 2.0}, "priority", 2, id="whole-float"),
        pytest.param({"is_pinned": "true"}, "is_pinned", True, id="boolean-as-text"),
        pytest.param({"tags": '["甲","b"]'}, "tags", ("甲", "b"), id="list-as-text"),
        pytest.param({"kind": None}, "kind", "task", id="null-for-default"),
        pytest.param({"priority": None}, "priority", None, id="null-that-is-a-value"),
        pytest.param({"group": "home"}, "topic", "home", id="older-name"),
        pytest.param({"topic": "home"}, "topic", "home", id="newer-name"),
        pytest.param({"title": "买牛奶"}, "title", "买牛奶", id="chinese"),
    ],
)
def test_arguments_what_clients_really_send_is_taken(
    given: dict[str, JSON], field: str, value: object
) -> None:
    parsed = parse_arguments(AddArguments, {"title": "a", **given})
    assert parsed.model_dump()[field] == value


def test_arguments_steps_as_text_are_taken() -> None:
    parsed = parse_arguments(AddArguments, {"title": "a", "steps": '[{"text":"b"}]'})
    assert parsed.steps[0].text == "b"


@pytest.mark.parametrize(
    ("given", "message", "field"),
    [
        pytest.param([1], "The arguments must be an object, not [1].", None, id="list"),
        pytest.param({}, "Argument 'title' is required.", "title", id="missing"),
        pytest.param(
            {"title": "a", "priority": 9},
            "Argument 'priority' must be less than or equal to 3, not 9.",
            "priority",
            id="range",
        ),
        pytest.param(
            {"title": "a", "kind": "memo"},
            "Argument 'kind' must be 'task' or 'memory', not 'memo'.",
            "kind",
            id="choice",
        ),
        pytest.param(
            {"title": True}, "Argument 'title' must be a text, not true.", "title", id="true"
        ),
        pytest.param(
            {"title": [None]}, "Argument 'title' must be a text, not [null].", "title", id="null"
        ),
        pytest.param(
            {"title": 5}, "Argument 'title' must be a text, not 5.", "title", id="number-for-text"
        ),
        pytest.param(
            {"title": "a", "priority": "high"},
            "Argument 'priority' must be a whole number, not 'high'.",
            "priority",
            id="text-for-number",
        ),
        pytest.param(
            {"title": "a", "priority": 2.5},
            "Argument 'priority' must be a whole number, not 2.5.",
            "priority",
            id="fraction",
        ),
        pytest.param(
            {"title": "a", "is_pinned": "maybe"},
            "Argument 'is_pinned' must be true or false, not 'maybe'.",
            "is_pinned",
            id="boolean",
        ),
        pytest.param(
            {"title": "a", "tags": "a,b"},
            "Argument 'tags' must be a list, not 'a,b'.",
            "tags",
            id="text-for-list",
        ),
        pytest.param(
            {"title": "a", "tags": "[1"},
            "Argument 'tags' must be a list, not '[1'.",
            "tags",
            id="broken-list",
        ),
        pytest.param(
            {"title": "a", "tags": "[1]"},
            "Argument 'tags.0' must be a text, not 1.",
            "tags",
            id="repaired-but-wrong",
        ),
        pytest.param(
            {"title": "a", "tags": "[" * 30_000},
            f"Argument 'tags' must be a list, not '{'[' * 78}….",
            "tags",
            id="deep-list-as-text",
        ),
        pytest.param(
            {"title": "a", "tags": "[NaN, 1e999]"},
            "Argument 'tags' must be a list, not '[NaN, 1e999]'.",
            "tags",
            id="no-numbers-as-text",
        ),
        pytest.param(
            {"title": "a", "due": [1]},
            "Argument 'due' must be a whole number or must be a text, not [1].",
            "due",
            id="union",
        ),
        pytest.param(
            {"title": "秘" * 201},
            "Argument 'title' must have at most 200 characters, not 201.",
            "title",
            id="too-long-without-the-text",
        ),
        pytest.param(
            {"title": "a", "steps": [{"text": "b", "steps": [{}]}]},
            "Argument 'steps.0.steps.0.text' is required.",
            "steps",
            id="nested",
        ),
        pytest.param(
            {"title": None}, "Argument 'title' is required.", "title", id="null-for-required"
        ),
        pytest.param(
            {"title": "", "kind": 3, "tags": 7, "priority": 0},
            "Argument 'title' must have at least 1 character, not 0. Argument 'kind' must be "
            "'task' or 'memory', not 3. Argument 'priority' must be greater than or equal to 1, "
            "not 0.",
            "title",
            id="three-at-most",
        ),
    ],
)
def test_arguments_refusal_names_argument_value_and_what_is_allowed(
    given: JSON, message: str, field: str | None
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_arguments(AddArguments, given)
    assert refusal.value.message == message
    assert refusal.value.field == field


def test_arguments_unknown_name_lists_close_and_valid_ones() -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_arguments(AddArguments, {"titel": "a"})
    assert refusal.value.message == "Unknown argument 'titel'. Did you mean 'title'?"
    assert refusal.value.hint == (
        "Valid arguments: title, kind, priority, topic, tags, steps, due, is_pinned."
    )
    with pytest.raises(InvalidInput) as nothing_close:
        parse_arguments(NoArguments, {"完全": 1})
    assert nothing_close.value.message == "Unknown argument '完全'."
    assert nothing_close.value.hint == "Valid arguments: none."


@pytest.mark.parametrize("names", [("group", "topic"), ("topic", "group")], ids="-".join)
def test_arguments_two_names_of_one_argument_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_arguments(AddArguments, {"title": "a", **dict.fromkeys(names, "x")})
    assert refusal.value.message == f"{names[0]!r} and {names[1]!r} are two names of one argument."
    assert refusal.value.hint == "Give only 'topic'."


class CheckedArguments(Arguments):
    """Arguments with rules of their own."""

    day: str = Field(default="", validation_alias="on")
    hour: int = 0

    @field_validator("day")
    @classmethod
    def _check_day(cls, value: str) -> str:
        if value == "never":
            raise ValueError("it never comes")
        if value == "核":
            raise InvalidInput("The day '核' is not understood.", code="invalid_date")
        return value


def test_arguments_own_rules_keep_their_words() -> None:
    assert parse_arguments(CheckedArguments, {"on": "today"}).day == "today"
    with pytest.raises(InvalidInput, match="is refused"):
        parse_arguments(CheckedArguments, {"on": "never"})
    with pytest.raises(InvalidInput) as refusal:
        parse_arguments(CheckedArguments, {"on": "核"})
    assert refusal.value.code == "invalid_date"
    with pytest.raises(InvalidInput, match="Unknown argument 'day'"):
        parse_arguments(CheckedArguments, {"day": "today"})


class StrictPart(Arguments):
    """A closed object inside of arguments."""

    size: int = 0


class HoldingArguments(Arguments):
    """Arguments with a closed object inside."""

    part: StrictPart = StrictPart()


def test_arguments_unknown_name_inside_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Argument 'part\.sise' is unknown there\."):
        parse_arguments(HoldingArguments, {"part": {"sise": 1}})
    assert parse_arguments(HoldingArguments, {"part": '{"size":"3"}'}).part.size == 3
    with pytest.raises(InvalidInput, match="Argument 'part' must be an object, not 4"):
        parse_arguments(HoldingArguments, {"part": 4})


def test_arguments_none_are_an_empty_object() -> None:
    assert parse_arguments(NoArguments, None) == NoArguments()


@pytest.mark.parametrize(("length", "is_cut"), [(78, False), (79, True)], ids=["fits", "cut"])
def test_shown_cuts_long_values_at_eighty_characters(length: int, is_cut: bool) -> None:
    text = shown("字" * length)
    assert len(text) == 80
    assert text.endswith("…") is is_cut
