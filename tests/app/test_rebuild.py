"""Rebuilding under interruption and beside writers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.builders import Bench, id_of

from remembrancer.app import rebuild as module
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.rebuild import rebuild
from remembrancer.core.errors import StoreUnavailable
from remembrancer.ports.sql import Outcome, SqlStore, Statement


async def filled(count: int = 12) -> tuple[Bench, list[str]]:
    bench = Bench()
    ids = []
    for number in range(count):
        text = f"任务 {number} #标签{number % 3} +项目{number % 2}"
        ids.append(id_of(await quick_capture(bench.app, bench.caller(), text, {})))
    for item_id in ids[:5]:
        for title in ("一", "二", "three"):
            await update_item(bench.app, bench.caller(), item_id, {"title": title})
    return bench, ids


class Interrupted:
    """A store that dies at the n-th write, or lets somebody else write before it."""

    def __init__(self, inner: SqlStore, *, dies_at: int = 0) -> None:
        self.inner, self.dies_at, self.writes = inner, dies_at, 0
        self.meanwhile: Bench | None = None

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        return await self.inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        self.writes += 1
        if self.writes == self.dies_at:
            raise StoreUnavailable("pulled the plug")
        if self.meanwhile is not None and self.writes <= 6:
            await quick_capture(
                self.meanwhile.app, self.meanwhile.caller(), f"meanwhile {self.writes} #并发", {}
            )
        return await self.inner.write(statements)

    def session(self, bookmark: str | None) -> Interrupted:
        del bookmark
        return self

    def bookmark(self) -> str | None:
        return None

    async def scrub(self) -> None:
        await self.inner.scrub()


@pytest.mark.parametrize("dies_at", range(1, 9))
async def test_rebuild_interrupted_at_any_write_goes_on_and_ends_right(
    monkeypatch: pytest.MonkeyPatch, dies_at: int
) -> None:
    monkeypatch.setattr(module, "CHUNK_EVENTS", 5)
    bench, ids = await filled()
    before = await bench.tables()
    sound = bench.sql
    bench.sql = Interrupted(sound, dies_at=dies_at)
    with pytest.raises(StoreUnavailable):
        await rebuild(bench.app)
    bench.sql = sound
    assert await bench.tables() == before
    report = await rebuild(bench.app)
    assert report["resumed"] is (dies_at > 1)
    assert await bench.tables() == before
    await update_item(bench.app, bench.caller(), ids[0], {"title": "after"})


async def test_rebuild_beside_writers_keeps_what_they_wrote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "CHUNK_EVENTS", 5)
    bench, _ = await filled()
    sound = bench.sql
    writer = Bench(runtime=bench.runtime, sql=sound)
    writer.causes = bench.causes
    faulty = Interrupted(sound)
    faulty.meanwhile = writer
    bench.sql = faulty
    await rebuild(bench.app)
    bench.sql = sound
    rows = await bench.rows("SELECT title FROM items WHERE title LIKE 'meanwhile%'")
    assert len(rows) == 6
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before


async def test_rebuild_dry_run_changes_nothing_and_shows_the_cost() -> None:
    bench, _ = await filled(3)
    report = await rebuild(bench.app, dry_run=True)
    assert report["events"] == 14 and report["resumed"] is False
    assert await bench.rows("SELECT * FROM rebuild_state") == []


async def test_rebuild_of_an_empty_ledger_is_fine() -> None:
    bench = Bench()
    await rebuild(bench.app)
    answer = await create_item(bench.app, bench.caller(), {"title": "first"})
    assert answer["outcome"] == "created"
