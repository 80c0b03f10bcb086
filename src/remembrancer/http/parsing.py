"""Parsing: query strings and bodies into a route's models, and pydantic's faults into ours.

The one place of this ring that reads untrusted text. A message names the field, the value in repr
form (cut, and never that of a long text) and what is accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, cast, get_args, get_origin
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, from_json

from remembrancer.core.cursors import CURSOR_CHARS_MAX
from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import PAGE_ITEMS_MAX
from remembrancer.core.values import JSON
from remembrancer.http.shapes import Shape as Shape  # noqa: PLC0414 - areas find all bases here

QUERY_FIELDS_MAX: Final = 100
"""Parameters of one query string. Our choice; no route has more."""

FAULTS_SHOWN_MAX: Final = 10
"""Faults that one answer lists. Our choice."""

VALUE_CHARS_SHOWN: Final = 60
"""Characters of a wrong value that a message repeats. Our choice."""

M = TypeVar("M", bound=BaseModel)


class Query(BaseModel):
    """Base of query models: texts become numbers and booleans; unknown parameters are refused."""

    # Deferred: a validator is built when its route is first asked, not at the start.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Body(BaseModel):
    """Base of body models: JSON types are taken as they are; unknown fields are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )


Flag = Annotated[bool, BeforeValidator(lambda value: True if value == "" else value)]
"""A boolean of a query that is true when it is only named (`?strict`)."""


Cursor = Annotated[
    str,
    Field(
        min_length=1,
        max_length=CURSOR_CHARS_MAX,
        description="`next_cursor` of the page before; left out for the first page.",
    ),
]
"""Where a page goes on; see `core.cursors`."""

Limit = Annotated[int, Field(ge=1, le=PAGE_ITEMS_MAX, description="Entries of one page, at most.")]
"""How many entries a page has."""


def split_query(query: bytes) -> list[tuple[str, str]]:
    """Return the parameters of a query string in order.

    *Raises:* InvalidInput when there are too many, or they are not UTF-8.
    """
    try:
        return parse_qsl(
            query.decode(),
            keep_blank_values=True,
            max_num_fields=QUERY_FIELDS_MAX,
            errors="strict",
        )
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "the query string is not UTF-8", hint="percent-encode it as UTF-8"
        ) from error
    except ValueError as error:
        raise InvalidInput(
            f"the query string has more than {QUERY_FIELDS_MAX} parameters",
            hint="send fewer parameters",
        ) from error


def reads_nothing(model: type[BaseModel] | None) -> bool:
    """Tell whether a query's model takes any query string, for it reads none of it."""
    return model is not None and not model.model_fields and model.model_config["extra"] == "ignore"


def parse_query(model: type[M] | None, pairs: Sequence[tuple[str, str]]) -> M | None:
    """Return the query's model; a route without one takes no parameters.

    *Raises:* InvalidInput.
    """
    if model is None:
        if pairs:
            raise InvalidInput(
                f"unknown parameter {_show(pairs[0][0])}",
                hint="this route takes no parameters",
                field=pairs[0][0][:VALUE_CHARS_SHOWN],
            )
        return None
    lists = _list_fields(model)
    values: dict[str, str | list[str]] = {}
    for name, text in pairs:
        if name in lists:
            cast("list[str]", values.setdefault(name, [])).append(text)
        elif name in values:
            raise InvalidInput(
                f"parameter {_show(name)} is given twice", hint="give it once", field=name[:60]
            )
        else:
            values[name] = text
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise explain(error, model, noun="parameter") from None


def parse_body(model: type[M], raw: bytes) -> M:
    """Return the body's model; an empty body counts as `{}`.

    *Raises:* InvalidInput (code `invalid_json` when it is no JSON).
    """
    if b"NaN" in raw or b"Infinity" in raw:
        # pydantic takes them as numbers, JSON has no such words; inside a string they are text.
        parse_json(raw)
    try:
        return model.model_validate_json(raw.strip() or b"{}")
    except ValidationError as error:
        raise explain(error, model, noun="field") from None


