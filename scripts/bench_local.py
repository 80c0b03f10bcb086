"""Captures, lists, searches, startup, start and memory on one machine's store.

In the process as a server runs it (threads, every commit waits for the disk), then over loopback
HTTP against `remembrancer serve`. Beside them, in the same run: a bare SQLite insert that waits
for the disk, and a route that does nothing. `--items` says how many items the store holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from tests.seeding import Seeded, seed

from measuring import Timing, clock, machine, print_table, resident_mib, timing
from remembrancer.app.context.load import load_context
from remembrancer.app.context.startup import get_startup_context
from remembrancer.app.items.read import get_item, list_items
from remembrancer.app.items.write import quick_capture, update_item
from remembrancer.app.search import search_items
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.items.query import ItemQuery
from remembrancer.local.connection import SqliteOptions
from remembrancer.local.folder import DataFolder
from remembrancer.local.migrate import migrate
from remembrancer.local.sqlite import SqliteStore
from remembrancer.local.wire import LocalApp, open_app

TIMES = 200
"""Calls of each operation in the process; half as many over HTTP."""
STARTS = 5
"""Starts of the server, each in a process of its own."""
BARE, EMPTY = "bare SQLite insert", "GET /, reads nothing"
"""What the rest of a part is compared with."""
BUDGETS = {
    "capture": 5.0,
    "startup bundle, cached": 2.0,
    "start to first answer": 1_500.0,
    "memory of the server, MiB": 200.0,
}
"""Milliseconds (p50) and mebibytes at 100,000 items. Source: DESIGN section 14."""

Call = Callable[[int], Awaitable[object]]


async def plant(folder: DataFolder, count: int) -> Seeded:
    """Seeds a data folder; commits wait for nothing meanwhile."""
    folder.make()
    store = SqliteStore(folder.database, SqliteOptions(threads=0, synchronous="OFF"))
    await migrate(store)
    started = time.perf_counter()

    def report(events: int) -> None:
        if sys.stdout.isatty():
            print(f"\rseeding: {events:,} events", end="", flush=True)

    seeded = await seed(store, count, until_ms=int(time.time() * 1000), progress=report)
    store.close()
    os.sync()  # else the first commits wait for what seeding left to be written
    size = folder.database.stat().st_size / 2**20
    print(f"\rseeded {len(seeded.items):,} items in {time.perf_counter() - started:.0f} s,", end="")
    print(f" {size:.0f} MiB", flush=True)
    return seeded


async def add_up(_: int) -> int:
    """Nothing but work for the processor: how fast this machine is while it measures."""
    return sum(number & 7 for number in range(100_000))


async def bare_insert(folder: Path) -> Timing:
    """One row into one table, committed to the disk: what any write on this machine costs."""
    raw = sqlite3.connect(folder / "bare.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")

    async def insert(number: int) -> None:
        raw.execute("INSERT INTO rows (text) VALUES (?)", (f"row {number} " * 40,))

    found = await clock(insert, times=TIMES)
    raw.close()
    return found


def operations(local: LocalApp, seeded: Seeded) -> dict[str, Call]:
    """What is timed in the process, by name."""
    app, owner = local.app, local.owner
    projects, topics = list(seeded.projects), list(seeded.topics)
    newest = seeded.items[-2_000:]

    async def capture(number: int) -> object:
        project, topic = projects[number % 20], topics[1 + number % 29]
        text = f"Call the dentist 预约牙医 {number} #电话 #health +{project} @{topic} due:tomorrow"
        return await quick_capture(app, owner(), text, {})

    async def update(number: int) -> object:
        title, tags = f"Renamed 改名 {number}", ["home", f"tag {number % 7}"]
        item_id = newest[-1 - number]
        return await update_item(app, owner(), item_id, {"title": title, "tags": tags})

    async def bundle(number: int) -> object:
        request = ContextRequest("project", project=projects[number % 20], use_cache=False)
        return await load_context(app, owner(), request)

    past = str(len(seeded.items) // 2)
    return {
        "capture": capture,
        "update": update,
        "one item": lambda number: get_item(app, owner(), newest[number]),
        "list of the newest, 50": lambda _: list_items(app, owner(), ItemQuery(limit=50)),
        "list as of a position, 50": lambda _: list_items(
            app, owner(), ItemQuery(limit=50, as_of=past)
        ),
        "search, rare words": lambda _: search_items(app, owner(), "阳台的番茄架 balcony"),
        "search, a word of most items": lambda _: search_items(app, owner(), "user"),
        "project bundle, fresh": bundle,
        "startup bundle, fresh": lambda _: get_startup_context(app, owner(), use_cache=False),
        "startup bundle, cached": lambda _: get_startup_context(app, owner()),
    }


async def in_process(folder: DataFolder, seeded: Seeded) -> dict[str, Timing]:
    """Times every operation, and the bare insert before and after them."""
    found = {
        BARE: await bare_insert(folder.path),
        "100,000 additions in Python": await clock(add_up, times=TIMES // 4),
    }
    environ = {"DREAM_TIME_ZONE": "Asia/Shanghai"}
    async with open_app(str(folder.path), environ, is_server=True) as local:
        for name, call in operations(local, seeded).items():
            found[name] = await clock(call, times=TIMES)
    return found


class Server:
    """`remembrancer serve` in a process of its own."""

    def __init__(self, folder: DataFolder) -> None:
        program = Path(sys.executable).with_name("remembrancer")
        command = [str(program), "serve", "--json", "--port", "0", "--data", str(folder.path)]
        log = folder.path / "server.log"
        self.started = time.perf_counter()
        with log.open("w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start: {log.read_text(encoding='utf-8')}")
        ready: dict[str, Any] = json.loads(line)
        self.url, self.key = str(ready["url"]), str(ready["key"])

    def client(self) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, trust_env=False)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)


async def start_once(folder: DataFolder) -> float:
    """Milliseconds from starting the process to the first answer from the store."""
    server = Server(folder)
    try:
        async with server.client() as client:
            answer = await client.get("/v1/items", params={"limit": 1})
            answer.raise_for_status()
        return (time.perf_counter() - server.started) * 1000
    finally:
        server.stop()


def start_python() -> float:
    """Milliseconds of a Python that does nothing, from start to end."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return (time.perf_counter() - started) * 1000


