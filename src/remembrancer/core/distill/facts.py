"""Facts: what a distilling model proposed, entry by entry, made safe and put in order.

Each entry is read on its own: a bad one is dropped and counted, the others stay. Whether a fact
stands on its source is asked of `grounding.py`; what the store holds already is decided by the
job. Every ring may import it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.core import limits
from remembrancer.core.distill.grounding import Verdict, judge, nearness, source_of, together
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Line
from remembrancer.core.distill.slices import SLICE_CHARS, slices_of
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.text.fold import clean, fold, normalise
from remembrancer.core.text.variants import simplified
from remembrancer.core.values import JSON

TYPES: Final = frozenset(
    """
    fact event preference relationship boundary habit decision note world_fact learning identity
    """.split()
)
"""Types that a job may give. Rules and personas steer every conversation: only people make them."""

CONFIDENCE: Final = 0.5
"""Confidence of a fact that says none: below the line, so a person sees it. Source: DESIGN 8."""

IMPORTANCE: Final = 0.65
"""Importance of a fact that says none. Source: the predecessor."""

FACT_CHARS_MAX: Final = 1_000
"""Characters of a fact; a longer one is no fact. Source: the predecessor."""

FACTS_MAX: Final = 60
"""Facts of one batch, the surest first: they are one write. Our choice; forty messages rarely say
twenty."""

TAGS_MAX: Final = 8
"""Tags of one fact. Our choice."""

SOURCES_MAX: Final = 12
"""Source messages of one fact. Our choice."""

_KEY_PART: Final = re.compile(r"[a-z0-9]+(?:[_.-][a-z0-9]+)*")
_KEY_CHARS_MAX: Final = 80


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that was read, not yet judged.

    *Shape:* `fact_key` `area:name` in small ASCII letters or None; `confidence` and `importance`
    0…1; `source_ids` ids of the batch's lines that can be a source, at least one; `why` it waits
    for a person whatever its confidence, None when it does not.
    """

    type: str
    content: str
    fact_key: str | None
    confidence: float
    importance: float
    tags: tuple[str, ...]
    source_ids: tuple[str, ...]
    why: str | None = None

    @property
    def same(self) -> str:
        """What another fact with the same text has, too, in either script of Chinese."""
        return repetition_key(simplified(self.content))


def read_facts(
    entries: Sequence[JSON],
    lines: Sequence[Line],
    *,
    importance_min: float,
    empty_chars_min: int = 0,
) -> tuple[list[Fact], Counter[str]]:
    """Return the facts that can be judged, and how many entries were dropped for which reason.

    *Shape:* reasons `unreadable`, `instruction`, `secret`, `too_long`, `empty`, `unimportant`,
    `no_source`. *Promise:* any JSON gives facts or a count, never an error.
    """
    sources = {line.id for line in lines if line.is_source}
    saved = {line.id for line in lines if line.is_saved}
    facts: list[Fact] = []
    dropped: Counter[str] = Counter()
    for entry in entries:
        found = _read(entry, sources, saved, importance_min, empty_chars_min)
        if isinstance(found, Fact):
            facts.append(found)
        else:
            dropped[found] += 1
    return facts, dropped


def _read(
    entry: JSON, sources: set[str], saved: set[str], importance_min: float, empty_chars_min: int
) -> Fact | str:
    if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
        return "unreadable"
    if is_instruction(str(entry["content"])):
        return "instruction"
    raw = " ".join(clean(str(entry["content"])).split())
    if len(raw) > FACT_CHARS_MAX:
        return "too_long"
    content = without_secret(raw)
    if content is None:
        return "secret"
    if is_empty(content, chars_min=empty_chars_min):
        return "empty"
    importance = share(entry.get("importance"), IMPORTANCE)
    if importance < importance_min:
        return "unimportant"
    cited = _texts(entry.get("source_message_ids"))
    ids = tuple(dict.fromkeys(id_ for id_ in cited if id_ in sources))[:SOURCES_MAX]
    if not ids:
        return "already_saved" if saved.intersection(cited) else "no_source"
    type_ = str(entry.get("type") or "note").strip().lower()
    return Fact(
        type=type_ if type_ in TYPES else "note",
        content=content,
        fact_key=normal_key(entry.get("fact_key")),
        confidence=share(entry.get("confidence"), CONFIDENCE),
        importance=importance,
        tags=_tags(entry.get("tags")),
        source_ids=ids,
    )


