"""REST of access keys: make, list, revoke. Only parsing and form; the use cases decide."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from remembrancer.app import access
from remembrancer.app.expiry import read_expiry
from remembrancer.core.access.keys import AGENT_PATTERN, CreateKey
from remembrancer.core.access.scopes import Scope
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.limits import NAME_CHARS_MAX
from remembrancer.core.values import JSON
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Body, Cursor, Limit, Query, Shape
from remembrancer.http.route_table import Route

_CURSOR: Final = "keys"


class KeysQuery(Query):
    """A page of keys."""

    limit: Limit = 50
    cursor: Cursor | None = None


class NewKey(Body):
    """The wish for a key."""

    name: Annotated[
        str, Field(min_length=1, max_length=NAME_CHARS_MAX, description="What the key is for.")
    ]
    scopes: Annotated[list[Scope], Field(min_length=1, description="What it may do.")]
    agent: Annotated[
        str | None,
        Field(
            pattern=AGENT_PATTERN,
            description="Makes what is written with it this agent's, such as claude-code.",
        ),
    ] = None
    expires_at: Annotated[
        str | None,
        Field(description="Until when it works: a time, or a day to its end, in your time zone."),
    ] = None


class KeyShape(Shape):
    """A made key: never its token, never its hash."""

    id: str
    name: str
    actor: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class KeyAnswer(Shape):
    """One key."""

    key: KeyShape


class NewKeyAnswer(KeyAnswer):
    """A new key; `token` is shown this once and is null when the request was a repetition."""

    token: str | None


class KeysAnswer(Shape):
    """A page of keys, oldest first."""

    data: list[KeyShape]
    next_cursor: str | None


async def _create(call: Call[None, NewKey]) -> Answer:
    body = call.body
    expires_at: int | None = None
    if body.expires_at is not None:
        expires_at = await read_expiry(call.app, call.caller.namespace, body.expires_at)
    command = CreateKey(
        name=body.name, scopes=tuple(body.scopes), agent=body.agent, expires_at=expires_at
    )
    created = await access.create_key(call.app, call.caller, command)
    return Answer({"key": created.key, "token": created.token}, status=201)


async def _list(call: Call[KeysQuery, None]) -> Answer:
    after_id = ""
    if call.query.cursor is not None:
        (after,) = decode_cursor(call.query.cursor, kind=_CURSOR, types=(str,))
        after_id = str(after)
    limit = call.query.limit
    rows = await access.list_keys(call.app, call.caller, after_id=after_id, limit=limit + 1)
    page = [access.describe_key(row) for row in rows[:limit]]
    next_cursor = encode_cursor(_CURSOR, (rows[limit - 1].id,)) if len(rows) > limit else None
    body: dict[str, JSON] = {"data": list(page), "next_cursor": next_cursor}
    return Answer(body)


async def _revoke(call: Call[None, None]) -> Answer:
    key = await access.revoke_key(call.app, call.caller, call.path["key_id"])
    return Answer({"key": key})


_KEY_ID: Final = {"key_id": "The key's id, `key_…`."}

ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/keys",
        name="create_key",
        area="keys",
        summary="Make an access key",
        description="The token is in this answer and nowhere else. A key has no scope that its "
        "maker lacks.",
        scope="admin",
        body=NewKey,
        response=NewKeyAnswer,
        statuses=(201,),
        errors=("invalid_date",),
        handler=_create,
    ),
    Route(
        method="GET",
        path="/v1/keys",
        name="list_keys",
        area="keys",
        summary="List the access keys of the namespace",
        scope="admin",
        query=KeysQuery,
        response=KeysAnswer,
        handler=_list,
    ),
    Route(
        method="DELETE",
        path="/v1/keys/{key_id}",
        name="revoke_key",
        area="keys",
        summary="Revoke an access key at once",
        params=_KEY_ID,
        scope="admin",
        response=KeyAnswer,
        handler=_revoke,
    ),
)
"""The routes of keys."""
