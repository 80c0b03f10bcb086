"""Lists of tools made ahead: the same as those made from the tools, and made without them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from remembrancer.core.access.scopes import SCOPES
from remembrancer.mcp.catalogue import make_server
from remembrancer.mcp.listing import read_listing, render_listing
from remembrancer.mcp.registry import TOOLSETS

ALL = frozenset(SCOPES)


@pytest.mark.parametrize("toolset", [*TOOLSETS, "all"])
@pytest.mark.parametrize(
    "scopes", [ALL, frozenset({"memory:read"}), frozenset()], ids=["all", "read", "none"]
)
def test_list_made_ahead_is_the_one_made_from_the_tools(
    scopes: frozenset[str], toolset: str
) -> None:
    ahead, live = make_server(is_listed_ahead=True), make_server()
    toolsets = frozenset({toolset})
    assert ahead.registry.list_tools(scopes, toolsets) == live.registry.list_tools(scopes, toolsets)


def test_list_made_ahead_imports_no_tools() -> None:
    code = (
        "import sys\n"
        "from remembrancer.mcp.catalogue import make_server\n"
        "registry = make_server(is_listed_ahead=True).registry\n"
        "tools = registry.list_tools(frozenset({'memory:read'}), frozenset({'essential'}))\n"
        "print(len(tools) > 5, 'remembrancer.mcp.tools.items' in sys.modules)\n"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True", "False"]


def test_rendered_list_reads_back_as_what_it_was_made_from() -> None:
    registry = make_server().registry
    scope: dict[str, str] = {}
    exec(render_listing(registry), {}, scope)
    names = [listed.described["name"] for listed in read_listing()]
    assert names == list(registry.tools)
    assert len(scope["LINES"].strip().splitlines()) == len(names)
