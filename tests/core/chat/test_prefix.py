"""Prompt caches: what they keep of a conversation with memory in it, and why they lose it."""

from __future__ import annotations

import pytest
from tests.core.chat.conversation import TOOLS, Gateway, conversation

from remembrancer.core.chat.anthropic_request import AnthropicOptions, to_anthropic
from remembrancer.core.chat.cache_marks import count_marks
from remembrancer.core.chat.inject import inject_patch
from remembrancer.core.chat.prefix import (
    SEALS_MAX,
    CacheHit,
    Drop,
    MarkCache,
    PromptCache,
    explain_drop,
    seal_prefix,
)
from remembrancer.core.chat.shapes import Body

LONG = "字" * 3000
MARK: Body = {"type": "ephemeral"}


def reused(hits: list[CacheHit]) -> float:
    """The share of all tokens sent that the cache had."""
    return sum(hit.cached for hit in hits) / sum(hit.prompt for hit in hits)


def openai_body(messages: list[Body]) -> Body:
    return {"model": "m", "tools": TOOLS, "messages": messages}


def claude_body(messages: list[Body], model: str = "claude-sonnet-4-5") -> Body:
    options = AnthropicOptions(has_memory=True)
    return to_anthropic(openai_body(messages), model=model, options=options).body


def test_prompt_cache_with_memory_reuses_what_it_would_without() -> None:
    with_us, without, gateway = PromptCache(), PromptCache(), Gateway()
    ours = [
        with_us.send(openai_body(gateway.send(messages)))
        for messages in conversation(has_clock=True)
    ]
    theirs = [without.send(openai_body(messages)) for messages in conversation(has_clock=False)]
    assert reused(ours) >= 0.97 * reused(theirs) > 0.9


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-5"])
def test_mark_cache_with_memory_reuses_what_it_would_without(model: str) -> None:
    with_us, without, gateway = MarkCache(), MarkCache(), Gateway()
    ours = [
        with_us.send(claude_body(gateway.send(messages), model))
        for messages in conversation(has_clock=True)
    ]
    theirs = [
        without.send(claude_body(messages, model)) for messages in conversation(has_clock=False)
    ]
    assert reused(ours) >= 0.97 * reused(theirs) > 0.9
    assert all(hit.cached > 0 for hit in ours[1:])


def test_caches_a_clock_in_the_instructions_costs_nearly_everything() -> None:
    prompts, marks = PromptCache(), MarkCache()
    clocks = list(conversation(has_clock=True))
    still = PromptCache()
    lost = reused([prompts.send(openai_body(messages)) for messages in clocks])
    kept = reused([still.send(openai_body(one)) for one in conversation(has_clock=False)])
    assert lost < 0.2 * kept
    # Tools stay: their mark stands before the instructions.
    assert reused([marks.send(claude_body(messages)) for messages in clocks]) < 0.1 * kept


def test_caches_every_request_has_at_most_four_marks() -> None:
    gateway = Gateway()
    for messages in conversation(has_clock=True):
        assert count_marks(claude_body(gateway.send(messages))) <= 4


def test_prompt_cache_steps_and_least_length() -> None:
    cache = PromptCache()
    first: list[Body] = [{"role": "user", "content": LONG}]
    assert cache.send(openai_body(first)).cached == 0
    again = cache.send(openai_body(first))
    assert again.cached % 128 == 0 and again.prompt - again.cached < 128
    small = openai_body([{"role": "user", "content": "短"}])
    assert PromptCache().send(small) == CacheHit(cache.send(small).prompt, 0)