def share(value: JSON, default: float) -> float:
    """Return a number between 0 and 1, the default for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return float(value) if 0 <= value <= 1 else default


def is_empty(text: str, *, chars_min: int) -> bool:
    """Tell whether a text says nothing: only signs, and not many of them.

    *Source:* DESIGN section 13: “属兔” is a memory.
    """
    plain = fold(text)
    return not plain or (not any(map(str.isalnum, plain)) and len(plain) < max(1, chars_min))


def normal_key(value: JSON) -> str | None:
    """Return a fact key as `area:name_of_it` in small ASCII letters; None when it is none.

    *Promise:* idempotent.
    """
    if not isinstance(value, str):
        return None
    plain = normalise(value).strip().lower()
    parts = [re.sub(r"[\s/\\-]+", "_", part.strip()) for part in re.split(r"[:：]", plain)]
    kept = [re.sub(r"_+", "_", part).strip("_.") for part in parts]
    if not len(kept) > 1 or not all(_KEY_PART.fullmatch(part) for part in kept):
        return None
    key = f"{kept[0]}:{'_'.join(kept[1:])}"
    return key if len(key) <= _KEY_CHARS_MAX else None


def _texts(value: JSON) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _tags(value: JSON) -> tuple[str, ...]:
    kept: list[str] = []
    for tag in _texts(value):
        text = clean(tag).strip().lstrip("#")
        is_short = 0 < len(text) <= limits.TAG_CHARS_MAX and bool(fold(text))
        if is_short and not is_instruction(text) and without_secret(text) == text:
            kept.append(text)
    return tuple(dict.fromkeys(kept))[:TAGS_MAX]


@dataclass(frozen=True, slots=True)
class Sifted:
    """Facts that stand on their sources, what is far from them in words, and what was dropped."""

    facts: Sequence[Fact]
    far: Sequence[Fact]
    dropped: Counter[str]


def nearest_text(fact: Fact, lines: Mapping[str, Line], *, chars_max: int) -> str:
    """Return what a fact's source messages say, of each the stretch that is nearest to it: so
    much that something else is not embedded in its place."""
    cited = [lines[id_].text for id_ in fact.source_ids if id_ in lines]
    whole = "\n".join(cited)
    if len(whole) <= chars_max:
        return whole
    each = max(1, chars_max // len(cited))
    stretches = [[text[s.start : s.end] for s in slices_of(text, chars_max=each)] for text in cited]
    return "\n".join(
        max(parts, key=lambda part: nearness(fact.content, part).share) for parts in stretches
    )


def sift(
    facts: Sequence[Fact],
    lines: Sequence[Line],
    cosines: Mapping[str, float] | None = None,
) -> Sifted:
    """Return the facts by how they stand on their sources.

    *Shape:* `cosines` content → its likeness in meaning to the source, for those found `far`
    before; without it they are `far` again. A fact whose source says the opposite waits for a
    person.
    """
    by_id = {line.id: line for line in lines}
    cited = {id_ for fact in facts for id_ in fact.source_ids if id_ in by_id}
    # Taken apart once, however many facts stand on them.
    known = {id_: source_of(by_id[id_].text, chars_max=SLICE_CHARS) for id_ in sorted(cited)}
    kept: list[Fact] = []
    far: list[Fact] = []
    dropped: Counter[str] = Counter()
    for fact in facts:
        source = together([known[id_] for id_ in fact.source_ids if id_ in known])
        cosine = None if cosines is None else cosines.get(fact.content)
        verdict: Verdict = judge(fact.content, source, cosine=cosine)
        if verdict == "grounded":
            kept.append(fact)
        elif verdict == "reversed":
            kept.append(replace(fact, why="reversed"))
        elif verdict == "far":
            far.append(fact)
        else:
            dropped["invented"] += 1
    return Sifted(kept, far, dropped)


def distinct(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts without repetitions, at most `FACTS_MAX`, in the order of their batch.

    Of two under one key the surer stays, the later of equals: what was said last is true now.
    """
    chosen: dict[str, tuple[int, Fact]] = {}
    for index, fact in enumerate(facts):
        name = fact.fact_key or f"text {fact.same}"
        known = chosen.get(name)
        if known is None or fact.confidence >= known[1].confidence:
            chosen[name] = (index, fact)
    by_text: dict[str, tuple[int, Fact]] = {}
    for index, fact in chosen.values():
        known = by_text.get(fact.same)
        # Said under a key and without one: the key says more.
        if known is None or (known[1].fact_key is None and fact.fact_key is not None):
            by_text[fact.same] = (index, fact)
    best = sorted(by_text.values(), key=lambda pair: (-pair[1].confidence, pair[0]))[:FACTS_MAX]
    return [fact for _, fact in sorted(best, key=lambda pair: pair[0])]
