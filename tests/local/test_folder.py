"""The data folder: where it is, how private it is, and the key that is made in it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from remembrancer.core.access.tokens import is_token
from remembrancer.core.errors import CorruptData, StoreUnavailable
from remembrancer.local.folder import DataFolder, find_folder, platform_folder


@pytest.mark.parametrize(
    ("platform", "environ", "below_home"),
    [
        pytest.param("linux", {}, ".local/share/remembrancer", id="linux"),
        pytest.param("linux", {"XDG_DATA_HOME": "x"}, ".local/share/remembrancer", id="relative"),
        pytest.param("darwin", {}, "Library/Application Support/remembrancer", id="macos"),
        pytest.param("win32", {}, "AppData/Local/remembrancer", id="windows"),
    ],
)
def test_folder_of_a_platform_lies_below_home(
    platform: str, environ: Mapping[str, str], below_home: str
) -> None:
    assert platform_folder(environ, platform) == Path.home() / below_home


def test_folder_of_a_platform_follows_its_own_variable() -> None:
    assert platform_folder({"XDG_DATA_HOME": "/数据"}, "linux") == Path("/数据/remembrancer")
    assert platform_folder({"LOCALAPPDATA": "/a"}, "win32") == Path("/a/remembrancer")


def test_folder_is_the_option_then_the_variable_then_the_platform_s() -> None:
    environ = {"REMEMBRANCER_DATA": "/variable", "XDG_DATA_HOME": "/xdg"}
    assert find_folder("/option", environ).path == Path("/option")
    assert find_folder(None, environ).path == Path("/variable")
    assert find_folder("~/记忆", {}).path == Path.home() / "记忆"
    assert find_folder("here", {}).path == Path.cwd() / "here"


def test_folder_is_made_for_its_owner_and_an_old_one_is_left_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "深" / "data")
    folder.make()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.path.chmod(0o755)
    folder.make()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o755
    assert folder.open_to_others() == [str(folder.path)]


def test_key_is_made_on_a_file_system_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    folder = DataFolder(tmp_path)
    key = folder.make_key(os.urandom)
    assert is_token(key)
    assert folder.make_key(os.urandom) == key
    assert stat.S_IMODE(folder.key_file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["owner.key"]


def test_key_that_cannot_be_given_its_name_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreUnavailable, match="No space left"):
        DataFolder(tmp_path).make_key(os.urandom)
    assert [*tmp_path.iterdir()] == []


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="file/data"):
        DataFolder(tmp_path / "file" / "data").make()


def test_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert folder.read_key() is None
    key = folder.make_key(os.urandom)
    assert is_token(key)
    assert folder.make_key(os.urandom) == folder.read_key() == key
    assert stat.S_IMODE(folder.key_file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["owner.key"]


def test_keys_made_at_once_are_one(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: folder.make_key(os.urandom), range(32)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["owner.key"]


def test_key_file_that_is_empty_or_no_text_is_told_of(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.key_file.write_text("\n")
    with pytest.raises(CorruptData, match="is empty"):
        folder.make_key(os.urandom)
    folder.key_file.write_bytes(b"\xff\xfe")
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        folder.read_key()


def test_key_in_a_folder_that_is_gone_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        DataFolder(tmp_path / "gone").make_key(os.urandom)
