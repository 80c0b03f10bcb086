"""Lists of tools made ahead: what every client asks for first, without importing any tool.

Making the schemas imports every area and builds every model, which took the edge a second of its
first request. The lines are made from the registry by `scripts/reference` into `tool_list.py`, and
`scripts/check` compares the two. Calls do not use them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from remembrancer.core.access.scopes import Scope
from remembrancer.mcp.jsonrpc import Message

if TYPE_CHECKING:
    from remembrancer.mcp.registry import Registry

_HEAD: Final = '''"""What lists of tools show, made ahead; a line of JSON each.

Written by `scripts/reference` from the code; do not edit it. Read by `listing.py` alone.
"""

from __future__ import annotations

from typing import Final

LINES: Final = r"""
'''
_TAIL: Final = '''"""  # noqa: E501 - generated
'''


class Listed(NamedTuple):
    """One tool of the lists: who sees it, under which toolsets, and what is shown."""

    scope: Scope | None
    toolsets: frozenset[str]
    described: Message


def render_listing(registry: Registry[Any]) -> str:  # Any: of whatever app
    """Return the source of `tool_list.py`."""
    lines = "".join(
        json.dumps(
            [tool.scope, sorted(tool.toolsets), registry.described(tool)],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        + "\n"
        for tool in registry.tools.values()
    )
    assert '"""' not in lines, "a text of a tool would end the literal"
    return f"{_HEAD}{lines}{_TAIL}"


@cache
def read_listing() -> Sequence[Listed]:
    """Return the tools that were listed ahead, in the order of declaration."""
    lines: str = import_module("remembrancer.mcp.tool_list").LINES
    return tuple(_parse(json.loads(line) for line in lines.split("\n") if line))


def _parse(entries: Iterable[Any]) -> Iterable[Listed]:  # Any: JSON that we wrote
    for scope, toolsets, described in entries:
        yield Listed(scope, frozenset(toolsets), described)
