"""How many examples a costly property tries: a part in a near run, all of them in a full one."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import settings

IS_NEAR: Final = "TESTS_LEFT" in os.environ
"""Whether this is a near run: `scripts/test` without a name, which is to end within minutes."""
PART: Final = 3
"""A near run tries one example in so many; those are the first ones of the full run."""


def part_of(count: int) -> int:
    """How many of `count` examples this run tries."""
    return count // PART if IS_NEAR else count


def examples(count: int) -> settings:
    """Settings of a property whose full run tries `count` examples."""
    return settings(max_examples=part_of(count))
