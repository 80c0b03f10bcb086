"""How alike two texts are, word for word, and in what they differ that matters.

Numbers, dates and negations say little about likeness and everything about a difference, so they
are taken out before the words are compared and reported apart: “port 2222” and “port 2223” are
alike and not the same. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from remembrancer.core.text.fold import fold, fold_key
from remembrancer.core.text.segment import QUERY_CHARS_MAX, query_terms
from remembrancer.core.values import DAY_MS

Difference = Literal["numbers", "dates", "negation"]

SuggestedAction = Literal["duplicate", "supersede_or_merge", "merge_or_link"]

OLD_DAYS: Final = 7
"""Days after which a like item is rather superseded than linked. Source: the predecessor."""

TERMS_MAX: Final = 256
"""Terms of a text that are compared. Our choice: beyond a page, more words decide nothing."""

_DIFFERENCE_COST: Final = 0.05
"""What each kind of difference takes from the likeness, so that the same text ranks first."""

_HAN_NUMBER: Final = "[零〇一二两兩三四五六七八九十百千万萬]{1,8}"
_DATES: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b\.? ?(?=\d)"
    r"|\b(?:today|tonight|tomorrow|yesterday)\b|今天|明天|后天|後天|昨天|前天"
    r"|(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]"
    rf"|(?:\d{{1,4}}|{_HAN_NUMBER})(?:年|月|日|号|號|点半?|點半?)"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2} ?[ap]\.?m\b"
)
_NUMBERS: Final = re.compile(
    rf"\d+(?:[.,:/]\d+)*|{_HAN_NUMBER}(?=[个個次岁歲块塊元人天周週分秒只隻本台臺种種倍度])"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|hundred)\b"
)
_NEGATIONS: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n['’]t|stopped|quit)\b"
    r"|没有|沒有|并非|並非|不再|从不|從不|不要|不|没|沒|非|无|無|别|別|未|勿"
)
_CLASSES: Final[tuple[tuple[Difference, re.Pattern[str]], ...]] = (
    ("dates", _DATES),
    ("numbers", _NUMBERS),
    ("negation", _NEGATIONS),
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are. *Shape:* `score` 0…1; `differences` in the order of their names."""

    score: float
    differences: tuple[Difference, ...] = ()
    is_same: bool = False
    """They are the same text, folded."""


@dataclass(frozen=True, slots=True)
class Gist:
    """A text prepared for comparing: its words by weight, and what was taken out of them."""

    key: str
    words: dict[str, float]
    taken: dict[Difference, frozenset[str]]


def gist_of(text: str) -> Gist:
    """Return what comparing needs of a text."""
    plain = fold(text)[:QUERY_CHARS_MAX]
    taken: dict[Difference, frozenset[str]] = {}
    for name, pattern in _CLASSES:
        found = (match.group().strip() for match in pattern.finditer(plain))
        # A negation is there or not; how it is said does not matter.
        taken[name] = frozenset({"not"} if name == "negation" and any(found) else found)
        plain = pattern.sub("", plain) if name == "negation" else pattern.sub(" ", plain)
    words = {term.text: term.weight for term in query_terms(plain, limit=TERMS_MAX)}
    if not words:
        words = {term.text: term.weight for term in query_terms(text, limit=TERMS_MAX)}
    return Gist(fold_key(text), words, taken)


def compare(left: Gist, right: Gist) -> Likeness:
    """Return how alike two texts are.

    *Promise:* symmetric; 1 for the same text, and only then. *Source:* Dice's coefficient, each
    word by its weight.
    """
    if left.key == right.key:
        return Likeness(1.0, is_same=True)
    total = sum(left.words.values()) + sum(right.words.values())
    if not total:
        return Likeness(0.0)
    shared = sum(
        left.words[word] + right.words[word] for word in left.words.keys() & right.words.keys()
    )
    differences = tuple(
        sorted(name for name, found in left.taken.items() if found != right.taken[name])
    )
    score = min(shared / total, 1 - _DIFFERENCE_COST / 2)
    return Likeness(score * (1 - _DIFFERENCE_COST) ** len(differences), differences)


def closest(asked: Gist, others: Iterable[Gist]) -> Likeness:
    """Return the greatest likeness among several wordings of one thing; at least one is given."""
    return max(
        (compare(asked, other) for other in others),
        key=lambda likeness: (likeness.is_same, likeness.score),
    )


def nearer(likeness: Likeness, cosine: float) -> Likeness:
    """Return a likeness in which nearness in meaning counts, less what differs.

    *Promise:* never less than it was, never that of the same text.
    """
    near = min(cosine, 1 - _DIFFERENCE_COST / 2)
    near *= (1 - _DIFFERENCE_COST) ** len(likeness.differences)
    return replace(likeness, score=max(likeness.score, near))


def suggested_action(likeness: Likeness, *, updated_at: int, now_ms: int) -> SuggestedAction:
    """Return what to do about a like item. *Units:* times in milliseconds UTC."""
    if likeness.is_same:
        return "duplicate"
    if likeness.differences or now_ms - updated_at > OLD_DAYS * DAY_MS:
        return "supersede_or_merge"
    return "merge_or_link"
