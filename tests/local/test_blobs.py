"""The folder of payloads: whole files or none, private, and errors in our words."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from remembrancer.core.errors import StoreUnavailable
from remembrancer.local.blobs import DiskBlobs


async def test_failed_write_leaves_the_payload_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = DiskBlobs(tmp_path / "blobs")
    await blobs.put("k", b"first")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreUnavailable, match="No space left"):
        await blobs.put("k", b"second")
    monkeypatch.undo()
    assert await blobs.get("k") == b"first"
    assert [path.name for path in blobs.path("k").parent.iterdir()] == [blobs.path("k").name]


async def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    blobs = DiskBlobs(tmp_path / "blobs")
    await blobs.put("k", b"v")
    assert stat.S_IMODE(blobs.path("k").stat().st_mode) == 0o600
    assert stat.S_IMODE(blobs.path("k").parent.stat().st_mode) == 0o700


async def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    blobs = DiskBlobs(tmp_path / "blobs")
    blobs.path("k").mkdir(parents=True)
    for call in (blobs.get("k"), blobs.put("k", b"v"), blobs.delete(["k"])):
        with pytest.raises(StoreUnavailable, match="artifacts"):
            await call
