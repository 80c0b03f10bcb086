"""Keys that a person makes: what may be made, and what a revocation is.

Fields of the stream `key/<id>`: name, actor, token_hash, scopes, expires_at, revoked_at (ms). The
token itself is shown once by the use case and kept nowhere. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from remembrancer.core.access.scopes import parse_scopes
from remembrancer.core.dates.iso import format_iso
from remembrancer.core.dates.zones import MS_MAX
from remembrancer.core.errors import Forbidden, InvalidInput, LimitExceeded
from remembrancer.core.ledger.changes import Fields, changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.limits import NAME_CHARS_MAX

AGENT_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""Form of an agent's name. Source: our choice; it goes behind `agent:` in the ledger."""

_AGENT: Final = re.compile(AGENT_PATTERN.strip("^$"))


@dataclass(frozen=True, slots=True)
class CreateKey:
    """The wish for a key.

    *Shape:* `agent` makes everything written with the key an agent's; None means the user's own.
    *Units:* `expires_at` milliseconds since the epoch, None for never.
    """

    name: str
    scopes: tuple[str, ...]
    agent: str | None = None
    expires_at: int | None = None


def decide_create_key(
    command: CreateKey, *, token_hash: str, held: Iterable[str], now_ms: int
) -> Draft:
    """Draft the making of a key.

    *Shape:* `held` are the maker's own scopes; a key may have no others.
    *Raises:* InvalidInput, LimitExceeded (the name), Forbidden (a scope that the maker lacks).
    """
    scopes = parse_scopes(command.scopes)
    lacking = [scope for scope in scopes if scope not in set(held)]
    if lacking:
        raise Forbidden(
            f"your key lacks {', '.join(lacking)}, so it cannot give it away",
            hint="leave it out, or use a key that has it",
            field="scopes",
        )
    if command.expires_at is not None and not now_ms < command.expires_at <= MS_MAX:
        raise InvalidInput(
            f"expires_at is {format_iso(min(command.expires_at, MS_MAX))}, which is not in the "
            "future",
            hint="name a later time, or leave it out for a key that does not expire",
            field="expires_at",
        )
    fields: Fields = {
        "name": _parse_name(command.name),
        "actor": _parse_actor(command.agent),
        "token_hash": token_hash,
        "scopes": list(scopes),
        "expires_at": command.expires_at,
    }
    return Draft("KeyCreated", changes_between({}, fields))


def decide_revoke_key(fields: Fields, *, now_ms: int) -> Draft | None:
    """Draft the end of a key; None when it is revoked already. *Promise:* idempotent."""
    if fields.get("revoked_at") is not None:
        return None
    return Draft("KeyRevoked", changes_between(fields, {"revoked_at": now_ms}))


def _parse_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise InvalidInput("name is empty", hint="say what the key is for", field="name")
    if len(name) > NAME_CHARS_MAX:
        raise LimitExceeded(
            f"name has {len(name)} characters, at most {NAME_CHARS_MAX} are taken",
            hint="shorten it",
            field="name",
        )
    return name


def _parse_actor(agent: str | None) -> str:
    if agent is None:
        return "user"
    if _AGENT.fullmatch(agent) is None:
        raise InvalidInput(
            f"agent is {agent[:60]!r}",
            hint="use 1 to 64 of letters, digits, '.', '_' and '-', such as claude-code",
            field="agent",
        )
    return f"agent:{agent}"
