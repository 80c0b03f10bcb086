"""The job of retention: rows that are old go, unused memories expire, what has ended is purged.

Every slice is one batch; what it removed is how far the job is, so there is no other cursor.
Messages go when they are old, and extraction and the nights have passed them. An expiry is an event
of the run, and `jobs undo` takes it back; a purge is for good and has a cause of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from remembrancer.app.commit import Plan, write, write_in_turn
from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.app.settings import Settings
from remembrancer.core.dates.zones import load_zone
from remembrancer.core.ids import RELATIONS
from remembrancer.core.items import decide as rules
from remembrancer.core.items.commands import Moment
from remembrancer.core.jobs.retention import Cutoffs, Periods, cutoffs, expiry_bound
from remembrancer.core.ledger.changes import Changes, Fields
from remembrancer.core.ledger.events import PURGED, Draft, Head
from remembrancer.core.relations.decide import relation_key
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Outcome
from remembrancer.store import items as item_store
from remembrancer.store import ledger
from remembrancer.store import retention as store
from remembrancer.store.forgetting import edge_key_parts
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.retention import Passed

BATCH_ITEMS: Final = 50
"""Items that one batch lets expire or purges: their rows stay far under D1's limits. Our choice."""

BATCH_STATEMENTS: Final = 30
"""Statements of the largest batch, the purge's, and of what is read for it."""

UNUSED_READ: Final = 200
"""Unused memories that are looked for at once: finding them walks all that are as old. Ours."""


def periods_of(settings: Settings) -> Periods:
    """Return how long things are kept, by the settings."""
    return Periods(
        messages=settings.messages_keep_days,
        usage=settings.usage_keep_days,
        recalls=settings.recalls_keep_days,
        idempotency=settings.idempotency_keep_days,
        memories=settings.memory_expire_days,
        deleted=settings.deleted_keep_days,
        skipped=settings.skipped_keep_days,
    )


async def pending(ctx: JobContext) -> Mapping[str, int]:
    """Return how many things of each sort have had their time, each up to a thousand."""
    return await _Retention(ctx).counts()


async def run(ctx: JobContext) -> JobReport:
    """Remove what has had its time, as far as the budget goes."""
    work = _Retention(ctx)
    counts = await work.counts()
    answer: dict[str, JSON] = {store.WAITING: work.waiting} if work.waiting else {}
    ctx.progress(max(0, ctx.total - sum(counts.values())), ctx.total)
    steps = (
        (any(counts[table] for table in store.AGED_TABLES), work.delete_aged),
        (counts["messages"], work.delete_messages),
        (counts["purge"], work.purge),
        (counts["expire"], work.expire),
    )
    for is_wanted, step in steps:
        if is_wanted and not await step():
            # One run ends a small share of the memories; where a run is one piece, so is that
            # share, and what is left is the next night's.
            is_share = ctx.counts["expired"] > 0 and ctx.asked.pieces_max is not None
            return JobReport(is_done=is_share, answer=answer)
    return JobReport(answer=answer)


CODE: Final = JobCode(pending, run)
"""The job's code, as the catalogue finds it."""