def test_mark_cache_reads_at_marks_within_its_window() -> None:
    def body(count: int, *marks: int) -> Body:
        blocks = [
            {
                "type": "text",
                "text": f"{n} {LONG}",
                **({"cache_control": MARK} if n in marks else {}),
            }
            for n in range(count)
        ]
        return {"messages": [{"role": "user", "content": blocks}]}

    cache = MarkCache(window=5)
    first = cache.send(body(2, 1))
    assert (first.cached, first.written) == (0, first.prompt)
    assert cache.send(body(5, 4)).cached == first.prompt
    assert cache.send(body(30, 29)).cached == 0
    assert cache.send(body(3)) == CacheHit(cache.send(body(3)).prompt, 0, 0)
    top: Body = {**body(2), "cache_control": MARK}
    assert cache.send(top).cached == first.prompt


def test_mark_cache_other_settings_make_messages_new_and_keep_tools() -> None:
    body: Body = {
        "tools": [{"name": "f", "description": LONG, "cache_control": MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": LONG, "cache_control": MARK}]}
        ],
    }
    cache = MarkCache()
    whole = cache.send(body).prompt
    assert cache.send(body).cached == whole
    assert 0 < cache.send({**body, "thinking": {"type": "adaptive"}}).cached < whole


BASE: Body = {
    "model": "m",
    "tools": [{"name": "f"}],
    "messages": [
        {"role": "system", "content": "规则"},
        {"role": "user", "content": "一"},
        {"role": "assistant", "content": "二"},
    ],
}


def with_messages(*messages: Body) -> Body:
    return {**BASE, "messages": list(messages)}


SYSTEM: Body = {"role": "system", "content": "规则"}
ONE: Body = {"role": "user", "content": "一"}
TWO: Body = {"role": "assistant", "content": "二"}


@pytest.mark.parametrize(
    ("after", "drop", "sentence"),
    [
        pytest.param(BASE, None, "", id="same"),
        pytest.param(with_messages(SYSTEM, ONE, TWO, ONE), None, "", id="goes_on"),
        pytest.param(with_messages(SYSTEM, ONE), None, "", id="shorter"),
        pytest.param(
            with_messages(
                {
                    "role": "system",
                    "content": [{"type": "text", "text": "规则", "cache_control": MARK}],
                },
                ONE,
                TWO,
            ),
            None,
            "",
            id="marked",
        ),
        pytest.param({**BASE, "model": "n"}, Drop("model"), "the model changed", id="model"),
        pytest.param({**BASE, "tools": []}, Drop("tools"), "the tools changed", id="tools"),
        pytest.param(
            with_messages({**SYSTEM, "content": "新规则"}, ONE, TWO),
            Drop("system"),
            "the system changed",
            id="system",
        ),
        pytest.param({**BASE, "system": "x"}, Drop("system"), "the system changed", id="claude"),
        pytest.param(
            with_messages(SYSTEM, ONE, {**TWO, "content": "三"}, ONE),
            Drop("message", 2),
            "message 2 changed",
            id="message",
        ),
    ],
)
def test_explain_drop_names_the_first_part_that_changed(
    after: Body, drop: Drop | None, sentence: str
) -> None:
    found = explain_drop(seal_prefix(BASE), seal_prefix(after))
    assert found == drop and (found.sentence if found else "") == sentence


def test_explain_drop_long_conversation_is_sealed_in_bounds() -> None:
    many = [ONE, TWO] * SEALS_MAX
    seals = seal_prefix(with_messages(SYSTEM, *many))
    assert isinstance(seals["messages"], list) and len(seals["messages"]) == SEALS_MAX + 1
    assert explain_drop(seals, seal_prefix(with_messages(SYSTEM, *many, ONE))) is None
    assert "later" in Drop("message", SEALS_MAX + 1).sentence
    assert explain_drop({}, {}) is None


def test_explain_drop_sees_a_patch_that_moved() -> None:
    first = with_messages(SYSTEM, *inject_patch([ONE], "- 里斯本"))
    second = with_messages(SYSTEM, *inject_patch([ONE, TWO, ONE], "- 里斯本"))
    assert explain_drop(seal_prefix(first), seal_prefix(second)) == Drop("message", 1)
