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

PARTS: Final[Mapping[str, Sequence[tuple[str, ...]]]] = MappingProxyType(
    {
        "startup": (
            ("current_focus", "replaced_items"),
            ("current_focus", "recurring_systems"),
            ("current_focus", "blockers"),
            ("current_focus", "strategic_focus"),
            ("current_focus", "objective"),
            ("current_focus", "project"),
            ("current_focus",),
            ("profile",),
        ),
        "topic_summary": (("group", "description"), ("summary", "top_item"), ("canonical_item",)),
        "project": (("project", "description"), ("active_objective",)),
    }
)
"""Level → what goes, in this order, when the lists are gone and the bundle is still too large.

What says the same twice goes before what says it once; who the user is goes last.
"""

CONTENT_TOKENS: Final = 120
"""Tokens an item's content keeps once whole contents no longer fit. Our choice."""

CONTENT_SHARE: Final = 8
"""The share of a small budget that one content may take is one of so many. Our choice."""


def trim_bundle(bundle: Mapping[str, JSON], max_tokens: int | None) -> dict[str, JSON]:
    """Return the bundle within the budget.

    *Shape:* the same bundle when it fits or no budget is given; else with `left_out`, name of a
    list or part (`current_focus.blockers`) → number of entries, and `tokens`.
    Long contents are shortened before anything is dropped.
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
        content_max = min(CONTENT_TOKENS, max_tokens // CONTENT_SHARE)
        result = {name: _shortened(value, content_max) for name, value in result.items()}
        result["left_out"] = left_out
    whole = result
    for name in ORDER.get(level, ()):
        entries = result.get(name)
        if not isinstance(entries, list) or not entries or _size(result) <= max_tokens:
            continue
        left_out[name] = len(entries)
        dropped = _entries_to_drop(result, entries, max_tokens)
        result = dict(result)
        result[name] = entries[: len(entries) - dropped]
        left_out[name] = dropped
    for path in PARTS.get(level, ()):
        if _size(result) <= max_tokens:
            break
        result, dropped = _without(result, path)
        if dropped:
            left_out[".".join(path)] = dropped
    _fill(result, whole, left_out, max_tokens)
    result["tokens"] = _size(result)
    return result


def _fill(
    result: dict[str, JSON], whole: Mapping[str, JSON], left_out: dict[str, JSON], max_tokens: int
) -> None:
    """Put back what fits after all: behind a large entry or part that went, small ones were
    dropped too. What was dropped last comes first; each list stays a beginning of the whole one.
    """
    for name in reversed(ORDER.get(str(result.get("level")), ())):
        kept, entries = result.get(name), whole.get(name)
        if not isinstance(kept, list) or not isinstance(entries, list):
            continue
        for number in range(len(kept), len(entries)):
            missing = len(entries) - number - 1
            left = {key: value for key, value in left_out.items() if key != name}
            if missing:
                left[name] = missing
            tried: dict[str, JSON] = {**result, name: entries[: number + 1], "left_out": left}
            if _size(tried) > max_tokens:
                break
            result[name] = tried[name]
            left_out.clear()
            left_out.update(left)


def _without(bundle: Mapping[str, JSON], path: tuple[str, ...]) -> tuple[dict[str, JSON], int]:
    """Return the bundle with one part emptied, and how many entries it had."""
    name, *rest = path
    result, value = dict(bundle), bundle.get(name)
    if rest and isinstance(value, dict):
        result[name], dropped = _without(value, tuple(rest))
        return result, dropped
    if rest or value is None or value == []:
        return result, 0
    result[name] = [] if isinstance(value, list) else None
    return result, len(value) if isinstance(value, list) else 1


def _entries_to_drop(bundle: Mapping[str, JSON], entries: list[JSON], max_tokens: int) -> int:
    excess = _size(bundle) - max_tokens
    dropped = 0
    while excess > 0 and dropped < len(entries):
        dropped += 1
        excess -= _size(entries[-dropped])
    return dropped


def _shortened(value: JSON, content_max: int) -> JSON:
    if isinstance(value, dict):
        return {
            name: trim_to_tokens(part, content_max)
            if name in ("content", "description", "summary") and isinstance(part, str)
            else _shortened(part, content_max)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_shortened(part, content_max) for part in value]
    return value


def _size(value: object) -> int:
    return estimate_tokens(canonical_json(value))
