"""Events: drafted by a decision, placed in a stream, sealed by a chain of hashes.

The chain of a stream runs over each event's envelope and the hash of its salted body, so a body
can be forgotten while the chain still verifies. Pure: salts come in as arguments. Every ring may
import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core.errors import CorruptData
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.jsontext import parse_json
from remembrancer.core.ledger.changes import Changes, Fields, apply_changes
from remembrancer.core.values import JSON, canonical_json

SCHEMA: Final = 1
"""Schema number written into new event bodies; older ones are raised by UPCASTERS."""

GENESIS: Final = "0" * 64
"""Chain value before a stream's first event."""

FORGOTTEN: Final = "ItemForgotten"
"""Kind of the event after which a record has no fields: its earlier bodies are emptied."""

PURGED: Final = "ItemPurged"
"""Kind of the event by which retention ends a record: as after forgetting, without a tombstone."""

ENDINGS: Final = frozenset({FORGOTTEN, PURGED})
"""Kinds after which nothing of a record is left but the envelopes of its events."""

SALT_BYTES: Final = 16
"""Bytes of a body's salt: makes the hash of a forgotten short text useless for guessing."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event as a decision gives it: what changed, and what else is worth keeping of it.

    *Shape:* `kind` past tense (`ItemSuperseded`); `note` small JSON values such as a reason.
    """

    kind: str
    changes: Changes = field(default_factory=dict)
    note: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """One immutable fact about a change.

    *Shape:* `version` counts from 1 in its stream; `position` from 1 in the ledger, 0 while not
    yet written; `changes` and `note` are empty when the body was forgotten. *Units:* `at_ms` UTC.
    """

    namespace: Namespace
    stream: Stream
    version: int
    kind: str
    actor: str
    at_ms: int
    cause: str
    changes: Changes
    note: Mapping[str, JSON]
    position: int = 0
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream stands: its last version (0 when new) and the chain value there."""

    version: int = 0
    chain: str = GENESIS


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event's stored form: canonical body, salt and the two hashes, all as text."""

    event: Event
    body: str
    salt: str
    body_hash: str
    chain: str


def fold_event(fields: Mapping[str, JSON], event: Event) -> Fields:
    """Return the record after an event."""
    return {} if event.kind in ENDINGS else apply_changes(fields, event.changes)


def encode_body(changes: Changes, note: Mapping[str, JSON]) -> str:
    """Return the stored text of a body: canonical JSON with its schema number."""
    body: dict[str, object] = {"schema": SCHEMA, "changes": changes}
    if note:
        body["note"] = dict(note)
    return canonical_json(body)


def decode_body(kind: str, text: str) -> tuple[Changes, dict[str, JSON]]:
    """Return changes and note of a stored body, raised to the newest schema.

    *Raises:* CorruptData when the text is no body of ours, or newer than this program.
    """
    try:
        body = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise _no_body(kind) from error
    schema = body.get("schema") if isinstance(body, dict) else None
    if type(schema) is not int or schema < min(UPCASTERS, default=SCHEMA):
        raise _no_body(kind)
    while schema < SCHEMA:
        body = UPCASTERS[schema](kind, body)
        schema += 1
    if schema > SCHEMA:
        raise CorruptData(
            f"a {kind!r} event has schema {schema!r}, this program reads up to {SCHEMA}",
            hint="run the newest version",
        )
    changes, note = body.get("changes"), body.get("note", {})
    if not isinstance(changes, dict) or not isinstance(note, dict):
        raise _no_body(kind)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in changes.values()):
        raise _no_body(kind)
    return {name: (before, after) for name, (before, after) in changes.items()}, note


def _no_body(kind: str) -> CorruptData:
    return CorruptData(f"the body of a {kind[:40]!r} event is not an event body")


UPCASTERS: Final[Mapping[int, Callable[[str, dict[str, JSON]], dict[str, JSON]]]] = {}
"""Schema number → function (kind, body) that raises a body by one schema."""


def hash_body(salt: str, body: str) -> str:
    """Return SHA-256 over the salt's and the body's UTF-8 bytes, as hexadecimal text."""
    return hashlib.sha256(salt.encode() + body.encode()).hexdigest()


def chain_after(chain: str, event: Event, body_hash: str) -> str:
    """Return the chain value after an event: SHA-256 over the one before and the envelope."""
    envelope = canonical_json(
        [
            chain,
            event.namespace,
            event.stream,
            event.version,
            event.kind,
            event.actor,
            event.at_ms,
            event.cause,
            body_hash,
        ]
    )
    return hashlib.sha256(envelope.encode()).hexdigest()


def seal(head: Head, event: Event, salt: bytes) -> Sealed:
    """Return the stored form of an event that follows `head`."""
    assert event.version == head.version + 1 and len(salt) == SALT_BYTES
    body = encode_body(event.changes, event.note)
    salt_text = salt.hex()
    body_hash = hash_body(salt_text, body)
    return Sealed(event, body, salt_text, body_hash, chain_after(head.chain, event, body_hash))
