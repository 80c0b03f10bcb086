"""What is redacted of a memory: every text that is given, before anything is decided on it.

A task keeps its text; when it becomes a memory, what it says already is redacted too. Which texts
are secret is `core.redact`. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar, cast

from remembrancer.core import limits
from remembrancer.core.errors import LimitExceeded
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.redact.redaction import redact, redact_value
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

TEXTS: Final[Mapping[str, int]] = {
    "title": limits.TITLE_CHARS_MAX,
    "content": limits.ARTIFACT_CHARS_MAX,
    "summary": limits.SUMMARY_CHARS_MAX,
    "raw_input": limits.RAW_INPUT_CHARS_MAX,
    "source": limits.NAME_CHARS_MAX,
    "add_note": limits.LINE_CHARS_MAX,
    "add_decision": limits.LINE_CHARS_MAX,
    "add_problem": limits.LINE_CHARS_MAX,
}
"""Redacted text → the characters it may have; a mark may be longer than what it stands for."""

LINES: Final = ("notes", "decisions", "problems")
"""Lists of dated lines."""

GivenT = TypeVar("GivenT", bound=Mapping[str, object])


def without_secrets(given: GivenT) -> GivenT:
    """Return what is given of a memory with its texts redacted. *Raises:* LimitExceeded."""
    safe: dict[str, object] = dict(given)
    for name, chars_max in TEXTS.items():
        text = safe.get(name)
        if isinstance(text, str):
            safe[name] = _fitting(name, text, chars_max)
    if isinstance(safe.get("steps"), list | tuple):
        safe["steps"] = redact_value(list(cast("list[JSON]", safe["steps"])))
    # The names and types are those that came in.
    return cast(GivenT, safe)


def _fitting(name: str, text: str, chars_max: int) -> str:
    if len(text) > chars_max:
        text = clean(text).strip()
        if len(text) > chars_max:
            # Not looked through: that takes seconds a million characters.
            raise LimitExceeded(
                f"{name.removeprefix('add_')} has {len(text)} characters",
                hint=f"at most {chars_max}",
                field=name,
            )
    safe = redact(text)
    return safe[:chars_max] if len(text) <= chars_max < len(safe) else safe


def as_memory(before: Fields, edit: ItemEdit) -> ItemEdit:
    """Return the edit of what is, or becomes, a memory: all that it will say is redacted."""
    if before["kind"] == "memory":
        return without_secrets(edit)
    kept = {
        name: before[name]
        for name in ("title", "content", "summary", "raw_input", "source", "steps")
        if before[name] is not None and name not in edit
    }
    return without_secrets(cast(ItemEdit, {**kept, **edit}))


def lines_without_secrets(fields: Mapping[str, JSON]) -> Fields:
    """Return the dated lines of what becomes a memory, redacted."""
    return {name: redact_value(fields[name]) for name in LINES if fields.get(name) is not None}
