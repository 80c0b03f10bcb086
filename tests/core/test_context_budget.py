"""Trimming a bundle: what a small budget still holds, in Chinese as well as in English."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.core.context.budget import ORDER, TOKENS_MIN, trim_bundle
from remembrancer.core.text.tokens import estimate_tokens
from remembrancer.core.values import canonical_json


# Any: a bundle as the app builds it.
def item(title: str, content: str = "") -> dict[str, Any]:
    return {
        "id": "itm_01M8RQWPKEV0YZK8GV4KAWCJSF", "title": title, "content": content,
        "kind": "memory", "type": "rule", "state": "active", "priority": 2, "tags": ["规则"],
    }  # fmt: skip


def rich(words: str) -> dict[str, Any]:
    """A startup bundle with something of everything, its texts made of `words`."""
    step = item(words)
    return {
        "level": "startup", "last_consolidated": None, "profile": None, "source": "d1",
        "context_version": 7, "generated_at": "2026-12-01T12:00:00.000Z",
        "valid_until": "2026-12-01T16:00:00Z",
        "current_focus": {"tactical_next_step": step, "blockers": [step] * 5, "reason": words * 9},
        "always_load": [item(f"{words} {number}", words * 90) for number in range(10)],
        "active_goals": [item(words) for _ in range(6)],
        "active_projects": [{"slug": words, "name": words} for _ in range(6)],
        "topic_summaries": [{"slug": words, "total": 3} for _ in range(6)],
    }  # fmt: skip


WORDS = {
    "chinese": "永远用中文回答",
    "english": "always answer in English",
    "mixed": "用 Rust 写 API",
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("max_tokens", [TOKENS_MIN, 260, 300, 400, 500, 800, 1_000, 2_000, 5_000])
def test_trimmed_bundle_fits_and_says_truly_what_is_left_out(words: str, max_tokens: int) -> None:
    whole, trimmed = rich(words), trim_bundle(rich(words), max_tokens)
    assert estimate_tokens(canonical_json(trimmed)) <= max_tokens
    left_out: Any = trimmed["left_out"]
    for name in ORDER["startup"]:
        kept: Any = trimmed[name]
        assert len(kept) + left_out.get(name, 0) == len(whole[name])
        for one, before in zip(kept, whole[name], strict=False):
            assert one.get("title") == before.get("title"), "a list stays a beginning"


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("max_tokens", [300, 400, 500])
def test_small_budget_is_used_for_what_still_fits(words: str, max_tokens: int) -> None:
    trimmed = trim_bundle(rich(words), max_tokens)
    shown: Any = [trimmed[name] for name in ORDER["startup"]]
    assert any(shown) or trimmed["current_focus"] is not None
