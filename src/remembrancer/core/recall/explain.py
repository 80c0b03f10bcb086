"""Why a recall brought up what it did: each candidate with its scores and the gate that dropped it.

It holds ids and numbers and no memory's text. Keeping it is `store.recalls`. Every ring may import
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from remembrancer.core.recall.gates import Gate
from remembrancer.core.recall.repeats import Repeat
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.values import JSON

Dropped = Gate | Repeat | Literal["over_budget"]
"""Why a candidate is not in the patch; `over_budget`: the patch had no room for it."""

Layer = Literal["active", "cold"]
"""Where a candidate was found: among what is current, or in what dreaming archived."""

EXPLAINED_MAX: Final = 24
"""Candidates of one explanation: what was brought up, and what came nearest. Our choice: some
three kilobytes a row."""

QUERY_CHARS_MAX: Final = 500
"""Characters of a query that are kept. Our choice."""

_READ: Final = 4
"""Times as many characters of a query as are kept are looked at for secrets."""

_DIGITS: Final = 4
"""Digits of a score."""


class Explained(NamedTuple):
    """One candidate.

    *Units:* `words` a share 0…1, `meaning` a cosine, `score`, `answers` and `rerank` 0…1; None
    where that side had no part in it. *Shape:* `gate` None: it was brought up; `answers` how likely
    it answers, which decided where it was looked at.
    """

    id: str
    words: float | None
    meaning: float | None
    score: float
    gate: Dropped | None = None
    rerank: float | None = None
    layer: Layer = "active"
    answers: float | None = None

    @property
    def json(self) -> dict[str, JSON]:
        """The candidate as it is kept and answered."""
        return {
            "id": self.id,
            "words": _rounded(self.words),
            "meaning": _rounded(self.meaning),
            "score": _rounded(self.score),
            "answers": _rounded(self.answers),
            "rerank": _rounded(self.rerank),
            "layer": self.layer,
            "gate": self.gate,
        }


def explanation_of(candidates: Sequence[Explained]) -> list[JSON]:
    """Return what is kept of the candidates: those brought up, then the surest that were not."""
    kept = [one for one in candidates if one.gate is None]
    others = sorted((one for one in candidates if one.gate is not None), key=lambda x: -x.score)
    return [one.json for one in [*kept, *others][:EXPLAINED_MAX]]


def kept_query(message: str) -> str:
    """Return what is kept of a query: without secrets, and not longer than is told."""
    # What is cut off here lies beyond what is kept, so no half of a secret is.
    read = clean(message)[: _READ * QUERY_CHARS_MAX]
    return shorten(redact(read).strip(), QUERY_CHARS_MAX)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
