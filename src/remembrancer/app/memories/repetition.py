"""Finding the active memory that a statement only repeats.

The index brings what shares the statement's rarest words; whether it is the same is decided by
`core.memories.sameness` alone, word for word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.memories.wording import is_kept_apart, whole_of
from remembrancer.core.search.ranking import chosen_terms
from remembrancer.core.text.fold import fold_key
from remembrancer.core.text.segment import QUERY_TERMS_MAX, Term, query_terms
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import search
from remembrancer.store.item_filters import Asked

_POOL: Final = 12
"""Matches that are compared. Our choice: a repetition holds all the words, so it comes first."""


def _terms(text: str) -> list[Term]:
    return list(query_terms(text, limit=QUERY_TERMS_MAX))


def terms_statement(namespace: Namespace, *texts: str) -> Statement:
    """Return the statement that finding the repetitions of these texts needs the outcome of."""
    terms = {term.text: None for text in texts for term in _terms(text)}
    return search.frequencies_statement(namespace, list(terms))


async def find_repetition(
    app: App, caller: Caller, text: str, frequencies: Outcome, *, type_: str
) -> tuple[ItemRecord, References] | None:
    """Return the active memory that the text repeats, and what it refers to; None when it is new.

    *Shape:* `frequencies` the outcome of `terms_statement`; the same folded text counts whatever
    its type is, other words for it only within the same type. *Promise:* one round trip, none
    when no item has any of the words.
    """
    [found] = await find_repetitions(app, caller, [text], frequencies, type_=type_)
    return found


async def find_repetitions(
    app: App, caller: Caller, texts: Sequence[str], frequencies: Outcome, *, type_: str
) -> list[tuple[ItemRecord, References] | None]:
    """Return for each text what `find_repetition` would. *Promise:* one round trip for all."""
    query = ItemQuery(kinds=("memory",), states=("active",), current_only=True)
    asked = Asked(caller.namespace, query, app.runtime.now_ms())
    statements: list[Statement] = []
    places: dict[int, int] = {}
    known = search.frequencies(frequencies.rows)
    for number, text in enumerate(texts):
        if chosen := chosen_terms(_terms(text), known):
            places[number] = len(statements)
            foreign = search.foreign_rows(frequencies.rows, chosen)
            statements.append(
                search.matches_statement(asked, chosen, [], limit=_POOL, foreign=foreign)
            )
    outcomes = await app.sql.read(statements) if statements else []
    return [
        _repeated(outcomes[places[number]], text, type_) if number in places else None
        for number, text in enumerate(texts)
    ]


def _repeated(outcome: Outcome, text: str, type_: str) -> tuple[ItemRecord, References] | None:
    matches, references = search.matches_of(outcome.rows)
    folded, repeated = fold_key(text), repetition_key(text)
    wholes = [(match.record, whole_of(match.record.fields)) for match in matches]
    for record, whole in wholes:
        if fold_key(whole) == folded or is_kept_apart(record.fields, text):
            return record, references
    for record, whole in wholes:
        if record.fields.get("type") == type_ and repetition_key(whole) == repeated:
            return record, references
    return None
