"""Which terms of a query to ask the index for, and how sure a match is.

Document frequencies and BM25 come in as arguments. Cutting a text into terms is
`core.text.segment`. Every ring may import it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from remembrancer.core.text.segment import Term
from remembrancer.core.text.stems import stem

MATCHED_ROWS_MAX: Final = 500
"""Rows that the chosen terms of one query may match together: as many as a search looks at. Source:
D1 counts three rows read for each; LoCoMo's recall@10 is 0.717 with it and with 800."""

_INDEX_ROWS: Final = 100_000
"""Rows of the index against which a term's frequency is weighed, whatever there really are, so
that scores of small and large stores can be compared."""

_STEM_CREDIT: Final = 0.8
"""What an item gets for a word that it holds in another form. Our choice."""

_UNSEEN_PAIR: Final = 0.1
"""How much of its weight a pair of characters keeps that no item holds: such a pair is most
often the end of one word and the beginning of the next. Our choice."""

_STRENGTH_SHARE: Final = 0.1
"""How much of a score BM25 decides; the rest is the share of terms. Our choice."""

_STRENGTH_HALF: Final = 6.0
"""BM25 at which half of that is reached. Our choice, near the middle of what short texts get."""


def telling(weight: float, documents: int, *, is_pair: bool = False) -> float:
    """Return how much a term says: its own weight, less the more documents hold it.

    *Shape:* over 0, at most `weight`; `is_pair` for a pair of characters.
    """
    rarity = math.log1p(_INDEX_ROWS / (1 + documents)) / math.log1p(_INDEX_ROWS)
    return weight * rarity * (_UNSEEN_PAIR if is_pair and not documents else 1)


def chosen_terms(terms: Sequence[Term], documents: Mapping[str, int]) -> list[str]:
    """Return the terms to match: the rarest first, until their documents are spent.

    *Shape:* `documents` term → how many hold it; terms that none holds are left out; at least one
    term as long as any is held.
    """
    held = sorted(
        (term for term in terms if documents.get(term.text)),
        key=lambda term: (documents[term.text], -term.weight),
    )
    chosen: list[str] = []
    spent = 0
    for term in held:
        spent += documents[term.text]
        if chosen and spent > MATCHED_ROWS_MAX:
            break
        chosen.append(term.text)
    return chosen


def score(
    terms: Sequence[Term],
    documents: Mapping[str, int],
    *,
    held: Collection[str],
    strength: float,
) -> float:
    """Return how sure a match is: the share of the query's terms that the item holds, each by how
    much it says, and within that a little by BM25.

    *Shape:* 0…1; `held` terms of the item, `strength` BM25 as a positive number. A word and its
    stem are one. *Promise:* grows with every term held, and with `strength`.
    """
    wanted, got = 0.0, 0.0
    for forms in _words(terms):
        weight = max(form.weight for form in forms)
        frequency = max(documents.get(form.text, 0) for form in forms)
        says = telling(weight, frequency, is_pair=forms[0].kind == "bigram")
        wanted += says
        found = [form.weight for form in forms if form.text in held]
        if found:
            got += says * (1.0 if max(found) == weight else _STEM_CREDIT)
    if not wanted:
        return 0.0
    ease = strength / (strength + _STRENGTH_HALF) if strength > 0 else 0.0
    return got / wanted * (1 - _STRENGTH_SHARE + _STRENGTH_SHARE * ease)


def _words(terms: Sequence[Term]) -> list[list[Term]]:
    """Return the terms, each word together with its stem."""
    texts = {term.text for term in terms}
    groups: dict[str, list[Term]] = {}
    for term in terms:
        root = stem(term.text) if term.kind == "word" else term.text
        groups.setdefault(root if root in texts else term.text, []).append(term)
    return list(groups.values())
