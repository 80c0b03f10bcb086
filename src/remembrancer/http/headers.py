"""A request's headers, found at once: every step of a request asks for some, and most are absent.

Starlette's own looks through the list each time. Nothing here decides on a header.
"""

from __future__ import annotations

from typing import TypeVar, overload

from starlette.datastructures import Headers
from starlette.types import Scope

T = TypeVar("T")


class RequestHeaders(Headers):
    """Starlette's headers of a request with an index over the first of each name."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._first = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(self.raw)
        }

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower()]

    def __contains__(self, key: object) -> bool:
        return str(key).lower() in self._first

    @overload
    def get(self, key: str) -> str | None: ...

    @overload
    def get(self, key: str, default: str | T) -> str | T: ...

    def get(self, key: str, default: str | T | None = None) -> str | T | None:
        """Return the first header of that name."""
        return self._first.get(key.lower(), default)
