"""The time zone database of the bundle, found by its folder.

Without this, the first zone of an isolate is read through `importlib.resources`, whose import alone
costs more than the request. Only `wire.py` imports this.
"""

from __future__ import annotations

from importlib.util import find_spec
from zoneinfo import reset_tzpath


def use_packaged_zones() -> None:
    """Read zones from the files of the package `tzdata`, where it is there."""
    package = find_spec("tzdata")
    if package is not None and package.submodule_search_locations:
        reset_tzpath([f"{folder}/zoneinfo" for folder in package.submodule_search_locations])
