"""Tests that run on the edge's Python: pure functions, and the ports over the platform's own."""

from __future__ import annotations

import json
import subprocess

import pytest
from tests.conftest import ROOT
from tests.d1.bridge import NODE, D1Bridge
from tests.pyodide.conftest import HARNESS, require_parts

CONTRACT = [
    "test_blobs.py",
    "test_kv.py",
    "test_runtime.py",
    "test_sql.py",
    "test_sql_limits.py",
    "test_vectors.py",
]
"""The suites of ports that the Worker has drivers for."""
RUN_S_MAX = 900
"""Seconds that a whole run may take."""


def run_inside(suite: str, paths: list[str], bridge: D1Bridge | None) -> list[list[str]]:
    """Each test's name, outcome and words."""
    require_parts()
    stock = bridge.stock() if bridge is not None else {}
    given = {"root": str(ROOT), "packages": str(ROOT / ".venv" / "pyodide"), **stock}
    done = subprocess.run(
        [
            str(NODE),
            str(HARNESS / "inside.mjs"),
            json.dumps({**given, "suite": suite, "paths": paths}),
        ],
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6_000:]
    outcomes: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return outcomes


def failures(outcomes: list[list[str]]) -> str:
    """What went wrong, in words."""
    return "\n".join(f"{name}\n{words}" for name, outcome, words in outcomes if outcome == "failed")


@pytest.mark.slow
@pytest.mark.timeout(RUN_S_MAX)
def test_ports_hold_their_promises_over_the_platform(d1_bridge: D1Bridge) -> None:
    paths = [f"tests/contract/{name}" for name in CONTRACT]
    outcomes = run_inside("contract", paths, d1_bridge)
    assert failures(outcomes) == ""
    assert {outcome for _, outcome, _ in outcomes} == {"passed"}
    # Every suite was there, and not a handful of its tests.
    counts = [sum(name.startswith(path) for name, _, _ in outcomes) for path in paths]
    assert min(counts) >= 8, counts
    assert sum("suites/queues.py" in name for name, _, _ in outcomes) == 5
    assert len(outcomes) >= 150


@pytest.mark.slow
@pytest.mark.timeout(RUN_S_MAX)
def test_core_is_the_same_on_the_edges_python() -> None:
    outcomes = run_inside("core", ["tests/core"], None)
    assert failures(outcomes) == ""
    assert {outcome for _, outcome, _ in outcomes} == {"passed"}
    assert len(outcomes) >= 2_000
