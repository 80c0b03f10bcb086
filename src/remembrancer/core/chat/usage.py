"""What a reply cost in tokens, as each upstream reports it, in one form.

It does not estimate and knows no price. Any ring may import it.
"""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.core.chat.shapes import Body, count_of, object_of


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply.

    *Shape:* `prompt` counts everything that was sent, with what was read from the cache (`cached`)
    and written to it (`cache_write`); `completion` counts `reasoning` too.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Tokens in all."""
        return self.prompt + self.completion

    def to_openai(self) -> Body:
        """The `usage` object of a chat completion."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.total,
            "prompt_tokens_details": {
                "cached_tokens": self.cached,
                "cache_write_tokens": self.cache_write,
            },
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }


def usage_from_openai(usage: object) -> Usage | None:
    """Return the usage of a chat completion, or None when it reports none."""
    if not isinstance(usage, dict):
        return None
    sent, answered = (
        object_of(usage.get("prompt_tokens_details")),
        object_of(usage.get("completion_tokens_details")),
    )
    return Usage(
        prompt=count_of(usage.get("prompt_tokens")),
        completion=count_of(usage.get("completion_tokens")),
        # DeepSeek counts its hits beside the details.
        cached=count_of(sent.get("cached_tokens"))
        or count_of(usage.get("prompt_cache_hit_tokens")),
        cache_write=count_of(sent.get("cache_write_tokens")),
        reasoning=count_of(answered.get("reasoning_tokens")),
    )


def usage_from_anthropic(usage: object) -> Usage | None:
    """Return the usage of a message, or None when it reports none.

    Its input tokens leave out what was read from the cache and written to it; here they count.
    """
    if not isinstance(usage, dict):
        return None
    read = count_of(usage.get("cache_read_input_tokens"))
    written = count_of(usage.get("cache_creation_input_tokens"))
    details = object_of(usage.get("output_tokens_details"))
    return Usage(
        prompt=count_of(usage.get("input_tokens")) + read + written,
        completion=count_of(usage.get("output_tokens")),
        cached=read,
        cache_write=written,
        reasoning=count_of(details.get("reasoning_tokens") or details.get("thinking_tokens")),
    )
