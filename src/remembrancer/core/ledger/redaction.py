"""Taking a forgotten item's text out of bodies of other streams that name it.

Only events that name the item's id come here. The edge or field stays, its reason and every
verbatim quote of the item go. Pure; every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core.values import JSON

FORGOTTEN_TEXT: Final = "[forgotten]"
"""What stands where the text was."""

QUOTE_CHARS_MIN: Final = 4
"""Shortest text that is looked for as a quote: shorter ones would hit unrelated words."""


def redact_body(body: JSON, *, texts: Sequence[str]) -> JSON:
    """Return the body without reasons and without the texts.

    *Shape:* `texts` are the forgotten item's title, content and other wordings.
    """
    quotes = sorted({text for text in texts if len(text) >= QUOTE_CHARS_MIN}, key=len, reverse=True)
    return _redact(body, quotes)


def _redact(value: JSON, quotes: Sequence[str]) -> JSON:
    if isinstance(value, dict):
        return {
            name: FORGOTTEN_TEXT
            if name == "reason" and isinstance(part, str)
            else _redact(part, quotes)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_redact(part, quotes) for part in value]
    if isinstance(value, str):
        for quote in quotes:
            value = value.replace(quote, FORGOTTEN_TEXT)
    return value
