"""An export piece by piece: few statements each, and the same bytes as in one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_ledger_properties import commands, play
from tests.app.transfers import LARGE, OWN, WHOLE, export, load, settle
from tests.builders import Bench
from tests.examples import examples
from tests.seeding import seed

from remembrancer.app.export import decode_export_place, export_lines
from remembrancer.app.items.write import create_item, quick_capture
from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.store.export import Scope
from remembrancer.testing.stores import CountingStore

STATEMENTS_MAX = SQL_BATCH_STATEMENTS_MAX - 2
"""Of those that a request may send, two are for whoever asks: its key, and that it was used."""


async def pieces_of(bench: Bench, scope: Scope = OWN) -> list[list[bytes]]:
    """The lines of each piece, as a client asks for them, without what leads to the next."""
    counting = CountingStore(bench.sql)
    app = replace(bench.app, sql=counting, request_pieces=1)
    result: list[list[bytes]] = []
    place = None
    while True:
        counting.counts.reset()
        lines = [line async for line in export_lines(app, scope, place=place)]
        assert counting.counts.statements <= STATEMENTS_MAX
        last = json.loads(lines[-1])
        result.append(lines if last["line"] == "end" else lines[:-1])
        if last["line"] == "end":
            return result
        assert last.keys() == {"line", "cursor"}
        place = decode_export_place(last["cursor"])


@examples(40)
@given(script=commands, page=st.integers(1, 3), bound=st.integers(6, 12))
async def test_pieces_of_an_export_are_the_bytes_of_the_whole(
    script: list[tuple[str, int, int]], page: int, bound: int
) -> None:
    bench = Bench()
    await play(bench, script)
    whole = await export(bench)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remembrancer.store.export.PAGE_ROWS", page)
        patch.setattr("remembrancer.app.export.PIECE_STATEMENTS", bound)
        pieces = await pieces_of(bench)
    assert [line for lines in pieces for line in lines] == whole


async def test_export_with_many_large_texts_and_of_all_namespaces_comes_in_pieces() -> None:
    bench = Bench()
    await settle(bench)
    for number in range(30):
        given_item = {
            "title": f"长文 {number}",
            "kind": "memory",
            "content": LARGE[: 11_000 + number],
        }
        await create_item(bench.app, bench.caller(), given_item)  # type: ignore[arg-type]
    for scope in (OWN, WHOLE):
        pieces = await pieces_of(bench, scope)
        assert len(pieces) > 3
        lines = [line for piece in pieces for line in piece]
        assert lines == await export(bench, scope)
    assert await export(await load(lines), WHOLE) == lines


async def test_export_of_thousands_of_items_takes_few_requests() -> None:
    bench = Bench()
    await seed(bench.sql, 9_000)
    pieces = await pieces_of(bench)
    lines = [line for piece in pieces for line in piece]
    assert 1 < len(pieces) <= 1 + len(lines) // 5_000
    assert lines == await export(bench)


async def test_what_is_written_between_pieces_is_not_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    await settle(bench)
    before = await export(bench)
    monkeypatch.setattr("remembrancer.store.export.PAGE_ROWS", 2)
    monkeypatch.setattr("remembrancer.app.export.PIECE_STATEMENTS", 1)
    app = replace(bench.app, request_pieces=1)
    first = [line async for line in export_lines(app, OWN)]
    await quick_capture(bench.app, bench.caller(), "later 后来", {})
    place = decode_export_place(json.loads(first.pop())["cursor"])
    rest = [line async for line in export_lines(bench.app, OWN, place=place)]
    assert [*first, *rest] == before


@pytest.mark.parametrize("cursor", ["", "eyJvZiI6ImltcG9ydCJ9", "bm8", "A" * 20_000])
def test_cursor_that_no_export_has_given_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        decode_export_place(cursor)
