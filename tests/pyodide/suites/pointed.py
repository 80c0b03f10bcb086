"""Keeps of the black-box suite the tests that talk to the server they are pointed at.

The others start and stop servers of their own; they are the local side's.
"""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out every test that does not use the fixture `server`."""
    kept = [
        item
        for item in items
        if isinstance(item, pytest.Function) and "server" in item.fixturenames
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
