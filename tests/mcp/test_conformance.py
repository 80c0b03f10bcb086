"""The official conformance suite against the fixtures, for the oldest and newest set it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mcp.conftest import MODULES, Served, run_node

SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BASELINE = Path(__file__).with_name("legacy-baseline.yml")


@pytest.mark.parametrize(
    ("requirements", "options"),
    [
        pytest.param("2026-07-28", (), id="modern"),
        # A baseline entry that passes fails the run too, so the list stays honest.
        pytest.param("2025-11-25", ("--expected-failures", str(BASELINE)), id="legacy"),
    ],
)
def test_conformance_requirements_hold(
    served_fixtures: Served, tmp_path: Path, requirements: str, options: tuple[str, ...]
) -> None:
    done = run_node(
        SUITE,
        "server",
        "--url",
        served_fixtures.url,
        "--requirements",
        requirements,
        *options,
        "-o",
        str(tmp_path / "results"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_conformance_baseline_names_five_scenarios() -> None:
    lines = BASELINE.read_text("utf-8").splitlines()
    assert sum(line.startswith("  - ") for line in lines) == 5
