"""What a request says about its conversation: which it is, which turn, and what is new in it.

A turn's key is a chain over what was said up to it, so the same words at another place are another
turn, and a message that is sent again is the same. Pure; nothing is stored here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Final

from remembrancer.core import limits
from remembrancer.core.chat.envelopes import without_envelope
from remembrancer.core.chat.request import SYSTEM_ROLES, TOOL_ROLES, text_of, texts_in
from remembrancer.core.chat.shapes import Body, object_of, parts_of, string_of
from remembrancer.core.messages import ONCE_MS
from remembrancer.core.text.fold import clean

HEADERS: Final = (
    "x-remembrancer-conversation",
    "x-conversation-id",
    "x-openwebui-chat-id",
    "x-claude-code-session-id",
)
"""Headers that name a conversation, ours first. Source: the clients' own."""

METADATA: Final = ("conversation_id", "chat_id", "thread_id", "session_id")
"""Fields of `metadata` that name a conversation. Source: the clients' own."""

PLACES_MAX: Final = 200
"""Messages of the user's, the last ones, whose memory is put in again. Our choice; what is before
them costs one prefix when a conversation is that long."""

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
    `before` the texts before it, oldest first; `is_going_on` when tool results follow, or the
    beginning of a reply that is to be continued; `places` index and key of each message of the
    user's, the last ones, this turn's at their end; `is_opening` when nothing tells this turn from
    one that began another conversation alike.
    """

    conversation_id: str
    key: str
    reply_hash: str
    said: tuple[Spoken, ...]
    before: tuple[str, ...]
    is_going_on: bool
    places: tuple[tuple[int, str], ...]
    is_opening: bool

    @property
    def message(self) -> str:
        """The text that is recalled for."""
        return "\n".join(one.text for one in self.said if one.text)


def read_history(
    messages: Sequence[Body], *, headers: Mapping[str, str], body: Body, stable_system: str
) -> Reading:
    """Read the messages of a request, without what was put into them or a client added.

    *Shape:* `stable_system` is what the client's system text says at any time.
    """
    spoken = [
        (index, one)
        for index, one in enumerate(messages)
        if one.get("role") not in SYSTEM_ROLES and not _is_added(one)
    ]
    first = next((_words(one) for _, one in spoken if _is_user(one)), "")
    named = _named(headers, body)
    conversation_id = named or _fingerprint(body, stable_system, first)
    last_answer = _last_answer(spoken)
    key = _hash(conversation_id)
    said: list[Spoken] = []
    places: list[tuple[int, str]] = []
    before: list[str] = []
    for index, message in spoken:
        if message.get("role") in TOOL_ROLES or _is_mere_call(message):
            continue
        text = _words(message)
        key = _hash(key, string_of(message.get("role")), " ".join(text.split()), *_seals(message))
        if _is_user(message):
            places.append((index, key))
            if index > last_answer:
                said.append(Spoken(key, text, tuple(_files(message))))
        if index <= last_answer and text:
            before.append(text)
    return Reading(
        conversation_id=conversation_id,
        key=places[-1][1] if places else key,
        reply_hash=_hash(key, "reply"),
        said=tuple(said),
        before=tuple(before),
        is_going_on=bool(spoken) and spoken[-1][1].get("role") in (*TOOL_ROLES, "assistant"),
        places=tuple(places[-PLACES_MAX:]),
        is_opening=last_answer < 0 and not named,
    )


def hashes_at(hash_: str, reading: Reading, *, now_ms: int) -> tuple[str, ...]:
    """Return the hashes that make a message the same when it is sent again, the present one first.

    *Shape:* an opening is the same for one to two of ONCE_MS: said again on another day, it begins
    another conversation. Everything later is the same for ever.
    """
    if not reading.is_opening:
        return (hash_,)
    window = now_ms // ONCE_MS
    return _hash(hash_, str(window)), _hash(hash_, str(window - 1))


def _is_user(message: Body) -> bool:
    return message.get("role") == "user"


def _words(message: Body) -> str:
    content = message.get("content")
    if not _is_user(message):
        return text_of(content).strip()
    texts = texts_in(content)  # each apart: what a client adds is one of its own
    return "\n".join(filter(None, map(without_envelope, texts))).strip()


def _is_added(message: Body) -> bool:
    """Return whether a message of the user's holds only what a client says by itself."""
    if not _is_user(message) or _words(message):
        return False
    return bool(text_of(message.get("content")).strip()) and not any(_urls(message))


def _last_answer(spoken: Sequence[tuple[int, Body]]) -> int:
    """Return where the last answer is that was more than a call of tools; -1 when there is none."""
    for index, message in reversed(spoken):
        if message.get("role") == "assistant" and not _is_mere_call(message):
            return index
    return -1


def _is_mere_call(message: Body) -> bool:
    """Tell whether an assistant's message calls tools: what it says beside is part of the turn."""
    return message.get("role") == "assistant" and bool(message.get("tool_calls"))


def _seals(message: Body) -> list[str]:
    """Return the hashes of what was sent along."""
    return [hashlib.sha256(url.encode(errors="replace")).hexdigest() for url in _urls(message)]


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
    for name in filter(None, given):
        name = clean(name).strip()[: limits.CONVERSATION_ID_CHARS_MAX]
        if name:
            return name
    return ""


def _fingerprint(body: Body, stable_system: str, first: str) -> str:
    user = string_of(body.get("user")) or string_of(object_of(body.get("metadata")).get("user_id"))
    return "auto-" + _hash(user, " ".join(stable_system.split()), " ".join(first.split()))[:_DIGITS]


def _hash(*parts: str) -> str:
    # The canonical JSON of a list of texts, which needs no encoder: a chat takes a dozen hashes.
    text = f"[{','.join(map(encode_basestring, parts))}]"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
