"""How much a Claude model thinks: the client's wish in the form that the model takes.

Thinking blocks that go back to the model are in `anthropic_turns`. Any ring may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.core.chat.anthropic_content import Notes
from remembrancer.core.chat.anthropic_turns import THINKING
from remembrancer.core.chat.claude_models import ClaudeModel
from remembrancer.core.chat.shapes import Body, object_of, objects_of, string_of

BUDGET_MIN: Final = 1_024
"""Tokens of thinking at least. Source: Anthropic, extended thinking."""
BUDGET_MAX: Final = 32_000
"""Tokens of thinking at most. Source: the predecessor's clamp."""

_BUDGETS: Final = {
    "minimal": 1_024,
    "low": 1_024,
    "medium": 2_048,
    "high": 4_096,
    "xhigh": 8_192,
    "max": 16_384,
}
"""Effort → tokens of thinking. Source: the predecessor's table; `max` doubles once more."""

_EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
"""Efforts of the API, rising. Source: anthropic-python's types."""


@dataclass(frozen=True, slots=True)
class ThinkingWish:
    """What the settings say. *Shape:* `budget` in tokens."""

    is_enabled: bool
    budget: int


def put_thinking(
    result: Body, body: Body, model: ClaudeModel, *, wish: ThinkingWish, notes: Notes
) -> None:
    """Put `thinking` and the effort into the result, as far as model and request allow.

    The client's native `thinking` comes first, then its effort, then the settings. A forced tool
    and a running tool round without its thinking blocks turn it off, since both are refused.
    """
    effort, budget = _wished(body, wish)
    config = object_of(body.get("output_config"))
    if config:
        result["output_config"] = {**config, **object_of(result.get("output_config"))}
    if not budget:
        return
    if effort and model.takes_effort and not config.get("effort"):
        known = "low" if effort == "minimal" else effort
        if known == "xhigh" and not model.takes_xhigh:
            known = "high"
        if known in _EFFORTS:
            result["output_config"] = {**object_of(result.get("output_config")), "effort": known}
    reason = _hindrance(result, model)
    if reason:
        notes.add("thinking", reason)
    elif model.thinking == "adaptive":
        thinking: Body = {"type": "adaptive"}
        display = object_of(body.get("thinking")).get("display")
        if display or model.takes_xhigh:
            thinking["display"] = display or "summarized"
        result["thinking"] = thinking
    else:
        _put_budget(result, body, budget, notes)


def _wished(body: Body, wish: ThinkingWish) -> tuple[str, int]:
    """The effort ('' when none is named) and the budget, 0 for no thinking."""
    thinking, reasoning = object_of(body.get("thinking")), object_of(body.get("reasoning"))
    effort = string_of(body.get("reasoning_effort")) or string_of(reasoning.get("effort"))
    if thinking:
        wanted = thinking.get("budget_tokens")
        is_off = thinking.get("type") == "disabled"
        return effort, 0 if is_off else _clamped(wanted if isinstance(wanted, int) else wish.budget)
    if effort == "none" or reasoning.get("enabled") is False:
        return "", 0
    limit = reasoning.get("max_tokens")
    if isinstance(limit, int) and limit > 0:
        return effort, _clamped(limit)
    if effort:
        return effort, _BUDGETS.get(effort, wish.budget)
    is_wished = wish.is_enabled or reasoning.get("enabled") is True
    return "", _clamped(wish.budget) if is_wished else 0


def _hindrance(result: Body, model: ClaudeModel) -> str:
    if model.thinking == "none":
        return "this model does not think"
    if object_of(result.get("tool_choice")).get("type") in ("any", "tool"):
        return "a forced tool goes without thinking"
    turns = objects_of(result.get("messages"))
    if model.thinking == "budget" and not _is_continued_with_thinking(turns):
        return "the thinking of the running tool round is not at hand"
    if model.thinking == "budget" and turns[-1].get("role") == "assistant":
        return "a reply to be continued goes without thinking"
    return ""


def _is_continued_with_thinking(turns: list[Body]) -> bool:
    """Whether the tool round that the last turn goes on with, if any, starts with thinking."""
    last = objects_of(turns[-1].get("content"))
    if len(turns) < 2 or not any(block.get("type") == "tool_result" for block in last):
        return True
    before = objects_of(turns[-2].get("content"))
    return bool(before) and before[0].get("type") in THINKING


def _put_budget(result: Body, body: Body, budget: int, notes: Notes) -> None:
    limit = result["max_tokens"]
    assert isinstance(limit, int)
    is_given = any(body.get(name) is not None for name in ("max_tokens", "max_completion_tokens"))
    if not is_given:
        result["max_tokens"] = limit + budget
    elif limit <= BUDGET_MIN:
        notes.add("thinking", f"max_tokens must be over {BUDGET_MIN} for it")
        return
    elif limit <= budget:
        budget = max(BUDGET_MIN, limit // 2)
        notes.add("thinking", "the budget is lowered to half of max_tokens")
    result["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _clamped(budget: int) -> int:
    return min(max(budget, BUDGET_MIN), BUDGET_MAX)
