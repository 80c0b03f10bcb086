"""Who asks, and may they: keys of the environment, keys that a person made, and making those.

A door hands in the token that it found; nothing here knows of headers. Secrets go through and are
never kept, logged or put into a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.app.commit import Plan, write
from remembrancer.app.state import App
from remembrancer.core.access.keys import CreateKey, decide_create_key, decide_revoke_key
from remembrancer.core.access.profiles import DEFAULT_NAMESPACE, Grant
from remembrancer.core.access.scopes import SCOPES, Scope
from remembrancer.core.access.tokens import (
    TOKEN_RANDOM_BYTES,
    hash_token,
    is_token,
    make_token,
    match_environment_key,
)
from remembrancer.core.dates.iso import format_iso
from remembrancer.core.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from remembrancer.core.ids import Namespace, is_namespace, key_stream
from remembrancer.core.ledger.events import Head
from remembrancer.core.limits import PAGE_ITEMS_MAX, USE_WRITE_INTERVAL_S
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import SqlStore
from remembrancer.store import access as keys
from remembrancer.store import ledger
from remembrancer.store.access import KeyRow
from remembrancer.store.ledger import StreamEdit

_HINT = "send 'Authorization: Bearer <key>' with CHATBOX_API_KEY or a key that was made here"


async def authenticate(
    app: App, token: str | None, *, cause: str, requested_namespace: str | None = None
) -> Caller:
    """Return the caller that a token stands for.

    *Shape:* `cause` is the id of the request or run; `requested_namespace` is what the request
    names, None for the key's own.
    *Raises:* Unauthenticated (no key, unknown, expired, revoked), Forbidden (a foreign namespace
    without `admin`), InvalidInput (no name of a namespace).
    *Promise:* no query for a key of the environment, one for a made key; its last use is written
    after the answer, at most once an hour.
    """
    if not token:
        raise Unauthenticated("no key was sent", hint=_HINT)
    grant = match_environment_key(token, app.settings.environment_keys())
    if grant is None:
        grant = await _made_key_grant(app, token)
    return Caller(
        namespace=_choose_namespace(grant, requested_namespace),
        actor=grant.actor,
        cause=cause,
        scopes=grant.scopes,
        key_id=grant.key_id,
    )


def require(caller: Caller, scope: Scope) -> None:
    """Check that the caller's key has a scope. *Raises:* Forbidden."""
    if scope not in caller.scopes:
        raise Forbidden(
            f"this needs the scope {scope!r}, which your key lacks",
            hint=f"your key has {', '.join(s for s in SCOPES if s in caller.scopes)}",
        )


