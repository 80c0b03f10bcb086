"""What a recall leaves behind, written after the answer: what was used, and the explanation.

It may be lost with the process; nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.app.recall.candidates import Side
from remembrancer.app.state import App
from remembrancer.core.recall.explain import Explained, explanation_of, kept_query
from remembrancer.core.recall.scale import shown
from remembrancer.core.recall.selection import Selected
from remembrancer.core.values import Caller
from remembrancer.store import recalls as store

if TYPE_CHECKING:
    from remembrancer.app.recall.recall import Purpose, Recalled


@dataclass(frozen=True, slots=True)
class Noted:
    """What is known of a recall beside what it found. *Shape:* `used` the ids that count as used.

    *Units:* `at_ms` milliseconds UTC.
    """

    message: str
    purpose: Purpose
    at_ms: int
    used: Sequence[str]


def explained(
    sides: Mapping[str, Side],
    final: Sequence[Selected],
    reranked: Mapping[str, float],
    unfit: Collection[str],
) -> list[Explained]:
    """Return why each candidate was brought up, or was not, in their order.

    *Shape:* `reranked` the scores of those ranked again; `unfit` ids for which there was no room.
    """
    return [
        Explained(
            id_ := one.id,
            one.evidence.words if (side := sides[id_]).match.held else None,
            side.meaning,
            shown(one.score),
            "over_budget" if id_ in unfit else one.gate,
            reranked.get(id_),
            one.layer,
            one.answers,
        )
        for one in final
    ]


async def note(app: App, caller: Caller, recalled: Recalled, noted: Noted) -> None:
    """Keep the explanation of a recall, and count what was used.

    *Promise:* one round trip; safe to repeat and to lose.
    """
    candidates = recalled.explained
    row = store.RecallRow(
        id=recalled.id,
        at_ms=noted.at_ms,
        purpose=noted.purpose,
        query=kept_query(noted.message),
        degraded=recalled.degraded,
        candidates=explanation_of(candidates),
        found=len(candidates),
        injected=recalled.injected,
        tokens=recalled.tokens,
    )
    statements = [store.keep_statement(caller.namespace, row)]
    if noted.used:
        statements.append(store.used_statement(caller.namespace, noted.used, at_ms=noted.at_ms))
    await app.sql.write(statements)
