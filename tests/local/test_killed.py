"""What a server that was killed leaves in its log: nothing that was deleted stays there."""

from __future__ import annotations

import shutil
from pathlib import Path

from remembrancer.local.folder import DataFolder
from remembrancer.local.opening import open_stores
from remembrancer.local.runtime import LocalRuntime
from remembrancer.ports.sql import Statement

SECRET = "绝密-4711"
ADD = Statement(
    "INSERT INTO settings (namespace, name, value) VALUES ('default', 's', ?)", (SECRET,)
)
REMOVE = Statement("DELETE FROM settings WHERE name = 's'")


def _holding(folder: Path) -> list[str]:
    """Return the files that hold the secret's bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


async def test_server_starts_without_the_log_of_one_that_was_killed_before_it_scrubbed(
    tmp_path: Path,
) -> None:
    living, killed = tmp_path / "living", tmp_path / "killed"
    folder = DataFolder(living)
    folder.make()
    async with open_stores(folder, LocalRuntime(), is_server=True) as stores:
        await stores.sql.write([ADD])
        await stores.sql.write([REMOVE])
        shutil.copytree(living, killed)  # as a kill leaves it: nothing was closed
    assert _holding(killed) == ["remembrancer.db-wal"]
    async with open_stores(DataFolder(killed), LocalRuntime(), is_server=True) as stores:
        assert _holding(killed) == []
        [outcome] = await stores.sql.read([Statement("SELECT count(*) AS n FROM settings")])
    assert outcome.rows == [{"n": 0}]
