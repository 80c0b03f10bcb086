"""A night's proposals: what a dreaming model may do to memories, and what it may only suggest.

Everything is judged against what the model was shown. What touches a person's own, pinned or
precious memory, another namespace, or an id that was not shown is refused and counted; what is
allowed but not sure, or beyond the night's bound, becomes a candidate. Every ring may import it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from remembrancer.core.distill.answers import Unreadable, read_object
from remembrancer.core.distill.facts import FACT_CHARS_MAX, is_empty
from remembrancer.core.distill.grounding import judge
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Line
from remembrancer.core.memories.sameness import is_repetition, repetition_key
from remembrancer.core.search.likeness import compare, gist_of
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

RETIRED_MIN: Final = 5
"""Memories that a night may always retire. Source: DESIGN section 8."""

RETIRED_SHARE: Final = 0.05
"""Share of the active items that a night may retire. Source: DESIGN section 8."""

PROPOSALS_MAX: Final = 40
"""Proposals of one kind that are read of one answer. Our choice: as many memories as are shown."""

CANDIDATES_MAX: Final = 24
"""Candidates that one night files; what comes beyond is counted. Our choice: one sitting."""

ALIKE_MIN: Final = 0.8
"""Likeness from which two memories without differences can be merged unseen. Our choice."""

ABOUT_MIN: Final = 0.45
"""Likeness from which a difference is a contradiction: they speak of the same. Our choice."""

EXCERPT_CHARS: Final = (6, 500)
"""Fewest and most characters of a quote. Our choice."""

Change = Literal["merge", "replace", "retire", "conflict"]
"""What is proposed."""


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
    updated_at: int = 0

    @property
    def is_touchable(self) -> bool:
        """Whether a job may change it. Source: DESIGN section 8."""
        return self.authored_by != "human" and not self.is_pinned and not self.is_precious


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposed change.

    *Shape:* `ids` what it is about, for `replace` and `retire` one, for `merge` and `conflict`
    two or more; `by` the memory that makes the first obsolete.
    """

    change: Change
    ids: tuple[str, ...]
    content: str = ""
    by: str | None = None
    reason: str = ""
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Night:
    """What a model answered for one batch of a day, or a rule made of it."""

    title: str = ""
    summary: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    quotes: tuple[tuple[str, str | None], ...] = ()
    proposals: tuple[Proposal, ...] = ()


_TEXTS: Final = ("summary", "digest", "title")
_LISTS: Final = (
    "sections", "quotes", "excerpts", "merge", "replace", "memories_to_update", "retire",
    "delete", "memories_to_delete", "contradictions",
)  # fmt: skip


def read_night(text: str) -> Night | Unreadable:
    """Return what an answer proposes; the predecessor's names of the lists will do as well."""
    found = read_object(text, (*_TEXTS, *_LISTS, "memories"))
    if isinstance(found, Unreadable):
        return found
    proposals = [
        *(_merge(entry) for entry in _entries(found, "merge")),
        *(_replace(entry) for entry in _entries(found, "replace", "memories_to_update")),
        *(_retire(entry) for entry in _entries(found, "retire", "delete", "memories_to_delete")),
        *(_clash(entry) for entry in _entries(found, "contradictions")),
    ]
    sections = [entry for entry in _entries(found, "sections") if isinstance(entry, dict)]
    return Night(
        title=_line(found.get("title")),
        summary=_line(found.get("summary")),
        sections=tuple((_line(one.get("title")), _line(one.get("text"))) for one in sections[:3]),
        digest=_line(found.get("digest")),
        quotes=tuple(_quote(entry) for entry in _entries(found, "quotes", "excerpts")),
        proposals=tuple(one for one in proposals if one is not None),
    )


def _entries(found: Mapping[str, JSON], *names: str) -> list[JSON]:
    result: list[JSON] = []
    for name in names:
        value = found.get(name)
        result += value[:PROPOSALS_MAX] if isinstance(value, list) else []
    return result