def parse_json(raw: bytes) -> JSON:
    """Return any JSON value. *Raises:* InvalidInput with code `invalid_json`."""
    try:
        value = cast("JSON", from_json(raw, allow_inf_nan=False))
    except ValueError as error:
        raise _not_json(str(error)) from None
    if not _is_finite(value):
        raise InvalidInput(
            "a number of the body is too large to be kept", hint="send it as text", field="body"
        )
    return value


def _is_finite(value: JSON) -> bool:
    """Tell whether no number is infinite: 1e999 is JSON, but cannot be written again."""
    waiting: list[JSON] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, float) and not isfinite(part):
            return False
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
    return True


def explain(error: ValidationError, model: type[BaseModel], *, noun: str) -> InvalidInput:
    """Return pydantic's faults as one of ours: the first in the message, up to ten in details."""
    faults = error.errors(include_url=False, include_context=True)
    # A name that is not known first: it is often the one that then seems to be missing.
    faults.sort(key=lambda fault: fault["type"] != "extra_forbidden")
    first = faults[0]
    if first["type"] == "json_invalid":
        return _not_json(str(first["ctx"]["error"]))
    sentences = [_sentence(fault, noun) for fault in faults[:FAULTS_SHOWN_MAX]]
    return InvalidInput(
        sentences[0],
        hint=_hint(first, model),
        field=_where(first) or None,
        details={"faults": sentences} if len(sentences) > 1 else None,
    )


def _not_json(reason: str) -> InvalidInput:
    return InvalidInput(
        f"the body is not JSON: {reason}",
        hint="send one JSON object in UTF-8",
        code="invalid_json",
    )


def _where(fault: ErrorDetails) -> str:
    text = ""
    for part in fault["loc"]:
        text += f"[{part}]" if isinstance(part, int) else f".{part[:VALUE_CHARS_SHOWN]}"
    return text.lstrip(".")


def _sentence(fault: ErrorDetails, noun: str) -> str:
    where = _where(fault)
    value = fault["input"]
    context: Mapping[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return f"{noun} {where!r} is missing"
        case "extra_forbidden":
            return f"unknown {noun} {where!r}"
        case "literal_error" | "enum":
            return f"{where} is {_show(value)}; accepted: {context['expected']}"
        case "string_too_long" | "string_too_short" | "too_long" | "too_short":
            return f"{where} has length {len(value)}; {_lower(fault['msg'])}"
        case "value_error" | "assertion_error":
            reason = str(context.get("error", fault["msg"]))
            return f"{where or 'the body'} is {_show(value)}: {reason}"
        case _:
            named = where or "the body"
            return f"{named} is {_show(value)}; {_lower(fault['msg'])}"


def _lower(text: str) -> str:
    return re.sub(r"^Input should", "it should", text[:1] + text[1:])


def _show(value: object) -> str:
    if isinstance(value, str):
        cut = value if len(value) <= VALUE_CHARS_SHOWN else value[:VALUE_CHARS_SHOWN] + "…"
        return repr(cut)
    if isinstance(value, bool | int | float) or value is None:
        text = json.dumps(value)
        return text if len(text) <= VALUE_CHARS_SHOWN else text[:VALUE_CHARS_SHOWN] + "…"
    kinds: dict[type, str] = {list: "a list", dict: "an object"}
    return kinds.get(type(value), "something else")


def _hint(fault: ErrorDetails, model: type[BaseModel]) -> str | None:
    if fault["type"] in ("extra_forbidden", "missing") and len(fault["loc"]) == 1:
        return f"accepted: {', '.join(_names(model)) or 'nothing'}"
    return "see /docs for what is accepted"


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@lru_cache(maxsize=256)
def _list_fields(model: type[BaseModel]) -> frozenset[str]:
    # By annotation: a JSON schema would say the same at many times the cost of the first request.
    fields = model.model_fields.items()
    return frozenset(field.alias or name for name, field in fields if _is_list(field.annotation))


def _is_list(annotation: object) -> bool:
    kind = get_origin(annotation) or annotation
    if kind in (list, tuple):
        return True
    if kind in (Annotated, Union, UnionType):
        return any(_is_list(part) for part in get_args(annotation))
    return False
