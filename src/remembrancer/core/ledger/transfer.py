"""The lines of an export: JSON Lines that hold a ledger whole, in one order and one spelling.

A file is a header, the events in ledger order, artifacts with their chunks, counters of use, and
a last line with counts and the chained hash of all lines before it. It holds no clock. Pure:
reading files and checking events' chains is done elsewhere. Every ring may import it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from remembrancer.core.dates.zones import is_within_years
from remembrancer.core.errors import CorruptData, InvalidInput
from remembrancer.core.jsontext import parse_json
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.values import JSON, canonical_json

FORMAT: Final = "remembrancer-export"
"""What the first line names, so that no other file is taken for an export."""

TRANSFER_SCHEMA: Final = 2
"""Schema number of the lines; raised when a line's members change. Bodies have their own. In the
first the last line had the SHA-256 of all bytes, which cannot be carried from piece to piece."""

LINE_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of one line: a body of 2 MB whose every sign needs escaping fits twice over. Our choice."""

_TEXT: Final = (str,)
_NUMBER: Final = (int,)
_MAYBE_TEXT: Final = (str, type(None))
_MAYBE_NUMBER: Final = (int, type(None))
_ORDER: Final[Mapping[str, int]] = MappingProxyType(
    {"header": 0, "event": 1, "artifact": 2, "chunk": 2, "use": 3, "key_use": 4, "end": 5}
)

MORE: Final = "more"
"""The kind of the line behind a piece of an export that goes on."""

KINDS: Final = tuple(_ORDER)
"""Every kind of line, in the order in which they may come."""

_MEMBERS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = MappingProxyType(
    {
        "header": {
            "format": _TEXT,
            "schema": _NUMBER,
            "namespace": _MAYBE_TEXT,
            "keys": (bool,),
        },
        "event": {
            "position": _NUMBER,
            "namespace": _TEXT,
            "stream": _TEXT,
            "version": _NUMBER,
            "kind": _TEXT,
            "actor": _TEXT,
            "at_ms": _NUMBER,
            "cause": _TEXT,
            "body": _MAYBE_TEXT,
            "salt": _MAYBE_TEXT,
            "body_hash": _TEXT,
            "chain": _TEXT,
        },
        "artifact": {
            "namespace": _TEXT,
            "id": _TEXT,
            "item_id": _TEXT,
            "sha256": _TEXT,
            "chars": _NUMBER,
            "created_at": _NUMBER,
        },
        "chunk": {
            "namespace": _TEXT,
            "artifact_id": _TEXT,
            "number": _NUMBER,
            "text": _TEXT,
        },
        "use": {
            "namespace": _TEXT,
            "item_id": _TEXT,
            "recall_count": _NUMBER,
            "last_recalled_at": _MAYBE_NUMBER,
            "seen_count": _NUMBER,
            "last_seen_at": _MAYBE_NUMBER,
        },
        "key_use": {"namespace": _TEXT, "key_id": _TEXT, "last_used_at": _NUMBER},
        "end": {"counts": (dict,), "chain": _TEXT},
        # Stands behind a piece that is not the last one, and is no part of the file.
        "more": {"cursor": _TEXT},
    }
)
_TIMES: Final = frozenset(
    {"at_ms", "created_at", "last_recalled_at", "last_seen_at", "last_used_at"}
)
"""Members that are moments, in milliseconds UTC."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_FIRST_END: Final = {"counts": (dict,), "sha256": _TEXT}
"""Members of the last line of a file of the first schema."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, read: its kind, and its members by name."""

    kind: str
    members: Mapping[str, JSON]

    def text(self, name: str) -> str:
        """Return a member that is a text."""
        return str(self.members[name])

    def number(self, name: str) -> int:
        """Return a member that is a number."""
        return int(str(self.members[name]))


def members_of(kind: str) -> tuple[str, ...]:
    """Return the names of a kind's members, in the order of their table's columns."""
    return tuple(_MEMBERS[kind])


def rank_of(kind: str) -> int:
    """Return a kind's place in a file: no line comes after one of a higher rank.

    *Shape:* -1 for one that is no part of a file.
    """
    return _ORDER.get(kind, -1)


def encode_line(kind: str, members: Mapping[str, object]) -> bytes:
    """Return the one spelling of a line, in UTF-8 with its line feed."""
    return canonical_json({"line": kind, **members}).encode() + b"\n"


def more_line(cursor: str) -> bytes:
    """Return the line behind a piece of an export that goes on at a cursor."""
    return encode_line(MORE, {"cursor": cursor})


def header_line(namespace: str | None, *, with_keys: bool) -> bytes:
    """Return the first line of a file. *Shape:* no namespace means all of them."""
    members = {
        "format": FORMAT,
        "schema": TRANSFER_SCHEMA,
        "namespace": namespace,
        "keys": with_keys,
    }
    return encode_line("header", members)


