"""Fixtures of the real D1; a folder's conftest imports them by name.

`from tests.d1.plugin import d1_bridge, d1_store`
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.d1.bridge import D1Bridge, D1BridgeStore, missing_part


@pytest.fixture(scope="session")
def d1_bridge() -> Iterator[D1Bridge]:
    """One Node process for the whole run; it starts when the first database is asked for."""
    missing = missing_part()
    if missing is not None:
        pytest.skip(missing)
    bridge = D1Bridge()
    yield bridge
    bridge.stop()


@pytest.fixture
def d1_store(d1_bridge: D1Bridge) -> D1BridgeStore:
    """A fresh, migrated D1 database."""
    return d1_bridge.fresh()
