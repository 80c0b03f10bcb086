"""Small values that every ring shares: JSON, the caller, time in milliseconds.

Nothing here reads a clock or parses untrusted input. Every ring may import it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core.ids import Namespace

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""A JSON value in plain Python."""

MINUTE_MS: Final = 60_000
"""Milliseconds of a minute."""
HOUR_MS: Final = 3_600_000
"""Milliseconds of an hour."""
DAY_MS: Final = 86_400_000
"""Milliseconds of a day of 24 hours."""


def canonical_json(value: object) -> str:
    """Return the one text of a JSON value: sorted keys, no spaces, no escapes beyond JSON's own.

    *Promise:* equal values give equal text; used for hashes and for stored bodies.
    """
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The caller's idempotency key and the hash of the request it was first used for."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: authenticated and authorised once, at the door.

    *Shape:* `actor` is `user`, `agent:<name>`, `job:<name>` or `system`; `cause` is the request
    or run id that all events of this request share; `scopes` are the key's.
    """

    namespace: Namespace
    actor: str
    cause: str
    scopes: frozenset[str] = field(default_factory=frozenset)
    idempotency: Idempotency | None = None
    key_id: str | None = None

    @property
    def authored_by(self) -> str:
        """`human`, `agent` or `job`: what an item made by this caller says of its author."""
        if self.actor.startswith("agent:"):
            return "agent"
        return "job" if self.actor.startswith("job:") or self.actor == "system" else "human"
