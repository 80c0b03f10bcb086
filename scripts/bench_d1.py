"""Round trips, rows read and rows written of each operation on a real D1 (local workerd).

The counts are the platform's own and the same on every machine; `tests/budgets` holds them. Beside
them stands what the predecessor needed for the same, measured on the same platform with 10,000
items.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.budgets.operations import DESIGNED, OWN, Budget
from tests.budgets.places import Cost, make_place, measure
from tests.d1.bridge import D1Bridge, missing_part

from measuring import print_table

PREDECESSOR = {
    "startup bundle, cached": "0 · 0 · 0, up to 60 s old",
    "startup bundle, fresh": "85–100 · 359,796 · 3",
    "capture: two tags, project, topic": "16 · 52 · 39",
    "project bundle with history, fresh": "9–12 · 35,856 · 0",
}
"""Operation → trips · rows read · rows written. Source: BENCHMARKS.md, the predecessor's row."""


async def costs(bridge: D1Bridge, count: int, budgets: Mapping[str, Budget]) -> dict[str, Cost]:
    """Seeds a database and runs every operation once."""
    place = await make_place(bridge.fresh(), count)
    return {name: await measure(place, budget.run) for name, budget in budgets.items()}


def report(found: Mapping[str, Cost], budgets: Mapping[str, Budget]) -> None:
    """Prints one line for each operation: measured, then its budget, then the predecessor."""
    rows = []
    for name, budget in budgets.items():
        cost = found[name]
        rows.append(
            (
                name,
                cost.trips,
                f"{cost.read:,}",
                f"{cost.written:,}",
                cost.statements,
                f"{budget.trips} · {budget.read:,} · {budget.written:,}",
                PREDECESSOR.get(name, ""),
            )
        )
    head = ("operation", "trips", "read", "written", "statements", "budget", "predecessor")
    print_table(head, rows)


def main(arguments: Sequence[str]) -> int:
    """Measures, prints, and writes the figures when asked; fails without a local D1."""
    parser = argparse.ArgumentParser(prog="scripts/bench d1")
    parser.add_argument("--items", type=int, default=10_000, help="10000 unless told")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args(arguments)
    missing = missing_part()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 1
    budgets = {**DESIGNED, **OWN}
    bridge = D1Bridge()
    try:
        found = asyncio.run(costs(bridge, chosen.items, budgets))
    finally:
        bridge.stop()
    print(f"{chosen.items:,} items")
    report(found, budgets)
    if chosen.json:
        figures = {"items": chosen.items, **{name: asdict(cost) for name, cost in found.items()}}
        chosen.json.write_text(json.dumps(figures, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
