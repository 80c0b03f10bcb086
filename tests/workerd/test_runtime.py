"""What only the platform's own runtime can show: its loader, its bridges, its events."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from tests.conftest import ROOT

import worker_runtime
from worker_runtime import Runtime

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
CRONS = tomllib.loads((ROOT / "wrangler.toml").read_text(encoding="utf-8"))["triggers"]["crons"]
"""The lines that the platform runs."""
EXTRACTION = "0 */4 * * *"
SHOWN = 4_000
"""Characters of the log that explain a failure."""
WAIT_S = 400
"""Seconds until a message of the queue is worked off; the platform gathers them for five."""


def _run(runtime: Runtime, client: httpx.Client, cron: str) -> None:
    answer = client.get("/cdn-cgi/handler/scheduled", params={"cron": cron})
    said = runtime.log.read_text(encoding="utf-8")
    assert (answer.status_code, answer.text) == (200, "ok"), said[-SHOWN:]


def test_black_box_suite_gives_the_same_results(runtime: Runtime, tmp_path: Path) -> None:
    report = tmp_path / "e2e.xml"
    assert worker_runtime.test(runtime, [f"--junitxml={report}"]) == 0
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert int(suite.get("tests", 0)) > 0
    assert int(suite.get("skipped", 0)) == 0


@pytest.mark.parametrize("cron", CRONS)
def test_every_line_of_the_schedule_is_run(
    runtime: Runtime, client: httpx.Client, cron: str
) -> None:
    _run(runtime, client, cron)


def test_message_of_the_queue_is_worked_off(runtime: Runtime, client: httpx.Client) -> None:
    said = {"role": "user", "content": "我对花生过敏，请记住。 I moved to Lisbon in May."}
    client.post("/v1/ingest/messages", json={"messages": [said]}).raise_for_status()
    end = time.monotonic() + WAIT_S
    done: list[dict[str, Any]] = []
    # What has only just been said settles for two seconds, so the line may come too early for it.
    while not done and time.monotonic() < end:
        _run(runtime, client, EXTRACTION)
        time.sleep(2)
        runs = client.get("/v1/jobs/runs", params={"job": "extract"}).raise_for_status().json()
        done = [run for run in runs["runs"] if run["status"] != "running"]
    assert {run["status"] for run in done} == {"done"}


def test_panel_is_given_out(client: httpx.Client) -> None:
    page = client.get("/admin")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "content-security-policy" in page.headers
