"""Import, export, verify and rebuild of thousands of items on the platform, a piece a request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.app.transfers import export
from tests.builders import Bench
from tests.d1.bridge import D1Bridge
from tests.pyodide.serving import TOKEN, Edge, serve
from tests.seeding import seed

from remembrancer.app.items.write import create_item
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.cli.answers import Answer
from remembrancer.cli.output import Progress
from remembrancer.cli.pieces import (
    export_in_pieces,
    import_in_pieces,
    rebuild_in_pieces,
    verify_in_pieces,
)
from remembrancer.cli.place import Place
from remembrancer.cli.remote import RemoteServer
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX

pytestmark = pytest.mark.timeout(900)

ITEMS = 1_500
"""Items of the memory that is carried over."""


@pytest.fixture(scope="module")
def edge(d1_bridge: D1Bridge) -> Iterator[Edge]:
    """An empty Worker."""
    served = serve(d1_bridge, is_whole=True)
    yield served
    assert served.stop() == 0


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """A file with thousands of events, keys that moved, large texts and counters of use."""

    async def written() -> list[bytes]:
        bench = Bench()
        await seed(bench.sql, ITEMS)
        for number in range(30):
            caller = bench.caller(cause=f"req_home{number}")
            new = NewMemory(f"住在第{number}区 district {number}", {"fact_key": "profile:home"})
            await save_memory(bench.app, caller, new)
        for number in range(12):
            caller = bench.caller(cause=f"req_long{number}")
            text = f"第{number}篇 " + "很长的内容，a long text. " * 900
            await create_item(bench.app, caller, {"title": f"长文 {number}", "content": text})
        return await export(bench)

    return asyncio.run(written())


def server_at(edge: Edge) -> RemoteServer:
    return RemoteServer(Place(url=edge.url, token=TOKEN))


async def imported(edge: Edge, lines: list[bytes]) -> Answer:
    async with server_at(edge) as server:
        return await import_in_pieces(
            server, lambda: lines, namespace=None, dry_run=False, shown=Progress()
        )


def few(edge: Edge) -> bool:
    """Whether every request since the last time has sent few statements, and some has any."""
    return 0 < edge.statements() <= SQL_BATCH_STATEMENTS_MAX


async def test_import_that_breaks_off_goes_on_and_all_of_it_comes_back(
    edge: Edge, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.cli.pieces.PAUSE_S", 0)
    monkeypatch.setattr("remembrancer.cli.pieces.ATTEMPTS_MAX", 1)
    lost = "D1_ERROR: Network connection lost."
    for call, is_done in ((6, False), (9, True), (16, True)):
        edge.order("fail", d1={"at": [call], "text": lost, "isDone": is_done})
        with pytest.raises(RemembrancerError) as caught:
            await imported(edge, lines)
        assert caught.value.code == "store_unavailable"
    edge.order("fail")
    report = await imported(edge, lines)
    events = sum(b'"line":"event"' in line for line in lines)
    present = report["events_present"]
    assert isinstance(present, int) and present > 0
    assert (report["positions_kept"], report["events"]) == (True, events - present)
    assert few(edge)
    async with server_at(edge) as server:
        back = [line async for line in export_in_pieces(server, everyone=False, with_keys=True)]
        assert few(edge)
        verified = await verify_in_pieces(server, everyone=True, shown=Progress())
    assert back == lines
    assert few(edge)
    assert (verified["ok"], verified["events"]) == (True, events)


async def test_rebuild_that_breaks_off_goes_on_and_finds_nothing_wrong(
    edge: Edge, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.cli.pieces.PAUSE_S", 0)
    monkeypatch.setattr("remembrancer.cli.pieces.ATTEMPTS_MAX", 1)
    before = await imported(edge, lines)
    assert before["events"] == 0
    lost = "D1_ERROR: Internal error in D1 DB storage caused object to be reset."
    async with server_at(edge) as server:
        for call, is_done in ((5, True), (7, False), (8, True), (9, True), (12, True)):
            edge.order("fail", d1={"at": [call], "text": lost, "isDone": is_done})
            with pytest.raises(RemembrancerError):
                await rebuild_in_pieces(server, dry_run=False, shown=Progress())
        edge.order("fail")
        report = await rebuild_in_pieces(server, dry_run=False, shown=Progress())
        assert few(edge)
        assert (report["resumed"], report["rows_changed"]) == (True, 0)
        back = [line async for line in export_in_pieces(server, everyone=False, with_keys=True)]
        found = await server.ask("POST", "/v1/search/items", {"query": "district 29"})
    assert back == lines
    assert "住在第29区" in str(found["matches"])
    assert few(edge)
