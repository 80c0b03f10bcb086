"""What the body of an event may hold: the type of each field, by the area of its stream.

For files from elsewhere, whose hashes may be right and whose values nobody has parsed: tables and
readers take what passes here. Not the parser of what a door is given, and no use on the way of a
write. `app.inspection` asks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.dates.zones import is_within_years
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.items import fields as items
from remembrancer.core.items.record import MOMENTS
from remembrancer.core.ledger.changes import Changes
from remembrancer.core.ledger.events import ENDINGS, FORGOTTEN
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.relations.decide import TYPES
from remembrancer.core.settings.decide import update_settings
from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class ValueType:
    """One type of value: what it is called, and whether a value that is not null has it."""

    name: str
    fits: Callable[[JSON], bool]


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _is_text(value: JSON) -> bool:
    return isinstance(value, str) and _SURROGATE.search(value) is None


def _is_whole(value: JSON) -> bool:
    return type(value) is int and abs(value) <= INTEGER_MAX


def _is_moment(value: JSON) -> bool:
    return type(value) is int and is_within_years(value)


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def _is_texts(value: JSON) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_lines(value: JSON) -> bool:
    return isinstance(value, list) and all(
        isinstance(line, dict) and _is_moment(line.get("at")) and _is_text(line.get("text"))
        for line in value
    )


def _is_steps(value: JSON) -> bool:
    return isinstance(value, list) and all(map(_is_step, value))


def _is_step(step: JSON) -> bool:
    if not isinstance(step, dict) or not (_is_text(step.get("id")) and _is_text(step.get("text"))):
        return False
    done, inner = step.get("done_at"), step.get("steps")
    return (done is None or _is_moment(done)) and (inner is None or _is_steps(inner))


def _one_of(*values: str) -> ValueType:
    return ValueType(f"one of {', '.join(values)}", lambda value: value in values)


def _between(low: int, high: int) -> ValueType:
    return ValueType(
        f"a whole number from {low} to {high}",
        lambda value: type(value) is int and low <= value <= high,
    )


_TEXT: Final = ValueType("a text", _is_text)
_WORD: Final = ValueType("a text", lambda value: isinstance(value, str) and bool(value.strip()))
_WHOLE: Final = ValueType("a whole number", _is_whole)
_MOMENT: Final = ValueType("a moment in milliseconds", _is_moment)
_NUMBER: Final = ValueType("a number", _is_number)
_FLAG: Final = ValueType("true or null", lambda value: isinstance(value, bool))
_TEXTS: Final = ValueType("a list of texts", _is_texts)
_LINES: Final = ValueType("a list of dated lines", _is_lines)
_STEPS: Final = ValueType("a list of steps", _is_steps)
_SCOPES: Final = ValueType(
    "a list of scopes",
    lambda value: isinstance(value, list) and all(scope in SCOPES for scope in value),
)

_KINDS: Final[Mapping[str, ValueType]] = {
    "kind": _one_of(*items.KINDS),
    "type": _one_of(*items.TYPES),
    "type_by_hand": _FLAG,
    "state": _one_of(*items.STATES),
    "progress": _one_of(*items.PROGRESS),
    "priority": _between(1, 3),
    "startup_priority": _between(0, 10),
    "importance": _NUMBER,
    "confidence": _NUMBER,
    "tags": _TEXTS,
    "source_message_ids": _TEXTS,
    "pinned": _FLAG,
    "authored_by": _one_of("human", "agent", "job"),
    "recurrence_kind": _one_of(*items.RECURRENCE_KINDS),
    "recurrence_interval": _WHOLE,
    "recurrence_day": _WHOLE,
    "steps": _STEPS,
    "notes": _LINES,
    "decisions": _LINES,
    "problems": _LINES,
}
_MOMENTS: Final = frozenset({*MOMENTS, "state_since", "last_completed_due_at"})
_OWNER: Final[Mapping[str, ValueType]] = {
    "name": _TEXT,
    "slug": _TEXT,
    "description": _TEXT,
    "state": _one_of("active", "deleted"),
}
_PAGE: Final = ("kind", "path", "starts_on", "title", "summary", "content")


@dataclass(frozen=True, slots=True)
class RecordType:
    """The fields of one record.

    *Shape:* `needed` are never null while the record is there, which it is while it has `mark`;
    None for one that is always there.
    """

    fields: Mapping[str, ValueType]
    needed: tuple[str, ...] = ()
    mark: str | None = None


RECORDS: Final[Mapping[str, RecordType]] = {
    "item": RecordType(
        {name: _KINDS.get(name, _MOMENT if name in _MOMENTS else _TEXT) for name in items.DEFAULTS},
        ("kind", "type", "state", "title", "priority", "startup_priority", "authored_by"),
    ),
    "project": RecordType(
        {**_OWNER, "active_objective_id": _TEXT, "objective_since": _MOMENT},
        ("name", "slug", "state"),
    ),
    "topic": RecordType(
        {
            **_OWNER,
            "kind": _one_of("topic", "profile", "project", "system"),
            "retrieval_priority": _between(0, 100),
            "canonical_item_id": _TEXT,
            "summary_mode": _one_of("auto", "manual"),
        },
        ("name", "slug", "state", "kind", "retrieval_priority", "summary_mode"),
    ),
    "key": RecordType(
        {
            "name": _TEXT,
            "actor": _TEXT,
            "token_hash": _TEXT,
            "scopes": _SCOPES,
            "expires_at": _MOMENT,
            "revoked_at": _MOMENT,
        },
        ("name", "actor", "token_hash", "scopes"),
        "token_hash",
    ),
    "candidate": RecordType(
        {
            **dict.fromkeys(("kind", "status", "type", "content", "fact_key", "source"), _TEXT),
            **dict.fromkeys(("why", "decision_note", "result_id", "fact", "text_hash"), _TEXT),
            **dict.fromkeys(("tags", "source_message_ids", "target_ids"), _TEXTS),
            "confidence": _NUMBER,
            "importance": _NUMBER,
            "decided_at": _MOMENT,
        },
        (
            *("kind", "status", "type", "content", "confidence", "importance", "source"),
            *("fact", "text_hash"),
        ),
        "kind",
    ),
    "page": RecordType(dict.fromkeys((*_PAGE, "through_id"), _TEXT), _PAGE, "kind"),
    "digest": RecordType({"content": _TEXT}),
}
"""Area → its record. Source: the tables that are made of them, and the readers of those."""

ENTRIES: Final[Mapping[str, Mapping[str, ValueType]]] = {
    "relations": {"confidence": _NUMBER, "created_at": _MOMENT},
    "precious": {
        "content": _TEXT,
        "context_message_ids": _TEXTS,
        "source": _one_of("human", "secretary"),
        "created_at": _MOMENT,
    },
    "glossary": {
        "term": _WORD,
        "aliases": _TEXTS,
        "definition": _TEXT,
        "examples": _TEXTS,
        "created_at": _MOMENT,
    },
}
"""Area of a stream that a namespace shares → what each of its entries has."""


def find_type_fault(
    area: str, version: int, kind: str, changes: Changes, note: Mapping[str, JSON]
) -> str | None:
    """Return what no table or reader could take of an event's body, as the end of a sentence.

    *Shape:* `area` is the stream's first word and has a projection. None when all is well; no
    text of a memory is in it.
    """
    if kind in ENDINGS:
        is_told = kind != FORGOTTEN or _is_text(note.get("text_hash"))
        return None if is_told else "says that it was forgotten without the hash of its text"
    if not all(map(_is_text, changes)):
        return "has a field whose name is no text"
    if area == "settings":
        return _setting_fault(changes)
    record = RECORDS.get(area)
    if record is None:
        return _entry_fault(area, changes)
    return _record_fault(record, version, changes)


def _record_fault(record: RecordType, version: int, changes: Changes) -> str | None:
    for name, pair in changes.items():
        type_ = record.fields.get(name)
        if type_ is None:
            return f"has the field {name[:40]!r}, which is not known"
        if not all(value is None or type_.fits(value) for value in pair):
            return f"has a {name!r} that is not {type_.name}"
    is_gone = record.mark in changes and changes[record.mark][1] is None
    for name in record.needed if not is_gone else ():
        after = changes[name][1] if name in changes else None
        if after is None and (version == 1 or name in changes):
            return f"has no {name!r}"
    return None


def _entry_fault(area: str, changes: Changes) -> str | None:
    for name, pair in changes.items():
        if area == "relations":
            source, type_, target = (*name.split("|"), "", "")[:3]
            if not (source and target) or type_ not in TYPES or name.count("|") != 2:
                return f"has the relation {name[:80]!r}, which is none"
        for entry in pair:
            if entry is None:
                continue
            if not isinstance(entry, dict):
                return "has an entry that is not an object"
            reason = entry.get("reason") if area == "relations" else None
            if not (reason is None or _is_text(reason)):
                return "has a 'reason' that is not a text"
            for field, value_type in ENTRIES[area].items():
                value = entry.get(field)
                if value is None or not value_type.fits(value):
                    return f"has a {field!r} that is not {value_type.name}"
    return None


def _setting_fault(changes: Changes) -> str | None:
    for name, pair in changes.items():
        for value in pair:
            try:
                update_settings({}, {name: value})
            except RemembrancerError as error:
                return f"has a setting that cannot be: {error.message}"
    return None
