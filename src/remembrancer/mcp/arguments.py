"""A tool's arguments: from untrusted JSON to a frozen model, or an error that says the way out.

What is forgiven, because clients really send it: numbers and booleans as strings (`"5"`,
`"true"`), whole floats for integers, lists and objects as a string of JSON, null for an argument
that may be left out, and an older name of an argument. Nothing else is: an unknown name, two
names of one argument and a number for a text are errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.mcp.jsonrpc import decode

VALUE_CHARS_MAX: Final = 80
"""Characters of a value that an error message repeats. Our choice."""

_STRUCTURES: Final = frozenset(
    {"list_type", "set_type", "tuple_type", "dict_type", "model_type", "model_attributes_type"}
)
_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "a text",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen": "a list",
    "dict": "an object",
    "model": "an object",
}
_LENGTHS: Final = frozenset({"string_too_long", "string_too_short", "too_long", "too_short"})


class Arguments(BaseModel):
    """What the arguments of every tool inherit: frozen, and closed to unknown names."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, validate_by_name=True, validate_by_alias=True
    )


class NoArguments(Arguments):
    """The arguments of a tool that takes none."""


ModelT = TypeVar("ModelT", bound=BaseModel)


def parse_arguments(model: type[ModelT], raw: JSON) -> ModelT:
    """Return the arguments as their model.

    *Shape:* `raw` an object, or None for none. *Raises:* InvalidInput; its message names the
    argument, the value and what is allowed, its `field` is the argument's published name.
    """
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise InvalidInput(f"The arguments must be an object, not {shown(raw)}.")
    given = _published(model, raw)
    try:
        return model.model_validate(given)
    except ValidationError as first:
        repaired = _repaired(given, first)
        if repaired is None:
            raise _refusal(first) from first
    try:
        return model.model_validate(repaired)
    except ValidationError as second:
        raise _refusal(second) from second


def accepted_names(model: type[BaseModel]) -> dict[str, str]:
    """Return every name that an argument answers to → the name that is published for it."""
    accepted: dict[str, str] = {}
    for field_name, field in model.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            names = [choice for choice in alias.choices if isinstance(choice, str)]
        else:
            names = [alias if isinstance(alias, str) else field_name]
        accepted.update(dict.fromkeys(names, names[0]))
    return accepted


def shown(value: object) -> str:
    """Return a value as an error message repeats it: as JSON has it, cut when long."""
    if isinstance(value, str):
        text = repr(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= VALUE_CHARS_MAX else text[: VALUE_CHARS_MAX - 1] + "…"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ` Did you mean …?` for the closest of the names, or nothing."""
    # Only a wrong name needs it.
    close: list[str] = import_module("difflib").get_close_matches(
        name, list(names), n=3, cutoff=0.6
    )
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def _published(model: type[BaseModel], raw: Mapping[str, JSON]) -> dict[str, JSON]:
    accepted = accepted_names(model)
    given: dict[str, JSON] = {}
    used: dict[str, str] = {}
    for name, value in raw.items():
        published = accepted.get(name)
        if published is None:
            valid = ", ".join(dict.fromkeys(accepted.values())) or "none"
            raise InvalidInput(
                f"Unknown argument {shown(name)}.{did_you_mean(name, accepted)}",
                hint=f"Valid arguments: {valid}.",
                field=name[:VALUE_CHARS_MAX],
            )
        if published in given:
            raise InvalidInput(
                f"{used[published]!r} and {name!r} are two names of one argument.",
                hint=f"Give only {published!r}.",
                field=published,
            )
        given[published] = value
        used[published] = name
    return given


def _repaired(given: Mapping[str, JSON], error: ValidationError) -> dict[str, JSON] | None:
    """Return the arguments with what clients are known to get wrong set right, or None."""
    repaired = dict(given)
    changed = False
    for fault in error.errors(include_url=False, include_context=False):
        name = str(fault["loc"][0]) if fault["loc"] else ""
        value = repaired.get(name)
        if name in repaired and value is None:
            # Null for "not given"; a model that takes null as a value had no fault here.
            del repaired[name]
            changed = True
        elif fault["type"] in _STRUCTURES and isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                repaired[name] = decode(value)
            except InvalidInput:
                continue
            changed = True
    return repaired if changed else None


def _refusal(error: ValidationError) -> InvalidInput:
    faults: dict[str, list[Mapping[str, Any]]] = {}  # Any: pydantic's own error records
    for fault in error.errors(include_url=False):
        faults.setdefault(_path(fault["loc"][:1]), []).append(fault)
    sentences = [_sentence(group) for group in list(faults.values())[:3]]
    return InvalidInput(" ".join(sentences), field=next(iter(faults)) or None)


def _sentence(faults: Sequence[Mapping[str, Any]]) -> str:
    """Say what is wrong with one argument; several faults are the branches of a union."""
    fault = faults[0]
    # A union's faults carry the names of its branches, which nobody outside knows.
    where = f"Argument {_path(fault['loc'] if len(faults) == 1 else fault['loc'][:1])!r}"
    if fault["type"] == "missing":
        return f"{where} is required."
    if fault["type"] == "extra_forbidden":
        return f"{where} is unknown there."
    wanted = " or ".join(dict.fromkeys(_wanted(each) for each in faults))
    if fault["type"] in _LENGTHS:
        # Only the size is wrong: the text itself may be somebody's memory.
        return f"{where} {wanted}, not {len(fault['input'])}."
    return f"{where} {wanted}, not {shown(fault['input'])}."


def _wanted(fault: Mapping[str, Any]) -> str:
    kind, _, rest = str(fault["type"]).partition("_")
    if rest in ("type", "parsing", "from_float", "attributes_type") and kind in _WORDS:
        return f"must be {_WORDS[kind]}"
    message = str(fault["msg"])
    if message.startswith("Input should be "):
        return f"must be {message.removeprefix('Input should be ')}"
    _, _, amount = message.partition(" should have ")
    if amount:
        return f"must have {amount.partition(' after validation')[0]}"
    return f"is refused ({message.removeprefix('Value error, ')})"


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)
