"""Runs pytest as it is over tests that never wait; inside Pyodide only."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest


class Recorder:
    """Notes how each test ended."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.outcomes.append((report.nodeid, report.outcome, report.longreprtext))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcomes.append((report.nodeid, "failed", report.longreprtext))


async def run(paths: Sequence[str]) -> str:
    """Run the tests of these files; return their outcomes as JSON."""
    recorder = Recorder()
    pytest.main(["-p", "no:cacheprovider", *paths], plugins=[recorder])
    return json.dumps(recorder.outcomes)
