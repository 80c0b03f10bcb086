"""How much of a conversation a prompt cache reuses with memory in it, beside without.

A simulated conversation of twenty turns with tool loops, pictures and a clock line in the client's
instructions, on both kinds of cache. *Without* has no clock, which alone would lose nearly all:
that is the row *clock, without us*.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.core.chat.conversation import TOOLS, Gateway, conversation

from measuring import print_table
from remembrancer.core.chat.anthropic_request import AnthropicOptions, to_anthropic
from remembrancer.core.chat.prefix import CacheHit, MarkCache, PromptCache
from remembrancer.core.chat.shapes import Body

IN_THE_TURN = "claude-sonnet-4-5"
"""A model whose memory goes into the user's turn."""
APART = "claude-opus-5"
"""A model whose memory is a system message of its own."""
KINDS: tuple[tuple[str, Callable[[], PromptCache | MarkCache], str], ...] = (
    ("OpenAI-style", PromptCache, IN_THE_TURN),
    ("Anthropic-style", MarkCache, IN_THE_TURN),
    ("Anthropic-style, a message of its own", MarkCache, APART),
)
"""The caches, and the model that is asked."""


def reuse(
    cache: PromptCache | MarkCache, requests: Iterator[list[Body]], *, model: str, with_us: bool
) -> dict[str, float]:
    """Sends a conversation and answers its tokens and the share that was reused."""
    gateway = Gateway()
    hits: list[CacheHit] = []
    for messages in requests:
        body: Body = {
            "model": model,
            "tools": TOOLS,
            "messages": gateway.send(messages) if with_us else messages,
        }
        if isinstance(cache, MarkCache):
            options = AnthropicOptions(has_memory=with_us)
            body = to_anthropic(body, model=model, options=options).body
        hits.append(cache.send(body))
    prompt = sum(hit.prompt for hit in hits)
    return {
        "requests": len(hits),
        "tokens": prompt,
        "reused": round(sum(hit.cached for hit in hits) / prompt, 4),
    }


def figures(make: Callable[[], PromptCache | MarkCache], model: str) -> dict[str, dict[str, float]]:
    """The three conversations on one kind of cache."""
    clock = conversation(has_clock=True)
    return {
        "with us": reuse(make(), clock, model=model, with_us=True),
        "without": reuse(make(), conversation(has_clock=False), model=model, with_us=False),
        "clock, without us": reuse(
            make(), conversation(has_clock=True), model=model, with_us=False
        ),
    }


def main(arguments: Sequence[str]) -> int:
    """Prints and keeps the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    found = {kind: figures(make, model) for kind, make, model in KINDS}
    rows = [
        (f"{kind}, {name}", each["requests"], each["tokens"], f"{each['reused']:.1%}")
        for kind, conversations in found.items()
        for name, each in conversations.items()
    ]
    print_table(["cache", "requests", "tokens", "reused"], rows)
    for kind, each in found.items():
        ratio = each["with us"]["reused"] / each["without"]["reused"]
        print(f"{kind}: {ratio:.1%} of what is reused without us (at least 97 %)")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
