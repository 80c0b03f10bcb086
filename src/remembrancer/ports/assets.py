"""The assets port: the built files of the panel, wherever a deployment keeps them.

They hold nothing private: whoever can reach the server may read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Asset:
    """One built file of the panel. *Shape:* `media_type` as in the header, charset included."""

    media_type: str
    body: bytes


class Assets(Protocol):
    """The files of one build."""

    async def read(self, path: str) -> Asset | None:
        """Return a file, or None when there is none.

        *Shape:* `path` lies within `admin/dist`, its parts joined by slashes; one that would lead
        out of it names no file. *Raises:* StoreUnavailable.
        """
        ...
