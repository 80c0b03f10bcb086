"""Joining what words, names and meaning say into one probability for each candidate.

No ranks are added up and no weight is fixed: how much a cosine says depends on what the row is.
It says a lot about a short fact and little about a turn of a conversation, which shares its words
with its neighbours and its topic with its whole conversation. Gates are `core.recall.gates`.
Every ring may import it.

How it is called: `asked_of(query, documents)` once, then `fuse(candidates, asked)`, then
`judge(fused, asks=query.asks)` for what goes into a conversation and `judge(fused)` for a search.
`documents` says how many items hold each of `forms_of(wanted_of(query.words))`; each candidate says
which of these tokens it `held`, also when only meaning found it, and its `names_of(tags, key)`.
Without `asked` a candidate's `words` count as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from remembrancer.core.recall.bearing import asked_tokens
from remembrancer.core.recall.evidence import (
    Shares,
    Weighed,
    forms_of,
    shares,
    wanted_of,
    weigh,
)
from remembrancer.core.recall.names import Spoken, said_names, spoken
from remembrancer.core.recall.persons import asked_speaker, speaker_of
from remembrancer.core.recall.query import RecallQuery

NEIGHBOUR_SHARE: Final = 0.3
"""Share of its words that a turn lends to the turn before and after it. Source: recall@10 on
LoCoMo's conversations 0 to 2, as `scripts/bench_recall.py --tune` prints it."""

THREAD_TURNS: Final = 3
"""Best turns of a conversation by which its topic is judged. Source: as above."""

THREAD_MEANING: Final = 0.5
"""What a cosine counts beside a share of words where a conversation is judged. Source: as above."""


class Evidence(NamedTuple):
    """What was found of one candidate.

    *Units:* `words` the share of the query's words that it holds (a turn's neighbours add to it),
    `meaning` the cosine, 0…1; `elsewhere` the share that it lacks and others hold; `thread` how
    much the best turns of its conversation have; `bearers` how many candidates have the name that
    the message says, 0 without one; `asked_before` the share that the question right before a turn
    asks; `of_other`: another than the one whom the message asks about says it.
    """

    words: float = 0.0
    meaning: float = 0.0
    elsewhere: float = 0.0
    lacks_exact: bool = False
    thread: float = 0.0
    bearers: int = 0
    asked_before: float = 0.0
    of_other: bool = False


@dataclass(frozen=True, slots=True)
class Odds:
    """How log-odds grow with what was found. *Shape:* the score is 1 ÷ (1 + e^-(sum))."""

    base: float
    words: float = 0.0
    meaning: float = 0.0
    elsewhere: float = 0.0
    lacks_exact: float = 0.0
    named: float = 0.0
    thread: float = 0.0
    asked_before: float = 0.0
    of_other: float = 0.0

    def score(self, found: Evidence) -> float:
        """Return the probability that a candidate answers. *Units:* 0…1."""
        odds = (
            self.base
            + self.words * found.words
            + self.meaning * found.meaning
            + self.elsewhere * found.elsewhere
            + self.lacks_exact * found.lacks_exact
            + self.named * (found.bearers == 1)
            + self.thread * found.thread
            + self.asked_before * found.asked_before
            + self.of_other * found.of_other
        )
        return 1 / (1 + math.exp(-odds))


FACT: Final = Odds(-6.9, 9.4, 12.4, -2.7, -5.5, 2.3)
"""A fact, note or task. Source: logistic regression over the best candidates of zh-recall's dev
half, each question also asked with its answers taken away, and the unanswerable ones weighing as
much as the others; cosines of `universal-sentence-encoder-multilingual-3`;
`scripts/bench_recall.py --tune` prints it. Another embedder needs its own numbers."""

TURN: Final = Odds(-7.4, 3.1, 1.6, thread=1.6, asked_before=1.0, of_other=-2.0)
"""A turn of a conversation. Source: the ratios that rank LoCoMo's conversations 0 to 2 best, and
logistic regression over their sum. There, recall@10 is 0.726 without the speaker and the question
before, 0.766 with the speaker (0.764 to 0.768 from -0.5 to -4), 0.787 with both (0.780 at 0.3)."""

