"""Runs the benches one after another and gathers their figures; `scripts/bench` is its face.

A bench is a module `scripts/bench_NAME.py` whose docstring's first line says what it measures. It
runs in a process of its own as `bench_NAME.py --json FILE`, prints its figures for a person and
writes them to FILE as one JSON object. It ends with an exit code other than 0 when it could not
measure; a figure over its budget is a figure, not a failure. Options that the runner does not
know are the bench's, when one bench is named.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Where the benches lie."""


def find_benches() -> dict[str, Path]:
    """Every bench by name."""
    return {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}


def purpose(path: Path) -> str:
    """The first line of a bench's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "(undescribed)"
    return docstring.splitlines()[0]


def run(path: Path, options: Sequence[str], figures: Path) -> object:
    """Runs one bench, its output going straight to the terminal; None when it failed."""
    # A bench may use what the tests have: the seeded store, the real D1.
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent)}
    command = [sys.executable, str(path), *options, "--json", str(figures)]
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode != 0 or not figures.exists():
        return None
    found: object = json.loads(figures.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str]) -> int:
    """Chooses benches by name and answers the exit code: 1 when one could not measure."""
    benches = find_benches()
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="all, when none is named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--list", action="store_true", help="name the benches and end")
    chosen, options = parser.parse_known_args(arguments)
    if options and (len(chosen.names) != 1 or chosen.names[0] not in benches):
        parser.error(f"{options[0]!r} belongs to one bench: name it first")
    unknown = [name for name in chosen.names if name not in benches]
    if unknown:
        known = ", ".join(benches) or "none yet"
        parser.error(f"no bench is named {unknown[0]!r}; there are: {known}")
    if chosen.list:
        for name, path in benches.items():
            print(f"{name:<10} {purpose(path)}")
        return 0
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in chosen.names or benches:
            print(f"== {name}: {purpose(benches[name])}", flush=True)
            results[name] = run(benches[name], options, Path(scratch) / f"{name}.json")
    if chosen.json:
        text = json.dumps(results, ensure_ascii=False, indent=2, sort_keys=True)
        chosen.json.write_text(text + "\n", encoding="utf-8")
    failed = [name for name, figures in results.items() if figures is None]
    if failed or not results:
        print(f"could not measure: {', '.join(failed) or 'there is no bench'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
