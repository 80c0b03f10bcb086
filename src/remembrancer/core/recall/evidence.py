"""What a query asks for in words, and how much of it an item holds.

A word counts the more the fewer items hold it; what an item lacks is told apart by whether others
hold it. `store.search` reads frequencies and who holds what; fusing with nearness in meaning is
`core.recall.fusion`. Every ring may import it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from remembrancer.core.search.ranking import chosen_terms
from remembrancer.core.text.segment import QUERIES_KEPT, Term, query_terms
from remembrancer.core.text.stems import stem
from remembrancer.core.text.variants import other_forms

RARE_BELOW: Final = 300
"""Items that hold a word at which it says a tenth of what the rarest says. Source: recall@10 on
LoCoMo's conversations 0 to 2."""

FORMS_MAX: Final = 96
"""Forms that a query looks for at most: each costs a look-up in the index. Our choice."""

STEM_CREDIT: Final = 0.8
"""What an item gets for a word that it holds in another form. Our choice."""

_EXACT_WEIGHT_MIN: Final = 1.0
"""Weight from which a number or an identifier is a whole one, not a part of another."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word that a query asks for.

    *Shape:* `forms` tokens of the index, its own first, then its stem and other scripts; `weight`
    over 0, at most 1; `is_exact` for a number or an identifier, which nothing else can stand for.
    """

    forms: tuple[str, ...]
    weight: float
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Weighed:
    """A wanted word with what it says among the items. *Shape:* `says` over 0; `is_known` whether
    any item holds it."""

    wanted: Wanted
    says: float
    is_known: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """How much of a query an item holds. *Units:* `held` and `elsewhere` 0…1.

    *Shape:* `elsewhere` is what this item lacks and another holds; `lacks_exact` whether a number
    or an identifier of the query is missing.
    """

    held: float = 0.0
    elsewhere: float = 0.0
    lacks_exact: bool = False


@lru_cache(maxsize=QUERIES_KEPT)
def wanted_of(text: str) -> tuple[Wanted, ...]:
    """Return the words that a query asks for, the most telling first.

    *Shape:* forms are distinct, at most `FORMS_MAX` in all; empty for a text without letters,
    digits or emoji. *Promise:* never raises; deterministic.
    """
    terms = query_terms(text)
    texts = {term.text for term in terms}
    groups: dict[str, list[Term]] = {}
    for term in terms:
        root = stem(term.text) if term.kind == "word" else term.text
        groups.setdefault(root if root in texts else term.text, []).append(term)
    found: list[Wanted] = []
    seen: set[str] = set()
    for group in groups.values():
        own = max(group, key=lambda term: term.weight)
        forms = dict.fromkeys([own.text, *(term.text for term in group), *other_forms(own.text)])
        fresh = [form for form in forms if form not in seen]
        if not fresh or len(seen) + len(fresh) > FORMS_MAX:
            continue
        seen.update(fresh)
        found.append(Wanted(tuple(fresh), own.weight, _is_exact(own)))
    return tuple(found)


def forms_of(wanted: Sequence[Wanted]) -> list[str]:
    """Return every token to look up: how many items hold it, and which."""
    return [form for word in wanted for form in word.forms]


def chosen_forms(wanted: Sequence[Wanted], documents: Mapping[str, int]) -> list[str]:
    """Return the tokens to match, as `core.search.ranking.chosen_terms` does for terms."""
    terms = [Term(form, word.weight, "word") for word in wanted for form in word.forms]
    return chosen_terms(terms, documents)


def weigh(wanted: Sequence[Wanted], documents: Mapping[str, int]) -> tuple[Weighed, ...]:
    """Return the words with what they say. *Shape:* `documents` token → how many items hold it."""
    return tuple(_weighed(word, documents) for word in wanted)


def shares(weighed: Sequence[Weighed], held: Set[str]) -> Shares:
    """Return how much of the query an item holds. *Shape:* `held` those of the query's tokens that
    the item has. *Promise:* `held` grows with every token."""
    whole = sum(word.says for word in weighed)
    if not whole or not held:
        return Shares(0.0, _known(weighed) / whole if whole else 0.0, _wants_exact(weighed))
    got, elsewhere, lacks_exact = 0.0, 0.0, False
    for word in weighed:
        if not held.isdisjoint(word.wanted.forms):
            got += word.says
        else:
            elsewhere += word.says * word.is_known
            lacks_exact = lacks_exact or word.wanted.is_exact
    return Shares(got / whole, elsewhere / whole, lacks_exact)


def _is_exact(term: Term) -> bool:
    if term.weight < _EXACT_WEIGHT_MIN:
        return False
    return term.kind in ("number", "code") or any(char.isdigit() for char in term.text)


def _weighed(word: Wanted, documents: Mapping[str, int]) -> Weighed:
    frequency = max((documents.get(form, 0) for form in word.forms), default=0)
    says = math.log1p(RARE_BELOW / (1 + frequency)) / math.log1p(RARE_BELOW)
    return Weighed(word, word.weight * says, frequency > 0)


def _known(weighed: Sequence[Weighed]) -> float:
    return sum(word.says for word in weighed if word.is_known)


def _wants_exact(weighed: Sequence[Weighed]) -> bool:
    return any(word.wanted.is_exact for word in weighed)
