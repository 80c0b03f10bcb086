"""The bindings by their names in `wrangler.toml`, and what becomes of one that is there.

What each is for is its driver's; `edge.wire` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from remembrancer.edge.convert import JsObject, binding

Made = TypeVar("Made")

DATABASE: Final = "DB"
"""The name of the D1 binding in `wrangler.toml`."""

CACHE: Final = "KV"
"""The name of the KV binding in `wrangler.toml`."""

INDEX: Final = "VECTORS"
"""The name of the Vectorize binding; without it search is by words."""

NEXT_INDEX: Final = "VECTORS_NEXT"
"""The name of the binding of another model's index, while it is filled and once it answers."""

MODELS: Final = "AI"
"""The name of the Workers AI binding; without it its models are not there."""

QUEUE: Final = "JOBS"
"""The name of the queue's binding; without it jobs run with their schedule alone."""

BUCKET: Final = "ARTIFACTS"
"""The name of the R2 binding; without it long texts stay in the database."""

PANEL: Final = "ASSETS"
"""The name of the binding of the panel's files."""


def bound(env: JsObject, name: str, make: Callable[[JsObject], Made]) -> Made | None:
    """Return what is made of a binding; None without it."""
    found = binding(env, name)
    return None if found is None else make(found)
