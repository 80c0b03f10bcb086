"""Decisions on the glossary: terms, their aliases and what they mean; no name is in two entries.

All entries of a namespace are one record: id → the entry. Names are compared in folded form.
Finding them in a text is `core.library.matching`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.ledger.changes import changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.library.words import check_length, checked_list, required_text
from remembrancer.core.text.fold import fold
from remembrancer.core.values import JSON

_PRIVATE: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """A term and what it means.

    *Shape:* `aliases` without the term and without doubles. *Units:* milliseconds UTC.
    """

    id: str
    term: str
    aliases: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]
    created_at: int
    updated_at: int

    @property
    def fields(self) -> dict[str, JSON]:
        """What the record of all entries holds under its id."""
        return {
            "term": self.term,
            "aliases": list(self.aliases),
            "definition": self.definition,
            "examples": list(self.examples),
            "created_at": self.created_at,
        }

    @property
    def view(self) -> dict[str, JSON]:
        """The answer form."""
        times: dict[str, JSON] = {
            "created_at": format_iso(self.created_at),
            "updated_at": format_iso(self.updated_at),
        }
        return {"id": self.id, **self.fields, **times}

    @property
    def names(self) -> dict[str, str]:
        """Folded name → as it is written; the term first."""
        return _by_folded((self.term, *self.aliases))


@dataclass(frozen=True, slots=True)
class EntryInput:
    """What is said of an entry, checked; None is not said, and stays as it is."""

    term: str | None = None
    aliases: tuple[str, ...] | None = None
    definition: str | None = None
    examples: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The folded names that are given."""
        term = () if self.term is None else (self.term,)
        return tuple(dict.fromkeys(fold(name) for name in (*term, *(self.aliases or ()))))


def check_entry(
    *,
    term: str | None = None,
    aliases: Sequence[str] | None = None,
    definition: str | None = None,
    examples: Sequence[str] | None = None,
) -> EntryInput:
    """Return what was given, cleaned and trimmed. *Raises:* InvalidInput, LimitExceeded."""
    return EntryInput(
        term=None if term is None else _name(term, "term"),
        aliases=None if aliases is None else _aliases(aliases),
        definition=None
        if definition is None
        else required_text(definition, field="definition", chars_max=limits.DEFINITION_CHARS_MAX),
        examples=None
        if examples is None
        else checked_list(
            examples,
            field="examples",
            count_max=limits.GLOSSARY_EXAMPLES_MAX,
            chars_max=limits.DEFINITION_CHARS_MAX,
        ),
    )


def _aliases(aliases: Sequence[str]) -> tuple[str, ...]:
    checked_list(
        aliases,
        field="aliases",
        count_max=limits.GLOSSARY_ALIASES_MAX,
        chars_max=limits.TERM_CHARS_MAX,
    )
    return tuple(_name(alias, "aliases") for alias in aliases)


def _name(text: str, field: str) -> str:
    name = " ".join(required_text(text, field=field, chars_max=limits.TERM_CHARS_MAX).split())
    folded = fold(name)
    # Private use alone: what is unassigned to this Python may be a new character of a name.
    if not folded or _PRIVATE.search(folded):
        raise InvalidInput(
            f"{field} is {name!r}, which cannot be read aloud", hint="give a word", field=field
        )
    # One character can fold to many.
    check_length(folded, field=field, chars_max=limits.TERM_CHARS_MAX)
    return name


def make_entry(given: EntryInput, *, id_: str, now_ms: int) -> GlossaryEntry:
    """Return a new entry. *Shape:* `given` names the term and the definition."""
    assert given.term is not None and given.definition is not None
    entry = GlossaryEntry(id_, given.term, (), given.definition, (), now_ms, now_ms)
    return merge_entry(entry, given, now_ms=now_ms)


def merge_entry(entry: GlossaryEntry, given: EntryInput, *, now_ms: int) -> GlossaryEntry:
    """Return the entry with what was given; aliases that repeat a name of it are left out."""
    term = entry.term if given.term is None else given.term
    aliases = entry.aliases if given.aliases is None else given.aliases
    names = _by_folded((term, *aliases))
    return replace(
        entry,
        term=term,
        aliases=tuple(names.values())[1:],
        definition=entry.definition if given.definition is None else given.definition,
        examples=entry.examples if given.examples is None else given.examples,
        updated_at=now_ms,
    )


def refuse_taken(entry: GlossaryEntry, others: Sequence[GlossaryEntry]) -> None:
    """Refuse a name that another entry has. *Raises:* Conflict naming that entry."""
    mine = entry.names
    for other in others:
        taken = [name for folded, name in mine.items() if folded in other.names]
        if other.id != entry.id and taken:
            is_term = fold(other.term) == fold(taken[0])
            raise Conflict(
                f"{taken[0]!r} is {'the term' if is_term else 'an alias'} of the glossary entry"
                f" {other.id!r}",
                hint="change or remove that entry first",
                details={"entry_id": other.id, "term": other.term, "name": taken[0]},
            )


def put_entry(present: GlossaryEntry | None, entry: GlossaryEntry) -> Draft | None:
    """Draft a new or changed entry; None when nothing changes."""
    before: Mapping[str, JSON] = {} if present is None else {present.id: present.fields}
    changes = changes_between(before, {entry.id: entry.fields})
    return Draft("GlossarySet", changes) if changes else None


def remove_entry(entry: GlossaryEntry) -> Draft:
    """Draft the removal of an entry."""
    return Draft("GlossaryRemoved", {entry.id: (entry.fields, None)})


def _by_folded(names: Sequence[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for name in names:
        result.setdefault(fold(name), name)
    return result
