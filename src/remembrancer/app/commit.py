"""The write path: read, decide, write one batch; again when somebody else was faster.

A use case hands `write` a function that reads what it needs and returns a Plan. Everything of the
plan is one atomic batch: events, projections, scope versions, the vector outbox, the idempotency
answer and what the use case adds. Not a place for rules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from remembrancer.app.state import App
from remembrancer.app.vectors.kick import index_soon
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, NotFound
from remembrancer.core.ledger.events import SALT_BYTES
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import ledger, vector_outbox
from remembrancer.store.ledger import StreamEdit

Answer = dict[str, JSON]
"""What a write answers: a JSON object, the same at every door and on every repetition."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a use case decided.

    *Shape:* `at_ms` is the moment of the decision, and that of its events; `edits` may be empty
    (nothing changes, nothing is written but the idempotency answer); `extra` are statements of
    the same batch that are no projection.
    """

    answer: Answer
    at_ms: int
    edits: Sequence[StreamEdit] = ()
    extra: Sequence[Statement] = field(default_factory=tuple)


async def write(app: App, caller: Caller, decide: Callable[[], Awaitable[Plan]]) -> Answer:
    """Run one command: answer a repetition, else decide and write, at most three times.

    *Raises:* what `decide` raises; Conflict when others were faster each time, or when the
    idempotency key was used for another request; NotFound when what that request answered is
    forgotten since. *Promise:* all or nothing; one round trip to write, one more to look up an
    idempotency key; where requests have a bound, it is tried only as often as that affords.
    """
    for attempt in range(1, limits.CONFLICT_ATTEMPTS_MAX + 1):
        sent = app.spending.statements
        earlier = await _earlier_answer(app, caller)
        if earlier is not None:
            return earlier
        plan = await decide()
        statements, is_reworded = _batch(app, caller, plan)
        if not statements:
            return plan.answer
        try:
            await app.sql.write(statements)
        except Conflict as clash:
            is_last = attempt == limits.CONFLICT_ATTEMPTS_MAX
            if is_last or not app.spending.affords(app.spending.statements - sent):
                raise _final(clash, attempt) from clash
            continue
        if is_reworded:
            index_soon(app, caller.namespace)
        return plan.answer
    raise AssertionError("unreachable")


async def write_in_turn(app: App, caller: Caller, decide: Callable[[], Awaitable[Plan]]) -> Answer:
    """Run one command that touches the stream of relations, after those that came before it.

    *Raises:* as `write`. *Promise:* commands of one namespace in one process never clash on it.
    """
    async with app.turnstile.passing(caller.namespace):
        return await write(app, caller, decide)


def _batch(app: App, caller: Caller, plan: Plan) -> tuple[list[Statement], bool]:
    """Return the batch, and whether there is something to embed or to remove after it."""
    is_reworded = False
    edits = [edit for edit in plan.edits if edit.drafts]
    statements: list[Statement] = []
    if edits:
        salts = [app.runtime.random_bytes(SALT_BYTES) for edit in edits for _draft in edit.drafts]
        sealed, placed = ledger.place(edits, caller=caller, at_ms=plan.at_ms, salts=salts)
        statements += ledger.append(sealed, placed)
        is_reworded = vector_outbox.queues(placed)
    statements += plan.extra
    return [*statements, *ledger.keep_answer(caller, plan.answer, plan.at_ms)], is_reworded


async def _earlier_answer(app: App, caller: Caller) -> Answer | None:
    if caller.idempotency is None:
        return None
    [outcome] = await app.sql.read(
        [ledger.answer_statement(caller.namespace, caller.idempotency.key)]
    )
    found = ledger.answered(outcome.rows)
    if found is None:
        return None
    if found.request_hash != caller.idempotency.request_hash:
        raise Conflict(
            f"the idempotency key {caller.idempotency.key[:40]!r} was used for another request",
            hint="use a fresh key for each new request",
            code="idempotency_key_reused",
        )
    assert isinstance(found.answer, dict)
    if list(found.answer) == ["forgotten"]:  # all that `store.forgetting` leaves of an answer
        raise NotFound(
            f"what this request answered is forgotten since: {found.answer['forgotten']}",
            hint="use a fresh key to write it anew",
        )
    return found.answer


def _final(clash: Conflict, attempts: int) -> Conflict:
    constraint = str(clash.details.get("constraint", ""))
    if "fact_key" in constraint:
        return Conflict(
            "another active item holds this fact key",
            hint="update or supersede that item",
            details={"constraint": constraint},
        )
    if "glossary" in constraint or "precious" in constraint:
        return Conflict(
            "another glossary entry has this name"
            if "glossary" in constraint
            else "the same words are kept again by now",
            hint="change or remove that entry first",
            details={"constraint": constraint},
        )
    return Conflict(
        "others were faster" + (f" {attempts} times" if attempts > 1 else ""),
        hint="read again and repeat",
        code="version_conflict",
        details={"constraint": constraint},
    )
