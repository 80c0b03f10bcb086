"""Reading an answer: its parts as the commands show them. JSON in, plain values out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.core.errors import CODES, RemembrancerError
from remembrancer.core.values import JSON

Answer = dict[str, JSON]
"""What a tool answers."""

PRIORITIES: Final = {1: "low", 2: "medium", 3: "high"}
"""A priority's number → its word."""


def part(answer: Mapping[str, JSON], name: str) -> Answer:
    """Return a member that is an object; empty when it is absent."""
    value = answer.get(name)
    return value if isinstance(value, dict) else {}


def rows(answer: Mapping[str, JSON], name: str) -> list[Answer]:
    """Return the objects of a member that is a list."""
    value = answer.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def words(answer: Mapping[str, JSON], name: str) -> str:
    """Return a member as a line of text: a list joined, nothing for null."""
    value = answer.get(name)
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def name_of(answer: Mapping[str, JSON], member: str) -> str:
    """Return the slug of a project or topic that an item refers to."""
    return words(part(answer, member), "slug")


def priority_of(answer: Mapping[str, JSON]) -> str:
    """Return an item's priority as a word."""
    value = answer.get("priority")
    return (
        PRIORITIES.get(value, str(value)) if isinstance(value, int) else words(answer, "priority")
    )


def told_error(held: Mapping[str, JSON], text: str = "") -> RemembrancerError:
    """Return the error that a server told of; with the text when it gave no message."""
    code, hint, field = held.get("code"), held.get("hint"), held.get("field")
    return RemembrancerError(
        words(held, "message") or text or "the server gave no reason",
        hint=hint if isinstance(hint, str) else None,
        field=field if isinstance(field, str) else None,
        code=code if isinstance(code, str) and code in CODES else None,
        details=part(held, "details"),
    )
