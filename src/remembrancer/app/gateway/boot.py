"""The boot pack as a chat's prefix: precious quotes, the digest, yesterday's page, the glossary.

The same store gives the same text: sorted, without a clock, nothing that changes with the hour.
What an interface shows is `app.library.boot`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.library.precious import Quote
from remembrancer.core.text.tokens import estimate_tokens

QUOTES_MAX: Final = 100
"""Precious quotes that are read, the newest. Source: the boot pack of the seed."""

QUOTES_TOKENS_MAX: Final = 3_000
"""Tokens of precious quotes in a prefix, the oldest first. Our choice; they are paid for once an
hour where the prefix is cached."""

TERMS_TOKENS_MAX: Final = 1_000
"""Tokens of explained terms in a prefix. Our choice: a recall explains those that are used."""


def boot_text(
    quotes: Sequence[Quote], digest: str, yesterday: str, entries: Sequence[GlossaryEntry]
) -> str:
    """Return the text of a prefix, '' when there is nothing to tell.

    *Shape:* `quotes` oldest first, so that a new one is added at their end.
    """
    kept = [quote.content for quote in quotes]
    terms = (f"{entry.term}: {entry.definition}" for entry in entries)
    sections = [
        _section("Precious, in their own words 珍贵原话", _within(kept, QUOTES_TOKENS_MAX)),
        _section("Digest 摘要", [digest] if digest else []),
        _section("Yesterday 昨日", [yesterday] if yesterday else []),
        _section("Terms 用语", _within(terms, TERMS_TOKENS_MAX)),
    ]
    return "\n".join(section for section in sections if section)


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", *(f"- {line}" for line in lines)]) if lines else ""


def _within(lines: Iterable[str], tokens_max: int) -> list[str]:
    kept: list[str] = []
    room = tokens_max
    for line in lines:
        room -= estimate_tokens(line)
        if room < 0:
            break
        kept.append(line)
    return kept
