"""What carrying a memory over to a real D1 costs there, and making its tables anew."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.app.transfers import export
from tests.builders import NAMESPACE, Bench
from tests.d1.bridge import D1Bridge
from tests.seeding import seed

from remembrancer.app.importing import NOWHERE, Asked, import_piece
from remembrancer.app.rebuild import WRITES_PER_EVENT, Rebuilding, rebuild_step
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.testing.stores import CountingStore

ITEMS = 600
"""Items of the memory that is carried over."""

IMPORT_WRITES = 16
"""Rows written for one event of an import, indexes and the vector outbox included."""


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """What an export gives."""

    async def written() -> list[bytes]:
        bench = Bench()
        await seed(bench.sql, ITEMS)
        return await export(bench)

    return asyncio.run(written())


async def test_import_and_rebuild_on_d1_write_what_they_say(
    d1_bridge: D1Bridge, lines: list[bytes]
) -> None:
    counting = CountingStore(d1_bridge.fresh())
    bench = Bench(sql=counting)
    app = replace(bench.app, request_pieces=1)
    standing, done, is_ended, written = NOWHERE, 0, False, 0
    while not is_ended:
        counting.counts.reset()
        given = lines[done : done + 400]
        piece = await import_piece(app, given, standing, Asked(NAMESPACE))
        assert counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX - 2
        standing, done, is_ended = piece.standing, done + piece.taken, piece.is_ended
        written += counting.counts.rows_written
    events = standing.fresh.total()
    imported = written / events
    told, is_over, written = Rebuilding(), False, 0
    while not is_over:
        counting.counts.reset()
        told, is_over = await rebuild_step(app, told)
        assert counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX - 2
        written += counting.counts.rows_written
    rebuilt = written / events
    assert told.changed == 0
    assert IMPORT_WRITES / 2 <= imported <= IMPORT_WRITES
    assert WRITES_PER_EVENT / 2 <= rebuilt <= WRITES_PER_EVENT
    assert await export(bench) == lines
