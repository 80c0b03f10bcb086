"""Remember now: what a person's message asks to be remembered is saved at once, without a model.

Which statements those are is `core.memories.remember`. They are saved as the person's own words,
with the message they come from; what is known already is only seen again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.memories.save import NewMemory, plan_memories
from remembrancer.app.state import App
from remembrancer.core.memories.remember import wishes_in
from remembrancer.core.text.fold import fold_key
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import memories as store
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


WISHES_AT_ONCE: Final = 20
"""Statements that one command saves: each is looked for in the index by a statement of its own,
and a request may send SQL_BATCH_STATEMENTS_MAX. Our choice: two full messages'."""


async def plan_wishes(app: App, caller: Caller, wishes: Sequence[Wish]) -> Plan:
    """Decide on wishes, for a caller that writes more in the same batch.

    *Shape:* answers `{"saved": [{"id", "content", "outcome": "created" | "seen"}], "deferred"}`:
    how many are over `WISHES_AT_ONCE`, and are left to extraction, which reads the messages.
    *Promise:* at most two round trips; one in a wrong form is left.
    """
    person = replace(caller, actor="user")
    now_ms = app.runtime.now_ms()
    news = [
        NewMemory(wish.text, {"source": SOURCE, "source_message_ids": [wish.message_id]}, TYPE)
        for wish in wishes[:WISHES_AT_ONCE]
    ]
    saved: list[JSON] = []
    again: list[str] = []
    edits: list[StreamEdit] = []
    extra: list[Statement] = []
    for plan in await plan_memories(app, person, news) if news else []:
        memory = cast("dict[str, JSON]", plan.answer["memory"])
        outcome = plan.answer["outcome"]
        saved.append({"id": memory["id"], "content": memory["content"], "outcome": outcome})
        again += [str(memory["id"])] if outcome == "seen" else []
        edits += plan.edits
        extra += plan.extra
    if again:
        extra.append(store.seen_again_statement(caller.namespace, again, at_ms=now_ms))
    answer: Answer = {"saved": saved, "deferred": max(0, len(wishes) - WISHES_AT_ONCE)}
    return Plan(answer, now_ms, edits, extra)


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
