"""Runs the test tiers, some beside each other, and adds up their counts; `scripts/test` shows it.

A tier is a folder of tests with a purpose and a price. Each runs in a pytest of its own, so that
a tier alone is the same run as that tier among the others.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
COVERAGE = ("--cov=remembrancer", "--cov-branch", "--cov-report=")
"""Options of pytest; each tier writes a file of its own, which are then combined."""
PASSED, FOUND_NOTHING = 0, 5
"""Exit codes of pytest that are no failure."""
INTERRUPTED = 130
"""Exit code after Ctrl+C, which every pytest hears as well and ends by."""
AT_ONCE = min(os.cpu_count() or 1, 4)
"""How many tiers run beside each other; a process for each keeps every core busy to the end, where
two processes for one tier would both import and collect all of it and then wait for each other."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One kind of test: `folder` lies in `tests/`, `seconds` is about what it takes on one core.

    *Shape:* `seconds_whole` is the same for every test of it, where a near run leaves many.
    `workers` is how many processes it gets when it runs alone, and `workers_beside` when others run
    beside it. A far tier stands in for another place than this machine; it runs when it is named,
    or `all`.
    """

    name: str
    purpose: str
    seconds: int
    seconds_whole: int = 0
    workers: int = 2
    workers_beside: int = 1
    is_far: bool = False

    @property
    def folder(self) -> str:
        return f"tests/{self.name}"

    def about(self, *, is_near: bool) -> int:
        """Seconds that it takes on one core in such a run."""
        return self.seconds if is_near else max(self.seconds, self.seconds_whole)


ALL = "all"
"""What names every tier, the far ones included."""

TIERS = (
    Tier("check", "the checkers themselves: each is shown a bad sample and must refuse it", 20, 40),
    Tier("core", "pure functions: tables and properties", 45, 65),
    Tier("contract", "one suite for each port, over every implementation of it", 50, 80),
    Tier("local", "the SQLite driver, files and clock of one machine", 15, 25),
    Tier("store", "the SQL and the ledger: rebuild, migrations, projections", 5),
    Tier("app", "use cases on an in-memory store, with faults injected", 95, 300),
    Tier("protocol", "REST and MCP through the application, without a network", 90, 140),
    Tier("cli", "the command line, here and on a remote server", 35),
    Tier("edge", "the Worker's own modules on stand-in bindings", 5),
    Tier("pyodide", "the Worker's code in Pyodide, on real D1 and KV", 450, workers=1, is_far=True),
    Tier(
        "workerd",
        "the Worker in the platform's own runtime, on real D1 and a queue",
        90,
        workers=1,
        is_far=True,
    ),
    Tier("budgets", "round trips, rows read and rows written, counted", 50, 190),
    Tier("deploy", "the deploy command and wrangler, on a stand-in account", 250, is_far=True),
    Tier("mcp", "official clients, conformance suite and Inspector against a real server", 75, 100),
    Tier("chat", "real chat clients against a real server over a scripted upstream", 45),
    Tier("browser", "the panel in a real browser, as its user has it", 220, is_far=True),
    Tier(
        "e2e", "the installed program on loopback: concurrency, crashes, a day's session", 90, 200
    ),
)
"""Every folder of `tests/` that holds tests, in the order in which a failure says most."""


@dataclass(slots=True)
class Count:
    """How many tests ended how; a pytest that could not run at all is one failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    left: int = 0
    """What a near run leaves for `all`."""

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.left += other.left

    @property
    def is_good(self) -> bool:
        return self.failed == 0 and self.passed > 0

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True, slots=True)
class Run:
    """How the tiers of one call are run: a near run leaves those tests that are marked `long`."""

    options: Sequence[str]
    scratch: Path
    is_near: bool = False
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What one tier came to: seconds passed, and seconds of all its processes on a core."""

    tier: Tier
    count: Count
    seconds: float
    busy_seconds: float
    output: str = ""

    def __str__(self) -> str:
        left = f", {self.count.left} left for all" * (self.count.left > 0)
        times = f"{self.seconds:.0f} s, {self.busy_seconds:.0f} s of a core"
        return f"{self.tier.name:<9} {self.count}{left}  ({times})"


def read_report(path: Path, exit_code: int) -> Count:
    """What a pytest run came to, from its JUnit report and its exit code."""
    count = Count()
    if path.exists():
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            broken = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            count.add(Count(int(suite.get("tests", 0)) - broken - skipped, broken, skipped))
    if exit_code not in {PASSED, FOUND_NOTHING} and count.failed == 0:
        count.failed = 1
    return count


def run_tier(tier: Tier, run: Run) -> Result:
    """Runs one tier's tests; the output of one alone goes straight to the terminal.

    tests/conftest.py writes down how many tests a near run leaves.
    """
    # The line and its end in one piece: tiers begin beside each other.
    about = tier.about(is_near=run.is_near)
    print(f"== {tier.name}: {tier.purpose} (about {about} s)\n", end="", flush=True)
    report, left, said = (run.scratch / f"{tier.name}.{kind}" for kind in ("xml", "left", "out"))
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", tier.folder]
    workers = tier.workers if run.is_alone else tier.workers_beside
    if workers > 1:
        command += ["-n", str(workers), "--dist", "loadfile"]
    if sys.stdout.isatty():
        command += ["--color=yes"]
    # One order of sets in every worker: a set in a test's id must not differ between them.
    fixed = {"COVERAGE_FILE": str(run.scratch / f".coverage.{tier.name}"), "PYTHONHASHSEED": "0"}
    near = {"TESTS_LEFT": str(left)} if run.is_near else {}
    started = time.monotonic()
    with said.open("wb") as file:
        ways = {} if run.is_alone else {"stdout": file, "stderr": file, "stdin": subprocess.DEVNULL}
        exit_code, busy_seconds = run_measured(
            [*command, *run.options], {**os.environ, **fixed, **near}, ways
        )
    count = read_report(report, exit_code)
    count.left = int(left.read_text(encoding="utf-8")) if left.exists() else 0
    output = said.read_text(encoding="utf-8", errors="replace")
    return Result(tier, count, time.monotonic() - started, busy_seconds, output)


def run_measured(
    command: Sequence[str], environment: dict[str, str], ways: dict[str, Any]
) -> tuple[int, float]:
    """Runs a command; answers its exit code and the seconds that it and its children computed."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment, **ways)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def run_tiers(tiers: Sequence[Tier], run: Run) -> Count:
    """Runs the tiers, the longest first, and prints a line before and after each.

    A tier that ran beside others is shown whole when there is something to read in it.
    """
    if not run.is_alone:
        print(foretell(tiers, is_near=run.is_near), flush=True)
    pool = ThreadPoolExecutor(AT_ONCE)
    results = {}
    try:
        # So the last ones are short, and no core waits long for the other.
        ordered = sorted(tiers, key=lambda tier: tier.about(is_near=run.is_near), reverse=True)
        for future in as_completed([pool.submit(run_tier, tier, run) for tier in ordered]):
            result = future.result()
            results[result.tier] = result
            if result.count.failed or result.count.skipped or run.options:
                print(f"\n{result.output}", end="")
            print(result, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    total = Count()
    print("\n== summary")
    for tier in tiers:
        print(results[tier])
        total.add(results[tier].count)
    if total.left:
        print(f"{total.left} tests of full matrices are left for: scripts/test all")
    return total


def foretell(tiers: Sequence[Tier], *, is_near: bool) -> str:
    """What a run of several tiers will be, in a line."""
    told = f"{len(tiers)} tiers, {AT_ONCE} at a time, "
    if not is_near:
        return f"{told}every test of them"
    minutes = sum(tier.seconds for tier in tiers) / AT_ONCE / 60
    return f"{told}about {minutes:.0f} minutes: a part of each matrix, `all` runs the whole"


def report_coverage(scratch: Path) -> None:
    """Adds up what the tiers covered and prints every module with a branch not taken."""
    data = f"--data-file={scratch / '.coverage'}"
    for command in (["combine", data, "--quiet", str(scratch)], ["report", data]):
        subprocess.run([sys.executable, "-m", "coverage", *command], cwd=ROOT, check=False)


def main(arguments: Sequence[str]) -> int:
    """Chooses tiers by name and answers the exit code: 0 only for a green run.

    Without a name those of one machine run, with `all` every one.
    """
    arguments, options = split_options(arguments)
    parser = argparse.ArgumentParser(prog="scripts/test", description="Runs the tests, by tiers.")
    parser.add_argument("tiers", nargs="*", metavar="TIER", help="names, or all; else those near")
    parser.add_argument("--list", action="store_true", help="name the tiers and end")
    parser.add_argument("--coverage", action="store_true", help="show the branches not taken")
    chosen = parser.parse_args(arguments)
    known = {tier.name: tier for tier in TIERS}
    unknown = [name for name in chosen.tiers if name not in known and name != ALL]
    if unknown:
        parser.error(f"no tier is named {unknown[0]!r}; there are: {', '.join(known)}")
    if chosen.list:
        for tier in TIERS:
            print(f"{tier.name:<9} {tier.purpose} (about {tier.seconds} s)")
        return 0
    present = [name for name, tier in known.items() if (ROOT / tier.folder).is_dir()]
    names = chosen.tiers or [name for name in present if not known[name].is_far]
    names = present if ALL in names else names
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        options += COVERAGE * chosen.coverage
        run = Run(options, scratch, is_near=not chosen.tiers, is_alone=len(names) == 1)
        total = run_tiers([known[name] for name in names], run)
        if chosen.coverage:
            report_coverage(scratch)
    print(f"\n{total}", flush=True)
    return 0 if total.is_good else 1


def split_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divides at `--`: what follows it is for pytest."""
    if "--" not in arguments:
        return list(arguments), []
    at = list(arguments).index("--")
    return list(arguments[:at]), list(arguments[at + 1 :])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
