"""Identifiers: a short prefix and 26 sortable characters (the ULID layout), made from arguments.

Not a source of randomness or time: both are handed in by the runtime port. Every ring may
import it.
"""

from __future__ import annotations

import re
from typing import Final, NewType

Namespace = NewType("Namespace", str)
"""One person's or team's memory; every row and key belongs to one."""

Stream = NewType("Stream", str)
"""Name of one thing's events: `item/<id>`, `project/<id>`, `relations`, …"""

PREFIXES: Final = tuple(
    "itm prj top key req art stp evt cur msg rec pcz glo run rcl usg cnd".split()
)
"""Prefixes in use: item, project, topic, key, request, artifact, step, event, candidate, run, …"""

RANDOM_BYTES: Final = 10
"""Random bytes of one identifier (80 bits). Source: the ULID layout."""

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PATTERN: Final = re.compile(r"[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}")
_NAMESPACE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def make_id(prefix: str, at_ms: int, random: bytes) -> str:
    """Return `<prefix>_` and 26 Crockford characters that sort by time.

    *Shape:* `random` is `RANDOM_BYTES` long. *Units:* `at_ms` milliseconds since the epoch, UTC.
    """
    assert prefix in PREFIXES and len(random) == RANDOM_BYTES
    number = (at_ms << 80) | int.from_bytes(random, "big")
    digits = []
    for _ in range(26):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return f"{prefix}_{''.join(reversed(digits))}"


def is_id(text: str, prefix: str) -> bool:
    """Tell whether the text has the form of an identifier with this prefix."""
    return text.startswith(prefix + "_") and _PATTERN.fullmatch(text) is not None


def is_namespace(text: str) -> bool:
    """Tell whether the text can name a namespace: 1–64 of letters, digits, `.`, `_`, `-`."""
    return _NAMESPACE.fullmatch(text) is not None


def item_stream(item_id: str) -> Stream:
    """Name the stream of one item."""
    return Stream(f"item/{item_id}")


def project_stream(project_id: str) -> Stream:
    """Name the stream of one project."""
    return Stream(f"project/{project_id}")


def topic_stream(topic_id: str) -> Stream:
    """Name the stream of one topic."""
    return Stream(f"topic/{topic_id}")


def key_stream(key_id: str) -> Stream:
    """Name the stream of one access key."""
    return Stream(f"key/{key_id}")


RELATIONS: Final = Stream("relations")
"""All relations of the namespace: one stream, so that two writers cannot close a circle."""

SETTINGS: Final = Stream("settings")
"""The namespace's own settings."""

PRECIOUS: Final = Stream("precious")
"""All precious quotes of the namespace."""

GLOSSARY: Final = Stream("glossary")
"""All glossary entries of the namespace: one stream, since no name may be in two entries."""

DIGEST: Final = Stream("digest")
"""The namespace's digest; its versions are the stream's events."""

SHARED: Final = frozenset({RELATIONS, SETTINGS, PRECIOUS, GLOSSARY, DIGEST})
"""Streams that a whole namespace shares: their record is read from its table, not replayed."""
