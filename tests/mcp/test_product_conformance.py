"""The official conformance suite against the product: everything that needs no fixtures passes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.mcp.conftest import Served, run_node
from tests.mcp.test_conformance import SUITE

FOLDER = Path(__file__).parent

MODERN = (
    "caching",
    "completion-complete",
    "dns-rebinding-protection",
    "http-header-validation",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "tools-list",
)
LEGACY = (
    "completion-complete",
    "dns-rebinding-protection",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-initialize",
    "tools-list",
)
"""Scenarios that say something of a server without fixtures, and must pass."""


@pytest.mark.parametrize(
    ("requirements", "baseline", "must_pass"),
    [
        pytest.param("2026-07-28", "product-modern-baseline.yml", MODERN, id="modern"),
        pytest.param("2025-11-25", "product-legacy-baseline.yml", LEGACY, id="legacy"),
    ],
)
def test_product_passes_every_scenario_without_fixtures(
    served_open_product: Served,
    tmp_path: Path,
    requirements: str,
    baseline: str,
    must_pass: tuple[str, ...],
) -> None:
    done = run_node(
        SUITE,
        "server",
        "--url",
        served_open_product.url,
        "--requirements",
        requirements,
        "--expected-failures",
        str(FOLDER / baseline),
        "-o",
        str(tmp_path / "results"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    passed = set(re.findall(r"^✓ ([\w-]+): [1-9]", done.stdout, re.MULTILINE))
    assert passed >= set(must_pass)


def test_product_fails_stateless_checks_only_for_want_of_fixtures(
    served_open_product: Served, tmp_path: Path
) -> None:
    scenario = ("--scenario", "server-stateless", "-o", str(tmp_path / "results"))
    run_node(SUITE, "server", "--url", served_open_product.url, *scenario, folder=tmp_path)
    [report] = (tmp_path / "results").glob("*/checks.json")
    checks = json.loads(report.read_text("utf-8"))
    failures = [check["errorMessage"] for check in checks if check["status"] == "FAILURE"]
    assert len(failures) == 4
    assert all(each.startswith("Not testable: server does not list") for each in failures)
    assert sum(check["status"] == "SUCCESS" for check in checks) >= 21
