"""Verdicts on a night's proposals: what a job may do to memories, what it may only suggest.

Everything is judged against what the model was shown. What touches a person's own, pinned or
precious memory, another namespace, or an id that was not shown is refused and counted; what is
allowed but not sure, or beyond the night's bound, becomes a candidate. Every ring may import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from remembrancer.core.distill.facts import FACT_CHARS_MAX, is_empty
from remembrancer.core.distill.grounding import judge
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Line
from remembrancer.core.distill.nights import Proposal
from remembrancer.core.memories.sameness import is_repetition, repetition_key
from remembrancer.core.search.likeness import Gist, compare, gist_of

RETIRED_MIN: Final = 5
"""Memories that a night may always retire. Source: DESIGN section 8."""

RETIRED_SHARE: Final = 0.05
"""Share of the active items that a night may retire. Source: DESIGN section 8."""

CANDIDATES_MAX: Final = 24
"""Candidates that one night files; what comes beyond is counted. Our choice: one sitting."""

ALIKE_MIN: Final = 0.8
"""Likeness from which two memories without differences can be merged unseen. Our choice."""

ABOUT_MIN: Final = 0.45
"""Likeness from which a difference is a contradiction: they speak of the same. Our choice."""


PASSING: Final = frozenset({"event", "excerpt"})
"""Types that tell of one moment: two of them can differ and both be true."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory that the model was shown. *Units:* `updated_at` milliseconds UTC."""

    id: str
    type: str
    content: str
    fact_key: str | None = None
    authored_by: str = "job"
    is_pinned: bool = False
    is_precious: bool = False
    is_taken_back: bool = False
    updated_at: int = 0

    @property
    def is_touchable(self) -> bool:
        """Whether a job may change it. Source: DESIGN section 8.

        What somebody took back is not done again the next night.
        """
        is_own = self.authored_by == "human" or self.is_pinned or self.is_precious
        return not (is_own or self.is_taken_back)


@dataclass(slots=True)
class Verdicts:
    """What becomes of a night's proposals.

    *Shape:* `retired` counts what leaves the active memories, never more than the bound;
    `refused` why → how many; `left_out` candidates beyond `CANDIDATES_MAX`.
    """

    allowed: list[Proposal] = field(default_factory=list)
    candidates: list[Proposal] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    retired: int = 0
    left_out: int = 0


def retired_max(active: int) -> int:
    """Return how many memories a night may retire. *Source:* DESIGN section 8."""
    return max(RETIRED_MIN, int(active * RETIRED_SHARE))


def judge_night(
    proposals: Sequence[Proposal],
    shown: Mapping[str, Shown],
    lines: Sequence[Line],
    *,
    active: int,
    retired_before: int = 0,
) -> Verdicts:
    """Return which proposals are carried out, which wait for a person, and which are refused.

    *Shape:* `retired_before` what the same run retired already.

    *Promise:* a memory is in at most one change that is carried out, and never retired by one that
    is itself retired; everything that is allowed is within the bound.
    """
    verdicts = Verdicts()
    bound = retired_max(active) - retired_before
    texts = {line.id: line.text for line in lines if line.is_source}
    taken: set[str] = set()
    for one in proposals:
        why = _refusal(one, shown)
        named = {*one.ids, *([one.by] if one.by else [])}
        if why is None and taken & named:
            why = "already_changed"
        if why is not None:
            verdicts.refused[why] += 1
            continue
        verdict = _judge(one, shown, texts)
        cost = len(one.ids) if one.change == "merge" else 1
        if verdict == "allowed" and verdicts.retired + cost <= bound:
            verdicts.allowed.append(one)
            verdicts.retired += cost
            taken |= named
        elif verdict not in ("allowed", "candidate"):
            verdicts.refused[verdict] += 1
        elif len(verdicts.candidates) < CANDIDATES_MAX:
            verdicts.candidates.append(one)
        else:
            verdicts.left_out += 1
    return verdicts


def _refusal(one: Proposal, shown: Mapping[str, Shown]) -> str | None:
    ids = [*one.ids, *([one.by] if one.by else [])]
    if not one.ids or (one.change in ("merge", "conflict") and len(one.ids) < 2):
        return "unreadable"
    if any(id_ not in shown for id_ in ids):
        return "not_shown"
    # A contradiction is only shown to a person, so it may name what no job may change.
    if one.change != "conflict" and not all(shown[id_].is_touchable for id_ in one.ids):
        return "protected"
    if one.change in ("merge", "replace"):
        if is_instruction(one.content) or is_instruction(one.reason):
            return "instruction"
        if is_empty(one.content, chars_min=1) or len(one.content) > FACT_CHARS_MAX:
            return "unreadable"
        if without_secret(one.content) != one.content:
            return "secret"
    return "unreadable" if one.by in one.ids else None


