"""The tests that openai-python ships for chat completions and models, run against the gateway."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.chat.conftest import Gateway
from tests.e2e.serving import environment

from client_tests import source_of

HERE = Path(__file__).parent
WAIT_S = 280
TESTS = ("tests/api_resources/chat/test_completions.py", "tests/api_resources/test_models.py")
CHOSEN = "create or (Models and list)"
"""What the gateway serves; the others ask for completions and models that a vendor keeps."""
COUNT_MIN = 55
"""Tests that are chosen in openai 3.57: strict and loose, sync, async and over aiohttp."""


def test_openais_own_chat_tests_pass(gateway: Gateway) -> None:
    source = source_of("openai")
    assert source.exists(), "openai's tests are not here; scripts/install --dev fetches them"
    own = {name: value for name, value in environment().items() if not name.startswith("OPENAI_")}
    paths = [HERE, source, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--tb=short", "--override-ini=addopts="),
            *("-p", "gateway_key", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"),
            *(*TESTS, "-k", CHOSEN),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=WAIT_S,
        check=False,
        cwd=source,
        env={
            **own,
            "GATEWAY_KEY": gateway.server.token,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "TEST_API_BASE_URL": gateway.openai_url,
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) passed", done.stdout)
    assert told is not None, done.stdout
    assert int(told[1]) >= COUNT_MIN, done.stdout
    assert re.search(r"skipped|xfailed", done.stdout) is None, done.stdout
