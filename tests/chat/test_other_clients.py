"""Clients in JavaScript, and two programs that examine what calls itself compatible."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.chat.conftest import Gateway
from tests.d1.bridge import NODE
from tests.e2e.serving import environment

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
WAIT_S = 280


def run_node(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if not (NODE.exists() and script.exists()):
        pytest.skip("needs Node's tools; scripts/install --dev installs them")
    return subprocess.run(
        [NODE, script, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=WAIT_S,
        check=False,
        cwd=ROOT,
        env=environment(),
    )


def session(script: str, gateway: Gateway) -> Any:
    done = run_node(HERE / script, gateway.openai_url, gateway.server.token)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_openais_javascript_client_reads_everything(gateway: Gateway) -> None:
    told = session("openai_session.mjs", gateway)
    assert told["whole"] == "you said: 你好"
    assert told["text"] == "you said: stream 流"
    assert told["cached"] == 64
    assert told["call"]["name"] == "weather"
    assert json.loads(told["call"]["arguments"]) == {"city": "ok"}
    assert told["models"][0] == "companion"
    assert told["refused"] == {"name": "RateLimitError", "status": 429}
    assert told["broken"] is not None


def test_ai_sdk_reads_everything(gateway: Gateway) -> None:
    told = session("ai_sdk_session.mjs", gateway)
    assert told["whole"] == "you said: 你好"
    assert told["text"] == "you said: stream 流"
    assert told["results"] == ["rain in ok"]
    assert told["after"] == "you said: weather 天气?"


def test_compatcanary_finds_nothing(gateway: Gateway) -> None:
    done = run_node(
        ROOT / "node_modules/compatcanary/src/cli.js",
        *("scan", "--base-url", gateway.openai_url, "--model", "companion", "--profile", "chat"),
        *("--header", f"Authorization: Bearer {gateway.server.token}", "--format", "json"),
        *("--timeout", "120"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert {probe["status"] for probe in report["results"]} == {"pass"}, report


@pytest.mark.parametrize("model", ["companion", "anthropic/claude-sonnet-5"])
def test_provider_check_finds_nothing(gateway: Gateway, tmp_path: Path, model: str) -> None:
    report = tmp_path / "report.json"
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("trustedrouter-provider-check"), "--base-url"),
            *(gateway.openai_url, "--model", model, "--tier", "5", "--json", report),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=WAIT_S,
        check=False,
        env=environment(TR_PROVIDER_API_KEY=gateway.server.token),
    )
    assert done.returncode == 0, done.stdout + done.stderr + report.read_text()