async def over_http(folder: DataFolder) -> tuple[dict[str, Timing], tuple[float, float] | None]:
    """Times routes on one connection, and asks for the server's memory afterwards."""
    server = Server(folder)
    try:
        async with server.client() as client:

            async def nothing(_: int) -> None:
                (await client.get("/")).raise_for_status()

            async def capture(number: int) -> None:
                body = {"title": f"Over HTTP 经网络 {number}", "tags": ["home", "电话"]}
                (await client.post("/v1/items", json=body)).raise_for_status()

            async def startup(number: int) -> None:
                call = {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "tools/call",
                    "params": {"name": "get_startup_context", "arguments": {}},
                }
                accept = {"accept": "application/json, text/event-stream"}
                (await client.post("/mcp", json=call, headers=accept)).raise_for_status()

            found = {
                EMPTY: await clock(nothing, times=TIMES // 2),
                "POST /v1/items": await clock(capture, times=TIMES // 2),
                "MCP startup bundle, cached": await clock(startup, times=TIMES // 2),
            }
        return found, resident_mib(server.process.pid)
    finally:
        server.stop()


async def measure(count: int, folder: Path) -> dict[str, Any]:
    """Runs everything and returns the figures by part."""
    data = DataFolder(folder)
    busy = machine()
    seeded = await plant(data, count)
    own = await in_process(data, seeded)
    starts = timing([await start_once(data) for _ in range(STARTS)])
    python = timing([start_python() for _ in range(STARTS)])
    http, memory = await over_http(data)
    figures: dict[str, Any] = {
        "machine": busy,
        "items": count,
        "in_process": {name: each.figures() for name, each in own.items()},
        "http": {name: each.figures() for name, each in http.items()},
        "start": starts.figures(),
        "python_start": python.figures(),
    }
    if memory is not None:
        figures["memory_mib"] = {"now": round(memory[0]), "peak": round(memory[1])}
    return figures


def report(figures: dict[str, Any]) -> None:
    """Prints the figures with their budgets and their ratio to the bare insert or empty route."""
    print(f"{figures['items']:,} items; {figures['machine']}; milliseconds")
    for part, beside in (
        ("in_process", BARE),
        ("http", EMPTY),
    ):
        unit = figures[part][beside]["p50_ms"]
        rows = [
            (
                name,
                f"{each['p50_ms']:.2f}",
                f"{each['p95_ms']:.2f}",
                f"{each['cpu_ms']:.2f}" if part == "in_process" else "",
                f"{each['p50_ms'] / unit:.1f}x",
                f"<= {BUDGETS[name]:g}" if name in BUDGETS else "",
            )
            for name, each in figures[part].items()
        ]
        print()
        print_table((part.replace("_", " "), "p50", "p95", "cpu", "ratio", "budget p50"), rows)
    start, python = figures["start"]["p50_ms"], figures["python_start"]["p50_ms"]
    print(
        f"\nstart to first answer: p50 {start:.0f} ms of {STARTS}, {start / python:.0f}x a Python"
        f" that does nothing (budget {BUDGETS['start to first answer']:g})"
    )
    if "memory_mib" in figures:
        memory = figures["memory_mib"]
        print(
            f"memory of the server: {memory['now']} MiB, at most {memory['peak']}"
            f" (budget {BUDGETS['memory of the server, MiB']:g})"
        )


def main(arguments: Sequence[str]) -> int:
    """Seeds a folder of its own, measures, prints, writes the figures when asked."""
    parser = argparse.ArgumentParser(prog="scripts/bench local")
    parser.add_argument("--items", type=int, default=10_000, help="10000 unless told")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="remembrancer-bench-") as folder:
        figures = asyncio.run(measure(chosen.items, Path(folder)))
    report(figures)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
