"""What each key of the environment may do: the predecessor's profiles, made whole.

Keys that a person makes carry their own scopes (`keys.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from remembrancer.core.access.scopes import SCOPES, Scope
from remembrancer.core.ids import Namespace

DEFAULT_NAMESPACE: Final = Namespace("default")
"""The namespace of the environment's keys. Source: the seed's one namespace."""

OWNER_KEY: Final = "CHATBOX_API_KEY"
"""The variable of the owner's key, which no rate limit binds on the owner's machine."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a recognised key gives: whose memory, in whose voice, and which scopes.

    *Shape:* `key_id` is the variable of an environment key or the id of a made one; `actor` is
    `user` or `agent:<name>`.
    """

    key_id: str
    namespace: Namespace
    actor: str
    scopes: frozenset[str]


def _grant(variable: str, actor: str, scopes: tuple[Scope, ...]) -> Grant:
    return Grant(variable, DEFAULT_NAMESPACE, actor, frozenset(scopes))


PROFILES: Final[Mapping[str, Grant]] = MappingProxyType(
    {
        grant.key_id: grant
        for grant in (
            _grant(OWNER_KEY, "user", SCOPES),
            _grant(
                "IM_API_KEY", "user", ("chat:proxy", "memory:read", "memory:write", "cache:read")
            ),
            _grant("DEBUG_API_KEY", "user", SCOPES),
            _grant(
                "MEMORY_MCP_API_KEY",
                "agent:memory-mcp",
                ("memory:read", "memory:write", "export:read"),
            ),
            _grant("GUIDE_DOG_API_KEY", "user", ("chat:proxy",)),
        )
    }
)
"""Variable → what its key grants. Source: DESIGN section 12 and the seed's profiles."""
