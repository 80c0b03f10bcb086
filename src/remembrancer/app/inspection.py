"""Inspecting an export line by line: its form, its order, every chain and hash, its last line.

It keeps each stream's head, and nothing else of what has passed. Writing is `app.importing`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from remembrancer.app.verify import find_fault
from remembrancer.core.errors import CorruptData, InvalidInput
from remembrancer.core.ids import is_namespace
from remembrancer.core.ledger.events import GENESIS, decode_body
from remembrancer.core.ledger.transfer import Line, Tally, parse_line, rank_of
from remembrancer.store.projections import PROJECTORS
from remembrancer.store.verify import StoredEvent


@dataclass(slots=True)
class _Artifact:
    """An artifact whose chunks are passing."""

    line: Line
    number: int
    digest: hashlib._Hash
    chars: int = 0
    chunks: int = 0


class Inspection:
    """One walk over the lines of a file; a fault names its line."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.namespace: str | None = None
        self._number = 0
        self._position = 0
        self._rank = -1
        self._heads: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._artifact: _Artifact | None = None

    def lines(self, source: Iterable[bytes]) -> Iterator[Line]:
        """Give the lines of a file, each of them checked, the header and the last one not.

        *Raises:* InvalidInput, CorruptData; at the end also when the last line is missing.
        """
        for raw in source:
            self._number += 1
            line = self._take(raw)
            if line.kind == "end":
                self.tally.take_end(line, self._number)
                continue
            self.tally.add(line.kind, raw)
            if line.kind != "header":
                yield line
        self.tally.check_ended(self._number)

    def _take(self, raw: bytes) -> Line:
        line = parse_line(raw, self._number)
        if self.tally.is_ended or rank_of(line.kind) < max(self._rank, int(self._number > 1)):
            raise self._broken(f"is a line of {line.kind!r} in the wrong place")
        self._rank = rank_of(line.kind)
        if line.kind == "header":
            self.namespace = None if line.members["namespace"] is None else line.text("namespace")
        elif line.kind != "end":
            self._check_namespace(line.text("namespace"))
        if line.kind != "chunk":
            self._end_artifact()
        if line.kind == "event":
            self._take_event(stored_of(line))
        elif line.kind == "artifact":
            self._artifact = _Artifact(line, self._number, hashlib.sha256())
        elif line.kind == "chunk":
            self._take_chunk(line)
        return line

    def _check_namespace(self, namespace: str) -> None:
        if not is_namespace(namespace) or self.namespace not in (None, namespace):
            raise self._broken(f"is of the namespace {namespace[:64]!r}")

    def _take_event(self, stored: StoredEvent) -> None:
        if stored.position <= self._position:
            raise self._broken(f"has position {stored.position} after {self._position}")
        self._position = stored.position
        place = (stored.namespace, stored.stream)
        version, chain = self._heads.get(place, (0, bytes.fromhex(GENESIS)))
        what = find_fault(stored, chain.hex(), version)
        if what is not None:
            raise self._broken(f"breaks {stored.stream[:64]!r}: {what}")
        self._heads[place] = (stored.version, bytes.fromhex(stored.chain))
        if stored.stream.partition("/")[0] not in PROJECTORS:
            raise InvalidInput(
                f"line {self._number} is of an unknown kind of stream {stored.stream[:64]!r}",
                hint="run the newest version",
                field="file",
            )
        if stored.body:
            self._check_body(stored.kind, stored.body)

    def _check_body(self, kind: str, body: str) -> None:
        try:
            decode_body(kind, body)
        except CorruptData as error:
            raise CorruptData(f"line {self._number}: {error.message}", hint=error.hint) from error
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._broken(f"holds no body of a {kind[:40]!r} event") from error

    def _take_chunk(self, line: Line) -> None:
        held = self._artifact
        if (
            held is None
            or line.text("artifact_id") != held.line.text("id")
            or line.text("namespace") != held.line.text("namespace")
            or line.number("number") != held.chunks
        ):
            raise self._broken("is a chunk of another artifact")
        held.chunks += 1
        held.chars += len(line.text("text"))
        held.digest.update(line.text("text").encode())

    def _end_artifact(self) -> None:
        held, self._artifact = self._artifact, None
        if held is None:
            return
        is_whole = held.chars == held.line.number("chars")
        if not is_whole or held.digest.hexdigest() != held.line.text("sha256"):
            raise CorruptData(
                f"line {held.number} begins an artifact that is not what was stored",
                hint="the file is not as it was written; export again",
            )

    def _broken(self, what: str) -> CorruptData:
        return CorruptData(
            f"line {self._number} {what}",
            hint="the file is not as it was written; export again",
        )


def stored_of(line: Line) -> StoredEvent:
    """Return the event in a line, in its stored form."""
    body, salt = line.members["body"], line.members["salt"]
    return StoredEvent(
        namespace=line.text("namespace"),
        stream=line.text("stream"),
        version=line.number("version"),
        position=line.number("position"),
        kind=line.text("kind"),
        actor=line.text("actor"),
        at_ms=line.number("at_ms"),
        cause=line.text("cause"),
        body=None if body is None else str(body),
        salt=None if salt is None else str(salt),
        body_hash=line.text("body_hash"),
        chain=line.text("chain"),
    )
