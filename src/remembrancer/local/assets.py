"""The panel's files on one machine: in the installed package, else built beside the sources."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from remembrancer.core.errors import StoreUnavailable
from remembrancer.ports.assets import Asset

MEDIA_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
"""File suffix → media type. Not the system's table, which differs between machines."""


class LocalAssets:
    """The files of one folder, read anew each time: a build may replace them at any moment."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @property
    def is_built(self) -> bool:
        """Whether there is a page to show."""
        return self._read("index.html") is not None

    async def read(self, path: str) -> Asset | None:
        """Return a file, or None. *Raises:* StoreUnavailable when it cannot be read."""
        # A few kilobytes that the system keeps in memory: a thread would cost more.
        return self._read(path)

    def _read(self, path: str) -> Asset | None:
        parts = path.split("/")
        if not all(part and not part.startswith(".") for part in parts):
            return None
        if set("\\:\0") & set(path):
            return None
        file = (self._folder or _shipped_folder()).joinpath(*parts)
        try:
            if not file.is_file():
                return None
            body = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailable(f"the panel's file {path!r} cannot be read") from error
        suffix = parts[-1].rpartition(".")[2].lower()
        return Asset(MEDIA_TYPES.get(suffix, "application/octet-stream"), body)


def _shipped_folder() -> Traversable:
    """Find the build: inside the installed package, else beside the sources."""
    shipped = resources.files("remembrancer") / "panel"
    if shipped.is_dir():
        return shipped
    return Path(__file__).resolve().parents[3] / "admin" / "dist"
