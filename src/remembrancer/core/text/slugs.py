"""Slugs of projects and topics, and the identity of tags, in any script.

A slug is what stands in a path; a tag key is what two spellings of one tag share. Names as typed
are kept beside them. Any ring may import it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import TAG_CHARS_MAX, TAGS_MAX
from remembrancer.core.text.fold import clean, fold
from remembrancer.core.text.graphemes import cut, shorten

SLUG_CHARS_MAX: Final = 80
"""Characters of a slug, suffix included. Our choice: three bytes each still fit a KV key."""

SLUG_NUMBERS: Final = 49
"""Largest number behind a slug that is looked for: more names with one slug do not occur."""

TAG_DISPLAY_CHARS_MAX: Final = 2 * TAG_CHARS_MAX
"""Characters of a tag as shown. Our choice: combined characters may be longer than their key."""

_SEPARATOR_RUN: Final = re.compile(r"[-_\s]*[_\s][-_\s]*")


def slugify(name: str) -> str:
    """Returns the slug of a name: letters, digits and their marks, everything else as `-`.

    *Shape:* 1…80 characters, folded, no `-` at an end and none doubled; Chinese stays Chinese.
    *Raises:* InvalidInput (field `name`) when no letter or digit remains.
    *Promise:* idempotent.
    """
    parts: list[str] = []
    for char in fold(name):
        kind = unicodedata.category(char)[0]
        is_kept = kind in "LN" or (kind == "M" and bool(parts) and parts[-1] != "-")
        if is_kept:
            parts.append(char)
        elif parts and parts[-1] != "-":
            parts.append("-")
    slug = cut("".join(parts).strip("-"), SLUG_CHARS_MAX).strip("-")
    if not slug:
        raise InvalidInput(
            f"name {shorten(clean(name), SLUG_CHARS_MAX)!r} has no letter or digit",
            hint="use a name with at least one letter or digit, in any script",
            field="name",
        )
    return slug


def numbered_slugs(name: str) -> list[str]:
    """Returns the slugs under which a name can be stored: its slug, then `slug-2`, `slug-3` …

    *Raises:* InvalidInput (field `name`) when the name has no slug.
    """
    slug = slugify(name)
    suffixes = [f"-{number}" for number in range(2, SLUG_NUMBERS + 1)]
    return [slug, *(_numbered(slug, suffix) for suffix in suffixes)]


def _numbered(slug: str, suffix: str) -> str:
    return cut(slug, SLUG_CHARS_MAX - len(suffix)).rstrip("-") + suffix


def slug_ranges(name: str) -> list[tuple[str, str]]:
    """Returns the ranges of text, each with its end left out, that hold all `numbered_slugs`.

    *Shape:* one range, or up to three for a slug so long that it is cut for its number; slugs
    that go on after a number lie in them, too. *Raises:* as `numbered_slugs`.
    """
    slug = slugify(name)
    # Behind `-` come the digits, behind those `:`.
    stems = dict.fromkeys(_numbered(slug, suffix)[: -len(suffix)] for suffix in ("-2", "-10"))
    if slug in stems:
        return [(slug, f"{slug}-:"), *((f"{stem}-", f"{stem}-:") for stem in stems if stem != slug)]
    return [(slug, f"{slug}-"), *((f"{stem}-", f"{stem}-:") for stem in stems)]


def tag_key(tag: str) -> str:
    """Returns what identifies a tag: folded, without leading `#`, spaces and `_` as one `-`.

    *Shape:* 1…64 characters. Other punctuation stays: `c++`, `c#`, `node.js`, `a/b`.
    *Raises:* InvalidInput (field `tags`) when empty or too long.
    *Promise:* idempotent.
    """
    key = _SEPARATOR_RUN.sub("-", fold(tag).lstrip("# _").rstrip(" _"))
    if not key.strip("-"):
        raise InvalidInput(
            f"tag {shorten(clean(tag), TAG_CHARS_MAX)!r} is empty",
            hint="give a tag at least one letter, digit or sign besides '#', '-' and '_'",
            field="tags",
        )
    if len(key) > TAG_CHARS_MAX:
        raise InvalidInput(
            f"tag {shorten(key, TAG_CHARS_MAX)!r} has {len(key)} characters",
            hint=f"a tag has at most {TAG_CHARS_MAX} characters",
            field="tags",
        )
    return key


def normalise_tags(tags: Iterable[str]) -> list[tuple[str, str]]:
    """Returns (key, display) of each different tag, in the order of first mention.

    *Shape:* at most 50 pairs; `display` is the first spelling, trimmed, without leading `#`.
    *Raises:* InvalidInput (field `tags`) for an empty or overlong tag, or for a 51st.
    """
    found: dict[str, str] = {}
    for tag in tags:
        key = tag_key(tag)
        if key not in found:
            found[key] = _tag_display(tag, key)
    if len(found) > TAGS_MAX:
        raise InvalidInput(
            f"{len(found)} different tags were given",
            hint=f"an item has at most {TAGS_MAX} tags",
            field="tags",
        )
    return list(found.items())


def _tag_display(tag: str, key: str) -> str:
    display = " ".join(clean(tag).split()).lstrip("#＃ ")
    # A spelling that is mostly invisible characters is shown by its key.
    return display if 0 < len(display) <= TAG_DISPLAY_CHARS_MAX else key
