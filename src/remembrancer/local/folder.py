"""The data folder of one machine: where it is, its files, its mode, and the owner's made key.

It opens no database. `local.wire` imports it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from remembrancer.core.access.tokens import TOKEN_RANDOM_BYTES, make_token
from remembrancer.core.errors import CorruptData, StoreUnavailable

DATA_VARIABLE: Final = "REMEMBRANCER_DATA"
"""The variable that names the data folder."""

DATABASE_FILE: Final = "remembrancer.db"
"""The ledger and everything derived from it."""
CACHE_FILE: Final = "cache.db"
"""The key-value cache; it may be deleted at any time."""
VECTORS_PREFIX: Final = "vectors-"
"""What the names of the vector files begin with; like the cache they may be deleted."""
ARTIFACTS_FOLDER: Final = "artifacts"
"""Long texts, each a file that a row of the database names; it may *not* be deleted."""
KEY_FILE: Final = "owner.key"
"""The owner's key, made at the first start when `CHATBOX_API_KEY` is not set."""

NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""What making a link meets on a file system that has none. Source: link(2)."""

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""The mode bits that let somebody else in."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """One data folder; nothing is read or made before a method is called."""

    path: Path

    @property
    def database(self) -> Path:
        """The database file."""
        return self.path / DATABASE_FILE

    @property
    def cache(self) -> Path:
        """The cache file."""
        return self.path / CACHE_FILE

    def vectors(self, name: str) -> Path:
        """Return the vector file of a model."""
        return self.path / f"{VECTORS_PREFIX}{name}.db"

    def vector_files(self) -> list[Path]:
        """Return every vector file that is there, with what lies beside it."""
        return sorted(self.path.glob(f"{VECTORS_PREFIX}*.db*"))

    @property
    def artifacts(self) -> Path:
        """The folder of texts that were moved out of the database."""
        return self.path / ARTIFACTS_FOLDER

    @property
    def key_file(self) -> Path:
        """The file of the owner's key."""
        return self.path / KEY_FILE

    def make(self) -> None:
        """Make the folder, for its owner alone; one that exists is left as it is.

        *Raises:* StoreUnavailable.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the data folder {str(self.path)!r} cannot be made: {error.strerror}",
                hint="name another with --data",
            ) from error

    def read_key(self) -> str | None:
        """Return the owner's made key, or None before there is one.

        *Raises:* StoreUnavailable, CorruptData for an empty file.
        """
        try:
            key = self.key_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(
                f"the key file {str(self.key_file)!r} cannot be read",
                hint="check its permissions, or set CHATBOX_API_KEY",
            ) from error
        if not key:
            raise CorruptData(
                f"the key file {str(self.key_file)!r} is empty",
                hint="delete it to have a new key made, or set CHATBOX_API_KEY",
            )
        return key

    def make_key(self, random_bytes: Callable[[int], bytes]) -> str:
        """Return the owner's key, made and stored when there is none.

        *Promise:* two processes that start at once agree on one key; the file is its owner's alone.
        """
        key = self.read_key()
        if key is not None:
            return key
        fresh = self.path / f"{KEY_FILE}.{random_bytes(8).hex()}"
        line = make_token(random_bytes(TOKEN_RANDOM_BYTES)) + "\n"
        try:
            try:
                _write_new(fresh, line)
                _link(fresh, self.key_file, line)
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the key file {str(self.key_file)!r} cannot be written: {error.strerror}",
                hint="check the folder's permissions, or set CHATBOX_API_KEY",
            ) from error
        made = self.read_key()
        assert made is not None
        return made

    def open_to_others(self) -> list[str]:
        """Name what others than the owner may enter or read: the folder and its own files."""
        if os.name != "posix":
            return []
        files = (self.database, self.cache, self.key_file, *self.vector_files())
        own = (self.path, self.artifacts, *files)
        return [str(path) for path in own if path.exists() and path.stat().st_mode & OTHERS]


def _write_new(path: Path, text: str) -> None:
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def _link(fresh: Path, path: Path, text: str) -> None:
    """Give a file its name: whole or not at all, and never over one that is there already."""
    with contextlib.suppress(FileExistsError):
        try:
            os.link(fresh, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # A stick or a share without links: whoever looks in this very moment finds it empty.
            _write_new(path, text)


def environment() -> Mapping[str, str]:
    """Return the process's environment; nothing else of the command line reads it."""
    return os.environ


def find_folder(data: str | None, environ: Mapping[str, str]) -> DataFolder:
    """Return the folder that the option, the variable or the platform names, in this order."""
    named = data or environ.get(DATA_VARIABLE, "").strip()
    path = Path(named).expanduser() if named else platform_folder(environ, sys.platform)
    return DataFolder(path.absolute())


def platform_folder(environ: Mapping[str, str], platform: str) -> Path:
    """Return where a platform keeps a person's application data."""
    home = Path.home()
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "remembrancer"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "remembrancer"
    # Source: XDG Base Directory Specification; a relative path there must be ignored.
    named = Path(environ.get("XDG_DATA_HOME", ""))
    return (named if named.is_absolute() else home / ".local" / "share") / "remembrancer"
