"""An import piece by piece: few statements each, the same store at the end, whatever breaks off."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_ledger_properties import commands, play
from tests.app.transfers import WHOLE, export, settle
from tests.builders import NAMESPACE, Bench
from tests.examples import examples
from tests.seeding import seed

from remembrancer.app.import_standing import decode_standing, encode_standing
from remembrancer.app.importing import NOWHERE, Asked, import_piece, report_of
from remembrancer.app.items.write import quick_capture
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.state import App
from remembrancer.app.verify import verify
from remembrancer.core.errors import Conflict, CorruptData, InvalidInput, StoreUnavailable
from remembrancer.core.ids import Namespace
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.values import DAY_MS
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.stores import CountingStore, memory_store

STATEMENTS_MAX = SQL_BATCH_STATEMENTS_MAX - 2
"""Of those that a request may send, two are for whoever asks: its key, and that it was used."""

OWN = Asked(NAMESPACE)


def bounded(bench: Bench) -> tuple[App, CountingStore]:
    """The app as on the platform, counting."""
    counting = CountingStore(bench.sql)
    return replace(bench.app, sql=counting, request_pieces=1), counting


async def load_pieces(
    bench: Bench, lines: list[bytes], asked: Asked = OWN, *, sent: int = 400
) -> dict[str, object]:
    """Import as a client does, sending so many lines at once; every piece is counted."""
    app, counting = bounded(bench)
    cursor: str | None = None
    done = 0
    while True:
        counting.counts.reset()
        standing = decode_standing(cursor)
        piece = await import_piece(app, lines[done : done + sent], standing, asked)
        assert counting.counts.statements <= STATEMENTS_MAX
        sent = sent if piece.taken else 2 * sent  # a command's events go together
        done += piece.taken
        assert piece.standing.checked.number == done
        cursor = encode_standing(piece.standing)
        if piece.is_ended:
            return dict(report_of(piece.standing, asked))


@examples(40)
@given(script=commands, sent=st.integers(1, 12))
async def test_import_in_pieces_gives_the_same_store_and_the_same_bytes(
    script: list[tuple[str, int, int]], sent: int
) -> None:
    bench, twin = Bench(), Bench()
    await play(bench, script)
    lines = await export(bench)
    await load_pieces(twin, lines, sent=sent)
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()
    assert (await verify(twin.app))["ok"]


@examples(40)
@given(
    script=commands,
    sent=st.integers(1, 12),
    cut=st.integers(1, 12),
    is_done=st.booleans(),
)
async def test_import_in_pieces_goes_on_when_one_failed_or_its_answer_was_lost(
    script: list[tuple[str, int, int]], sent: int, cut: int, is_done: bool
) -> None:
    bench, twin = Bench(), Bench()
    await play(bench, script)
    lines = await export(bench)
    standing, done, number = NOWHERE, 0, 0
    app, _ = bounded(twin)
    while True:
        number += 1
        given_lines = lines[done : done + sent]
        if number == cut and is_done:
            await import_piece(app, given_lines, standing, OWN)  # and nobody hears of it
        elif number == cut:
            crashing = FaultyStore(twin.sql, Faults(crash=CrashPoint(0, write=1)))
            try:
                await import_piece(replace(app, sql=crashing), given_lines, standing, OWN)
            except StoreUnavailable:
                pass
        piece = await import_piece(app, given_lines, standing, OWN)
        standing, done = piece.standing, done + piece.taken
        sent = sent if piece.taken else 2 * sent
        if piece.is_ended:
            break
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()


async def test_import_begun_anew_finds_what_is_there_and_goes_on_behind_it() -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    app, _ = bounded(twin)
    first = await import_piece(app, lines[:5], NOWHERE, OWN)
    assert first.taken == 4
    report = await load_pieces(twin, lines, sent=3)
    assert (report["events_present"], report["positions_kept"]) == (3, True)
    assert await export(twin) == lines
    again = await load_pieces(twin, lines)
    assert (again["events"], again["events_present"]) == (0, lines_of(lines, b"event"))
    assert await export(twin) == lines


def lines_of(lines: list[bytes], kind: bytes) -> int:
    return sum(b'"line":"' + kind + b'"' in line for line in lines)


async def test_fact_key_that_moved_from_item_to_item_is_imported_in_few_pieces() -> None:
    bench, twin = Bench(), Bench()
    for number in range(60):
        await save_memory(
            bench.app,
            bench.caller(),
            NewMemory(f"住在第{number}区 district {number}", {"fact_key": "profile:home"}),
        )
    lines = await export(bench)
    await load_pieces(twin, lines)
    assert await export(twin) == lines
    assert await twin.tables() == await bench.tables()


async def test_thousands_of_items_are_imported_in_some_dozens_of_requests() -> None:
    source = Bench(sql=memory_store())
    await seed(source.sql, 2_000)
    lines = await export(source)
    twin = Bench()
    app, counting = bounded(twin)
    standing, done, pieces = NOWHERE, 0, 0
    while True:
        counting.counts.reset()
        piece = await import_piece(app, lines[done : done + 400], standing, OWN)
        assert counting.counts.statements <= STATEMENTS_MAX
        standing, done, pieces = piece.standing, done + piece.taken, pieces + 1
        if piece.is_ended:
            break
    assert pieces <= len(lines) / 50
    assert await export(twin) == lines
    assert await twin.tables() == await source.tables()


async def test_dry_pieces_write_nothing_and_count_what_is_new() -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    before = await twin.tables()
    report = await load_pieces(twin, lines, Asked(NAMESPACE, is_dry=True), sent=3)
    assert (report["events"], report["dry_run"]) == (lines_of(lines, b"event"), True)
    assert await twin.tables() == before
    assert await twin.rows("SELECT * FROM events") == []


async def test_all_namespaces_of_a_file_are_imported_in_pieces() -> None:
    bench, twin = Bench(), Bench()
    neighbour = bench.caller(namespace=Namespace("neighbour"))
    await quick_capture(bench.app, neighbour, "隔壁 #家", {})
    await settle(bench)
    lines = await export(bench, WHOLE)
    await load_pieces(twin, lines, Asked(), sent=2)
    assert await export(twin, WHOLE) == lines
    assert await twin.tables() == await bench.tables()


@pytest.mark.parametrize("sent", [1, 3])
async def test_piece_that_is_not_as_it_was_written_is_refused_with_its_line(sent: int) -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    number = next(n for n, line in enumerate(lines) if b"title" in line and n > 3)
    broken = [*lines]
    broken[number] = lines[number].replace(b'"actor":"user"', b'"actor":"usher"')
    assert broken[number] != lines[number]
    with pytest.raises(CorruptData, match=f"line {number + 1} breaks"):
        await load_pieces(twin, broken, sent=sent)
    left_out = [*lines[:2], *lines[3:]]
    with pytest.raises((CorruptData, Conflict), match=r"line|not empty"):
        await load_pieces(Bench(), left_out, sent=sent)
    await load_pieces(twin, lines, sent=sent)
    assert await export(twin) == lines


async def test_chunk_that_was_changed_is_found_across_pieces() -> None:
    bench = Bench()
    await settle(bench)
    lines = await export(bench)
    number = next(n for n, line in enumerate(lines) if b'"line":"chunk"' in line)
    broken = [*lines]
    broken[number + 1] = lines[number + 1].replace("很长".encode(), "很短".encode(), 1)
    with pytest.raises(CorruptData, match="begins an artifact"):
        await load_pieces(Bench(), broken, sent=1)
    twin = Bench()
    await load_pieces(twin, lines, sent=1)
    assert await export(twin) == lines


async def test_what_somebody_writes_between_pieces_is_not_mixed_in() -> None:
    bench, twin = Bench(), Bench()
    await settle(bench)
    lines = await export(bench)
    app, _ = bounded(twin)
    first = await import_piece(app, lines[:5], NOWHERE, OWN)
    twin.runtime.advance(DAY_MS)
    await quick_capture(twin.app, twin.caller(cause="req_else"), "meanwhile 同时", {})
    with pytest.raises(Conflict, match="meanwhile"):
        await import_piece(app, lines[first.taken :], first.standing, OWN)
    with pytest.raises(Conflict, match="not empty"):
        await load_pieces(twin, lines)


async def test_counters_still_come_when_somebody_writes_behind_the_last_event() -> None:
    bench, twin = Bench(), Bench()
    memory = await settle(bench)
    lines = await export(bench)
    app, _ = bounded(twin)
    events = next(n for n, line in enumerate(lines) if b'"line":"use"' in line)
    standing, done = NOWHERE, 0
    while done < len(lines):
        until = events if done < events else len(lines)
        piece = await import_piece(app, lines[done:until], standing, OWN)
        standing, done = piece.standing, done + piece.taken
        if done == events:
            twin.runtime.advance(DAY_MS)
            await quick_capture(twin.app, twin.caller(cause="req_new"), "already used 已在用", {})
    rows = await twin.rows("SELECT seen_count FROM item_use WHERE item_id = ?", memory)
    assert rows == [{"seen_count": 1}]


async def test_last_line_that_does_not_confirm_the_pieces_is_refused() -> None:
    bench = Bench()
    await settle(bench)
    lines = await export(bench)
    grown = [line.replace(b'"recall_count":3', b'"recall_count":9') for line in lines]
    with pytest.raises(CorruptData, match="does not confirm"):
        await load_pieces(Bench(), grown, sent=3)


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "bm8", encode_standing(NOWHERE)[:-9], "A" * 20_000, "é"],
)
def test_cursor_that_no_import_has_answered_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_standing(cursor)
    assert caught.value.field == "cursor"
