"""The text of a memory: how it becomes title and content, and how it is put together again.

A memory is one statement; an item has a title and a content. What fits a title has no content.
Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.core.artifacts import sha256_of
from remembrancer.core.capture import CAPTURE_TITLE_CHARS_MAX
from remembrancer.core.errors import InvalidInput
from remembrancer.core.text.fold import clean, fold
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.values import JSON


def worded(text: str) -> tuple[str, str | None]:
    """Return title and content of a statement, as a captured line has them.

    *Shape:* the content is None when the title holds everything. *Raises:* InvalidInput for a
    text without anything to see.
    """
    text = clean(text).strip()
    if not fold(text):
        raise InvalidInput("the content is empty", hint="say what is to be kept", field="content")
    if "\n" not in text and len(text) <= CAPTURE_TITLE_CHARS_MAX:
        return text, None
    first = next(line.strip() for line in text.splitlines() if fold(line))
    return shorten(first, CAPTURE_TITLE_CHARS_MAX), text


def content_of(fields: Mapping[str, JSON]) -> str:
    """Return what a memory says, as a memory's door shows it: its content, else its title."""
    return str(fields.get("content") or fields.get("title") or "")


def whole_of(fields: Mapping[str, JSON]) -> str:
    """Return all that a memory says: its title too, unless its content begins with it."""
    title, content = str(fields.get("title") or ""), str(fields.get("content") or "")
    if not content or content.startswith(title.rstrip("…").rstrip()):
        return content or title
    return f"{title}\n{content}"


def is_kept_apart(fields: Mapping[str, JSON], text: str) -> bool:
    """Tell whether a memory's text was too large for it and is, as an artifact, this very text."""
    if fields.get("artifact_id") is None:
        return False
    return sha256_of(clean(text)) in str(fields.get("content"))
