"""Bodies: read with a cap, of an accepted media type.

Parsing is in `parsing.py`. A body over the cap is never held in memory; a little of the rest is
read and dropped, so that an ordinary client sees the answer instead of a broken connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from remembrancer.http.errors import DoorError

DRAIN_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes beyond the cap that are read and dropped before the answer. Our choice."""

JSON_TYPES: Final = ("application/json", "application/*+json")
"""Media types of a JSON body."""


async def read_body(receive: Receive, headers: Mapping[str, str], *, bytes_max: int) -> bytes:
    """Return the whole body.

    *Raises:* DoorError `payload_too_large` or `invalid_input`; ClientDisconnect.
    """
    announced = _announced(headers)
    if announced is not None and announced > bytes_max + DRAIN_BYTES_MAX:
        raise _too_large(bytes_max)
    chunks: list[bytes] = []
    size = 0
    is_more = True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size <= bytes_max:
            chunks.append(chunk)
        else:
            chunks.clear()
        if size > bytes_max + DRAIN_BYTES_MAX:
            break
        is_more = message.get("more_body", False)
    if size > bytes_max:
        raise _too_large(bytes_max)
    return b"".join(chunks)


def check_media_type(headers: Mapping[str, str], accepted: Sequence[str]) -> None:
    """Check the `Content-Type`; a body without one is taken as the first accepted type.

    *Raises:* DoorError `unsupported_media_type`.
    """
    header = headers.get("content-type", "").strip()
    if not header:
        return
    essence, *parameters = (part.strip().lower() for part in header.split(";"))
    charsets = [part[8:].strip('"') for part in parameters if part.startswith("charset=")]
    is_utf8 = all(charset in ("utf-8", "utf8", "us-ascii") for charset in charsets)
    if is_utf8 and any(_matches(essence, pattern) for pattern in accepted):
        return
    raise DoorError(
        "unsupported_media_type",
        f"the body is {header[:80]!r}, which is not taken here",
        hint=f"send it as {accepted[0]} in UTF-8",
    )


def _matches(essence: str, pattern: str) -> bool:
    if pattern in ("*/*", essence):
        return True
    main, _, rest = pattern.partition("/*")
    return bool(_) and essence.startswith(main + "/") and essence.endswith(rest)


def _announced(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise DoorError("invalid_input", f"content-length is {text[:40]!r}, not a number")
    return int(text[:20])


def _too_large(bytes_max: int) -> DoorError:
    return DoorError(
        "payload_too_large",
        f"the body has more than {bytes_max} bytes",
        hint="send less at once, or raise BODY_BYTES_MAX (for chats CHAT_BODY_BYTES_MAX)",
    )
