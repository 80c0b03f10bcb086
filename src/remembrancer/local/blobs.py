"""The blob port over a folder of files: each payload a file that appears when it is whole.

A file's name is the hash of its key, so that no key can lead out of the folder and none is too
long or differs from another only in case. Checking the bytes is its reader's. `local.opening`
and `local.backup` import it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from remembrancer.core.blobcheck import check_key, check_keys, check_put
from remembrancer.core.errors import StoreUnavailable
from remembrancer.local.lanes import Lane


class DiskBlobs:
    """A folder of payloads, made with the first one. *Shape:* without threads it runs inline."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        self._folder = folder
        self._lane = Lane(min(threads, 1), "blobs")

    async def put(self, key: str, data: bytes) -> None:
        """Keep a payload; see the port. *Promise:* on the disk once it has returned."""
        check_put(key, data)
        await self._lane.run(lambda: _write(self.path(key), data))

    async def get(self, key: str) -> bytes | None:
        """Return a payload, None when there is none; see the port."""
        check_key(key)
        return await self._lane.run(lambda: read_blob(self.path(key)))

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove payloads; see the port."""
        check_keys(keys)
        await self._lane.run(lambda: _remove([self.path(key) for key in keys]))

    def path(self, key: str) -> Path:
        """Return the file of a key, there or not."""
        return blob_path(self._folder, key)

    def close(self) -> None:
        """Wait for what is running."""
        self._lane.close()


def blob_path(folder: Path, key: str) -> Path:
    """Return the file of a key in a folder of payloads."""
    name = hashlib.sha256(key.encode()).hexdigest()
    return folder / name[:2] / name[2:]


def read_blob(path: Path) -> bytes | None:
    """Return a file's bytes, None without it. *Raises:* StoreUnavailable."""
    with _translated("read"):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _write(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _translated("written"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        _settle(path.parent)


def _remove(paths: Sequence[Path]) -> None:
    with _translated("removed"):
        for path in paths:
            path.unlink(missing_ok=True)
        for folder in {path.parent for path in paths if path.parent.is_dir()}:
            _settle(folder)


def _settle(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system has a way to."""
    with contextlib.suppress(PermissionError):  # Windows opens no folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _translated(how: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"a file of the artifacts' folder cannot be {how}: {error.strerror}",
            hint="check the folder's permissions and the free space",
        ) from error
