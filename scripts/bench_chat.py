"""What the gateway adds to a chat: milliseconds to the first byte, and many streams at once.

A model's server of the tests and the product's server run in processes of their own, on loopback.
Direct calls and calls through the gateway alternate in one run, so that a busy machine is busy for
both; the server's own work for a call, the work after the answer included, is counted beside it.
The store holds memories; there is no embedder. Three kinds of calls go through the gateway: without
memory, with memory that finds nothing, and with memory that finds the fact asked for.

`scripts/bench chat --beside-litellm` also runs LiteLLM's proxy over the same model's server, in an
environment of its own, and measures a whole answer, a stream's first byte and its end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.e2e.serving import Launcher, Server

import litellm_proxy
from measuring import Timing, machine, print_table, resident_mib, timing

MEMORIES = 500
"""Memories of the store."""
STREAMS = 200
"""Streams at once."""
CHUNKS = 200
"""Chunks of each."""
REST_S = 1.0
"""Seconds in which work after answers ends."""
PAUSE_S = 0.03
"""Seconds between two calls, in which what comes after an answer is done: nobody asks again within
the milliseconds in which a turn is kept."""
WARM = 10
"""Calls of each kind that are not counted."""
BUDGET_MS = 5.0
"""Milliseconds that the gateway may add to the first byte, the middle call. Source: DESIGN 14."""


@contextlib.contextmanager
def places(folder: Path) -> Iterator[tuple[str, Server]]:
    """The upstream's address and the gateway's server."""
    upstream = subprocess.Popen(
        [sys.executable, "-m", "tests.chat.upstream"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert upstream.stdout is not None
    assert upstream.stdin is not None
    url = upstream.stdout.readline().strip()
    launcher = Launcher(folder / "data")
    try:
        settings = {"AI_GATEWAY_BASE_URL": url, "CHAT_MODEL": "mock", "EMBEDDING_MODEL": "off"}
        yield url, launcher.serve(**settings)
    finally:
        launcher.close()
        upstream.stdin.close()
        upstream.wait(10)


def fill(server: Server) -> None:
    """Store memories that words can find."""
    with server.client() as client:
        for number in range(MEMORIES):
            content = f"第{number}号仓库的钥匙在抽屉{number % 37}里 the key of store {number}"
            client.post("/v1/memories", json={"content": content}).raise_for_status()


def known(number: int) -> str:
    """A question that a memory answers."""
    number %= MEMORIES
    return f"第{number}号仓库的钥匙在哪里？ where is the key of store {number}?"


def unknown(number: int) -> str:
    """A question that no memory has a word of."""
    return f"Explain photosynthesis, variant {number + 1_000_000}. 解释光合作用"


async def first_byte_ms(client: httpx.AsyncClient, url: str, text: str) -> float:
    """Milliseconds until the first byte of a stream; the rest is read and not counted."""
    first, _ = await stream_ms(client, url, text)
    return first


async def stream_ms(
    client: httpx.AsyncClient, url: str, text: str, key: str = ""
) -> tuple[float, float]:
    """Milliseconds until the first byte of a stream and until its end."""
    body = {"model": "mock", "messages": [{"role": "user", "content": text}], "stream": True}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    started = time.perf_counter()
    async with client.stream("POST", url, json=body, headers=headers) as response:
        response.raise_for_status()
        pieces = response.aiter_raw()
        await anext(pieces)
        first = (time.perf_counter() - started) * 1000
        async for _ in pieces:
            pass
    return first, (time.perf_counter() - started) * 1000


async def whole_ms(client: httpx.AsyncClient, url: str, text: str, key: str) -> float:
    """Milliseconds of an answer that is no stream."""
    body = {"model": "mock", "messages": [{"role": "user", "content": text}]}
    started = time.perf_counter()
    response = await client.post(url, json=body, headers={"authorization": f"Bearer {key}"})
    response.raise_for_status()
    return (time.perf_counter() - started) * 1000


async def measured(url: str, server: Server, *, times: int) -> dict[str, Timing]:
    """The first byte of each kind of call, one after another in turn."""
    kinds = {
        "direct": (f"{url}/v1/chat/completions", unknown),
        "without memory": (f"{server.url}/v1/guide-dog/chat/completions", unknown),
        "nothing found": (f"{server.url}/v1/chat/completions", unknown),
        "a fact found": (f"{server.url}/v1/chat/completions", known),
    }
    taken: dict[str, list[float]] = {kind: [] for kind in kinds}
    headers = {"authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        for number in range(times + WARM):
            for kind, (address, question) in kinds.items():
                one = await first_byte_ms(client, address, question(number))
                await asyncio.sleep(PAUSE_S)
                if number >= WARM:
                    taken[kind].append(one)
    return {kind: timing(each) for kind, each in taken.items()}


MEASURES = ("whole answer", "first byte of a stream", "end of a stream")
"""What is measured beside LiteLLM."""


async def beside(
    url: str, server: Server, proxy: tuple[str, str], *, times: int
) -> dict[str, dict[str, Timing]]:
    """The three measures of each way to the same model's server, one after another in turn."""
    chats = "/v1/chat/completions"
    ways = {
        "direct": (url + chats, "none", unknown),
        "ours, without memory": (f"{server.url}/v1/guide-dog/chat/completions", "", unknown),
        "ours, nothing found": (server.url + chats, "", unknown),
        "ours, a fact found": (server.url + chats, "", known),
        "LiteLLM": (proxy[0] + chats, proxy[1], unknown),
    }
    taken = {way: {measure: list[float]() for measure in MEASURES} for way in ways}
    async with httpx.AsyncClient(timeout=60) as client:
        for number in range(times + WARM):
            for way, (address, key, question) in ways.items():
                key = key or server.token
                whole = await whole_ms(client, address, question(number), key)
                await asyncio.sleep(PAUSE_S)
                first, end = await stream_ms(client, address, question(number + MEMORIES // 2), key)
                await asyncio.sleep(PAUSE_S)
                if number >= WARM:
                    for measure, one in zip(MEASURES, (whole, first, end), strict=True):
                        taken[way][measure].append(one)
    return {
        way: {measure: timing(one) for measure, one in each.items()} for way, each in taken.items()
    }


def tell_beside(found: dict[str, dict[str, Timing]]) -> None:
    """Print what each way takes, and how often what we add goes into what LiteLLM adds."""
    rows = [
        (way, *(f"{each[measure].p50:.2f}" for measure in MEASURES)) for way, each in found.items()
    ]
    print_table(("beside LiteLLM's proxy, p50 ms", *MEASURES), rows)
    ratios = []
    for way in list(found)[1:-1]:
        cells = []
        for measure in MEASURES:
            direct = found["direct"][measure].p50
            ours, theirs = found[way][measure].p50 - direct, found["LiteLLM"][measure].p50 - direct
            cells.append(f"{theirs / ours:.1f}" if ours > 0 else "-")
        ratios.append((way, *cells))
    print_table(("LiteLLM adds times what we add", *MEASURES), ratios)


def worked_ms(process_id: int) -> float | None:
    """Milliseconds that a process has worked so far; None where none can tell."""
    path = Path(f"/proc/{process_id}/stat")
    if not path.exists():
        return None
    fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def work(server: Server, *, times: int) -> dict[str, float]:
    """The server's work for a call of each kind, beside that of a route that does nothing."""
    assert server.process is not None
    headers = {"authorization": f"Bearer {server.token}"}
    chats = "/v1/chat/completions"
    kinds = {
        "without memory": ("/v1/guide-dog/chat/completions", unknown),
        "nothing found": (chats, unknown),
        "a fact found": (chats, known),
    }
    figures: dict[str, float] = {}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
        before = worked_ms(server.process.pid)
        if before is None:
            return figures
        for _ in range(times):
            await client.get("/v1/models")
        after = worked_ms(server.process.pid) or 0.0
        figures["a route that does nothing"] = round((after - before) / times, 2)
        for kind, (path, question) in kinds.items():
            before = worked_ms(server.process.pid) or 0.0
            for number in range(times):
                await first_byte_ms(client, path, question(number + 10_000))
            await asyncio.sleep(REST_S)
            after = worked_ms(server.process.pid) or 0.0
            figures[kind] = round((after - before) / times, 2)
    return figures


async def many(server: Server) -> dict[str, Any]:
    """Run streams at once and check that each is whole and its own."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=STREAMS)
    headers = {"authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(headers=headers, timeout=300, limits=limits) as client:

        async def one(number: int) -> bool:
            text = f"stream {number:03d}"
            body = {
                "model": "mock",
                "messages": [{"role": "user", "content": text}],
                "stream": True,
                "x_chunks": CHUNKS,
            }
            response = await client.post(f"{server.url}/v1/chat/completions", json=body)
            events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
            told = [json.loads(each)["choices"][0]["delta"] for each in events[:-1]]
            got = [each["content"] for each in told if each.get("content")]
            # The upstream says back what it was sent, memory included.
            is_own = [
                each.startswith(f"you said: {text}") and each.endswith(f"#{chunk};")
                for chunk, each in enumerate(got)
            ]
            return len(got) == CHUNKS and all(is_own) and events[-1] == "[DONE]"

        started = time.perf_counter()
        whole = await asyncio.gather(*(one(number) for number in range(STREAMS)))
        seconds = time.perf_counter() - started
    assert server.process is not None
    memory = resident_mib(server.process.pid)
    return {
        "whole": sum(whole),
        "seconds": round(seconds, 2),
        "chunks_a_second": round(STREAMS * CHUNKS / seconds),
        "peak_mib": None if memory is None else round(memory[1]),
    }


def main() -> int:
    """Measure, print, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--beside-litellm", action="store_true", help="run its proxy as well")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, places(Path(folder)) as (url, server):
        fill(server)
        compared = {}
        if chosen.beside_litellm:
            with litellm_proxy.running(url, Path(folder)) as proxy:
                compared = asyncio.run(beside(url, server, proxy, times=chosen.times))
        timings = asyncio.run(measured(url, server, times=chosen.times))
        cpu = asyncio.run(work(server, times=chosen.times))
        streams = asyncio.run(many(server))
    direct = timings["direct"].p50
    figures = {
        "machine": machine(),
        "first_byte": {kind: one.figures() for kind, one in timings.items()},
        "added_p50_ms": {kind: round(one.p50 - direct, 3) for kind, one in timings.items()},
        "server_cpu_ms": cpu,
        "budget_ms": BUDGET_MS,
        "streams": streams,
        "beside_litellm": {
            way: {measure: one.figures() for measure, one in each.items()}
            for way, each in compared.items()
        },
    }
    rows = [
        (kind, f"{one.p50:.2f}", f"{one.p95:.2f}", f"{one.p50 - direct:.2f}")
        for kind, one in timings.items()
    ]
    print_table(("first byte of a stream", "p50 ms", "p95 ms", "added ms"), rows)
    print(f"budget: {BUDGET_MS} ms added at p50")
    print_table(("the server's work for a call", "CPU ms"), list(cpu.items()))
    print(f"{STREAMS} streams of {CHUNKS} chunks at once: {streams}")
    if compared:
        tell_beside(compared)
    chosen.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return 0 if streams["whole"] == STREAMS else 1


if __name__ == "__main__":
    sys.exit(main())
