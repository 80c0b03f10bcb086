"""Remember now: what a person's message asks to be remembered is saved at once, without a model.

Which statements those are is `core.memories.remember`. They are saved as the person's own words,
with the message they come from; what is known already is only seen again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.memories.save import NewMemory, plan_memory
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.memories.remember import wishes_in
from remembrancer.core.text.fold import fold_key
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Statement
from remembrancer.store.ledger import StreamEdit

SOURCE: Final = "remember_now"
"""Source of what is saved this way."""

TYPE: Final = "fact"
"""Type of what is saved this way: it was stated, not inferred."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One statement to save, and the message that made it."""

    text: str
    message_id: str


def wishes_of(messages: Sequence[tuple[str, str]]) -> list[Wish]:
    """Return what user messages ask for. *Shape:* `messages` pairs of id and text; each statement
    once, from the first message that makes it."""
    found: dict[str, Wish] = {}
    for message_id, text in messages:
        for wish in wishes_in(text):
            found.setdefault(fold_key(wish), Wish(wish, message_id))
    return list(found.values())


async def plan_wishes(app: App, caller: Caller, wishes: Sequence[Wish]) -> Plan:
    """Decide on wishes, for a caller that writes more in the same batch.

    *Shape:* answers `{"saved": [{"id", "content", "outcome": "created" | "seen"}]}`.
    *Promise:* at most two round trips a wish; one in a wrong form is left.
    """
    person = replace(caller, actor="user")
    saved: list[JSON] = []
    edits: list[StreamEdit] = []
    extra: list[Statement] = []
    for wish in wishes:
        given: ItemInput = {"source": SOURCE, "source_message_ids": [wish.message_id]}
        try:
            plan = await plan_memory(app, person, NewMemory(wish.text, given, TYPE))
        except (InvalidInput, LimitExceeded):  # nothing is left of it once it is cleaned
            continue
        memory = cast("dict[str, JSON]", plan.answer["memory"])
        saved.append(
            {"id": memory["id"], "content": memory["content"], "outcome": plan.answer["outcome"]}
        )
        edits += plan.edits
        extra += plan.extra
    return Plan({"saved": saved}, app.runtime.now_ms(), edits, extra)


async def remember_now(app: App, caller: Caller, *, text: str, message_id: str) -> Answer:
    """Save at once what a user's message asks to be remembered.

    *Shape:* answers `{"saved": [{"id", "content", "outcome"}]}`, empty when nothing is asked for.
    *Raises:* Conflict, StoreUnavailable.
    *Promise:* no round trip when nothing is asked for, else at most three for one statement; the
    next search finds it by words.
    """
    wishes = wishes_of([(message_id, text)])
    if not wishes:
        return {"saved": []}
    person = replace(caller, actor="user")
    return await write(app, person, lambda: plan_wishes(app, person, wishes))