FACT_BY_WORDS: Final = Odds(-3.9, 9.4, 0.0, -2.3, -2.9, 2.6)
TURN_BY_WORDS: Final = Odds(-6.4, 3.1, thread=1.5, asked_before=1.0, of_other=-2.0)
FACT_BY_MEANING: Final = Odds(-6.7, 0.0, 12.8)
TURN_BY_MEANING: Final = Odds(-9.0, 0.0, 4.8, thread=12.1, of_other=-2.0)
"""When only one side answered. Source: the same candidates, fitted with that side alone."""

NAMED: Final[Mapping[int, float]] = {1: 0.75, 2: 0.2}
"""Bearers of a name → the probability that one of them is meant by a message that says it. Source:
zh-recall's dev half: 12 of 16, and 1 of 5; of names with more bearers 2 of 27 are meant."""


class Candidate(NamedTuple):
    """What either side found.

    *Shape:* `held` which of the query's tokens it has, or else `words` its share of them, 0…1;
    `meaning` the cosine, None where that side did not find it; `names` as `names_of` returns them;
    a turn names its conversation in `thread` and its `place` in it; `text` all that it says, a
    turn's with its speaker; `fact_key` its key.
    """

    id: str
    words: float | None = None
    meaning: float | None = None
    thread: str | None = None
    place: int = 0
    held: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    text: str = ""
    fact_key: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with what its words say among the items; `message` as names are looked for in it."""

    query: RecallQuery
    words: tuple[Weighed, ...]
    message: Spoken


class Fused(NamedTuple):
    """A candidate, how sure it is, and by what. *Units:* `score` 0…1, not decayed."""

    candidate: Candidate
    score: float
    evidence: Evidence = Evidence()


def asked_of(query: RecallQuery, documents: Mapping[str, int]) -> Asked:
    """Return the query as `fuse` takes it. *Shape:* `documents` token → how many items hold it.

    A number that only what was said before has is not asked for.
    """
    own = set(forms_of(wanted_of(query.message))) if query.is_widened else None
    wanted = [
        word if own is None or own.issuperset(word.forms) else replace(word, is_exact=False)
        for word in wanted_of(query.words)
    ]
    return Asked(query, weigh(wanted, documents), spoken(query.message))


def fuse(candidates: Sequence[Candidate], asked: Asked | None = None) -> list[Fused]:
    """Return the candidates, the surest first; among equals in the order given.

    A side that found nothing at all is left out of the sum, so either side alone still ranks. A
    name that the message says counts by itself, unless the message asks for one value: a question
    about a thing is not answered by everything about it.
    *Shape:* one for each candidate; ids are distinct. *Promise:* a score grows with each side's
    evidence.
    """
    has_words = any(one.held or one.words is not None for one in candidates)
    has_meaning = any(one.meaning is not None for one in candidates)
    facts, turns = _odds(has_words=has_words, has_meaning=has_meaning)
    fused: list[Fused] = []
    for one, found in zip(candidates, measured(candidates, asked), strict=True):
        score = (facts if one.thread is None else turns).score(found)
        if found.bearers in NAMED and (asked is None or asked.query.asks != "value"):
            score = 1 - (1 - score) * (1 - NAMED[found.bearers])
        fused.append(Fused(one, score, found))
    return sorted(fused, key=lambda each: -each.score)


def measured(candidates: Sequence[Candidate], asked: Asked | None = None) -> list[Evidence]:
    """Return the evidence for each candidate, in the order given.

    A turn gets a share of its neighbours' words. A candidate that meaning did not find is no nearer
    than the farthest that it found; none is farther than 0.
    """
    farthest = min((one.meaning for one in candidates if one.meaning is not None), default=0.0)
    near = [max(0.0, farthest if one.meaning is None else one.meaning) for one in candidates]
    bearers = {} if asked is None else _bearers(candidates, asked.message)
    held = _shares_of(candidates, asked)
    if all(one.thread is None for one in candidates):
        return [
            Evidence(
                share.held,
                cosine,
                share.elsewhere,
                share.lacks_exact,
                bearers=bearers.get(one.id, 0),
            )
            for one, share, cosine in zip(candidates, held, near, strict=True)
        ]
    words = _with_neighbours(candidates, held)
    threads = _threads(candidates, words, near)
    before = _asked_before(candidates, asked)
    speaker = _asked_speaker(candidates, asked)
    return [
        Evidence(
            words[place],
            near[place],
            share.elsewhere,
            share.lacks_exact,
            0.0 if one.thread is None else threads[one.thread],
            bearers.get(one.id, 0),
            before.get(one.id, 0.0),
            bool(speaker) and one.thread is not None and speaker_of(one.text) != speaker,
        )
        for place, (one, share) in enumerate(zip(candidates, held, strict=True))
    ]


def _asked_speaker(candidates: Sequence[Candidate], asked: Asked | None) -> str:
    """Return the one speaker of the turns whom the message names, '' without one."""
    if asked is None:
        return ""
    turns = (one for one in candidates if one.thread is not None)
    return asked_speaker(asked.query.message, {speaker_of(one.text) for one in turns})


def _asked_before(candidates: Sequence[Candidate], asked: Asked | None) -> dict[str, float]:
    """Return for each turn which share of the query the turn before it asks."""
    if asked is None:
        return {}
    turns = [(one.thread, one) for one in candidates if one.thread is not None]
    after = {(thread, one.place - 1): one.id for thread, one in turns}
    shared: dict[str, float] = {}
    for thread, one in turns:
        id_ = after.get((thread, one.place))
        asking = asked_tokens(one.text, one.held) if id_ is not None else None
        if id_ is not None and asking:
            shared[id_] = shares(asked.words, asking).held
    return shared


def _shares_of(candidates: Sequence[Candidate], asked: Asked | None) -> list[Shares]:
    known: dict[frozenset[str], Shares] = {}
    found: list[Shares] = []
    for one in candidates:
        if asked is None or (one.words is not None and not one.held):
            found.append(Shares(one.words or 0.0))
            continue
        if one.held not in known:  # most of what meaning found holds the same few words, or none
            known[one.held] = shares(asked.words, one.held)
        found.append(known[one.held])
    return found


def _odds(*, has_words: bool, has_meaning: bool) -> tuple[Odds, Odds]:
    if not has_meaning:
        return FACT_BY_WORDS, TURN_BY_WORDS
    return (FACT, TURN) if has_words else (FACT_BY_MEANING, TURN_BY_MEANING)


def _bearers(candidates: Sequence[Candidate], message: Spoken) -> dict[str, int]:
    """Return how many candidates bear the rarest name of each that the message says, by id."""
    said = said_names({name for one in candidates for name in one.names}, message)
    if not said:
        return {}
    borne = {one.id: said.intersection(one.names) for one in candidates}
    counts = Counter(name for names in borne.values() for name in names)
    return {id_: min(counts[name] for name in names) for id_, names in borne.items() if names}


def _with_neighbours(candidates: Sequence[Candidate], held: Sequence[Shares]) -> list[float]:
    """Return each candidate's share of words; to a turn's, its neighbours add."""
    own: dict[tuple[str | None, int], float] = {
        (one.thread, one.place): share.held
        for one, share in zip(candidates, held, strict=True)
        if one.thread is not None
    }
    words: list[float] = []
    for one, share in zip(candidates, held, strict=True):
        around = 0.0
        if one.thread is not None:
            around = sum(own.get((one.thread, one.place + step), 0.0) for step in (-1, 1))
        words.append(share.held + NEIGHBOUR_SHARE * around)
    return words


def _threads(
    candidates: Sequence[Candidate], words: Sequence[float], near: Sequence[float]
) -> dict[str, float]:
    """Return what the best turns of each conversation have, on average."""
    found: dict[str, list[float]] = {}
    for one, share, cosine in zip(candidates, words, near, strict=True):
        if one.thread is not None:
            found.setdefault(one.thread, []).append(share + THREAD_MEANING * cosine)
    return {
        thread: sum(sorted(values)[-THREAD_TURNS:]) / THREAD_TURNS
        for thread, values in found.items()
    }
