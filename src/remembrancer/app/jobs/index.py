"""The job of vectors: what the outbox still holds is embedded or removed; see `app.vectors.index`.

Its rows are their own cursor, and two drains may run at once, so the lease only spares work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.app.vectors.index import DRAIN_ROWS, drain_outbox
from remembrancer.store import jobs as store
from remembrancer.store import vector_models as models

COUNTED: Final = ("embedded", "deleted", "retried", "postponed")
"""What a drain counts, and the run with it."""


async def pending(ctx: JobContext) -> Mapping[str, int]:
    """Return how many vectors are to be written or removed now; none where there is no index."""
    app = ctx.app
    if app.vectors is None:
        return {"vectors": 0}
    waiting, pauses = await app.sql.read(
        [
            store.outbox_due_statement(ctx.namespace, ctx.now_ms),
            models.pauses_statement(ctx.now_ms),
        ]
    )
    row = waiting.rows[0]
    is_paused = app.embedder is None or models.label_of(app.embedder.model) in models.paused(pauses)
    return {"vectors": int(str(row["removals"] if is_paused else row["waiting"]))}


async def run(ctx: JobContext) -> JobReport:
    """Drain the namespace's outbox once."""
    await ctx.still_mine()
    done = await drain_outbox(ctx.app, namespace=ctx.namespace, limit=DRAIN_ROWS)
    ctx.count(**{name: int(str(done[name])) for name in COUNTED})
    ctx.progress(ctx.counts["embedded"] + ctx.counts["deleted"], ctx.total)
    return JobReport(is_done=not done["left"] or not (done["embedded"] or done["deleted"]))


CODE: Final = JobCode(pending, run)
"""The job's code, as the catalogue finds it."""
