"""`remembrancer export`, `import`, `backup` and `restore`: a memory as a file, and back.

An export is lines that any program reads and any store takes; a backup is the database's own file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from remembrancer.cli.answers import Answer, words
from remembrancer.cli.door import finish, open_store
from remembrancer.cli.output import (
    Progress,
    print_bytes,
    print_fields,
    print_json,
    print_line,
    progress,
)
from remembrancer.cli.place import Place
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.transfer import Tally, parse_line

if TYPE_CHECKING:
    from remembrancer.local.wire import LocalApp

STDOUT: Final = "-"
"""What names the standard output instead of a file. Source: the shells' custom."""


def export(
    place: Place,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")],
    everyone: Annotated[
        bool, typer.Option("--all", help="Every namespace, not only this one.")
    ] = False,
    without_keys: Annotated[
        bool, typer.Option("--without-keys", help="Leave out access keys, even as hashes.")
    ] = False,
) -> None:
    """Write the whole memory to a file of JSON lines; chat messages are not in it."""
    tally = finish(_export(place, file, everyone=everyone, with_keys=not without_keys))
    if file != STDOUT:
        _report(place, {"file": file, **tally.members()}, f"exported to {file}:")


async def _export(place: Place, file: str, *, everyone: bool, with_keys: bool) -> Tally:
    tally = Tally()
    with progress("Exporting", quiet=place.is_json) as shown:
        if place.url is not None:
            from remembrancer.cli.pieces import export_in_pieces
            from remembrancer.cli.remote import RemoteServer

            async with RemoteServer(place) as server:
                lines = export_in_pieces(server, everyone=everyone, with_keys=with_keys)
                await _keep(file, _checked(lines, tally, shown))
            return tally
        async with open_store(place) as local:
            lines = _local_lines(local, place, everyone=everyone, with_keys=with_keys)
            await _keep(file, _checked(lines, tally, shown))
    return tally


def _local_lines(
    local: LocalApp, place: Place, *, everyone: bool, with_keys: bool
) -> AsyncIterator[bytes]:
    from remembrancer.app.export import export_lines, export_scope

    caller = local.owner(place.namespace)
    scope = export_scope(caller, all_namespaces=everyone, with_keys=with_keys)
    return export_lines(local.app, scope)


async def _checked(
    lines: AsyncIterator[bytes], tally: Tally, shown: Progress
) -> AsyncIterator[bytes]:
    """Pass lines on, and see that they are whole: a connection may end early."""
    number = 0
    async for raw in lines:
        number += 1
        line = parse_line(raw, number)
        if line.kind == "end":
            tally.take_end(line, number)
        else:
            tally.add(line.kind, raw)
        shown(number)
        yield raw
    tally.check_ended(number)


async def _keep(file: str, lines: AsyncIterator[bytes]) -> None:
    if file != STDOUT:
        from remembrancer.local.wire import transfer

        await transfer.write_lines(Path(file), lines)
        return
    async for line in lines:
        print_bytes(line)


def import_(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check the file and tell what is new.")
    ] = False,
) -> None:
    """Read an exported memory into an empty store; an interrupted import goes on."""
    work = _import if place.url is None else _remote_import
    report = finish(work(place, file, dry_run))
    _report(place, report, "would be imported:" if dry_run else "imported:")
    if report["events"] and not report["positions_kept"] and not place.is_json:
        print_line("Events are numbered anew: their positions are taken here.", style="yellow")


async def _import(place: Place, file: Path, dry_run: bool) -> Answer:
    from remembrancer.app.importing import import_ledger
    from remembrancer.local.wire import transfer

    with progress("Importing", quiet=place.is_json) as shown:
        async with open_store(place) as local:
            return await import_ledger(
                local.app,
                lambda: transfer.read_lines(file),
                namespace=place.namespace,
                dry_run=dry_run,
                progress=shown,
            )


async def _remote_import(place: Place, file: Path, dry_run: bool) -> Answer:
    from remembrancer.cli.pieces import import_in_pieces
    from remembrancer.cli.remote import RemoteServer
    from remembrancer.local.wire import transfer

    with progress("Importing", quiet=place.is_json) as shown:
        async with RemoteServer(place) as server:
            return await import_in_pieces(
                server,
                lambda: transfer.read_lines(file),
                namespace=place.namespace,
                dry_run=dry_run,
                shown=shown,
            )


def backup(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file for the copy.")],
) -> None:
    """Copy the database, also while a server runs; the made owner's key is not in it."""
    from remembrancer.local.wire import environment, transfer

    _refuse_remote(place, "backup")
    with progress("Copying", quiet=place.is_json) as shown:
        report = transfer.back_up(transfer.find_folder(place.data, environment()), file, shown)
    _report(place, report, "backed up:")


def restore(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What backup wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Also when the store holds something; it is kept.")
    ] = False,
) -> None:
    """Put a backup in the place of the database; the old file is kept beside it."""
    from remembrancer.local.wire import environment, transfer

    _refuse_remote(place, "restore")
    with progress("Restoring", quiet=place.is_json) as shown:
        folder = transfer.find_folder(place.data, environment())
        report = transfer.restore(folder, file, replace=replace, progress=shown)
    _report(place, report, "restored:")


def _refuse_remote(place: Place, command: str) -> None:
    if place.url is not None:
        raise InvalidInput(
            f"{command} works on a data folder of this machine, not over the network",
            hint="run it where the folder is; export works from here too",
            field="url",
        )


def _report(place: Place, report: Answer, head: str) -> None:
    if place.is_json:
        print_json(report)
        return
    print_line(head)
    flat: Answer = {}
    for name, value in report.items():
        flat.update(value if isinstance(value, dict) else {name: value})
    print_fields([(name.replace("_", " "), words(flat, name)) for name in flat])
