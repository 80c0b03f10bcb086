"""One process with real D1 for the tier."""

from __future__ import annotations

from tests.d1.plugin import d1_bridge, d1_store

__all__ = ["d1_bridge", "d1_store"]
