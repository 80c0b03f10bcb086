"""An export from a real D1: what leaves the edge comes back whole on one machine."""

from __future__ import annotations

from tests.app.test_ledger_properties import play
from tests.app.transfers import export, load, settle
from tests.budgets.test_d1_rebuild import HISTORY
from tests.builders import Bench
from tests.d1.bridge import D1BridgeStore

from remembrancer.app.verify import verify
from remembrancer.testing.stores import CountingStore


async def test_export_from_d1_comes_back_whole_on_one_machine(d1_store: D1BridgeStore) -> None:
    bench = Bench(sql=d1_store)
    await play(bench, HISTORY)
    await settle(bench)
    counting = CountingStore(d1_store)
    bench.sql = counting
    lines = await export(bench)
    # Two pages of events, of artifacts and of counters each, of which the last are empty; chunks.
    assert counting.counts.statements <= 10
    twin = await load(lines)
    assert await export(twin) == lines
    assert (await verify(twin.app))["ok"]
