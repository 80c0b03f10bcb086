"""Inspecting an export line by line: its form, its order, every chain and hash, its last line.

It keeps each stream's head, and nothing else of what has passed; what it knows can be carried to
the next piece of the file. Writing is `app.importing`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.app.verify import find_body_fault, find_fault
from remembrancer.core.errors import CorruptData, InvalidInput
from remembrancer.core.ids import is_namespace
from remembrancer.core.ledger.body_types import find_type_fault
from remembrancer.core.ledger.events import GENESIS, decode_body
from remembrancer.core.ledger.transfer import Line, Tally, parse_line, rank_of
from remembrancer.store.projections import PROJECTORS
from remembrancer.store.verify import StoredEvent

Place = tuple[str, str]
"""A stream: its namespace and its name."""


@dataclass(frozen=True, slots=True)
class BegunArtifact:
    """An artifact whose chunks are passing.

    *Shape:* `number` its line's; `chars` and `chunks` what has passed, of `chars_total`.
    """

    number: int
    namespace: str
    id: str
    sha256: str
    chars_total: int
    chars: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """How far the lines of a file were inspected: what goes from one piece of it to the next.

    *Shape:* `number` lines; `position` the last event's in the file; `namespace` the header's.
    """

    number: int
    rank: int
    position: int
    namespace: str | None
    counts: Mapping[str, int]
    chain: str
    artifact: BegunArtifact | None


class Inspection:
    """One walk over the lines of a file, or over one piece of it; a fault names its line.

    It goes on behind what was `checked`. `heads` are where streams stood before that: one that is
    missing begins here, or where it is lenient is taken as its first line says. `texts` are the
    chunks of the artifact that was begun; without them its hash is not compared.
    """

    def __init__(
        self,
        checked: Checked | None = None,
        *,
        heads: Mapping[Place, tuple[int, str]] | None = None,
        texts: Sequence[str] | None = None,
        is_lenient: bool = False,
    ) -> None:
        self.tally = Tally() if checked is None else Tally(checked.counts, checked.chain)
        self.namespace = None if checked is None else checked.namespace
        self._is_lenient = is_lenient
        self._number = 0 if checked is None else checked.number
        self._position = 0 if checked is None else checked.position
        self._rank = -1 if checked is None else checked.rank
        self._heads = {
            place: (version, bytes.fromhex(chain))
            for place, (version, chain) in (heads or {}).items()
        }
        self._artifact = None if checked is None else checked.artifact
        self._digest: hashlib._Hash | None = None
        if texts is not None:
            self._digest = hashlib.sha256("".join(texts).encode())

    def lines(self, source: Iterable[bytes]) -> Iterator[Line]:
        """Give the lines of a whole file, each of them checked, the header and the last one not.

        *Raises:* InvalidInput, CorruptData; at the end also when the last line is missing.
        """
        for raw in source:
            line = self.take(raw)
            if line.kind not in ("header", "end"):
                yield line
        self.tally.check_ended(self._number)

    def take(self, raw: bytes, line: Line | None = None) -> Line:
        """Return the next line, checked; `line` when it was parsed before.

        *Raises:* InvalidInput, CorruptData.
        """
        self._number += 1
        line = line or parse_line(raw, self._number)
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
            self._begin_artifact(line)
        elif line.kind == "chunk":
            self._take_chunk(line)
        if line.kind == "end":
            self.tally.take_end(line, self._number)
        else:
            self.tally.add(line.kind, raw)
        return line

    def checked(self) -> Checked:
        """Return how far it is."""
        return Checked(
            number=self._number,
            rank=self._rank,
            position=self._position,
            namespace=self.namespace,
            counts=dict(self.tally.counts),
            chain=self.tally.chain,
            artifact=self._artifact,
        )

    def _check_namespace(self, namespace: str) -> None:
        if not is_namespace(namespace) or self.namespace not in (None, namespace):
            raise self._broken(f"is of the namespace {namespace[:64]!r}")

    def _take_event(self, stored: StoredEvent) -> None:
        if stored.position <= self._position:
            raise self._broken(f"has position {stored.position} after {self._position}")
        self._position = stored.position
        place = (stored.namespace, stored.stream)
        version, chain = self._heads.get(place, (0, bytes.fromhex(GENESIS)))
        is_known = not self._is_lenient or place in self._heads or stored.version == 1
        what = find_fault(stored, chain.hex(), version) if is_known else find_body_fault(stored)
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
            self._check_body(stored, stored.body)

    def _check_body(self, stored: StoredEvent, body: str) -> None:
        try:
            changes, note = decode_body(stored.kind, body)
        except CorruptData as error:
            raise CorruptData(f"line {self._number}: {error.message}", hint=error.hint) from error
        area = stored.stream.partition("/")[0]
        what = find_type_fault(area, stored.version, stored.kind, changes, note)
        if what is not None:
            raise CorruptData(
                f"line {self._number}: the event of {stored.stream[:64]!r} {what}",
                hint="no version of this program writes that; import a file that was exported",
            )

    def _begin_artifact(self, line: Line) -> None:
        self._digest = hashlib.sha256()
        self._artifact = BegunArtifact(
            self._number,
            line.text("namespace"),
            line.text("id"),
            line.text("sha256"),
            line.number("chars"),
        )

    def _take_chunk(self, line: Line) -> None:
        held = self._artifact
        if held is None or (
            line.text("artifact_id"),
            line.text("namespace"),
            line.number("number"),
        ) != (held.id, held.namespace, held.chunks):
            raise self._broken("is a chunk of another artifact")
        text = line.text("text")
        self._artifact = replace(held, chars=held.chars + len(text), chunks=held.chunks + 1)
        if self._digest is not None:
            self._digest.update(text.encode())

    def _end_artifact(self) -> None:
        held, self._artifact = self._artifact, None
        if held is None:
            return
        digest = held.sha256 if self._digest is None else self._digest.hexdigest()
        if (held.chars, digest) != (held.chars_total, held.sha256):
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
