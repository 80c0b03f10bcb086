"""Keeps of the black-box suite the tests that talk to the server they are pointed at.

The others start and stop servers of their own; `tests/e2e/manifest.py` says of each why.
"""

from __future__ import annotations

import pytest
from tests.e2e.manifest import LOCAL_ONLY


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out every test that does not use the fixture `server`. *Raises:* UsageError, when one
    has no reason, or one that has a reason is kept."""
    kept = [
        item
        for item in items
        if isinstance(item, pytest.Function) and "server" in item.fixturenames
    ]
    left = [item for item in items if item not in kept]
    for item, is_left in [*((item, True) for item in left), *((item, False) for item in kept)]:
        if (item.path.stem in LOCAL_ONLY) != is_left:
            raise pytest.UsageError(f"{item.nodeid}: tests/e2e/manifest.py says otherwise")
    config.hook.pytest_deselected(items=left)
    items[:] = kept
