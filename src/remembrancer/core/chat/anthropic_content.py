"""One message's content: parts of Chat Completions as blocks of the Messages API.

Blocks that already have the other form pass as they are. Turns and tool rounds are put together
in `anthropic_turns`. Any ring may import it.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from remembrancer.core.chat.request import TEXT_PARTS
from remembrancer.core.chat.shapes import Body, object_of, parts_of, read_object, string_of
from remembrancer.core.chat.wrapping import split_block

_DATA_URL: Final = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.DOTALL)
_NATIVE: Final = frozenset(
    {"image", "document", "search_result", "container_upload", "tool_reference"}
)
"""Blocks of the Messages API that may stand in a user's turn or a result, and pass as they are."""
_ARGUMENTS_KEY: Final = "arguments"
"""Under it arguments are kept that are no JSON object. Our choice: nothing is lost, and the next
turn is not refused."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a translation left out or changed. *Shape:* `field` of the request, `reason`."""

    field: str
    reason: str


@dataclass(slots=True)
class Notes:
    """Collects notes, each once, in order."""

    items: list[Note] = field(default_factory=list)

    def add(self, name: str, reason: str) -> None:
        """Keep one note."""
        note = Note(name, reason)
        if note not in self.items:
            self.items.append(note)


def blocks_of(content: object, notes: Notes, *, field: str) -> list[Body]:
    """Return the blocks of a message's content.

    *Shape:* no empty text, which the API refuses; a mark for the cache stays with its block; a
    text that ends with a block of ours is taken apart in two.
    """
    blocks: list[Body] = []
    for part in parts_of(content):
        made = _blocks_of_part(part, notes, field=field)
        mark = part.get("cache_control") or (
            {"type": "ephemeral"} if part.get("prompt_cache_breakpoint") else None
        )
        if isinstance(mark, dict) and (made or blocks):
            (made[0] if made else blocks[-1])["cache_control"] = mark
        blocks += made
    return blocks


def texts_of(content: object, notes: Notes, *, field: str) -> list[Body]:
    """Return the text blocks of a system message; what is no text is left out with a note."""
    blocks = blocks_of(content, notes, field=field)
    if any(block["type"] != "text" for block in blocks):
        notes.add(field, "instructions are text only; the rest of this message is left out")
    return [block for block in blocks if block["type"] == "text"]


def text_block(text: str) -> Body:
    """Return a text block."""
    return {"type": "text", "text": text}


def input_of(arguments: object, notes: Notes, *, field: str) -> Body:
    """Return the input of a call: the object that its arguments are; {} for none.

    Arguments that are no object are kept as text under `arguments`, since the API takes objects
    only and one broken call must not spoil every later turn.
    """
    if isinstance(arguments, dict):
        return arguments
    text = string_of(arguments)
    if not text.strip():
        return {}
    value = read_object(text)
    if value is None:
        notes.add(field, "the arguments are no JSON object; they are sent on as text")
        return {_ARGUMENTS_KEY: text}
    return value


def _blocks_of_part(part: Body, notes: Notes, *, field: str) -> list[Body]:
    kind = string_of(part.get("type"))
    if kind in TEXT_PARTS or kind == "refusal":
        text = string_of(part.get("text") if kind != "refusal" else part.get("refusal"))
        own, ours = split_block(text)
        made = [text_block(piece) for piece in (own, ours) if piece.strip()]
        if made and isinstance(part.get("citations"), list):
            made[0]["citations"] = part["citations"]
        return made
    if kind in _NATIVE:
        return [{key: value for key, value in part.items() if key != "cache_control"}]
    if kind in ("image_url", "input_image"):
        return _image(part.get("image_url"), notes, field=field)
    if kind == "file":
        return _file(object_of(part.get("file")), notes, field=field)
    return _left_out(kind or "a part without a type", notes, field=field)


def _image(image: object, notes: Notes, *, field: str) -> list[Body]:
    address = image if isinstance(image, str) else string_of(object_of(image).get("url"))
    if address.startswith("data:"):
        decoded = _data_url(address)
        if decoded is not None:
            return [{"type": "image", "source": _base64_source(*decoded)}]
    elif address:
        return [{"type": "image", "source": {"type": "url", "url": address}}]
    return _left_out("a picture that cannot be read", notes, field=field)


def _file(file: Body, notes: Notes, *, field: str) -> list[Body]:
    title = string_of(file.get("filename"))
    file_id, data = string_of(file.get("file_id")), string_of(file.get("file_data"))
    source: Body | None = None
    if data:
        media_type, content = _data_url(data) or ("application/pdf", data)
        if media_type.startswith("image/"):
            return [{"type": "image", "source": _base64_source(media_type, content)}]
        if media_type == "application/pdf":
            source = _base64_source(media_type, content)
        elif (text := _utf8(content)) is not None:
            source = {"type": "text", "media_type": "text/plain", "data": text}
    elif file_id.startswith("file_"):
        source = {"type": "file", "file_id": file_id}
    elif file_url := string_of(file.get("file_url")):
        source = {"type": "url", "url": file_url}
    if source is None:
        return _left_out(f"the file {title!r}" if title else "a file", notes, field=field)
    return [{"type": "document", "source": source, **({"title": title} if title else {})}]


def _left_out(what: str, notes: Notes, *, field: str) -> list[Body]:
    notes.add(field, f"this model does not take {what}")
    return [text_block(f"[{what}: not shown, this model does not take it]")]


def _base64_source(media_type: str, data: str) -> Body:
    return {"type": "base64", "media_type": media_type, "data": data}


def _data_url(address: str) -> tuple[str, str] | None:
    """The media type and the base64 of a data URL, or None."""
    found = _DATA_URL.fullmatch(address)
    if found is None:
        return None
    media_type = found[1].strip().lower() or "text/plain"
    if "base64" in found[2].lower().split(";"):
        return media_type, found[3].strip()
    return media_type, base64.b64encode(unquote_to_bytes(found[3])).decode()


def _utf8(data: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
