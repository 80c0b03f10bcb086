"""`remembrancer serve`: runs the server here, and tells how to reach it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

import typer

from remembrancer.cli.door import finish
from remembrancer.cli.output import print_fields, print_json, print_line
from remembrancer.cli.place import Place
from remembrancer.cli.snippets import Snippet, snippets
from remembrancer.core.access.profiles import OWNER_KEY
from remembrancer.core.errors import InvalidInput
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
    finish(_serve(place, host, port))


async def _serve(place: Place, host: str, port: int) -> None:
    from remembrancer.local import wire

    environ = wire.environment()
    if place.url is not None and place.url != environ.get("REMEMBRANCER_URL"):
        raise InvalidInput(
            f"serve runs a server here, not at {place.url!r}",
            hint="leave --url out; --host and --port say where it listens",
            field="url",
        )
    async with wire.open_app(place.data, environ, is_server=True) as local:

        def announce(listening: Listening, has_panel: bool) -> None:
            _announce(_Served(local, listening, has_panel), place)

        await wire.serve(local, host, port, announce)


@dataclass(frozen=True, slots=True)
class _Served:
    """A running server, as its announcement tells of it."""

    local: LocalApp
    listening: Listening
    has_panel: bool

    @property
    def base(self) -> str:
        host = HOST if self.listening.host in EVERYWHERE else self.listening.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.listening.port}"

    @property
    def key_source(self) -> str:
        return self.local.app.settings.source_of(OWNER_KEY)

    def snippets(self) -> list[Snippet]:
        stdio = [_program(), "mcp", "--data", str(self.local.folder.path)]
        return snippets(f"{self.base}/mcp", self.local.owner_key, stdio)


def _announce(served: _Served, place: Place) -> None:
    try:
        if place.is_json:
            print_json(_facts(served))
        else:
            _print(served)
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # nobody reads the announcement; the server serves all the same


def _facts(served: _Served) -> dict[str, object]:
    base, key = served.base, served.local.owner_key
    return {
        "event": "ready",
        "version": VERSION,
        "url": base,
        "mcp": f"{base}/mcp",
        "mcp_with_token": f"{base}/mcp?token={quote(key, safe='')}",
        "rest": f"{base}/v1",
        "panel": f"{base}/admin" if served.has_panel else None,
        "key": key,
        "key_source": served.key_source,
        "data": str(served.local.folder.path),
        "snippets": {each.client: each.text for each in served.snippets()},
    }


def _print(served: _Served) -> None:
    base, key = served.base, served.local.owner_key
    panel = f"{base}/admin" if served.has_panel else f"not built; {base}/admin says how"
    print_line(f"{NAME} {VERSION} serves {served.local.folder.path}", style="bold")
    print_fields(
        [
            ("MCP", f"{base}/mcp?token={quote(key, safe='')}"),
            ("REST", f"{base}/v1, described at {base}/docs"),
            ("Panel", panel),
            ("Key", f"{key} (from the {served.key_source})"),
        ]
    )
    if not served.listening.is_loopback:
        print_line(
            "warning: other machines can reach this address; put TLS in front of it"
            + (
                ", and set CHATBOX_API_KEY to a key of your own"
                if served.key_source == "data folder"
                else ""
            ),
            style="yellow",
        )
    for each in served.snippets():
        print_line(f"\n{each.client}: {each.where}", style="bold")
        print_line(each.text)
    print_line("\nReady. Ctrl+C stops it.")


def _program() -> str:
    # Desktop clients start with another PATH, so the program's whole path is named.
    name = Path(sys.argv[0])
    return str(name.resolve()) if name.name.startswith("remembrancer") else "remembrancer"
