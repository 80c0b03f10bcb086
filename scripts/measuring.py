"""What the benches share: timing a call many times, percentiles, and tables for the terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one call: the middle one, and the one that 95 of a hundred stay under.

    `cpu` is this process's own work for a call, on average: it hardly depends on what else runs.
    """

    p50: float
    p95: float
    cpu: float

    def figures(self) -> dict[str, float]:
        figures = {"p50_ms": self.p50, "p95_ms": self.p95, "cpu_ms": self.cpu}
        return {name: round(value, 3) for name, value in figures.items()}


async def clock(call: Callable[[int], Awaitable[object]], *, times: int, warm: int = 5) -> Timing:
    """Times calls one after another; each is told its number."""
    for number in range(warm):
        await call(number)
    taken = []
    worked = time.process_time()
    for number in range(warm, warm + times):
        started = time.perf_counter()
        await call(number)
        taken.append((time.perf_counter() - started) * 1000)
    return timing(taken, cpu=(time.process_time() - worked) * 1000 / times)


def timing(taken: Sequence[float], *, cpu: float = 0.0) -> Timing:
    """The percentiles of these milliseconds."""
    ordered = sorted(taken)
    last = len(ordered) - 1
    return Timing(ordered[last // 2], ordered[min(last, round(last * 0.95))], cpu)


def resident_mib(process_id: int) -> tuple[float, float] | None:
    """Mebibytes of memory that a process holds now and held at most; None where none can tell."""
    path = Path(f"/proc/{process_id}/status")
    if not path.exists():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(sizes["VmRSS"]) / 1024, int(sizes["VmHWM"]) / 1024


def machine() -> str:
    """The machine in a few words: cores, and how busy it was before."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{os.cpu_count()} cores, load {load:.1f} before the run"


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints columns: the first to the left, the others to the right."""
    texts = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    for row in texts:
        first, *rest = row
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip(), flush=True)
