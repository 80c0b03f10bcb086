"""Decisions on candidates: file one, say it anew, decide it once.

What a decision does to memories is `app.candidates`; here is the candidate's own record. Every
ring may import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded
from remembrancer.core.ledger.changes import Fields, apply_changes, changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

CandidateKind = Literal["fact", "merge", "replace", "retire", "conflict", "stale_task"]
"""What waits: a fact, or a change of what is there."""

Status = Literal["pending", "approved", "discarded", "merged", "superseded"]
"""Where a candidate stands."""

Action = Literal["approve", "discard", "merge", "supersede"]
"""What a person says."""

KINDS: Final = get_args(CandidateKind)
STATUSES: Final = get_args(Status)
ACTIONS: Final = get_args(Action)

STATUS_AFTER: Final[Mapping[Action, Status]] = {
    "approve": "approved",
    "discard": "discarded",
    "merge": "merged",
    "supersede": "superseded",
}
"""Action → the status it leaves."""

DISCARDS_MAX: Final = 2
"""Times the same fact is discarded before it is never proposed again. Source: issue, learned
rule."""

WORDED: Final = frozenset({"fact", "merge", "replace"})
"""Kinds whose content becomes a memory's text."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate as a job files it.

    *Shape:* `target_ids` the items it is about; `reason` why it waits, a word of ours or the
    model's sentence.
    """

    kind: CandidateKind
    content: str
    type: str = "note"
    fact_key: str | None = None
    confidence: float = 0.5
    importance: float = 0.65
    tags: tuple[str, ...] = ()
    source_message_ids: tuple[str, ...] = ()
    source: str = "extract"
    target_ids: tuple[str, ...] = ()
    reason: str = ""

    @property
    def fact(self) -> str:
        """What only one pending candidate may be about: a key, a statement, a change of items."""
        if self.kind == "fact":
            return f"key {self.fact_key}" if self.fact_key else f"text {self.text_hash}"
        return f"{self.kind} {' '.join(sorted(self.target_ids))}"

    @property
    def text_hash(self) -> str:
        """The hash by which a discarded candidate is known again, whatever its key."""
        text = repetition_key(self.content) if self.kind == "fact" else self.fact
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def fields(self) -> Fields:
        """The record of a pending candidate."""
        return {
            "kind": self.kind,
            "status": "pending",
            "type": self.type,
            "content": redact(self.content),
            "fact_key": self.fact_key,
            "confidence": self.confidence,
            "importance": self.importance,
            "tags": [*self.tags] or None,
            "source_message_ids": [*self.source_message_ids] or None,
            "source": self.source,
            "target_ids": [*self.target_ids] or None,
            "why": redact(self.reason)[: limits.REASON_CHARS_MAX] or None,
            "fact": self.fact,
            "text_hash": self.text_hash,
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate as it was read. *Units:* times in milliseconds UTC."""

    id: str
    version: int
    created_at: int
    updated_at: int
    fields: Fields


def file_candidate(proposed: Proposed) -> Draft:
    """Draft a new candidate."""
    return Draft("CandidateFiled", changes_between({}, proposed.fields))


def revise_candidate(present: Mapping[str, JSON], proposed: Proposed) -> Draft | None:
    """Draft that a pending candidate is said anew; None when it says the same.

    A fact that comes again with the same words is nothing new, however sure the model is.
    """
    if present.get("text_hash") == proposed.text_hash:
        return None
    changes = changes_between(present, proposed.fields)
    return Draft("CandidateRevised", changes) if changes else None


def decide_candidate(
    candidate: Candidate, action: Action, *, note: str | None, result_id: str | None, now_ms: int
) -> Draft:
    """Draft a decision. *Raises:* Conflict when it is decided already."""
    refuse_decided(candidate)
    after: Fields = {
        "status": STATUS_AFTER[action],
        "decision_note": note,
        "decided_at": now_ms,
        "result_id": result_id,
    }
    kind = f"Candidate{STATUS_AFTER[action].capitalize()}"
    return Draft(kind, changes_between(candidate.fields, after))


def refuse_decided(candidate: Candidate) -> None:
    """Refuse to decide twice. *Raises:* Conflict."""
    status = candidate.fields.get("status")
    if status != "pending":
        raise Conflict(
            f"the candidate {candidate.id} is {status} already",
            hint="change the memory itself, or take the decision back with undo",
            details={"candidate_id": candidate.id, "status": status},
        )


def check_note(note: str | None) -> str | None:
    """Return a decision's note, redacted, or None. *Raises:* LimitExceeded."""
    if note is None or not note.strip():
        return None
    text = redact(clean(note).strip())
    if len(text) > limits.REASON_CHARS_MAX:
        raise LimitExceeded(
            f"the note has {len(text)} characters",
            hint=f"at most {limits.REASON_CHARS_MAX}",
            field="decision_note",
        )
    return text


def require_worded(candidate: Candidate, action: Action) -> None:
    """Refuse an action that needs a text where a candidate has none. *Raises:* InvalidInput."""
    kind = candidate.fields.get("kind")
    if kind not in WORDED:
        raise InvalidInput(
            f"a candidate of kind {kind!r} cannot be {STATUS_AFTER[action]}",
            hint="approve or discard it",
            field="action",
        )


def merged_text(target: str, candidate: str) -> str:
    """Return what a memory says after a candidate is merged into it: the candidate's words, unless
    the memory says them already and more. *Source:* the predecessor replaces."""
    return target if repetition_key(candidate) in repetition_key(target) else candidate


def merged_tags(target: JSON, candidate: JSON) -> list[JSON]:
    """Return the tags of both, the memory's first."""
    both = [*_list(target), *_list(candidate)]
    return [*dict.fromkeys(str(tag) for tag in both)]


def larger(one: JSON, two: JSON) -> float | None:
    """Return the larger of two shares."""
    found = [float(value) for value in (one, two) if isinstance(value, int | float)]
    return max(found, default=None)


def candidate_view(candidate: Candidate) -> dict[str, JSON]:
    """Return a candidate's answer form; the predecessor's names, all always there."""
    fields = candidate.fields
    decided = fields.get("decided_at")
    targets = _list(fields.get("target_ids"))
    return {
        "id": candidate.id,
        "kind": fields.get("kind"),
        "status": fields.get("status"),
        "type": fields.get("type"),
        "content": fields.get("content"),
        "fact_key": fields.get("fact_key"),
        "confidence": fields.get("confidence"),
        "importance": fields.get("importance"),
        "tags": _list(fields.get("tags")),
        "source": fields.get("source"),
        "source_message_ids": _list(fields.get("source_message_ids")),
        "target_id": targets[0] if targets else None,
        "target_ids": targets,
        "why": fields.get("why"),
        "decision_note": fields.get("decision_note"),
        "memory_id": fields.get("result_id"),
        "decided_at": format_iso(decided) if isinstance(decided, int) else None,
        "version": candidate.version,
        "created_at": format_iso(candidate.created_at),
        "updated_at": format_iso(candidate.updated_at),
    }


def after_decision(candidate: Candidate, draft: Draft, now_ms: int) -> Candidate:
    """Return the candidate as it will be once the draft is written."""
    fields = apply_changes(candidate.fields, draft.changes)
    return Candidate(candidate.id, candidate.version + 1, candidate.created_at, now_ms, fields)


def _list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []
