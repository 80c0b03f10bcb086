"""Scopes: what a key may do, a closed set.

Not the check itself (`app/access.py`) and not who holds which (`profiles.py`, `keys.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from remembrancer.core.errors import InvalidInput

Scope = Literal[
    "chat:proxy",
    "memory:read",
    "memory:write",
    "cache:read",
    "cache:write",
    "export:read",
    "debug:read",
    "admin",
]
"""One thing that a key may do. Source: DESIGN section 12."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Every scope, in the order in which answers list them."""

SCOPE_MEANINGS: Final[Mapping[Scope, str]] = MappingProxyType(
    {
        "chat:proxy": "send chat requests through the gateway",
        "memory:read": "read items, projects, topics, context, history and settings",
        "memory:write": "write items, projects, topics, relations and settings",
        "cache:read": "read entries of the general cache",
        "cache:write": "write entries of the general cache",
        "export:read": "export the whole namespace",
        "debug:read": "see the details of health and of the indexes",
        "admin": "make and revoke keys, and name any namespace",
    }
)
"""Scope → what it allows, for the reference."""


def parse_scopes(names: Iterable[str]) -> tuple[Scope, ...]:
    """Return the named scopes without repetition, in the order of `SCOPES`.

    *Raises:* InvalidInput for an unknown name or an empty set.
    """
    wanted = list(names)
    for name in wanted:
        if name not in SCOPES:
            raise InvalidInput(
                f"{name[:60]!r} is not a scope",
                hint=f"accepted: {', '.join(SCOPES)}",
                field="scopes",
            )
    if not wanted:
        raise InvalidInput(
            "scopes is empty, so the key could do nothing",
            hint=f"name at least one of {', '.join(SCOPES)}",
            field="scopes",
        )
    return tuple(scope for scope in SCOPES if scope in wanted)
