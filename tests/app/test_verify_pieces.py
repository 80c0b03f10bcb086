"""Verifying piece by piece: the same report as in one walk, wherever the break is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.app.test_ledger_properties import play
from tests.budgets.test_d1_rebuild import HISTORY
from tests.builders import NAMESPACE, Bench

from remembrancer.app.verify import Walked, verify, verify_piece
from remembrancer.app.verify_place import decode_walked, encode_walked
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement


async def in_pieces(bench: Bench) -> tuple[dict[str, JSON], int]:
    """The report of a walk in pieces, and how many there were."""
    walked, is_over, pieces = Walked(NAMESPACE), False, 0
    while not is_over:
        walked = decode_walked(encode_walked(walked), NAMESPACE)
        walked, is_over = await verify_piece(bench.app, walked, namespace=NAMESPACE)
        pieces += 1
    return walked.report, pieces


@pytest.mark.parametrize("is_broken", [False, True], ids=["whole", "broken"])
@pytest.mark.parametrize("page", [1, 3])
async def test_pieces_find_what_one_walk_finds(
    monkeypatch: pytest.MonkeyPatch, page: int, is_broken: bool
) -> None:
    bench = Bench()
    await play(bench, HISTORY)
    if is_broken:
        fault = "UPDATE events SET actor = 'other' WHERE position = 20"
        await bench.sql.write([Statement(fault)])
    whole = await verify(bench.app, namespace=NAMESPACE)
    assert whole["ok"] is not is_broken
    monkeypatch.setattr("remembrancer.app.verify.PAGE_EVENTS", page)
    monkeypatch.setattr("remembrancer.app.verify.PIECE_PAGES", 2)
    report, pieces = await in_pieces(bench)
    assert report == whole
    assert pieces > 2


@pytest.mark.parametrize("text", ["", "abc", "A" * 20_000])
def test_cursor_that_no_walk_has_given_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        decode_walked(text, NAMESPACE)


def test_cursor_of_another_namespaces_walk_is_refused() -> None:
    text = encode_walked(replace(Walked(NAMESPACE), stream="item/x"))
    with pytest.raises(InvalidInput, match="another namespace"):
        decode_walked(text, "neighbour")