def parse_line(raw: bytes, number: int) -> Line:
    """Return a line of a file, read and checked for its form.

    *Shape:* `number` is the line's, from 1, for messages.
    *Raises:* CorruptData for a line that was cut or is none of ours, InvalidInput for a file that
    is no export or one of a newer program.
    """
    if not raw.endswith(b"\n"):
        what = "is too long" if len(raw) >= LINE_BYTES_MAX else "is cut"
        raise CorruptData(f"line {number} {what}", hint="the file is not whole; export again")
    try:
        held = parse_json(raw)
    except (ValueError, RecursionError) as error:
        raise _strange(number, "is not JSON") from error
    if not isinstance(held, dict) or not isinstance(held.get("line"), str):
        raise _strange(number, "is not a line of an export")
    kind = held.pop("line")
    if number == 1:
        _check_header(kind, held)
    members = _FIRST_END if kind == "end" and "sha256" in held else _MEMBERS.get(kind)
    if members is None:
        raise _strange(number, f"is of an unknown kind {kind[:40]!r}")
    if held.keys() != members.keys():
        raise _strange(number, f"does not have the members of {kind!r}")
    for name, types in members.items():
        value = held[name]
        if type(value) not in types:
            raise _strange(number, f"has a {name!r} of another type")
        if type(value) is int and not _can_be(name, value):
            raise _strange(number, f"has a {name!r} that cannot be")
        if type(value) is str and _SURROGATE.search(value):
            raise _strange(number, f"has half of a surrogate pair in its {name!r}")
    return Line(kind, held)


def _can_be(name: str, value: int) -> bool:
    # A time beyond those that answers can show would break every list that holds it.
    return is_within_years(value) if name in _TIMES else abs(value) <= INTEGER_MAX


def _check_header(kind: str, held: Mapping[str, object]) -> None:
    schema = held.get("schema")
    if kind != "header" or held.get("format") != FORMAT or type(schema) is not int:
        raise _strange(1, "is not the first line of an export")
    if schema > TRANSFER_SCHEMA:
        raise InvalidInput(
            f"the file has schema {schema!r}, this program reads up to {TRANSFER_SCHEMA}",
            hint="run the newest version",
            field="file",
        )


def _strange(number: int, what: str) -> InvalidInput | CorruptData:
    if number == 1:
        return InvalidInput(
            f"line 1 {what}", hint="choose a file that 'remembrancer export' wrote", field="file"
        )
    return CorruptData(f"line {number} {what}", hint="the file is not as it was written")


_START: Final = "0" * 64


class Tally:
    """Counts and chains lines as they pass, so that the last one can be written or checked.

    *Shape:* one that goes on takes the counts and the chain of the lines before it; of a file of
    the first schema it can check the counts alone then.
    """

    def __init__(self, counts: Mapping[str, int] | None = None, chain: str = _START) -> None:
        self._hash = hashlib.sha256()
        self._chain = bytes.fromhex(chain)
        self._is_whole = counts is None
        self.counts: Counter[str] = Counter(counts)
        self.is_ended = False

    def add(self, kind: str, raw: bytes) -> None:
        """Count a line that stands before the last."""
        self._hash.update(raw)
        self._chain = hashlib.sha256(self._chain + raw).digest()
        self.counts[kind] += 1

    @property
    def chain(self) -> str:
        """SHA-256 over the chain before and the line, line by line, as hexadecimal text."""
        return self._chain.hex()

    def members(self) -> dict[str, JSON]:
        """Return the members of the last line."""
        return {"counts": self._counted(), "chain": self.chain}

    def end_line(self) -> bytes:
        """Return the last line of a file."""
        return encode_line("end", self.members())

    def take_end(self, line: Line, number: int) -> None:
        """Check the last line against what passed. *Raises:* CorruptData."""
        self.is_ended = True
        expected = self.members()
        if "sha256" in line.members:
            sha256 = self._hash.hexdigest() if self._is_whole else line.members["sha256"]
            expected = {"counts": self._counted(), "sha256": sha256}
        if dict(line.members) != expected:
            raise CorruptData(
                f"line {number} does not confirm the lines before it",
                hint="the file is not as it was written; export again",
            )

    def check_ended(self, number: int) -> None:
        """Check that a last line came. *Raises:* CorruptData."""
        if not self.is_ended:
            raise CorruptData(
                f"the file ends after line {number}, without its last line",
                hint="the file is not whole; export again",
            )

    def _counted(self) -> dict[str, JSON]:
        counted = [kind for kind in KINDS if kind not in ("header", "end")]
        return {f"{kind}s": self.counts[kind] for kind in counted}
