"""The week of one person's agent, played through a real client: what is loaded on Sunday night."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.e2e.week import Played, days, play

DONE_MIN = 50
"""Tasks that the script finishes, at least: a week that nobody worked in would show nothing."""


@pytest.fixture(scope="module")
async def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The week, played once for all tests."""
    return await play(tmp_path_factory.mktemp("week"))


def _bundle(name: str, played: Played) -> list[Any]:
    found: list[Any] = played.bundle[name]
    return found


def _titles(name: str, played: Played) -> list[str]:
    return [entry["title"] for entry in _bundle(name, played)]