def _judge(one: Proposal, shown: Mapping[str, Shown], texts: Mapping[str, str]) -> str:
    """Return `allowed`, `candidate` or why it is refused."""
    held = [shown[id_] for id_ in one.ids]
    if one.change == "conflict":
        return "candidate"
    if one.change == "retire":
        return "allowed" if one.by and is_retired_by(held[0], shown[one.by]) else "candidate"
    known = "\n".join(memory.content for memory in held)
    if one.change == "merge":
        if judge(one.content, known) != "grounded":
            return "ungrounded"
        is_sure = all(_is_kept_in(memory, one.content, held) for memory in held)
        return "allowed" if is_sure else "candidate"
    said = "\n".join(texts[id_] for id_ in one.source_ids if id_ in texts)
    if not said or judge(one.content, f"{known}\n{said}") not in ("grounded", "reversed"):
        return "ungrounded"
    # The new text must stand on the day, not on the old text alone, and be about the same.
    is_new = judge(one.content, said) == "grounded"
    return "allowed" if is_new and is_about(held[0].content, one.content) else "candidate"


def is_retired_by(old: Shown, new: Shown) -> bool:
    """Tell whether one memory makes another obsolete: it says the same, or it is not older and has
    the same key or contradicts it explicitly. *Source:* DESIGN section 8."""
    if is_repetition(old.content, new.content):
        return True
    if new.updated_at < old.updated_at:
        return False
    is_same_key = old.fact_key is not None and old.fact_key == new.fact_key
    return is_same_key or is_contradiction(old, new)


def is_contradiction(one: Shown, two: Shown) -> bool:
    """Tell whether two memories say different things of the same: a negation, number or date."""
    return _contradict((one, gist_of(one.content)), (two, gist_of(two.content)))


def _contradict(left: tuple[Shown, Gist], right: tuple[Shown, Gist]) -> bool:
    (one, mine), (two, theirs) = left, right
    if PASSING & {one.type, two.type}:
        return False
    if one.fact_key is not None and two.fact_key is not None and one.fact_key != two.fact_key:
        return False
    likeness = compare(mine, theirs)
    return bool(likeness.differences) and likeness.score >= ABOUT_MIN


def is_about(one: str, two: str) -> bool:
    """Tell whether two texts speak of the same thing."""
    likeness = compare(gist_of(one), gist_of(two))
    return likeness.is_same or likeness.score >= ABOUT_MIN / 2


def _is_kept_in(memory: Shown, content: str, others: Sequence[Shown]) -> bool:
    """Tell whether a merged text says all of a memory, so that nothing is lost unseen."""
    is_keyed = memory.fact_key is not None and all(
        other.fact_key == memory.fact_key for other in others
    )
    likeness = compare(gist_of(memory.content), gist_of(content))
    is_alike = likeness.is_same or (likeness.score >= ALIKE_MIN and not likeness.differences)
    return is_repetition(memory.content, content) or is_alike or is_keyed


def consolidated(shown: Sequence[Shown]) -> list[Proposal]:
    """Return the retirements that need no model: the same key, or the same statement again.

    *Shape:* of a group the newest stays; what a person wrote or pinned stays in any case, and
    takes the newest's place. Only what a job may touch is proposed.
    """
    groups: dict[str, list[Shown]] = {}
    for memory in shown:
        text = repetition_key(memory.content)
        name = f"key {memory.fact_key}" if memory.fact_key else f"text {text}"
        groups.setdefault(name, []).append(memory)
    result: list[Proposal] = []
    for group in groups.values():
        kept = max(group, key=lambda one: (not one.is_touchable, one.updated_at, one.id))
        result += [
            Proposal("retire", (one.id,), by=kept.id, reason="said again")
            for one in group
            if one is not kept and one.is_touchable
        ]
    return result


def contradictions(shown: Sequence[Shown], *, pairs_max: int = 12) -> list[Proposal]:
    """Return the pairs that contradict each other by their words, at most so many."""
    result: list[Proposal] = []
    known = [(memory, gist_of(memory.content)) for memory in shown]
    for one, two in combinations(known, 2):
        if len(result) >= pairs_max:
            break
        if _contradict(one, two):
            newer, older = sorted((one[0], two[0]), key=lambda m: (-m.updated_at, m.id))
            reason = "they cannot both be true"
            result.append(Proposal("conflict", (newer.id, older.id), reason=reason))
    return result
