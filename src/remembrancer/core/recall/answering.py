"""How sure it is that a candidate answers what is asked: for what is brought up by itself.

`core.recall.fusion` ranks by what is shared; this looks closer at the best of them, with the odds
of `core.recall.bearing`. A search needs none of it. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.recall.bearing import (
    FACT_ANSWERS,
    FACT_ANSWERS_BY_WORDS,
    TURN_ANSWERS,
    TURN_ANSWERS_BY_WORDS,
    Bearing,
    Piece,
    asked_tokens,
    covered,
    pieces_asked,
    stated_tokens,
)
from remembrancer.core.recall.evidence import Weighed
from remembrancer.core.recall.fusion import Asked, Candidate, Fused
from remembrancer.core.recall.kinds import kinds_asked, share_told
from remembrancer.core.recall.matters import Common, in_common, matters_held, matters_of
from remembrancer.core.recall.names import key_words
from remembrancer.core.recall.persons import (
    Regard,
    asked_persons,
    introductions,
    is_of_user,
    regard_of,
    said_of,
    speaker_of,
)
from remembrancer.core.text.segment import index_terms

LOOKED_AT: Final = 20
"""Candidates, the best, that are looked at: twice what is brought up. Our choice."""

BESIDE_AMONG: Final = 6
"""Turns, the best, beside which another is surer: what is told goes over several turns. Our
choice."""

LIKELY_MIN: Final = 0.01
"""Score of turns at least: what shares less answers nothing. Source: LoCoMo's conversations 0 to 2,
where nothing below 0.034 passes the floors of `core.recall.gates`; three of four that are among the
best are below this."""

FACT_LIKELY_MIN: Final = 0.005
"""The same of facts, whose answers may be in other words. Source: zh-recall's dev half is the same
down to a tenth of it; at twice as much one answer is missed."""

IDENTIFIER_CHARS: Final = 4
"""Characters from which a number or an identifier of the message has to be there whole: `5G` may
stand for another thing, `MD-021` not for `MD-012`. Our choice."""


_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def answering(ranked: Sequence[Fused], asked: Asked) -> dict[str, float]:
    """Return for each of the best candidates how likely it answers, by id. *Units:* 0…1.

    *Shape:* left out are those behind the first `LOOKED_AT` and below the least score, and facts
    unless the message waits for one value. *Promise:* 0 for a fact that lacks a number or an
    identifier of the message; a fact whose vector is not there yet is judged by its words.
    """
    is_value = asked.query.asks == "value"
    best = [
        one
        for one in ranked[:LOOKED_AT]
        if (
            one.score >= LIKELY_MIN
            if one.candidate.thread is not None
            else is_value and one.score >= FACT_LIKELY_MIN
        )
    ]
    has_meaning = any(one.candidate.meaning is not None for one in ranked)
    turns = TURN_ANSWERS if has_meaning else TURN_ANSWERS_BY_WORDS
    found: dict[str, float] = {}
    for one, bearing in zip(best, bearings(best, ranked, asked), strict=True):
        candidate = one.candidate
        if candidate.thread is not None:
            found[candidate.id] = turns.score(bearing)
        elif lacks_identifier(candidate, asked):
            found[candidate.id] = 0.0
        else:
            facts = FACT_ANSWERS if candidate.meaning is not None else FACT_ANSWERS_BY_WORDS
            found[candidate.id] = facts.score(bearing)
    return found


def bearings(best: Sequence[Fused], ranked: Sequence[Fused], asked: Asked) -> list[Bearing]:
    """Return how each of the best bears on what is asked, in the order given.

    *Shape:* `ranked` all candidates, in which the turns around one are looked for.
    """
    facts = [one for one in best if one.candidate.thread is None]
    turns = [one for one in best if one.candidate.thread is not None]
    found = dict(
        zip([one.candidate.id for one in facts], _facts(facts, ranked, asked), strict=True)
    )
    if turns:
        names = zip([one.candidate.id for one in turns], _turns(turns, ranked, asked), strict=True)
        found.update(names)
    return [found[one.candidate.id] for one in best]


def _facts(best: Sequence[Fused], ranked: Sequence[Fused], asked: Asked) -> list[Bearing]:
    if not best:
        return []
    pieces = pieces_asked(asked.query.words, asked.words)
    others = _Persons([one.candidate for one in ranked], asked)
    named, kinds = _identifiers(asked), kinds_asked(asked.query.message)
    found: list[Bearing] = []
    for one, common in zip(best, _commons(best, asked), strict=True):
        candidate = one.candidate
        regard = others.regard_of(candidate)
        found.append(
            Bearing(
                covered(pieces, _stated(candidate), candidate.text),
                one.evidence.meaning,
                of_other=regard == "other",
                common=common,
                has_identifier=not candidate.held.isdisjoint(named),
                of_kin=regard == "kin",
                is_untold=bool(kinds) and share_told(kinds, candidate.text) < 1,
            )
        )
    return found


def _commons(best: Sequence[Fused], asked: Asked) -> list[Common]:
    wanted = matters_of(asked.query.words)
    return in_common(wanted, [matters_held(wanted, spoken_of(one.candidate)) for one in best])


def spoken_of(one: Candidate) -> str:
    """Return all by which a fact tells what it is about: its key in words, its names, its text."""
    return " ".join([key_words(one.fact_key or ""), *one.names, one.text])


def _turns(best: Sequence[Fused], ranked: Sequence[Fused], asked: Asked) -> list[Bearing]:
    candidates = [one.candidate for one in ranked if one.candidate.thread is not None]
    names = frozenset(index_terms(" ".join({speaker_of(one.text) for one in candidates})).split())
    pieces = pieces_asked(asked.query.words, asked.words, names=names)
    by_place = {(one.thread, one.place): one for one in candidates}
    near = {(one.thread, one.place) for one in candidates[:BESIDE_AMONG]}
    times = kinds_asked(asked.query.message) & {"time"}
    found: list[Bearing] = []
    for one in best:
        candidate = one.candidate
        thread, place = candidate.thread, candidate.place
        before = by_place.get((thread, place - 1))
        asked_before = told_by_other = 0.0
        if before is not None:
            asked_before = _share(pieces, before, asked_tokens(before.text, before.held))
            if speaker_of(before.text) != speaker_of(candidate.text):
                told_by_other = _share(pieces, before, _stated(before))
        found.append(
            Bearing(
                covered(pieces, _stated(candidate), candidate.text),
                one.evidence.meaning,
                asked_before,
                told_by_other,
                one.evidence.of_other,
                is_first=candidate is candidates[0],
                is_beside=not near.isdisjoint({(thread, place - 1), (thread, place + 1)}),
                tells_time=share_told(times, said_of(candidate.text)) > 0,
            )
        )
    return found


class _Persons:
    """Whom the message asks about, and which facts are about others."""

    def __init__(self, candidates: Sequence[Candidate], asked: Asked) -> None:
        facts = [one for one in candidates if one.thread is None]
        words = asked.query.words
        # Who introduces a name of the message holds it.
        known: Mapping[str, str] = introductions(one.text for one in facts if one.held)
        self._asked = asked_persons(words, known)
        self._of_user = is_of_user(words)
        self._known = introductions(one.text for one in facts) if self._asked else known

    def regard_of(self, one: Candidate) -> Regard:
        return regard_of(self._asked, one.text, one.fact_key, self._known, of_user=self._of_user)


def _share(pieces: Sequence[Piece], one: Candidate, tokens: frozenset[str]) -> float:
    return covered(pieces, tokens, one.text).stated if tokens else 0.0


def _stated(one: Candidate) -> frozenset[str]:
    return stated_tokens(said_of(one.text) if one.thread is not None else one.text, one.held)


def lacks_identifier(one: Candidate, asked: Asked) -> bool:
    """Tell whether a fact lacks a number or an identifier that the message says."""
    return any(one.held.isdisjoint(word.wanted.forms) for word in _exact(asked))


def _identifiers(asked: Asked) -> frozenset[str]:
    """Return the identifiers of the message: a year says when, and names nothing."""
    words = (word for word in _exact(asked) if not _YEAR.fullmatch(word.wanted.forms[0]))
    return frozenset(form for word in words for form in word.wanted.forms)


def _exact(asked: Asked) -> list[Weighed]:
    return [
        word
        for word in asked.words
        if word.wanted.is_exact and len(word.wanted.forms[0]) >= IDENTIFIER_CHARS
    ]
