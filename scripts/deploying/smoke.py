"""Asks a deployed Worker for its health, patiently: a new address takes a while to be known."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping

from deploying.words import Stop

PATIENCE_VARIABLE = "REMEMBRANCER_SMOKE_SECONDS"
"""Overrides how long to wait for an answer."""
PATIENCE_S = 120
"""Seconds until a Worker that does not answer is reported."""
PAUSE_S = 4
"""Seconds between two questions."""
TIMEOUT_S = 20
"""Seconds for one answer; the first one of a fresh isolate loads Python."""


def ask_health(url: str, environment: Mapping[str, str]) -> str:
    """The status that `/health` answers. *Raises:* Stop, when there is none in time."""
    text = environment.get(PATIENCE_VARIABLE, "")
    patience = int(text) if text.isdigit() else PATIENCE_S
    end = time.monotonic() + patience
    while True:
        try:
            return _ask(url)
        except (OSError, ValueError, KeyError) as error:
            if time.monotonic() + PAUSE_S > end:
                raise Stop("unhealthy", url=url, seconds=patience, reason=_say(error)) from error
        time.sleep(PAUSE_S)


def _ask(url: str) -> str:
    request = urllib.request.Request(url, headers={"User-Agent": "remembrancer-deploy"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
        return str(json.load(answer)["status"])


def _say(error: Exception) -> str:
    """What went wrong, with the Worker's own words when it has some."""
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.read(500).decode('utf-8', 'replace')}".strip()
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return "no health in the answer"
