"""What each Claude model takes and refuses, read from its name.

It is not a list of models: a name that is not known counts as newer than all that are, and gets
nothing that any of them refuses. Any ring may import it.
*Source:* Anthropic's migration guides to 4.6, 4.7 and 5; anthropic-python 2.14 (November 2026).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Sampling: TypeAlias = Literal["both", "one", "none"]
"""`both`: temperature and top_p together; `one`: either; `none`: neither, nor top_k."""

ThinkingKind: TypeAlias = Literal["none", "budget", "adaptive"]
"""How thinking is asked for."""

Version: TypeAlias = tuple[int, int]

_FAMILY_FIRST: Final = re.compile(r"([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_VERSION_FIRST: Final = re.compile(r"(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)(?:-([a-z]+))?")
_SYSTEM_MESSAGES_FROM: Final[dict[str, Version]] = {
    "opus": (4, 8),
    "sonnet": (5, 0),
    "haiku": (5, 5),
    "fable": (5, 0),
    "mythos": (5, 0),
}
"""Family → the first version that takes a system message inside a conversation."""
_NEWEST: Final[Version] = (99, 0)


@dataclass(frozen=True, slots=True)
class ClaudeModel:
    """What one model takes. *Shape:* `output_tokens_max` is a floor that no model is under."""

    sampling: Sampling
    thinking: ThinkingKind
    takes_effort: bool
    takes_xhigh: bool
    takes_schema: bool
    takes_prefill: bool
    takes_system_messages: bool
    output_tokens_max: int


def claude_model(name: str) -> ClaudeModel:
    """Return what the model of that name takes; a provider's prefix or suffix does not matter."""
    family, version = _parse(name)
    return ClaudeModel(
        sampling="both" if version < (4, 0) else "one" if version < (4, 7) else "none",
        thinking="none" if version < (3, 7) else "budget" if version < (4, 6) else "adaptive",
        takes_effort=version >= (4, 6) or (family == "opus" and version >= (4, 5)),
        takes_xhigh=version >= (4, 7),
        takes_schema=version >= (4, 5) or (family == "opus" and version >= (4, 1)),
        takes_prefill=version < (4, 6),
        takes_system_messages=version != _NEWEST
        and version >= _SYSTEM_MESSAGES_FROM.get(family, _NEWEST),
        output_tokens_max=4_096 if version < (3, 5) else 8_192 if version < (3, 7) else 32_000,
    )


def _parse(name: str) -> tuple[str, Version]:
    rest = name.lower().rpartition("claude-")[2]
    if found := _FAMILY_FIRST.match(rest):
        return found[1], (int(found[2]), int(found[3] or 0))
    if found := _VERSION_FIRST.match(rest):
        return found[3] or "", (int(found[1]), int(found[2] or 0))
    return "", _NEWEST
