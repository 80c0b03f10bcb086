"""Reading what a distilling model answered: JSON out of fences and prose, and what is left of a
truncated one.

Only the outer form is checked here; what each entry holds is `facts.py` and `nights.py`. Nothing
raises: an answer is read or it is not. Every ring may import it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.jsontext import parse_from
from remembrancer.core.values import JSON

ANSWER_CHARS_MAX: Final = 200_000
"""Characters of an answer that are read. Our choice; the longest allowed answer has a fifth."""

_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_STARTS_MAX: Final = 40
"""Opening braces at which an object is looked for: prose has few. Our choice."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer without the object that was asked for. *Shape:* `why` for the repair's prompt."""

    why: str


def read_object(text: str, names: Sequence[str]) -> dict[str, JSON] | Unreadable:
    """Return the JSON object of an answer that has one of these members.

    *Promise:* fences, thoughts and prose around it make no difference.
    """
    plain = _THOUGHT.sub("", text[:ANSWER_CHARS_MAX])
    decoder = json.JSONDecoder(parse_constant=_refuse)
    start, seen = plain.find("{"), 0
    why = "there is no JSON object in it"
    while start >= 0 and seen < _STARTS_MAX:
        seen += 1
        try:
            value, end = parse_from(decoder, plain, start)
        except (ValueError, RecursionError):
            why = "its JSON cannot be parsed"
            start = plain.find("{", start + 1)
            continue
        if isinstance(value, dict) and any(name in value for name in names):
            return value
        why = f"the object has none of the members {', '.join(names)}"
        start = plain.find("{", end)
    return Unreadable(why)


def read_list(text: str, name: str) -> list[JSON] | Unreadable:
    """Return the entries of an answer `{"name": [...]}`; a bare list will do."""
    found = read_object(text, (name,))
    if isinstance(found, dict):
        entries = found[name]
        return entries if isinstance(entries, list) else Unreadable(f"{name!r} is no list")
    plain = _THOUGHT.sub("", text[:ANSWER_CHARS_MAX])
    start = plain.find("[")
    if start >= 0 and not plain[:start].count("{"):
        try:
            value, _ = parse_from(json.JSONDecoder(parse_constant=_refuse), plain, start)
        except (ValueError, RecursionError):
            return found
        assert isinstance(value, list)
        return value
    return found


def salvage(text: str, name: str) -> list[JSON]:
    """Return the entries that are whole in a list that was cut off; empty when there is none."""
    start = text.find(f'"{name}"')
    start = text.find("[", start) if start >= 0 else -1
    entries: list[JSON] = []
    decoder = json.JSONDecoder(parse_constant=_refuse)
    while start >= 0:
        start = text.find("{", start)
        if start < 0:
            break
        try:
            value, start = parse_from(decoder, text, start)
        except (ValueError, RecursionError):
            break
        entries.append(value)
    return entries


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
