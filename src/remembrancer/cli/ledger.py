"""`remembrancer rebuild` and `verify`: the operator's work on the ledger."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.answers import Answer, part, words
from remembrancer.cli.door import finish, open_store
from remembrancer.cli.output import print_fields, print_json, print_line, progress
from remembrancer.cli.place import Place
from remembrancer.core.errors import CorruptData


def rebuild(
    place: Place,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what it would cost.")
    ] = False,
) -> None:
    """Make all tables anew from the ledger; an interrupted run goes on where it was."""
    if place.url is None:
        report = finish(_rebuild(place, dry_run))
    else:
        report = finish(_remote_rebuild(place, dry_run))
    if place.is_json:
        print_json(report)
        return
    print_line("would be rebuilt:" if dry_run else "rebuilt:")
    print_fields([(name.replace("_", " "), words(report, name)) for name in report])


async def _rebuild(place: Place, dry_run: bool) -> Answer:
    from remembrancer.app.rebuild import rebuild as run

    with progress("Rebuilding", quiet=place.is_json) as shown:
        async with open_store(place) as local:
            return await run(local.app, progress=shown, dry_run=dry_run)


def verify(
    place: Place,
    everyone: Annotated[
        bool, typer.Option("--all", help="Every namespace, not only this one.")
    ] = False,
) -> None:
    """Walk the ledger's chains and name the first break; exit code 7 for one."""
    if place.url is None:
        report = finish(_verify(place, everyone))
    else:
        report = finish(_remote_verify(place, everyone))
    if place.is_json:
        print_json(report)
    else:
        print_fields(
            [
                ("events", words(report, "events")),
                ("streams", words(report, "streams")),
                ("forgotten", words(report, "forgotten")),
            ]
        )
    if report.get("ok"):
        if not place.is_json:
            print_line("The ledger is whole.", style="green")
        return
    broken = part(report, "first_break")
    raise CorruptData(
        f"the ledger breaks in {words(broken, 'stream')!r} at version {words(broken, 'version')} "
        f"(position {words(broken, 'position') or 'none'}): {words(broken, 'what')}",
        hint="remembrancer rebuild mends tables; a broken chain needs a backup",
    )


async def _verify(place: Place, everyone: bool) -> Answer:
    from remembrancer.app.verify import verify as run

    with progress("Verifying", quiet=place.is_json) as shown:
        async with open_store(place) as local:
            namespace = None if everyone else local.owner(place.namespace).namespace
            return await run(local.app, namespace=namespace, progress=shown)


async def _remote_rebuild(place: Place, dry_run: bool) -> Answer:
    from remembrancer.cli.pieces import rebuild_in_pieces
    from remembrancer.cli.remote import RemoteServer

    with progress("Rebuilding", quiet=place.is_json) as shown:
        async with RemoteServer(place) as server:
            return await rebuild_in_pieces(server, dry_run=dry_run, shown=shown)


async def _remote_verify(place: Place, everyone: bool) -> Answer:
    from remembrancer.cli.pieces import verify_in_pieces
    from remembrancer.cli.remote import RemoteServer

    with progress("Verifying", quiet=place.is_json) as shown:
        async with RemoteServer(place) as server:
            return await verify_in_pieces(server, everyone=everyone, shown=shown)
