"""Exporting and importing: the same bytes again, the same tables, whatever the ledger holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_ledger_properties import commands, play
from tests.app.transfers import LARGE, WHOLE, export, load, settle
from tests.builders import NAMESPACE, Bench, id_of
from tests.examples import examples

from remembrancer.app.access import create_key
from remembrancer.app.export import export_scope
from remembrancer.app.importing import import_ledger
from remembrancer.app.items.read import get_artifact, get_item
from remembrancer.app.items.write import quick_capture, update_item
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.rebuild import rebuild
from remembrancer.app.verify import verify
from remembrancer.core.access.keys import CreateKey
from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.errors import Conflict, Forbidden, StoreUnavailable
from remembrancer.core.ids import Namespace
from remembrancer.core.values import DAY_MS
from remembrancer.store.export import Scope
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore


@given(script=commands)
async def test_export_imported_into_an_empty_store_exports_the_same_bytes(
    script: list[tuple[str, int, int]],
) -> None:
    bench = Bench()
    await play(bench, script)
    lines = await export(bench)
    twin = await load(lines)
    assert await export(twin) == lines
    assert (await verify(twin.app))["ok"]
    tables = await twin.tables()
    assert tables == await bench.tables()
    await rebuild(twin.app)
    assert await twin.tables() == tables


@examples(40)
@given(script=commands, page=st.integers(1, 5), cut=st.integers(0, 30))
async def test_import_in_small_batches_goes_on_after_an_interruption_anywhere(
    script: list[tuple[str, int, int]], page: int, cut: int
) -> None:
    bench = Bench()
    await play(bench, script)
    lines = await export(bench)
    twin = Bench()
    sound = twin.sql
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remembrancer.store.export.PAGE_ROWS", page)
        patch.setattr("remembrancer.app.importing.PIECE_LINES", page)
        patch.setattr("remembrancer.app.importing.RECORDS_KEPT", 1)
        assert await export(bench) == lines
        twin.sql = FaultyStore(sound, Faults(crash=CrashPoint(cut, write=1 + cut % 3)))
        try:
            await load(lines, twin)
        except StoreUnavailable:
            twin.sql = sound
            await load(lines, twin)
    twin.sql = sound
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()


async def test_import_interrupted_between_batches_keeps_those_and_goes_on() -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    sound = twin.sql
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remembrancer.app.importing.PIECE_LINES", 2)
        twin.sql = FaultyStore(sound, Faults(crash=CrashPoint(4, write=3)))
        with pytest.raises(StoreUnavailable):
            await load(lines, twin)
    twin.sql = sound
    assert await twin.rows("SELECT count(*) AS events FROM events") == [{"events": 5}]
    report = await import_ledger(twin.app, lambda: lines)
    assert report["events_present"] == 5
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()


async def test_import_takes_a_key_that_another_item_gave_up_in_the_same_command() -> None:
    bench = Bench()
    for number in range(5):
        new = NewMemory(f"住在第{number}区 district {number}", {"fact_key": "profile:home"})
        await save_memory(bench.app, bench.caller(), new)
    lines = await export(bench)
    twin = await load(lines)
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()


async def test_export_holds_large_texts_counters_and_nothing_forgotten() -> None:
    bench = Bench()
    memory = await settle(bench)
    lines = await export(bench)
    assert b"4711" not in b"".join(lines)
    kinds = [json.loads(line)["line"] for line in lines]
    assert kinds.count("chunk") == 2
    assert kinds.count("use") == 2
    assert json.loads(lines[-1])["counts"]["chunks"] == 2
    twin = await load(lines)
    assert await export(twin) == lines
    item = await get_item(twin.app, twin.caller(), memory)
    assert isinstance(item["item"], dict)
    artifact = await get_artifact(twin.app, twin.caller(), str(item["item"]["artifact_id"]))
    assert isinstance(artifact["artifact"], dict)
    assert artifact["artifact"]["text"] == LARGE
    assert (await verify(twin.app))["ok"]


async def test_import_repeated_changes_nothing_and_continued_adds_the_rest() -> None:
    bench = Bench()
    await settle(bench)
    early = await export(bench)
    twin = await load(early)
    again = await import_ledger(twin.app, lambda: early)
    assert (again["events"], again["positions_kept"]) == (0, True)
    assert await export(twin) == early
    await quick_capture(bench.app, bench.caller(), "later 后来 +甲", {})
    late = await export(bench)
    report = await import_ledger(twin.app, lambda: late, dry_run=True)
    assert report["events"] == len(late) - len(early)
    assert await export(twin) == early
    await load(late, twin)
    assert await export(twin) == late
    assert await twin.tables() == await bench.tables()
    with pytest.raises(Conflict, match="ends before"):
        await load(early, twin)


async def test_import_into_a_namespace_with_other_events_is_refused_with_a_way_out() -> None:
    bench, other = Bench(), Bench()
    await settle(bench)
    await quick_capture(other.app, other.caller(), "mine 我的", {})
    before = await other.tables()
    with pytest.raises(Conflict, match="'default' is not empty") as caught:
        await load(await export(bench), other)
    assert "--data" in str(caught.value.hint)
    assert await other.tables() == before


async def test_import_beside_another_namespace_is_numbered_anew_and_says_so() -> None:
    bench, other = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    neighbour = other.caller(namespace=Namespace("neighbour"))
    await quick_capture(other.app, neighbour, "写周报 #工作 +甲", {})
    report = await import_ledger(other.app, lambda: lines)
    assert report["positions_kept"] is False
    assert (await verify(other.app))["ok"]
    tables = await other.tables()
    await rebuild(other.app)
    assert await other.tables() == tables
    again = await import_ledger(other.app, lambda: lines)
    assert again["events"] == 0


async def test_export_of_all_namespaces_comes_back_whole() -> None:
    bench = Bench()
    await settle(bench)
    neighbour = bench.caller(namespace=Namespace("neighbour"))
    first = id_of(await quick_capture(bench.app, neighbour, "隔壁 #家", {}))
    await quick_capture(bench.app, bench.caller(), "again", {})
    neighbour = bench.caller(namespace=Namespace("neighbour"))
    await update_item(bench.app, neighbour, first, {"title": "隔壁的"})
    lines = await export(bench, WHOLE)
    twin = await load(lines)
    assert await export(twin, WHOLE) == lines
    assert await twin.tables() == await bench.tables()
    own = await export(bench, Scope(Namespace("neighbour")))
    assert len(own) == 4
    assert "写周报".encode() not in b"".join(own)


async def test_import_that_somebody_disturbs_stops_and_goes_on_when_repeated() -> None:
    bench, other = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    neighbour = other.caller(namespace=Namespace("neighbour"))

    class Disturbed(FaultyStore):
        async def write(self, statements):  # type: ignore[no-untyped-def]  # as the port
            outcome = await super().write(statements)
            if self.faults.writes == 1:
                other.sql = self.inner
                await quick_capture(other.app, neighbour, "meanwhile", {})
            return outcome

    sound = other.sql
    other.sql = Disturbed(sound)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remembrancer.app.importing.PIECE_LINES", 2)
        with pytest.raises(Conflict, match="meanwhile") as caught:
            await load(lines, other)
    assert "goes on" in str(caught.value.hint)
    other.sql = sound
    await load(lines, other)
    assert (await verify(other.app))["ok"]


async def test_export_gives_keys_to_admin_only_and_leaves_them_out_when_asked() -> None:
    bench = Bench()
    admin = bench.caller(scopes=frozenset(SCOPES))
    made = await create_key(bench.app, admin, CreateKey("laptop 笔记本", ("memory:read",)))
    await quick_capture(bench.app, bench.caller(), "hello", {})
    with_keys = await export(bench, export_scope(admin))
    assert made.token is not None
    assert made.token.encode() not in b"".join(with_keys)
    assert b'"stream":"key/' in b"".join(with_keys)
    reader = bench.caller(scopes=frozenset({"export:read"}))
    without = await export(bench, export_scope(reader))
    assert without == await export(bench, export_scope(admin, with_keys=False))
    assert b"key/" not in b"".join(without)
    twin = await load(without)
    assert await export(twin, Scope(NAMESPACE, with_keys=False)) == without
    assert (await verify(twin.app))["ok"]
    with pytest.raises(Forbidden, match="admin"):
        export_scope(reader, all_namespaces=True)
    with pytest.raises(Forbidden, match="export:read"):
        export_scope(bench.caller())


async def test_import_notes_its_moment_outside_the_ledger_once_for_what_is_new() -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    twin.runtime.advance(DAY_MS)
    moment = twin.runtime.now_ms()
    for _ in range(2):
        await load(lines, twin)
        rows = await twin.rows("SELECT * FROM imports")
        assert rows == [{"namespace": "default", "imported_at": moment}]
        twin.runtime.advance(DAY_MS)
    assert await export(twin) == lines


async def test_export_writes_nothing() -> None:
    bench = Bench()
    await settle(bench)
    sound = bench.sql
    bench.sql = FaultyStore(sound)
    await export(bench)
    assert bench.sql.faults.writes == 0
