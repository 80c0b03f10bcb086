"""The job of artifacts: texts move out of the database, and those that are forgotten are removed.

Its rows are their own cursor; the lease keeps a second run from putting what is forgotten by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.app.artifacts import move_out, remove_due
from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.store import artifacts as store

TEXTS_AT_ONCE: Final = 6
"""Texts of one piece: with four statements each they stay within its budget. Our choice."""

PIECE_STATEMENTS: Final = 2 + 2 + 2 + 4 * TEXTS_AT_ONCE
"""Statements of a whole piece."""


async def pending(ctx: JobContext) -> Mapping[str, int]:
    """Return how much is to be moved and removed; nothing where there is no blob store."""
    if ctx.app.blobs is None:
        return {"texts": 0, "removals": 0}
    [found] = await ctx.app.sql.read([store.waiting_statement(ctx.namespace, ctx.now_ms)])
    return {name: int(str(value)) for name, value in found.rows[0].items()}


async def run(ctx: JobContext) -> JobReport:
    """Remove what is due, then move some texts out."""
    blobs = ctx.app.blobs
    if blobs is None or not ctx.budget.affords(PIECE_STATEMENTS):
        return JobReport(is_done=blobs is None)
    await ctx.still_mine()
    removed, is_removed = await remove_due(ctx.app, blobs, ctx.namespace, ctx.now_ms)
    ctx.count(**removed)
    moved, is_moved = await move_out(ctx.app, blobs, ctx.namespace, TEXTS_AT_ONCE)
    ctx.count(**moved)
    return JobReport(is_done=is_removed and is_moved)


CODE: Final = JobCode(pending, run)
"""The job's code, as the catalogue finds it."""
