"""Trimming a bundle to a token budget, from the bottom, saying what was left out.

Pure: tokens are estimated per script by `core.text.tokens`. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.text.tokens import estimate_tokens, trim_to_tokens
from remembrancer.core.values import JSON, canonical_json

TOKENS_MIN: Final = 200
"""Smallest budget in tokens: the envelope and one short item fit."""

ORDER: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "startup": ("topic_summaries", "active_projects", "active_goals", "always_load"),
        "topic_summary": ("items",),
        "project": ("history", "active_items", "recurring_systems"),
        "raw_memories": ("items",),
    }
)
"""Level → its lists, the first to be shortened first; each loses its last entries first."""

CONTENT_TOKENS: Final = 120
"""Tokens an item's content keeps once whole contents no longer fit. Our choice."""


def trim_bundle(bundle: Mapping[str, JSON], max_tokens: int | None) -> dict[str, JSON]:
    """Return the bundle within the budget.

    *Shape:* the same bundle when it fits or no budget is given; else with `left_out`, list name →
    number of entries, and `tokens`. Long contents are shortened before anything is dropped.
    *Raises:* InvalidInput below the smallest budget.
    """
    result = dict(bundle)
    if max_tokens is None:
        return result
    if max_tokens < TOKENS_MIN:
        raise InvalidInput(
            f"max_tokens {max_tokens!r} is too small",
            hint=f"at least {TOKENS_MIN}",
            field="max_tokens",
        )
    level = str(bundle.get("level"))
    left_out: dict[str, JSON] = {}
    # What is said of the trimming counts as well.
    result |= {"left_out": left_out, "tokens": max_tokens}
    if _size(result) > max_tokens:
        result = {name: _shortened(value) for name, value in result.items()}
        result["left_out"] = left_out
    for name in ORDER.get(level, ()):
        entries = result.get(name)
        if not isinstance(entries, list) or not entries or _size(result) <= max_tokens:
            continue
        left_out[name] = len(entries)
        dropped = _entries_to_drop(result, entries, max_tokens)
        result[name] = entries[: len(entries) - dropped]
        left_out[name] = dropped
    result["tokens"] = _size(result)
    return result


def _entries_to_drop(bundle: Mapping[str, JSON], entries: list[JSON], max_tokens: int) -> int:
    excess = _size(bundle) - max_tokens
    dropped = 0
    while excess > 0 and dropped < len(entries):
        dropped += 1
        excess -= _size(entries[-dropped])
    return dropped


def _shortened(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {
            name: trim_to_tokens(part, CONTENT_TOKENS)
            if name in ("content", "description", "summary") and isinstance(part, str)
            else _shortened(part)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_shortened(part) for part in value]
    return value


def _size(value: object) -> int:
    return estimate_tokens(canonical_json(value))
