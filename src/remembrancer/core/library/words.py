"""Texts of the library as they come in: how long they may be, and what they may not hold.

No rule of precious quotes, glossary or digest themselves. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean


def check_length(text: str, *, field: str, chars_max: int) -> None:
    """Refuse a text that is too long; nothing is ever cut. *Raises:* LimitExceeded."""
    if len(text) > chars_max:
        raise LimitExceeded(
            f"{field} has {len(text)} characters", hint=f"at most {chars_max}", field=field
        )


def required_text(text: str, *, field: str, chars_max: int) -> str:
    """Return a cleaned and trimmed text without secrets.

    *Raises:* InvalidInput (empty), LimitExceeded.
    """
    text = clean(text).strip()
    # A text that is too long anyway is not looked through: that takes seconds a million characters.
    check_length(text, field=field, chars_max=chars_max)
    text = redact(text)
    if not text:
        raise InvalidInput(f"{field} is empty", hint="give a text", field=field)
    check_length(text, field=field, chars_max=chars_max)
    return text


def checked_list(
    texts: Sequence[str], *, field: str, count_max: int, chars_max: int
) -> tuple[str, ...]:
    """Return cleaned and trimmed texts. *Raises:* InvalidInput (an empty one), LimitExceeded."""
    if len(texts) > count_max:
        raise LimitExceeded(
            f"{field} has {len(texts)} entries", hint=f"at most {count_max}", field=field
        )
    return tuple(required_text(text, field=field, chars_max=chars_max) for text in texts)


def required_reason(text: str, *, chars_max: int) -> str:
    """Return why something is removed. *Raises:* InvalidInput (none given), LimitExceeded."""
    if not clean(text).strip():
        raise InvalidInput(
            "a removal needs a reason", hint="say why, in a sentence", field="reason"
        )
    return required_text(text, field="reason", chars_max=chars_max)
