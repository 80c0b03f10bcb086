"""The Worker as its users meet it, on the platform's own database and cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from tests.conftest import ROOT
from tests.pyodide.conftest import TOKEN, Edge
from tests.pyodide.serving import ANSWER_S

E2E = ROOT / "tests" / "e2e"
"""The black-box suite, which `BASE_URL` and `TOKEN` point here."""


@pytest.fixture
def client(edge: Edge) -> Iterator[httpx.Client]:
    """A client with the owner's key."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(
        base_url=edge.url, headers=headers, timeout=ANSWER_S, trust_env=False
    ) as made:
        yield made


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_black_box_suite_gives_the_same_results(edge: Edge, tmp_path: Path) -> None:
    report = tmp_path / "e2e.xml"
    environment = {**os.environ, "BASE_URL": edge.url, "TOKEN": TOKEN}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e"]
    done = subprocess.run(
        [*command, "-p", "tests.pyodide.suites.pointed", f"--junitxml={report}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8_000:]
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert int(suite.get("tests", 0)) > 0
    assert int(suite.get("skipped", 0)) == 0


def test_write_returns_a_bookmark_and_a_read_takes_it(client: httpx.Client) -> None:
    made = client.post("/v1/items", json={"title": "吃荔枝", "type": "tactical_task"})
    bookmark = made.headers["x-remembrancer-bookmark"]
    listed = client.get("/v1/items", headers={"x-remembrancer-bookmark": bookmark})
    assert "吃荔枝" in [item["title"] for item in listed.json()["items"]]
    assert "x-remembrancer-bookmark" not in listed.headers


def test_bookmark_that_is_none_is_no_server_fault(client: httpx.Client) -> None:
    answer = client.get("/v1/items", headers={"x-remembrancer-bookmark": "not a bookmark"})
    assert answer.status_code < 500, answer.text


def test_body_over_the_cap_is_refused(client: httpx.Client) -> None:
    answer = client.post("/v1/items", json={"title": "x", "content": "x" * 5_000_000})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")


def test_loopback_of_the_platform_is_not_the_owners_machine(client: httpx.Client) -> None:
    foreign = client.get("/v1/items", headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403


def test_head_says_how_long_the_answer_would_be(client: httpx.Client) -> None:
    whole = client.get("/v1/tags")
    head = client.head("/v1/tags")
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_writers_of_one_namespace_at_once_lose_nothing(client: httpx.Client) -> None:
    ids = [
        client.post("/v1/items", json={"title": f"节点 {n}", "type": "tactical_task"})
        .raise_for_status()
        .json()["item"]["id"]
        for n in range(9)
    ]

    def relate(number: int) -> int:
        body = {"source_id": ids[0], "target_id": ids[number], "type": "supports"}
        return client.post("/v1/relations", json=body).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(relate, range(1, 9)))
    assert set(statuses) <= {200, 201}, statuses
    related = client.get(f"/v1/items/{ids[0]}/relations").raise_for_status().json()["relations"]
    assert len(related) == 8
