"""What a prompt cache would keep of a conversation, and which change made it lose something.

Two simulators, one that compares prompts from their start and one that goes by marks, for tests
and benches; and the seals of a request's parts, small enough to keep, that explain a drop. Tokens
are estimated. Any ring may import it.
*Source:* OpenAI, prompt caching (1,024 tokens at least, steps of 128); Anthropic, prompt caching.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from remembrancer.core.chat.cache_marks import WINDOW_BLOCKS
from remembrancer.core.chat.request import SYSTEM_ROLES
from remembrancer.core.chat.shapes import Body, objects_of, parts_of, string_of, write_json
from remembrancer.core.text.tokens import estimate_tokens

PROMPT_TOKENS_MIN: Final = 1_024
"""Tokens from which a prompt is cached. Source: OpenAI, prompt caching."""

STEP_TOKENS: Final = 128
"""Tokens by which a cached prefix grows. Source: OpenAI, prompt caching."""

PROMPTS_KEPT: Final = 64
"""Prompts that the simulator remembers. Our choice: more than a conversation's tool loops."""

SEALS_MAX: Final = 256
"""Messages of a conversation that are sealed, its first; what comes later is told as one. Our
choice: the row stays small, and an early change is the one that costs."""

_SEAL_CHARS: Final = 8
"""Hexadecimal digits of a seal. Our choice: one in four billion is taken for unchanged."""


@dataclass(frozen=True, slots=True)
class CacheHit:
    """What one request found in the cache. *Units:* tokens."""

    prompt: int
    cached: int
    written: int = 0


class PromptCache:
    """A cache that compares prompts from their start, as OpenAI-style upstreams do."""

    def __init__(self) -> None:
        self._prompts: list[list[str]] = []

    def send(self, body: Body) -> CacheHit:
        """Return what a chat completion request finds, and remember it."""
        pieces = list(_prompt_of(body))
        tokens = sum(map(_tokens, pieces))
        whole, chars = max((_common(pieces, one) for one in self._prompts), default=(0, 0))
        common = sum(map(_tokens, pieces[:whole]))
        if chars:
            common += estimate_tokens(pieces[whole][:chars])
        cached = common // STEP_TOKENS * STEP_TOKENS
        self._prompts = [*self._prompts[-PROMPTS_KEPT + 1 :], pieces]
        return CacheHit(tokens, cached if cached >= PROMPT_TOKENS_MIN else 0)


class MarkCache:
    """A cache that keeps a prefix at each mark, as the Messages API does."""

    def __init__(self, *, window: int = WINDOW_BLOCKS) -> None:
        self._window = window
        self._entries: set[str] = set()

    def send(self, body: Body) -> CacheHit:
        """Return what a request of the Messages API finds, and keep its marked prefixes."""
        chain, tokens = hashlib.sha256(), 0
        seals: list[str] = []
        sums: list[int] = []
        marks: list[int] = []
        for text, is_marked in _blocks_of(body):
            chain.update(text.encode(errors="replace"))
            tokens += _tokens(text)
            seals.append(chain.hexdigest())
            sums.append(tokens)
            if is_marked:
                marks.append(len(seals) - 1)
        if "cache_control" in body and seals:
            marks.append(len(seals) - 1)
        found = [
            at
            for mark in marks
            for at in range(mark, max(-1, mark - self._window), -1)
            if seals[at] in self._entries
        ]
        cached = sums[max(found)] if found else 0
        self._entries |= {seals[mark] for mark in marks}
        written = sums[marks[-1]] - cached if marks else 0
        return CacheHit(tokens, cached, max(0, written))


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a prefix was lost. *Shape:* `part` is `model`, `tools`, `system` or `message`; `index`
    counts messages after the leading instructions from 1, 0 for the others."""

    part: str
    index: int = 0

    @property
    def sentence(self) -> str:
        """The reason in words, without anything of what was said."""
        if self.part != "message":
            return f"the {self.part} changed"
        late = " or a later one" if self.index > SEALS_MAX else ""
        return f"message {self.index}{late} changed"


def seal_prefix(body: Body) -> Body:
    """Return the seals of a request's parts, of either vendor's form, to be kept as JSON.

    *Shape:* `model`, `tools`, `system` and a list `messages`; marks for the cache do not count.
    *Promise:* says nothing of the content; a few kilobytes at most.
    """
    messages = objects_of(body.get("messages"))
    leading = 0
    while leading < len(messages) and messages[leading].get("role") in SYSTEM_ROLES:
        leading += 1
    system = [write_json(_plain(message)) for message in messages[:leading]]
    seals = [_seal(write_json(_plain(message))) for message in messages[leading:]]
    if len(seals) > SEALS_MAX:
        seals = [*seals[:SEALS_MAX], _seal("".join(seals[SEALS_MAX:]))]
    return {
        "model": string_of(body.get("model")),
        "tools": _seal(write_json(_plain(body.get("tools")))),
        "system": _seal(write_json([_plain(body.get("system")), *system])),
        "messages": seals,
    }


def explain_drop(before: Body, after: Body) -> Drop | None:
    """Return the first part that changed between two seals; None when the later goes on.

    *Shape:* both as `seal_prefix` gives them. A request that is shorter has lost nothing.
    """
    for part in ("model", "tools", "system"):
        if before.get(part) != after.get(part):
            return Drop(part)
    old, new = before.get("messages"), after.get("messages")
    if not isinstance(old, list) or not isinstance(new, list):
        return None
    for index, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        # Past the last seal of its own the rest is one, which changes with each message.
        if one != other and index <= SEALS_MAX:
            return Drop("message", index)
    return None


def _prompt_of(body: Body) -> Iterator[str]:
    """The text that an OpenAI-style upstream compares: tools, then the messages in order."""
    yield write_json([body.get("tools"), body.get("response_format")])
    for message in objects_of(body.get("messages")):
        rest = {key: value for key, value in message.items() if key != "content"}
        yield f"\n<{write_json(rest)}>\n"
        for part in parts_of(message.get("content")):
            yield string_of(part.get("text")) or write_json(_plain(part))


def _blocks_of(body: Body) -> Iterator[tuple[str, bool]]:
    """Each block in the order of the prefix, with what makes it another; whether it is marked."""
    for tool in objects_of(body.get("tools")):
        yield write_json(_plain(tool)), "cache_control" in tool
    for block in parts_of(body.get("system")):
        yield write_json(_plain(block)), "cache_control" in block
    # Other settings leave tools and system as they are, and make all messages new.
    turned = [body.get(name) for name in ("tool_choice", "thinking")]
    yield write_json(turned), False
    for message in objects_of(body.get("messages")):
        for block in parts_of(message.get("content")):
            yield write_json([message.get("role"), _plain(block)]), "cache_control" in block


def _plain(value: object) -> object:
    """The value without marks, at any depth; a string of content as its one block."""
    if isinstance(value, dict):
        plain = {key: _plain(item) for key, item in value.items() if key != "cache_control"}
        if isinstance(plain.get("content"), str):
            plain["content"] = list(parts_of(plain["content"]))
        return plain
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_SEAL_CHARS]


@functools.lru_cache(maxsize=4_096)
def _tokens(text: str) -> int:
    return estimate_tokens(text)


def _common(pieces: list[str], earlier: list[str]) -> tuple[int, int]:
    """How many pieces two prompts share at their start, and how many characters of the next."""
    for index, (one, other) in enumerate(zip(pieces, earlier, strict=False)):
        if one != other:
            return index, _common_chars(one, other)
    return min(len(pieces), len(earlier)), 0


def _common_chars(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
