"""Purges in any history: rebuilt equals incremental, chains verify, an export brings it over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_ledger_properties import commands, play
from tests.app.transfers import export, load
from tests.builders import NAMESPACE, Bench, id_of
from tests.examples import examples

from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import retention
from remembrancer.app.jobs.frame import Job
from remembrancer.app.jobs.running import run
from remembrancer.app.rebuild import rebuild
from remembrancer.app.verify import verify
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.values import DAY_MS

RETENTION = Job("retention", "Retention", None, code=retention.CODE)

Script = list[tuple[str, int, int]]


async def purge(bench: Bench, ids: list[str], chosen: list[int]) -> None:
    """Delete some of the items, wait, and let retention purge what is deleted by then."""
    doomed = sorted({ids[number % len(ids)] for number in chosen}) if ids else []
    if doomed:
        try:
            await delete_items(bench.app, bench.caller(), doomed)
        except RemembrancerError as error:
            assert error.code == "not_found", error  # forgotten before
    bench.runtime.advance(31 * DAY_MS)
    await run(bench.app, RETENTION, NAMESPACE)


@examples(30)
@given(before=commands, chosen=st.lists(st.integers(0, 9), max_size=3), after=commands)
async def test_rebuild_after_purges_equals_the_incremental_tables(
    before: Script, chosen: list[int], after: Script
) -> None:
    bench = Bench()
    await purge(bench, await play(bench, before), chosen)
    await play(bench, after)
    tables = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == tables
    report = await verify(bench.app)
    assert report["ok"], report


@examples(15)
@given(before=commands, chosen=st.lists(st.integers(0, 9), min_size=1, max_size=3))
async def test_export_after_purges_comes_back_the_same(before: Script, chosen: list[int]) -> None:
    bench = Bench()
    await purge(bench, await play(bench, before), chosen)
    lines = await export(bench)
    other = await load(lines)
    assert await export(other) == lines
    assert await other.tables() == await bench.tables()


async def test_purged_text_of_an_older_export_does_not_stay() -> None:
    bench = Bench()
    gone = id_of(
        await create_item(
            bench.app, bench.caller(), {"title": "独一无二的句子4711", "kind": "memory"}
        )
    )
    await purge(bench, [gone], [0])
    written = b"".join(await export(bench))
    assert b"4711" not in written and b"ItemPurged" in written