def _line(value: JSON) -> str:
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def _ids(entry: Mapping[str, JSON], *names: str) -> tuple[str, ...]:
    for name in names:
        value = entry.get(name)
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list):
            return tuple(dict.fromkeys(str(one) for one in value if isinstance(one, str)))
    return ()


def _merge(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    ids = _ids(entry, "ids", "memory_ids")
    return Proposal("merge", ids, _line(entry.get("content")), reason=_line(entry.get("reason")))


def _replace(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    return Proposal(
        "replace",
        _ids(entry, "id", "memory_id", "target_id")[:1],
        _line(entry.get("content")),
        reason=_line(entry.get("reason")),
        source_ids=_ids(entry, "source_message_ids"),
    )


def _retire(entry: JSON) -> Proposal | None:
    if isinstance(entry, str):
        return Proposal("retire", (entry,))
    if not isinstance(entry, dict):
        return None
    by = _ids(entry, "by", "superseded_by", "contradicted_by")
    ids = _ids(entry, "id", "memory_id", "target_id")[:1]
    reason = _line(entry.get("reason"))
    return Proposal("retire", ids, by=by[0] if by else None, reason=reason)


def _clash(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    return Proposal("conflict", _ids(entry, "ids", "memory_ids"), reason=_line(entry.get("reason")))


def _quote(entry: JSON) -> tuple[str, str | None]:
    if isinstance(entry, str):
        return entry, None
    if not isinstance(entry, dict):
        return "", None
    text = entry.get("text") or entry.get("content")
    ids = _ids(entry, "source_message_id", "source_message_ids")
    return (text if isinstance(text, str) else ""), ids[0] if ids else None


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
) -> Verdicts:
    """Return which proposals are carried out, which wait for a person, and which are refused.

    *Promise:* a memory is in at most one change that is carried out, and never retired by one that
    is itself retired; everything that is allowed is within the bound.
    """
    verdicts = Verdicts()
    bound = retired_max(active)
    texts = {line.id: line.text for line in lines if line.is_source}
    taken: set[str] = set()
    for one in proposals:
        why = _refusal(one, shown)
        if why is None and taken.intersection((*one.ids, one.by or "")):
            why = "already_changed"
        if why is not None:
            verdicts.refused[why] += 1
            continue
        verdict = _judge(one, shown, texts)
        cost = len(one.ids) if one.change == "merge" else 1
        if verdict == "allowed" and verdicts.retired + cost <= bound:
            verdicts.allowed.append(one)
            verdicts.retired += cost
            taken.update((*one.ids, one.by or ""))
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
    if one.type == "excerpt" or two.type == "excerpt":
        return False
    if one.fact_key is not None and two.fact_key is not None and one.fact_key != two.fact_key:
        return False
    likeness = compare(gist_of(one.content), gist_of(two.content))
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
    for index, one in enumerate(shown):
        for two in shown[index + 1 :]:
            if len(result) >= pairs_max:
                return result
            if is_contradiction(one, two):
                newer, older = sorted((one, two), key=lambda m: (-m.updated_at, m.id))
                reason = "they cannot both be true"
                result.append(Proposal("conflict", (newer.id, older.id), reason=reason))
    return result


def kept_quotes(
    quotes: Sequence[tuple[str, str | None]], lines: Sequence[Line], *, limit: int
) -> list[tuple[str, str]]:
    """Return the quotes that a source message has word for word, with its id, each once.

    *Promise:* the text is a part of the message, unchanged; an instruction or a secret is none.
    """
    found: dict[str, str] = {}
    for text, cited in quotes:
        quote = re.sub(r"^[\"“「『]|[\"”」』]$", "", clean(text).strip()).strip()
        low, high = EXCERPT_CHARS
        if not low <= len(quote) <= high or is_instruction(quote):
            continue
        if without_secret(quote) != quote:
            continue
        for line in sorted(lines, key=lambda line: line.id != cited):
            if line.is_source and quote in line.text:
                found.setdefault(quote, line.id)
                break
        if len(found) >= limit:
            break
    return list(found.items())[:limit]
