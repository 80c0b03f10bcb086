"""Checks on an item's field values: the one place that says what a field may hold.

Values come in typed (a door has parsed them); here they are trimmed, bounded and put in stored
form. Not aware of commands. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.items.fields import MEMORY_TYPES, TASK_TYPES
from remembrancer.core.text.fold import clean, fold
from remembrancer.core.text.slugs import normalise_tags
from remembrancer.core.values import JSON

_CHARS_MAX: Final = {
    "summary": limits.SUMMARY_CHARS_MAX,
    "raw_input": limits.RAW_INPUT_CHARS_MAX,
    "due_text": limits.TITLE_CHARS_MAX,
    "source": limits.NAME_CHARS_MAX,
}


def check_title(title: str) -> str:
    """Return the trimmed title, 1–200 characters.

    *Raises:* InvalidInput when empty, LimitExceeded when longer.
    """
    text = clean(title).strip()
    if not fold(text):  # invisible characters alone are no title
        raise InvalidInput(
            f"the title {title[:20]!r} is empty", hint="give 1–200 characters", field="title"
        )
    if len(text) > limits.TITLE_CHARS_MAX:
        raise LimitExceeded(
            f"the title has {len(text)} characters",
            hint=f"at most {limits.TITLE_CHARS_MAX}; put the rest into the content",
            field="title",
        )
    return text


def check_text(name: str, text: str | None) -> str | None:
    """Return a bounded text, or None when it is empty."""
    if text is None or not text.strip():
        return None
    text = clean(text)
    maximum = _CHARS_MAX[name]
    if len(text) > maximum:
        raise LimitExceeded(
            f"{name} has {len(text)} characters", hint=f"at most {maximum}", field=name
        )
    return text


def check_range(name: str, value: int, low: int, high: int) -> int:
    """Return the value when it lies in low … high, both included."""
    if not low <= value <= high:
        raise InvalidInput(f"{name} {value!r} is out of range", hint=f"{low} to {high}", field=name)
    return value


def check_share(name: str, value: float | None) -> float | None:
    """Return a share between 0 and 1, or None."""
    if value is not None and not 0 <= value <= 1:
        raise InvalidInput(f"{name} {value!r} is out of range", hint="0 to 1", field=name)
    return value


def check_type(kind: str, type_: str) -> str:
    """Return the type when the kind has it."""
    types = TASK_TYPES if kind == "task" else MEMORY_TYPES
    if type_ not in types:
        raise InvalidInput(
            f"a {kind} cannot be of type {type_!r}",
            hint=f"one of {', '.join(types)}",
            field="entity_type",
        )
    return type_


def check_tags(tags: Sequence[str]) -> list[JSON] | None:
    """Return the tags' display forms without doubles, or None when there are none."""
    pairs = normalise_tags(tags)
    return [display for _, display in pairs] or None


def check_fact_key(key: str | None) -> str | None:
    """Return the trimmed fact key, or None when empty."""
    if key is None or not key.strip():
        return None
    text = clean(key).strip()
    if len(text) > limits.FACT_KEY_CHARS_MAX:
        raise LimitExceeded(
            f"the fact key has {len(text)} characters",
            hint=f"at most {limits.FACT_KEY_CHARS_MAX}",
            field="fact_key",
        )
    return text


def check_source_ids(ids: Sequence[str]) -> list[JSON] | None:
    """Return the source message ids, or None when there are none."""
    if len(ids) > limits.SOURCE_IDS_MAX:
        raise LimitExceeded(
            f"{len(ids)} source message ids",
            hint=f"at most {limits.SOURCE_IDS_MAX}",
            field="source_message_ids",
        )
    return list(dict.fromkeys(ids)) or None
