"""The program for each test, on an empty data folder and in a bare environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Program

from remembrancer.app.settings import FIELDS


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program on a folder that does not exist yet."""
    for name in (*FIELDS, "remembrancer_url", "remembrancer_token"):
        monkeypatch.delenv(name.upper(), raising=False)
    return Program(tmp_path / "数据")
