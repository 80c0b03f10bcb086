"""A job to try the frame with: it copies messages' ids, in order, each once, in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.builders import NAMESPACE, Bench

from remembrancer.app.commit import Plan, write
from remembrancer.app.jobs.frame import Job, JobCode, JobContext, JobReport
from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.ports.sql import Row, Statement

BATCH: Final = 3

_NEXT: Final = (
    "SELECT id, created_at FROM messages WHERE namespace = ? AND (created_at, id) > (?, ?)"
    " ORDER BY created_at, id LIMIT ?"
)


@dataclass(slots=True)
class Copying:
    """The job's code: each message's id becomes a row, appended once."""

    model_calls: int = 0
    failing: bool = False
    seen_by_model: list[list[str]] = field(default_factory=list)

    async def pending(self, ctx: JobContext) -> Mapping[str, int]:
        return {"messages": len(await self._next(ctx, 1_000))}

    async def run(self, ctx: JobContext) -> JobReport:
        while ctx.budget.affords(12):
            await ctx.still_mine()
            found = await self._next(ctx, BATCH)
            if not found:
                return JobReport()
            self.model_calls += 1
            self.seen_by_model.append([str(row["id"]) for row in found])
            if self.failing:
                raise UpstreamFailed("the model fails on purpose")
            last = found[-1]
            cursor = Cursor(int(str(last["created_at"])), str(last["id"]))
            ctx.count(messages=len(found))

            async def decide(found: list[Row] = found, cursor: Cursor = cursor) -> Plan:
                copies = [
                    Statement("INSERT INTO copies (id) VALUES (?)", (str(row["id"]),))
                    for row in found
                ]
                moved = ctx.cursor_statement("copy", cursor)
                return Plan({}, ctx.now_ms, extra=[*copies, moved])

            await write(ctx.app, ctx.caller, decide)
        return JobReport(is_done=False)

    async def _next(self, ctx: JobContext, limit: int) -> list[Row]:
        after = await ctx.cursor("copy") or Cursor(0)
        [outcome] = await ctx.app.sql.read(
            [Statement(_NEXT, (ctx.namespace, after.at_ms, after.id, limit))]
        )
        return outcome.rows


def copying_job(code: Copying, cron: str | None = "0 */4 * * *") -> Job:
    return Job("copy", "Copies", cron, code=JobCode(code.pending, code.run))


async def prepare(bench: Bench, messages: int = 7) -> None:
    """The table that the job fills, and messages of one time."""
    await bench.sql.write(
        [Statement("CREATE TABLE copies (seq INTEGER PRIMARY KEY, id TEXT UNIQUE)")]
    )
    await add_messages(bench, messages)


async def add_messages(bench: Bench, count: int, *, conversation: str = "c") -> None:
    at_ms = bench.runtime.now_ms()
    await bench.sql.write(
        [
            Statement(
                "INSERT INTO messages (namespace, id, conversation_id, role, content, client_hash,"
                " created_at) VALUES (?, ?, ?, 'user', '记住：我住在上海', ?, ?)",
                (NAMESPACE, id_, conversation, id_, at_ms),
            )
            for id_ in (bench.runtime.new_id("msg") for _ in range(count))
        ]
    )


async def copies(bench: Bench) -> list[str]:
    return [str(row["id"]) for row in await bench.rows("SELECT id FROM copies ORDER BY seq")]


async def message_ids(bench: Bench) -> list[str]:
    rows = await bench.rows("SELECT id FROM messages ORDER BY created_at, id")
    return [str(row["id"]) for row in rows]


async def job_tables(bench: Bench) -> list[list[Row]]:
    """All rows that the frame keeps, to see that nothing was written."""
    return [
        await bench.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
        for table in ("job_states", "job_cursors", "job_runs")
    ]