class _Retention:
    """One piece of the work of one namespace."""

    def __init__(self, ctx: JobContext) -> None:
        self._ctx = ctx
        self._app = ctx.app
        self._namespace = ctx.namespace
        self._cutoffs: Cutoffs = cutoffs(periods_of(ctx.app.settings), ctx.now_ms)
        self._passed = Passed()
        self.waiting = 0
        """Messages that are old and stay until they are read, once they were counted."""

    @property
    def _has_vectors(self) -> bool:
        return self._app.vectors is not None

    async def counts(self) -> dict[str, int]:
        """Return the counts of all that has had its time. Two round trips, two statements."""
        [places] = await self._app.sql.read([store.passed_statement(self._namespace)])
        self._passed = store.passed_of(places.rows)
        [outcome] = await self._app.sql.read(
            [
                store.counts_statement(
                    self._namespace,
                    self._cutoffs,
                    self._passed,
                    is_extracting=self._app.settings.enable_auto_memory,
                    has_vectors=self._has_vectors,
                )
            ]
        )
        counts, self.waiting = store.counts_of(outcome.rows)
        return counts

    async def delete_aged(self) -> bool:
        """Delete rows of every table whose rows get old; tell whether none is left."""
        bounds = store.aged_bounds(self._cutoffs, self._passed)
        tables = [*store.AGED_TABLES]
        while tables and self._ctx.budget.affords(len(tables) + 4):
            await self._ctx.still_mine()
            outcomes = await self._app.sql.write(
                [
                    *self._ctx.guard_statements(),
                    *(
                        store.delete_aged_statement(self._namespace, table, bounds[table])
                        for table in tables
                    ),
                ]
            )
            full = []
            for table, outcome in zip(tables, outcomes[2:], strict=True):
                self._ctx.count(**{table: outcome.changes})
                if outcome.changes >= store.SLICE_ROWS:
                    full.append(table)
            tables = full
        return not tables

    async def delete_messages(self) -> bool:
        """Delete messages that are old and passed; tell whether none is left."""
        bound = store.message_bound(
            self._cutoffs, self._passed, is_extracting=self._app.settings.enable_auto_memory
        )
        while self._ctx.budget.affords(9):
            await self._ctx.still_mine()
            outcomes = await self._app.sql.write(
                [
                    *self._ctx.guard_statements(),
                    *store.delete_messages_statements(
                        self._namespace, bound, at_ms=self._ctx.now_ms
                    ),
                ]
            )
            self._ctx.count(messages=outcomes[-1].changes)
            if outcomes[-1].changes < store.SLICE_ROWS:
                return True
        return False

    async def purge(self) -> bool:
        """Purge what ended long ago; tell whether none is left."""
        while self._ctx.budget.affords(BATCH_STATEMENTS):
            await self._ctx.still_mine()
            if await self._purge_batch() < BATCH_ITEMS:
                return True
        return False

    async def _purge_batch(self) -> int:
        ctx = self._ctx
        # No part of what `jobs undo` takes back.
        caller = replace(ctx.caller, cause=f"{ctx.run_id}/purge")
        purged = 0

        async def decide() -> Plan:
            nonlocal purged
            [ended] = await self._app.sql.read(
                [
                    store.ended_statement(
                        self._namespace,
                        self._cutoffs.deleted,
                        BATCH_ITEMS,
                        has_vectors=self._has_vectors,
                    )
                ]
            )
            ids = [str(row["id"]) for row in ended.rows]
            purged = len(ids)
            if not ids:
                return Plan({}, ctx.now_ms)
            loaded, edges, heads = await self._app.sql.read(
                [
                    item_store.load_statement(self._namespace, ids),
                    store.edges_statement(self._namespace, ids),
                    ledger.heads_statement(self._namespace, [RELATIONS]),
                ]
            )
            items, _ = item_store.loaded(loaded)
            return Plan(
                {},
                ctx.now_ms,
                edits=[
                    *_without_edges(edges, heads),
                    *(items[id_].edit(Draft(PURGED)) for id_ in ids),
                ],
                extra=[
                    *store.purge_statements(self._namespace, ids, at_ms=ctx.now_ms),
                    *ctx.guard_statements(),
                ],
            )

        await write_in_turn(self._app, caller, decide)
        ctx.count(purged=purged)
        return purged

    async def expire(self) -> bool:
        """Let unused memories expire, a bounded share of all; tell whether that is done."""
        ctx = self._ctx
        if not ctx.budget.affords(BATCH_STATEMENTS):
            return False
        [counted] = await self._app.sql.read([store.active_memories_statement(self._namespace)])
        active = int(str(counted.rows[0]["value"])) if counted.rows else 0
        # Those that have expired in this run were active when it began.
        left = expiry_bound(active + ctx.counts["expired"]) - ctx.counts["expired"]
        while left > 0:
            wanted = min(left, UNUSED_READ)
            [found] = await self._app.sql.read(
                [store.unused_statement(self._namespace, self._cutoffs.memories, wanted)]
            )
            ids = [str(row["id"]) for row in found.rows]
            for first in range(0, len(ids), BATCH_ITEMS):
                if not ctx.budget.affords(BATCH_STATEMENTS // 2):
                    return False
                await ctx.still_mine()
                await self._expire_batch(ids[first : first + BATCH_ITEMS])
            left -= len(ids)
            if len(ids) < wanted:
                break
        return True

    async def _expire_batch(self, ids: Sequence[str]) -> None:
        ctx = self._ctx
        expired = 0

        async def decide() -> Plan:
            nonlocal expired
            unused, loaded = await self._app.sql.read(
                [
                    store.still_unused_statement(self._namespace, ids, self._cutoffs.memories),
                    item_store.load_statement(self._namespace, ids),
                ]
            )
            items, _ = item_store.loaded(loaded)
            at = Moment(ctx.now_ms, load_zone("UTC"))
            chosen = [items[str(row["id"])] for row in unused.rows]
            expired = len(chosen)
            edits = [item.edit(rules.expire_item(item.record.fields, at=at)) for item in chosen]
            return Plan({}, ctx.now_ms, edits=edits, extra=ctx.guard_statements())

        await write(self._app, ctx.caller, decide)
        ctx.count(expired=expired)


def _without_edges(edges: Outcome, heads: Outcome) -> list[StreamEdit]:
    if not edges.rows:
        return []
    # Without the reason: an event that removes an edge must not carry text anew.
    present: Fields = {
        relation_key(*edge_key_parts(row)): {
            "confidence": row["confidence"] if isinstance(row["confidence"], float) else 1.0,
            "reason": None,
            "created_at": int(str(row["created_at"])),
        }
        for row in edges.rows
    }
    changes: Changes = {key: (edge, None) for key, edge in present.items()}
    head = ledger.heads(heads.rows).get(RELATIONS, Head())
    return [StreamEdit(RELATIONS, head, present, (Draft("RelationRemoved", changes),))]
