"""Many writers, several processes and a crash: nothing acknowledged is lost, nothing is half."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

import httpx
import pytest
from tests.e2e.serving import WAIT_S, Json, Launcher, Server, ask_tool

WRITERS = 8
"""Writers at once. Source: issue of the foundation."""
WRITES_FEW, WRITES = 100, 500
"""Writes of each; together over the rate limit, which does not bind the owner here. Source: as
above."""


def _write(server: Server, number: int, writes: int) -> list[str]:
    """Create items over one connection and return the ids that were acknowledged."""
    acknowledged = []
    with server.client() as client:
        for index in range(writes):
            answer = ask_tool(
                client,
                "create_item",
                {"title": f"写者 {number} 第 {index} 项", "tags": [f"w{number}", "并发"]},
            )
            acknowledged.append(answer["item"]["id"])
    return acknowledged


def _side_by_side(work: Sequence[Callable[[], list[str]]]) -> list[str]:
    with ThreadPoolExecutor(len(work)) as pool:
        done = [pool.submit(each) for each in work]
        return [item_id for each in done for item_id in each.result()]


def _every_id(server: Server) -> Iterator[str]:
    cursor = None
    with server.client() as client:
        while True:
            page = ask_tool(
                client, "list_items", {"limit": 100, "sort": "created_at", "cursor": cursor}
            )
            yield from (item["id"] for item in page["items"])
            cursor = page["next_cursor"]
            if cursor is None:
                return


def _verified(launcher: Launcher) -> Json:
    report = launcher.answer("verify", "--all")
    assert report["ok"] is True
    return report


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("writes", [WRITES_FEW, pytest.param(WRITES, marks=pytest.mark.long)])
def test_writers_at_once_lose_nothing(launcher: Launcher, writes: int) -> None:
    server = launcher.serve()
    acknowledged = _side_by_side(
        [partial(_write, server, number, writes) for number in range(WRITERS)]
    )
    assert len(set(acknowledged)) == WRITERS * writes
    assert Counter(_every_id(server)) == Counter(acknowledged)
    report = _verified(launcher)
    assert report["events"] >= WRITERS * writes


def _write_until_it_dies(server: Server, number: int, begun: threading.Semaphore) -> list[str]:
    acknowledged: list[str] = []
    try:
        with server.client() as client:
            for index in count():
                given = {"title": f"崩溃前 {number}/{index}", "tags": ["一", "two"]}
                answer = ask_tool(client, "create_item", given)
                acknowledged.append(answer["item"]["id"])
                begun.release()
    except httpx.TransportError:
        return acknowledged
    raise AssertionError("the server did not die")


@pytest.mark.timeout(900)
def test_killed_server_keeps_every_acknowledged_write_whole(launcher: Launcher) -> None:
    kept: list[str] = []
    for _ in range(3):
        server = launcher.serve()
        begun = threading.Semaphore(0)
        with ThreadPoolExecutor(WRITERS) as pool:
            done = [pool.submit(_write_until_it_dies, server, n, begun) for n in range(WRITERS)]
            for _ in range(40):  # well into the run, with writes under way
                assert begun.acquire(timeout=WAIT_S)
            server.kill()
            kept += [item_id for each in done for item_id in each.result()]
    server = launcher.serve()
    found = set(_every_id(server))
    assert set(kept) <= found
    _verified(launcher)
    with server.client() as client:
        for item_id in found:
            answer = ask_tool(client, "get_item", {"id": item_id})
            assert (
                sorted(answer["item"]["tags"]) == ["one", "two"] or "一" in answer["item"]["tags"]
            )
    before = launcher.answer("tasks", "--all", "--limit", "100")
    launcher.answer("rebuild")
    assert launcher.answer("tasks", "--all", "--limit", "100") == before


@pytest.mark.timeout(900)
def test_two_servers_and_the_command_line_never_meet_busy(launcher: Launcher) -> None:
    servers = [launcher.serve() for _ in range(2)]

    def add_by_hand() -> list[str]:
        return [
            launcher.answer("tasks", "add", f"手写 {number} #手")["item"]["id"]
            for number in range(5)
        ]

    work: list[Callable[[], list[str]]] = [add_by_hand, add_by_hand]
    work += [partial(_write, servers[number % 2], number, 40) for number in range(4)]
    acknowledged = _side_by_side(work)
    assert len(set(acknowledged)) == 4 * 40 + 10
    assert set(_every_id(servers[0])) == set(_every_id(servers[1])) == set(acknowledged)
    _verified(launcher)
    for server in servers:
        assert server.stop() == 0
    for number in range(2):
        log = (launcher.data.parent / f"server-{number}.log").read_text(encoding="utf-8")
        assert "busy" not in log.lower()
        assert '"status": 5' not in log
