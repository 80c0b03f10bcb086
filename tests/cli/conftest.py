"""The program for each test, on an empty data folder and in a bare environment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.cli.running import Program

from remembrancer.app.settings import FIELDS
from remembrancer.local import embedder


@pytest.fixture(scope="session", autouse=True)
def one_encoder() -> Iterator[None]:
    """One encoder for all commands of this process: each would load its weights for a second."""
    load = cache(embedder._load)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedder, "_load", load)
        yield


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program on a folder that does not exist yet."""
    for name in (*FIELDS, "remembrancer_url", "remembrancer_token"):
        monkeypatch.delenv(name.upper(), raising=False)
    return Program(tmp_path / "数据")
