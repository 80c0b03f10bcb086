"""`remembrancer serve`: runs the server here, and tells how to reach it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from remembrancer.cli.output import console, print_json
from remembrancer.cli.place import Place
from remembrancer.cli.snippets import Snippet, snippets
from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.product import NAME, VERSION

if TYPE_CHECKING:
    from remembrancer.local.wire import Listening, LocalApp

HOST: Final = "127.0.0.1"
"""The default address: this machine alone."""
PORT: Final = 8787
"""The default port. Source: that of the platform's own local server."""
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
"""Addresses that mean every address of the machine."""


def serve(
    place: Place,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = HOST,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port; 0 takes a free one.")
    ] = PORT,
) -> None:
    """Serve MCP, REST and the panel from this machine's store."""
    asyncio.run(_serve(place, host, port))


async def _serve(place: Place, host: str, port: int) -> None:
    from remembrancer.local import wire

    async with wire.open_app(place.data, wire.environment(), is_server=True) as local:
        await wire.serve(
            local, host, port, lambda listening: _announce(local, listening, as_json=place.is_json)
        )


def _announce(local: LocalApp, listening: Listening, *, as_json: bool) -> None:
    key = local.owner_key
    if key is None:
        raise StoreUnavailable("the server has no key", hint="set CHATBOX_API_KEY")
    host = HOST if listening.host in EVERYWHERE else listening.host
    address = f"[{host}]" if ":" in host else host
    base = f"http://{address}:{listening.port}"
    stdio = [_program(), "mcp", "--data", str(local.folder.path)]
    offered = snippets(f"{base}/mcp", key, stdio)
    try:
        if as_json:
            print_json(_facts(local, base, key, offered))
        else:
            _print(local, listening, base, key, offered)
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # nobody reads the announcement; the server serves all the same


def _facts(local: LocalApp, base: str, key: str, offered: list[Snippet]) -> dict[str, object]:
    return {
        "event": "ready",
        "version": VERSION,
        "url": base,
        "mcp": f"{base}/mcp",
        "mcp_with_token": f"{base}/mcp?token={key}",
        "rest": f"{base}/v1",
        "panel": f"{base}/admin" if local.has_panel else None,
        "key": key,
        "key_source": local.key_source,
        "data": str(local.folder.path),
        "snippets": {each.client: each.text for each in offered},
    }


def _print(
    local: LocalApp, listening: Listening, base: str, key: str, offered: list[Snippet]
) -> None:
    out = console()
    panel = f"{base}/admin" if local.has_panel else "comes with its own build, which is not here"
    out.print(f"{NAME} {VERSION} serves {local.folder.path}", style="bold")
    for label, text in (
        ("MCP", f"{base}/mcp?token={key}"),
        ("REST", f"{base}/v1  (described at {base}/docs)"),
        ("Panel", panel),
        ("Key", f"{key}  ({local.key_source})"),
    ):
        out.print(f"  {label:<6} {text}", soft_wrap=True)
    if not listening.is_loopback and local.key_source == "data folder":
        out.print(
            "warning: other machines can reach this address. Put TLS in front of it, and set "
            "CHATBOX_API_KEY to a key of your own.",
            style="yellow",
            soft_wrap=True,
        )
    for each in offered:
        out.print(f"\n{each.client} ({each.where})", style="bold")
        out.print(each.text, soft_wrap=True)
    out.print("\nReady. Ctrl+C stops it.")


def _program() -> str:
    # Desktop clients start with another PATH, so the program's whole path is named.
    name = Path(sys.argv[0])
    return str(name.resolve()) if name.name.startswith("remembrancer") else "remembrancer"
