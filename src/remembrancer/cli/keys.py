"""`remembrancer keys`: access keys of the namespace, here or on a remote server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final
from urllib.parse import quote

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import finish, open_store
from remembrancer.cli.groups import group
from remembrancer.cli.items import local_time
from remembrancer.cli.output import Column, print_json, print_line, print_table
from remembrancer.cli.place import Place, placed
from remembrancer.core.limits import PAGE_ITEMS_MAX
from remembrancer.core.values import JSON

SCOPES: Final = ("memory:read", "memory:write")
"""What a key may do when nothing is said: what an MCP client needs. Our choice."""

keys = group("Access keys: list, create, revoke.")


def list_keys(place: Place) -> None:
    """List the keys that were made, oldest first; never the keys themselves."""
    found = finish(_remote_list(place) if place.url else _local_list(place))
    if place.is_json:
        print_json({"data": found, "next_cursor": None})
        return
    if not found:
        print_line("No keys were made.")
        return
    columns = (
        Column("id", whole=True),
        Column("name"),
        Column("writes as"),
        Column("scopes"),
        Column("expires", whole=True),
        Column("last used", whole=True),
        Column("revoked", whole=True),
    )
    times = ("expires_at", "last_used_at", "revoked_at")
    print_table(
        columns,
        [
            [
                words(key, "id"),
                words(key, "name"),
                words(key, "actor"),
                words(key, "scopes"),
                *(local_time(key.get(name), None) for name in times),
            ]
            for key in found
        ],
    )
    print_line("Times are in UTC.")


async def _local_list(place: Place) -> list[Answer]:
    from remembrancer.app import access

    found: list[Answer] = []
    async with open_store(place) as local:
        caller = local.owner(place.namespace)
        page = await access.list_keys(local.app, caller)
        while page:
            found += [access.describe_key(row) for row in page]
            if len(page) < PAGE_ITEMS_MAX:
                break
            page = await access.list_keys(local.app, caller, after_id=page[-1].id)
    return found


async def _remote_list(place: Place) -> list[Answer]:
    from remembrancer.cli.remote import RemoteServer

    found: list[Answer] = []
    cursor = ""
    async with RemoteServer(place) as server:
        while True:
            answer = await server.ask("GET", f"/v1/keys?limit=100{cursor}")
            found += rows(answer, "data")
            following = words(answer, "next_cursor")
            if not following:
                return found
            cursor = f"&cursor={quote(following)}"


def create_key(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="What it may do; repeatable. Else to read and write."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="What is written with it is this agent's.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Until when it works: a time, or a day to its end."),
    ] = None,
) -> None:
    """Make a key. It is shown this once."""
    scopes = list(scope) if scope else list(SCOPES)
    if place.url is None:
        created = finish(_local_create(place, name, scopes, agent, expires))
    else:
        wish: list[JSON] = list(scopes)
        body: Answer = {"name": name, "scopes": wish, "agent": agent, "expires_at": expires}
        created = finish(_remote(place, "POST", "/v1/keys", body))
    if place.is_json:
        print_json(created)
        return
    key = part(created, "key")
    print_line(f"made {words(key, 'id')} ({words(key, 'scopes')}), shown this once:")
    print_line(words(created, "token"), style="bold")


async def _local_create(
    place: Place, name: str, scopes: Sequence[str], agent: str | None, expires: str | None
) -> Answer:
    from remembrancer.app import access
    from remembrancer.app.expiry import read_expiry
    from remembrancer.core.access.keys import CreateKey

    async with open_store(place) as local:
        owner, expires_at = local.owner(place.namespace), None
        if expires is not None:
            expires_at = await read_expiry(local.app, owner.namespace, expires)
        command = CreateKey(name=name, scopes=tuple(scopes), agent=agent, expires_at=expires_at)
        made = await access.create_key(local.app, owner, command)
        return {"key": made.key, "token": made.token}


def revoke_key(
    place: Place,
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id, `key_…`.")],
) -> None:
    """End a key at once and for good."""
    if place.url is None:
        answer = finish(_local_revoke(place, key_id))
    else:
        path = f"/v1/keys/{quote(key_id, safe='')}"
        answer = finish(_remote(place, "DELETE", path))
    if place.is_json:
        print_json(answer)
        return
    print_line(f"revoked: {words(part(answer, 'key'), 'id')}")


async def _local_revoke(place: Place, key_id: str) -> Answer:
    from remembrancer.app import access

    async with open_store(place) as local:
        return {"key": await access.revoke_key(local.app, local.owner(place.namespace), key_id)}


async def _remote(place: Place, method: str, path: str, body: Answer | None = None) -> Answer:
    from remembrancer.cli.remote import RemoteServer

    async with RemoteServer(place) as server:
        return await server.ask(method, path, body)


for _name, _command in (("list", list_keys), ("create", create_key), ("revoke", revoke_key)):
    keys.command(_name)(placed(_command))
