"""Whether a candidate answers what is asked, rather than being about the same thing.

Ranking goes by what is shared. Whether to bring something up unasked goes by more: how much of what
is asked it states (a question that was asked before states nothing), what it lacks, and whom it is
about. What Chinese asks is counted by characters, so that a pair that only straddles two words
weighs nothing; a memory in another script is not blamed for words that it cannot hold. Every ring
may import it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from remembrancer.core.recall.evidence import Weighed
from remembrancer.core.recall.matters import NONE_IN_COMMON, Common
from remembrancer.core.text.fold import fold
from remembrancer.core.text.segment import index_terms

HAN_MIN: Final = 2
"""Chinese characters of a text below which it can hold no Chinese word."""

MAINLY_HAN: Final = (2, 4)
"""A text with this many Chinese characters a Latin word, and this many more, is Chinese: a Latin
word that nothing in the store holds says nothing against it. Our choice."""

_FILLING: Final = re.compile(
    r"什么时候|什麼時候|什么|什麼|甚麼|多少|多久|多大|多长|多長|哪[些个個只里裡天年月儿兒]?"
    r"|[几幾][号號点點个個口只]?|谁|誰|咋样|咋樣|咋|啥|怎么回事|怎么|怎麼|怎样|怎樣|来着|來着|來著"
    r"|现在|現在|分别|分別|何时|何時|吗|嗎|呢|吧|呀|是|的|了|我|你|他|她|它|们|們|这|那|這|在|给|給|要|有|会|會|能"
    r"|可以|都|还|還|也|就|被|跟|和|对|對|想"
)
"""What asks and joins and names nothing. Our list."""

_HAN: Final = re.compile("[㐀-鿿]")
_HAN_RUN: Final = re.compile("[㐀-鿿]+")
_LATIN: Final = re.compile("[A-Za-z]{2,}")
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
_ASKING: Final = re.compile("[?？]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of what is asked: a Chinese character with the pairs that it stands in, or a word.

    *Shape:* `words` those that some item holds, else empty; `says` what it weighs when nothing
    holds it.
    """

    words: tuple[Weighed, ...]
    says: float
    is_han: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a question is covered. *Units:* shares, 0…1, that add up to 1, or all are 0.

    *Shape:* `stated` by this text; `elsewhere` only by others; `unknown` by none.
    """

    stated: float = 0.0
    elsewhere: float = 0.0
    unknown: float = 0.0


@dataclass(frozen=True, slots=True)
class Bearing:
    """How a candidate bears on a question.

    *Units:* shares and cosines 0…1. *Shape:* of a fact, `common` is what it leaves of the everyday
    matters that are asked about; `has_identifier`: it has what the message names by an identifier;
    `of_kin`: it is about somebody while the question is about the user alone; `is_untold`: it tells
    no value of a kind that is asked for. Of a turn, `asked_before` is the share that the question
    right before it asked, `told_by_other` the share that another says right before it; `is_first`:
    no turn ranks before it; `is_beside`: another of the best stands next to it; `tells_time`: it
    tells a time, which is asked for. `of_other`: it is about another than the question.
    """

    coverage: Coverage = Coverage()
    meaning: float = 0.0
    asked_before: float = 0.0
    told_by_other: float = 0.0
    of_other: bool = False
    common: Common = NONE_IN_COMMON
    has_identifier: bool = False
    of_kin: bool = False
    is_untold: bool = False
    is_first: bool = False
    is_beside: bool = False
    tells_time: bool = False


@dataclass(frozen=True, slots=True)
class Answering:
    """How the log-odds that it answers grow. *Shape:* the score is 1 ÷ (1 + e^-(sum)); `lacked`
    and `unspoken` weigh the matters of the question that only other facts speak of, and that none
    does."""

    base: float
    stated: float = 0.0
    elsewhere: float = 0.0
    unknown: float = 0.0
    meaning: float = 0.0
    asked_before: float = 0.0
    told_by_other: float = 0.0
    of_other: float = 0.0
    lacked: float = 0.0
    unspoken: float = 0.0
    has_identifier: float = 0.0
    of_kin: float = 0.0
    is_untold: float = 0.0
    is_first: float = 0.0
    is_beside: float = 0.0
    tells_time: float = 0.0

    def score(self, found: Bearing) -> float:
        """Return the probability that a candidate answers. *Units:* 0…1."""
        odds = (
            self.base
            + self.stated * found.coverage.stated
            + self.elsewhere * found.coverage.elsewhere
            + self.unknown * found.coverage.unknown
            + self.meaning * found.meaning
            + self.asked_before * found.asked_before
            + self.told_by_other * found.told_by_other
            + self.of_other * found.of_other
            + self.lacked * found.common.elsewhere
            + self.unspoken * found.common.nowhere
            + self.has_identifier * found.has_identifier
            + self.of_kin * found.of_kin
            + self.is_untold * found.is_untold
            + self.is_first * found.is_first
            + self.is_beside * found.is_beside
            + self.tells_time * found.tells_time
        )
        return 1 / (1 + math.exp(-odds))


FACT_ANSWERS: Final = Answering(
    *(-7.0, 3.7, -3.7, -1.5, 18.3),
    of_other=-4.8,
    lacked=-0.5,
    unspoken=-2.0,
    of_kin=-1.7,
    is_untold=-1.0,
)
"""A fact, note or task. Source: the first five by logistic regression over the best candidates of
zh-recall's dev half, each question also asked with its answers taken away and of the other person,
what nothing answers weighing six times. Of the rest, what speaks against an answer, within what the
same finds with all evidence (`scripts/bench_recall.py --tune` prints it); with what speaks for one
more was brought up on that half, and wrongly on the one that is only counted."""

TURN_ANSWERS: Final = Answering(
    -5.8,
    3.6,
    meaning=1.0,
    asked_before=2.7,
    told_by_other=-2.3,
    of_other=-4.1,
    is_first=1.9,
    is_beside=0.8,
    tells_time=1.7,
)
"""A turn of a conversation. Source: the same over LoCoMo's conversations 0 to 2, whose questions
that nothing answers weigh eight times."""

FACT_ANSWERS_BY_WORDS: Final = Answering(
    *(-0.6, 3.6, -3.1, -1.2), of_other=-2.0, has_identifier=2.0, of_kin=-1.0, is_untold=-0.5
)
"""The same without cosines; the base so that the floor of `core.recall.gates` lets as few pass that
answer nothing."""

TURN_ANSWERS_BY_WORDS: Final = Answering(
    -5.6,
    3.8,
    asked_before=3.0,
    told_by_other=-2.1,
    of_other=-4.5,
    is_first=1.9,
    is_beside=0.9,
    tells_time=1.7,
)
"""The same without cosines, as fitted."""


def pieces_asked(
    text: str, words: Sequence[Weighed], *, names: Set[str] = frozenset()
) -> tuple[Piece, ...]:
    """Return what a query asks for, in pieces.

    *Shape:* `words` the query's, weighed; `names` tokens that only say who is meant.
    """
    pairs = {word.wanted.forms[0]: word for word in words if _HAN.search(word.wanted.forms[0])}
    pieces = [
        Piece((word,) if word.is_known else (), word.says, is_han=False)
        for word in words
        if word.wanted.forms[0] not in pairs and names.isdisjoint(word.wanted.forms)
    ]
    plain = fold(text)
    for run in _HAN_RUN.finditer(_FILLING.sub(_blank, plain)):
        for both in _pairs_around(plain, run.start(), run.end()):
            known = tuple(pairs[pair] for pair in both if pair in pairs and pairs[pair].is_known)
            if known or len(run[0]) > 1:
                pieces.append(Piece(known, 1.0, is_han=True))
    return tuple(pieces)


def _blank(filling: re.Match[str]) -> str:
    return " " * len(filling[0])


def _pairs_around(plain: str, start: int, end: int) -> list[tuple[str, str]]:
    """Return for each character of a run the pairs that it stands in.

    *Shape:* those inside the run; a word of one character is told by those in which it was said, as
    住 by 我住 and 住哪.
    """
    if end - start == 1:
        return [(plain[max(0, start - 1) : end], plain[start : end + 1])]
    return list(pairwise(["", *(plain[at : at + 2] for at in range(start, end - 1)), ""]))


def covered(pieces: Sequence[Piece], held: Set[str], text: str) -> Coverage:
    """Return what of the pieces a text covers that states the tokens `held`."""
    han = len(_HAN.findall(text))
    factor, more = MAINLY_HAN
    is_chinese = han >= factor * len(_LATIN.findall(text)) + more
    stated = elsewhere = unknown = 0.0
    for piece in pieces:
        if piece.is_han and han < HAN_MIN:
            continue
        if not piece.is_han and is_chinese and not piece.words:
            continue
        share = 0.5 if piece.is_han else 1.0
        own = [word.says for word in piece.words if not held.isdisjoint(word.wanted.forms)]
        if own:
            stated += share * max(own)
        elif piece.words:
            elsewhere += share * max(word.says for word in piece.words)
        else:
            unknown += share * piece.says
    whole = stated + elsewhere + unknown
    if not whole:
        return Coverage()
    return Coverage(stated / whole, elsewhere / whole, unknown / whole)


def asking_part(text: str) -> str:
    """Return the sentences of a text that ask."""
    if not _ASKING.search(text):
        return ""
    return " ".join(part for part in _SENTENCE.findall(text) if _ASKING.search(part))


def asked_tokens(text: str, held: Set[str]) -> frozenset[str]:
    """Return which of the tokens that a text holds stand in a question of it."""
    part = asking_part(text) if held else ""
    return frozenset(held & set(index_terms(part).split())) if part else frozenset()


def stated_tokens(text: str, held: Set[str]) -> frozenset[str]:
    """Return which of the tokens that a text holds it states, and does not only ask about."""
    if not _ASKING.search(text):
        return frozenset(held)
    asking = asked_tokens(text, held)
    if not asking:
        return frozenset(held)
    told = " ".join(part for part in _SENTENCE.findall(text) if not _ASKING.search(part))
    return frozenset(held - (asking - set(index_terms(told).split())))
