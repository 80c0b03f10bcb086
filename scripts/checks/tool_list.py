"""The list of tools that is made ahead: written from the code, and never stale."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from checks.tree import Problem, Tree

FILE = "src/remembrancer/mcp/tool_list.py"
"""Where the list lies."""


def render() -> str:
    """The whole file."""
    registry = importlib.import_module("remembrancer.mcp.catalogue").make_registry()
    text: str = importlib.import_module("remembrancer.mcp.listing").render_listing(registry)
    return text


def check(tree: Tree) -> Iterator[Problem]:
    """A stale file."""
    if FILE not in tree.files:
        return
    try:
        is_stale = tree.text(FILE) != render()
    except ImportError as error:
        yield Problem(FILE, 1, f"cannot be made: {error}")
        return
    if is_stale:
        yield Problem(FILE, 1, "is stale: run scripts/reference")
