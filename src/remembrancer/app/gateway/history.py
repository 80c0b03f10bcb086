"""What a request says about its conversation: which it is, which turn, and what is new in it.

A turn's key is a chain over what was said up to it, so the same words at another place are another
turn, and a message that is sent again is the same. Pure; nothing is stored here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core import limits
from remembrancer.core.chat.request import SYSTEM_ROLES, TOOL_ROLES, text_of
from remembrancer.core.chat.shapes import Body, object_of, parts_of, string_of
from remembrancer.core.text.fold import clean
from remembrancer.core.values import canonical_json

HEADERS: Final = (
    "x-remembrancer-conversation",
    "x-conversation-id",
    "x-openwebui-chat-id",
    "x-claude-code-session-id",
)
"""Headers that name a conversation, ours first. Source: the clients' own."""

METADATA: Final = ("conversation_id", "chat_id", "thread_id", "session_id")
"""Fields of `metadata` that name a conversation. Source: the clients' own."""

_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of the user's since the last answer. *Shape:* `files` data URLs, whole."""

    hash: str
    text: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a request's messages.

    *Shape:* `key` names the turn; `said` what the user said since the last answer, usually one;
    `before` the texts before it, oldest first; `is_going_on` when tool results follow.
    """

    conversation_id: str
    key: str
    reply_hash: str
    said: tuple[Spoken, ...]
    before: tuple[str, ...]
    is_going_on: bool

    @property
    def message(self) -> str:
        """The text that is recalled for."""
        return "\n".join(one.text for one in self.said if one.text)


def read_history(
    messages: Sequence[Body], *, headers: Mapping[str, str], body: Body, stable_system: str
) -> Reading:
    """Read the messages of a request, without what was put into them.

    *Shape:* `stable_system` is what the client's system text says at any time.
    """
    spoken = [one for one in messages if one.get("role") not in SYSTEM_ROLES]
    first = next((text_of(one.get("content")) for one in spoken if one.get("role") == "user"), "")
    conversation_id = _named(headers, body) or _fingerprint(body, stable_system, first)
    last_answer = _last_answer(spoken)
    chain, hashes = hashlib.sha256(conversation_id.encode()).hexdigest(), []
    for index, message in enumerate(spoken):
        if message.get("role") in TOOL_ROLES or _is_mere_call(message):
            continue
        chain = _hash(chain, str(message.get("role")), _words(message))
        hashes.append((index, chain))
    said = tuple(
        Spoken(chain, text_of(spoken[index].get("content")).strip(), tuple(_files(spoken[index])))
        for index, chain in hashes
        if spoken[index].get("role") == "user" and index > last_answer
    )
    before = [
        text_of(one.get("content"))
        for index, one in enumerate(spoken)
        if index <= last_answer and one.get("role") in ("user", "assistant")
    ]
    return Reading(
        conversation_id=conversation_id,
        key=chain,
        reply_hash=_hash(chain, "assistant", "reply"),
        said=said,
        before=tuple(text for text in before if text),
        is_going_on=bool(spoken) and spoken[-1].get("role") in TOOL_ROLES,
    )


def _last_answer(spoken: Sequence[Body]) -> int:
    """Return where the last answer is that was more than a call of tools; -1 when there is none."""
    for index in range(len(spoken) - 1, -1, -1):
        if spoken[index].get("role") == "assistant" and not _is_mere_call(spoken[index]):
            return index
    return -1


def _is_mere_call(message: Body) -> bool:
    """Tell whether an assistant's message calls tools: what it says beside is part of the turn."""
    return message.get("role") == "assistant" and bool(message.get("tool_calls"))


def _words(message: Body) -> str:
    content = message.get("content")
    text = " ".join(text_of(content).split())
    files = [hashlib.sha256(url.encode(errors="replace")).hexdigest() for url in _urls(message)]
    return "\n".join([text, *files])


def _urls(message: Body) -> Iterator[str]:
    content = message.get("content")
    for part in parts_of(content) if isinstance(content, list) else ():
        shown = part.get("image_url")
        url = shown if isinstance(shown, str) else string_of(object_of(shown).get("url"))
        file = object_of(part.get("file"))
        audio = object_of(part.get("input_audio"))
        yield from (
            one
            for one in (url, string_of(file.get("file_data")), string_of(audio.get("data")))
            if one
        )


def _files(message: Body) -> Iterator[str]:
    """Yield what was sent along whole; an address of something elsewhere is no file."""
    return (url for url in _urls(message) if not url.startswith(("http://", "https://")))


def _named(headers: Mapping[str, str], body: Body) -> str:
    metadata = object_of(body.get("metadata"))
    given = [headers.get(name, "") for name in HEADERS]
    given += [string_of(metadata.get(name)) for name in METADATA]
    user_id = string_of(metadata.get("user_id"))
    if "_session_" in user_id:  # Claude Code: user_…_account_…_session_<uuid>
        given.append(user_id.rpartition("_session_")[2])
    for name in given:
        name = clean(name).strip()[: limits.CONVERSATION_ID_CHARS_MAX]
        if name:
            return name
    return ""


def _fingerprint(body: Body, stable_system: str, first: str) -> str:
    user = string_of(body.get("user")) or string_of(object_of(body.get("metadata")).get("user_id"))
    return "auto-" + _hash(user, " ".join(stable_system.split()), " ".join(first.split()))[:_DIGITS]


def _hash(*parts: str) -> str:
    return hashlib.sha256(canonical_json(parts).encode(errors="replace")).hexdigest()
