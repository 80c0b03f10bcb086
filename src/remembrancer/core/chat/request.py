"""A chat completion request as it comes in: a typed view that never alters anything.

What it does not name is for the upstream to judge; the body is passed on as it is. Any ring may
import it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from remembrancer.core.chat.shapes import Body, object_of, objects_of, parts_of, string_of
from remembrancer.core.errors import InvalidInput

# Tuples: what a client sends as a type or a role may be a list, which no set can be asked for.
IMAGE_PARTS: Final = ("image_url", "image", "input_image")
"""Types of content parts that are pictures. Source: Chat Completions, Messages, and the form of
Responses that some clients send to Chat Completions."""

TEXT_PARTS: Final = ("text", "input_text", "output_text")
"""Types of content parts whose `text` a person reads."""

SYSTEM_ROLES: Final = ("system", "developer")
"""Roles that instruct; `developer` is the newer name. Source: OpenAI's types."""

TOOL_ROLES: Final = ("tool", "function")
"""Roles that answer a call; `function` is the older one."""

_NEUTRAL: Final[dict[str, tuple[object, ...]]] = {
    "n": (1,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logprobs": (False,),
    "store": (False,),
    "modalities": (["text"],),
    "logit_bias": ({},),
}
"""Values that ask for nothing: leaving them out needs no note."""

_SILENT: Final = frozenset({"user", "safety_identifier", "prompt_cache_key", "seed"})
"""Fields whose absence changes nothing that a user sees."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request that has the form of a chat completion.

    *Shape:* `body` is the very object that came in and `messages` its list; `model` is '' when
    the client leaves it to us; `last_user` is the index of the last user message, or None.
    """

    body: Body
    messages: list[Body]
    model: str
    stream: bool
    wants_usage: bool
    tools: list[Body]
    has_images: bool
    last_user: int | None
    is_tool_loop: bool


def parse_chat_request(body: object) -> ChatRequest:
    """Return a view of `body`.

    *Raises:* InvalidInput naming the field, when a message cannot be read at all.
    *Promise:* nothing is changed or copied; unknown fields, roles and part types are taken.
    """
    if not isinstance(body, dict):
        _refuse("the body", "an object", body, field="body")
    messages = body.get("messages")
    if not isinstance(messages, list):
        _refuse("messages", "an array", messages, field="messages")
    if not messages:
        raise InvalidInput("messages is empty", hint="send at least one message", field="messages")
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]")
    model, stream, options = (body.get(name) for name in ("model", "stream", "stream_options"))
    if model is not None and not isinstance(model, str):
        _refuse("model", "a string", model, field="model")
    if stream is not None and not isinstance(stream, bool):
        _refuse("stream", "true or false", stream, field="stream")
    if options is not None and not isinstance(options, dict):
        _refuse("stream_options", "an object", options, field="stream_options")
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        _refuse("tools", "an array", tools, field="tools")
    return ChatRequest(
        body=body,
        messages=messages,
        model=model or "",
        stream=bool(stream),
        wants_usage=object_of(options).get("include_usage") is True,
        tools=objects_of(tools),
        has_images=has_images(messages),
        last_user=last_user_index(messages),
        is_tool_loop=is_tool_loop(messages),
    )


def wishes_beyond(body: Body, fields: Container[str]) -> list[str]:
    """Return the fields, beside those named, that ask for something: what a user may miss."""
    return [
        name
        for name, value in body.items()
        if name not in fields
        and name not in _SILENT
        and value is not None
        and value not in _NEUTRAL.get(name, ())
    ]


def last_user_index(messages: Sequence[Body]) -> int | None:
    """Return the index of the last message of the user, or None."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "user":
            return index
    return None


def text_of(content: object) -> str:
    """Return what a person reads in a message's content.

    *Shape:* a string as it is, the text parts joined by line feeds, '' for null and for pictures.
    """
    return content if isinstance(content, str) else "\n".join(texts_in(content))


def texts_in(content: object) -> list[str]:
    """Return the texts that `text_of` joins, none of them ''."""
    texts = [
        string_of(part.get("text")) for part in parts_of(content) if part.get("type") in TEXT_PARTS
    ]
    return [text for text in texts if text]


def has_images(messages: Sequence[Body]) -> bool:
    """Return whether any message shows a picture."""
    return any(
        part.get("type") in IMAGE_PARTS
        for message in messages
        if isinstance(message.get("content"), list)
        for part in parts_of(message.get("content"))
    )


def is_tool_loop(messages: Sequence[Body]) -> bool:
    """Return whether the request goes on with tool results, not with a new message of the user."""
    return bool(messages) and messages[-1].get("role") in TOOL_ROLES


def _check_message(message: object, where: str) -> None:
    if not isinstance(message, dict):
        _refuse(where, "an object", message, field=where)
    role = message.get("role")
    if not isinstance(role, str) or not role:
        _refuse(f"{where}.role", "a string", role, field=f"{where}.role")
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        where = f"{where}.content"
        _refuse(where, "a string, an array of parts or null", content, field=where)
    if isinstance(content, list):
        for index, part in enumerate(content):
            if not isinstance(part, dict):
                where = f"{where}.content[{index}]"
                _refuse(where, "an object with a type", part, field=where)


def _refuse(name: str, expected: str, value: object, *, field: str) -> NoReturn:
    # The value is not shown: it may be a message.
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    kind = "missing" if value is None else kinds.get(type(value), "a number")
    raise InvalidInput(f"{name} must be {expected}, and is {kind}", field=field)