def local_owner(cause: str, *, namespace: Namespace = DEFAULT_NAMESPACE) -> Caller:
    """Return the owner as the caller on their own machine, where no key is asked for."""
    return Caller(namespace=namespace, actor="user", cause=cause, scopes=frozenset(SCOPES))


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A key as it was made. *Shape:* `token` is None when the making was only repeated."""

    key: dict[str, JSON]
    token: str | None


async def create_key(app: App, caller: Caller, command: CreateKey) -> CreatedKey:
    """Make a key in the caller's namespace; its token is in this answer and nowhere else.

    *Raises:* Forbidden, InvalidInput, LimitExceeded, Conflict.
    """
    require(caller, "admin")
    key_id = app.runtime.new_id("key")
    token = make_token(app.runtime.random_bytes(TOKEN_RANDOM_BYTES))

    async def decide() -> Plan:
        now_ms = app.runtime.now_ms()
        draft = decide_create_key(
            command, token_hash=hash_token(token), held=caller.scopes, now_ms=now_ms
        )
        edit = StreamEdit(key_stream(key_id), Head(), {}, (draft,))
        after = {name: value for name, (_, value) in draft.changes.items()}
        return Plan({"key": _shown(key_id, after, created_at=now_ms)}, now_ms, (edit,))

    answer = await write(app, caller, decide)
    key = answer["key"]
    assert isinstance(key, dict)
    return CreatedKey(key, token if key["id"] == key_id else None)


async def revoke_key(app: App, caller: Caller, key_id: str) -> dict[str, JSON]:
    """End a key at once and for good; ending it again changes nothing.

    *Raises:* Forbidden, NotFound, Conflict.
    """
    require(caller, "admin")
    stream = key_stream(key_id)

    async def decide() -> Plan:
        found, heads = await app.sql.read(
            [
                keys.get_statement(caller.namespace, key_id),
                ledger.heads_statement(caller.namespace, [stream]),
            ]
        )
        if not found.rows:
            raise _no_key(key_id)
        row = keys.key_of(found.rows[0])
        now_ms = app.runtime.now_ms()
        draft = decide_revoke_key(_fields(row), now_ms=now_ms)
        shown = describe_key(row)
        if draft is None:
            return Plan({"key": shown}, now_ms)
        head = ledger.heads(heads.rows)[stream]
        edit = StreamEdit(stream, head, _fields(row), (draft,))
        return Plan({"key": {**shown, "revoked_at": format_iso(now_ms)}}, now_ms, (edit,))

    answer = await write(app, caller, decide)
    key = answer["key"]
    assert isinstance(key, dict)
    return key


async def list_keys(
    app: App, caller: Caller, *, after_id: str = "", limit: int = PAGE_ITEMS_MAX
) -> Sequence[KeyRow]:
    """Return the made keys of the caller's namespace by id, oldest first, after an id.

    *Raises:* Forbidden.
    """
    require(caller, "admin")
    [outcome] = await app.sql.read(
        [keys.list_statement(caller.namespace, after_id=after_id, limit=limit)]
    )
    return [keys.key_of(row) for row in outcome.rows]


def describe_key(row: KeyRow) -> dict[str, JSON]:
    """Return a key as answers show it: no token, no hash, times in ISO 8601."""
    return _shown(row.id, _fields(row), created_at=row.created_at, last_used_at=row.last_used_at)


async def _made_key_grant(app: App, token: str) -> Grant:
    row = await _find(app.sql, token) if is_token(token) else None
    if row is None:
        raise Unauthenticated("the key is not known here", hint=_HINT)
    now_ms = app.runtime.now_ms()
    if row.revoked_at is not None:
        raise Unauthenticated(f"the key {row.id} was revoked", hint="use or make another key")
    if row.expires_at is not None and row.expires_at <= now_ms:
        raise Unauthenticated(f"the key {row.id} has expired", hint="use or make another key")
    if row.last_used_at is None or now_ms - row.last_used_at >= USE_WRITE_INTERVAL_S * 1000:
        app.runtime.run_later(_touch(app.sql, row, now_ms))
    return Grant(row.id, row.namespace, row.actor, frozenset(row.scopes))


async def _find(sql: SqlStore, token: str) -> KeyRow | None:
    [outcome] = await sql.read([keys.find_by_token_statement(hash_token(token))])
    return keys.key_of(outcome.rows[0]) if outcome.rows else None


async def _touch(sql: SqlStore, row: KeyRow, at_ms: int) -> None:
    await sql.write([keys.touch_statement(row.namespace, row.id, at_ms)])


def _choose_namespace(grant: Grant, requested: str | None) -> Namespace:
    if requested is None or requested == grant.namespace:
        return grant.namespace
    if not is_namespace(requested):
        raise InvalidInput(
            f"namespace is {requested[:64]!r}, which cannot name one",
            hint="use 1 to 64 of letters, digits, '.', '_' and '-'",
            field="namespace",
        )
    if "admin" not in grant.scopes:
        raise Forbidden(
            f"your key belongs to {grant.namespace!r} and may not name {requested!r}",
            hint="leave the namespace out, or use a key with the scope admin",
        )
    return Namespace(requested)


def _fields(row: KeyRow) -> dict[str, JSON]:
    return {
        "name": row.name,
        "actor": row.actor,
        "token_hash": row.token_hash,
        "scopes": list(row.scopes),
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }


def _shown(
    key_id: str, fields: dict[str, JSON], *, created_at: int, last_used_at: int | None = None
) -> dict[str, JSON]:
    return {
        "id": key_id,
        "name": fields["name"],
        "actor": fields["actor"],
        "scopes": fields["scopes"],
        "created_at": format_iso(created_at),
        "expires_at": _iso(fields.get("expires_at")),
        "revoked_at": _iso(fields.get("revoked_at")),
        "last_used_at": _iso(last_used_at),
    }


def _iso(ms: JSON) -> str | None:
    return format_iso(ms) if isinstance(ms, int) else None


def _no_key(key_id: str) -> NotFound:
    return NotFound(
        f"there is no key {key_id[:64]!r} here",
        hint="list the keys to see their ids",
        field="key_id",
    )
