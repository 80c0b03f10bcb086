"""`remembrancer mcp`: speaks MCP over the standard streams, for clients that start programs."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.door import finish
from remembrancer.cli.place import Place


def mcp(
    place: Place,
    tools: Annotated[
        str | None,
        typer.Option(metavar="SETS", help="Which tools are listed, comma-joined: essential, all…"),
    ] = None,
) -> None:
    """Speak MCP over standard input and output, here or for a remote server."""
    finish(_relay(place, tools) if place.url is not None else _serve(place, tools))


async def _serve(place: Place, tools: str | None) -> None:
    from remembrancer.local import wire

    async with wire.open_app(place.data, wire.environment(), is_server=True) as local:
        await wire.serve_stdio(local, place.namespace, tools)


async def _relay(place: Place, tools: str | None) -> None:
    from remembrancer.cli.relay import Relay
    from remembrancer.cli.remote import RemoteServer
    from remembrancer.local import wire

    async with RemoteServer(place, tools=tools) as server:
        lines, write = wire.standard_lines()
        await Relay(server, write).run(lines)
