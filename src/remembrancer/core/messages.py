"""Chat messages as they are stored: roles, lengths, and when two are the same message.

Messages are not in the ledger. Every ring may import it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.values import MINUTE_MS, canonical_json

ROLES: Final = ("system", "user", "assistant", "tool")
"""Roles that are stored. Source: the predecessor's table."""

ONCE_MS: Final = 10 * MINUTE_MS
"""Milliseconds within which a message that comes again is a repetition. Source: the
predecessor's later bucket; a repetition is known for one to two of these."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it comes in, checked."""

    role: str
    content: str


def check_messages(given: Sequence[Message]) -> list[Message]:
    """Return the messages, cleaned and without secrets; all or none: nothing is left out silently.

    *Raises:* InvalidInput naming the message and its role, LimitExceeded.
    """
    if not given:
        raise InvalidInput("messages is empty", hint="send at least one", field="messages")
    if len(given) > limits.MESSAGES_MAX:
        raise LimitExceeded(
            f"{len(given)} messages at once",
            hint=f"at most {limits.MESSAGES_MAX}",
            field="messages",
        )
    checked = [_check(message, f"messages[{index}]") for index, message in enumerate(given)]
    total = sum(len(message.content) for message in checked)
    if total > limits.INGEST_CHARS_MAX:
        raise LimitExceeded(
            f"the messages have {total} characters together",
            hint=f"at most {limits.INGEST_CHARS_MAX} in one call",
            field="messages",
        )
    return checked


def _check(message: Message, where: str) -> Message:
    if message.role not in ROLES:
        raise InvalidInput(
            f"{where}.role {message.role[:40]!r} is no role of a message",
            hint=f"one of {', '.join(ROLES)}",
            field=f"{where}.role",
        )
    content = clean(message.content)
    _check_length(content, where)
    content = redact(content)
    if not content.strip():
        raise InvalidInput(
            f"{where}.content is empty", hint="leave the message out", field=f"{where}.content"
        )
    _check_length(content, where)
    return Message(message.role, content)


def _check_length(content: str, where: str) -> None:
    if len(content) > limits.MESSAGE_CHARS_MAX:
        raise LimitExceeded(
            f"{where}.content has {len(content)} characters",
            hint=f"at most {limits.MESSAGE_CHARS_MAX}",
            field=f"{where}.content",
        )


def check_place(text: str, *, field: str) -> str:
    """Return a conversation's id, or where messages came from. *Raises:* as `check_messages`."""
    text = clean(text).strip()
    if not text:
        raise InvalidInput(f"{field} is empty", hint="give it, or leave it out", field=field)
    if len(text) > limits.CONVERSATION_ID_CHARS_MAX:
        raise LimitExceeded(
            f"{field} has {len(text)} characters",
            hint=f"at most {limits.CONVERSATION_ID_CHARS_MAX}",
            field=field,
        )
    return text


def client_hashes(
    messages: Sequence[Message], *, conversation_id: str, now_ms: int
) -> list[tuple[str, str]]:
    """Return for each message the hash it is stored under, and that of the window before.

    *Shape:* white space makes no difference; the second of two equal messages of one call has a
    hash of its own, so a conversation that is sent again matches itself message by message.
    """
    window = now_ms // ONCE_MS
    seen: Counter[tuple[str, str]] = Counter()
    hashes: list[tuple[str, str]] = []
    for message in messages:
        text = " ".join(message.content.split())
        seen[message.role, text] += 1
        base: list[str | int] = [conversation_id, message.role, text, seen[message.role, text]]
        hashes.append((_hash(base, window), _hash(base, window - 1)))
    return hashes


def _hash(base: Sequence[str | int], window: int) -> str:
    return hashlib.sha256(canonical_json([*base, window]).encode()).hexdigest()
