"""One turn of a conversation: what it is, what it was given, and what is to be kept of it.

A record that the steps of a chat fill in; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from remembrancer.app.gateway.forms import Thinking
from remembrancer.core.chat.shapes import Body
from remembrancer.core.chat.usage import Usage
from remembrancer.core.values import Caller
from remembrancer.store.conversations import Conversation


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the user's that may be new. *Shape:* `hashes` make it the same when it is sent
    again, the first that it is stored under; `text` without what we put in; `files` data URLs."""

    id: str
    hashes: tuple[str, ...]
    text: str
    files: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Turn:
    """A turn on its way. *Shape:* `known` hash → id of what is stored already; `is_new` False in a
    tool loop that began through us.

    *Units:* `started_ms` since the epoch.
    """

    caller: Caller
    request_id: str
    conversation_id: str
    key: str
    reply_hashes: tuple[str, ...]
    model: str
    started_ms: int
    is_stream: bool
    is_recalled: bool
    is_kept: bool
    is_new: bool = True
    said: list[Said] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    before: Conversation | None = None
    sent: Body = field(default_factory=dict)
    recall_id: str | None = None
    block: str = ""
    memory_ids: tuple[str, ...] = ()
    thinking: Thinking = field(default_factory=dict)
    saved: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    status: int = 0
    first_byte_ms: int = 0
    usage: Usage | None = None

    def known_id(self, hashes: Sequence[str]) -> str | None:
        """Return the id under which a message is stored, None when it is not."""
        return next((self.known[one] for one in hashes if one in self.known), None)

    def degrade(self, reason: str) -> None:
        """Note what had no part, once."""
        if reason not in self.degraded:
            self.degraded.append(reason)
