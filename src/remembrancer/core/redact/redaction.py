"""Redacting a text: every secret in it becomes `[redacted:kind]`.

It is done before a memory is decided on, so nothing secret reaches the ledger. It fails closed:
what still looks like a secret after some rounds is replaced as a whole. Which forms are secret is
`known.py` and `labelled.py`. Every ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.redact.known import Kind, known_forms, random_words
from remembrancer.core.redact.labelled import labelled
from remembrancer.core.values import JSON

ROUNDS_MAX: Final = 4
"""Rounds after which a text that still holds a secret is given up. Our choice; one is the rule,
two when taking out one secret shows another."""

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_CHINESE_SIGNS: Final = "，；！？（）"
_NARROW: Final = {
    code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in _CHINESE_SIGNS
}


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[redacted:kind]`.

    *Promise:* idempotent; a text without secrets is returned as it is.
    """
    if not text:
        return text
    for _ in range(ROUNDS_MAX):
        found = _found(text)
        if not found:
            return text
        text = _replaced(text, found)
    return _mark("text")


def redact_value(value: JSON) -> JSON:
    """Return a JSON value with every text in it redacted; names of members stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(part) for part in value]
    if isinstance(value, dict):
        return {name: redact_value(part) for name, part in value.items()}
    return value


def _mark(kind: Kind) -> str:
    return f"[redacted:{kind}]"


def _found(text: str) -> list[tuple[int, int, Kind]]:
    """Return the secrets in order, none overlapping; where two meet, they become one."""
    plain, places = _plain(text)
    spans = list(known_forms(plain))
    spans += labelled(plain)
    spans += random_words(plain)
    merged: list[tuple[int, int, Kind]] = []
    # A stable sort: of two that begin together the surer form names the kind.
    for start, end, kind in sorted(spans, key=lambda span: span[0]):
        if merged and start < merged[-1][1]:
            first, last, earlier = merged[-1]
            merged[-1] = (first, max(last, end), earlier)
        else:
            merged.append((start, end, kind))
    if places is None:
        return merged
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in merged]


def _plain(text: str) -> tuple[str, list[int] | None]:
    """Return the text as secrets are looked for in: half-width, without what cannot be seen; and
    where each of its characters stands in the text, None when nothing was taken out."""
    narrow = text if text.isascii() else text.translate(_NARROW)
    assert len(narrow) == len(text)
    if _INVISIBLE.search(narrow) is None:
        return narrow, None
    places = [index for index, char in enumerate(narrow) if not _INVISIBLE.match(char)]
    return "".join(narrow[index] for index in places), places


def _replaced(text: str, found: list[tuple[int, int, Kind]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop, kind in found:
        parts += [text[end:start], _mark(kind)]
        end = stop
    return "".join([*parts, text[end:]])
