"""The Worker in Pyodide: import, heap, upload, and processor time per request.

Times are compared with a measure of the same run (pydantic's import, a bare Starlette route), so
that a ratio holds on any machine. It needs what `scripts/install --dev` installs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from tests.d1.bridge import NODE, D1Bridge, missing_part  # noqa: E402 - the path comes first

import vendoring  # noqa: E402

BENCH = ROOT / "tests" / "pyodide" / "harness" / "bench.mjs"
"""What measures; it runs in Node."""
PARTS = (ROOT / "node_modules" / "pyodide", vendoring.MODULES)
"""What it needs beside D1."""
BARE = "a bare Starlette route"
"""The case that the others are compared with."""
STARTS = 6
"""Fresh starts of which the least time counts, and the middle ratio. Our choice: on two busy cores
the least of three still moved by a tenth."""
BUDGETS = {
    "import": 3.0,
    "heap": 64.0,
    "upload": 4.0,
    "cached startup, REST": 10.0,
    "cached startup, MCP": 10.0,
    "capture, REST": 25.0,
    "capture, MCP": 25.0,
    "recall without embedding, REST": 60.0,
    "recall without embedding, MCP": 60.0,
}
"""Ratios, and MiB of heap and upload. Source: DESIGN section 14."""


def measure(rounds: int, starts: int = STARTS, firsts: int = STARTS) -> dict[str, Any]:
    """Every figure. *Raises:* CalledProcessError; the reason is on standard error.

    *Shape:* `starts` fresh Pythons for the imports and `firsts` for the first requests, `rounds` of
    requests in the last of them.
    """
    bridge = D1Bridge()
    try:
        database, cache = bridge.fresh(), bridge.fresh_kv()
        given = {
            "root": str(ROOT),
            "url": database.url,
            "database": database.database,
            "namespace": cache.namespace,
            "variables": {"CHATBOX_API_KEY": "sk-bench", "RATE_LIMIT_PER_MINUTE": "0"},
            "rounds": rounds,
            "starts": starts,
            "firsts": firsts,
        }
        command = [str(NODE), str(BENCH), json.dumps(given)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    finally:
        bridge.stop()
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    plain, packed = vendoring.measure()
    figures["upload"] = {"mib": plain / vendoring.MIB, "compressed_mib": packed / vendoring.MIB}
    return figures


def against_budgets(figures: dict[str, Any]) -> dict[str, float]:
    """What each budget is compared with."""
    imports, requests = figures["imports"], figures["requests"]
    values = {
        "import": imports["ratio"],
        "heap": imports["heap_mib"],
        "upload": figures["upload"]["compressed_mib"],
    }
    for name in BUDGETS.keys() & requests.keys():
        values[name] = requests[name]["ms"] / requests[BARE]["ms"]
    return values


def report(figures: dict[str, Any]) -> None:
    """Print the figures for a person."""
    imports = figures["imports"]
    print(
        f"import of worker.py {imports['worker_ms']:.0f} ms; of pydantic with one model "
        f"{imports['pydantic_with_a_model_ms']:.0f} ms, alone {imports['pydantic_ms']:.0f} ms; "
        f"{imports['ratio']:.2f} to one"
    )
    for name, case in figures["requests"].items():
        ratio = case["ms"] / figures["requests"][BARE]["ms"]
        print(
            f"{name:<28} {case['ms']:6.2f} ms {ratio:5.1f}x  {case['round_trips']:.1f} to D1, "
            f"first in an isolate {case['first_ms']:6.1f} ms"
        )
    for name, value in against_budgets(figures).items():
        verdict = "ok" if value <= BUDGETS[name] else "OVER"
        print(f"budget {name:<22} {value:6.2f} of {BUDGETS[name]:5.1f}  {verdict}")


def main(arguments: Sequence[str]) -> int:
    """Measure, print and write; the exit code is 1 when it could not measure."""
    parser = argparse.ArgumentParser(prog="bench_edge.py")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--starts", type=int, default=STARTS)
    chosen = parser.parse_args(arguments)
    lacking = [part.relative_to(ROOT) for part in PARTS if not part.exists()]
    if lacking or missing_part():
        reason = missing_part() or f"{lacking[0]} is missing; `scripts/install --dev` installs it"
        print(reason, file=sys.stderr)
        return 1
    try:
        figures = measure(chosen.rounds, chosen.starts, chosen.starts)
    except subprocess.CalledProcessError:
        return 1
    report(figures)
    text = json.dumps({**figures, "budgets": against_budgets(figures)}, indent=2)
    chosen.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
