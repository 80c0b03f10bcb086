"""`remembrancer doctor` and `settings`: how things stand here, and what is set where."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import Door, ask, finish, open_store
from remembrancer.cli.groups import group
from remembrancer.cli.output import (
    Column,
    print_fields,
    print_json,
    print_line,
    print_table,
    text_of,
)
from remembrancer.cli.place import Place, placed
from remembrancer.core.errors import CorruptData
from remembrancer.core.product import VERSION
from remembrancer.core.values import JSON

FREE_BYTES_MIN: Final = 256 * 1024 * 1024
"""Free bytes of the data folder's disk below which the doctor warns. Our choice."""

settings = group("Settings: list, set, reset.")


def doctor(place: Place) -> None:
    """Show versions, sizes, counts, health and settings; secrets are never shown."""
    try:
        report = finish(_remote(place) if place.url else _local(place))
    except CorruptData as damage:
        if place.url is not None:
            raise
        report = _damaged(place)
        _show(place, report)
        raise CorruptData(
            f"the database {words(part(report, 'store'), 'database')!r} is damaged",
            hint="stop the server, then put a backup in its place: remembrancer restore FILE "
            "--replace; the damaged file is kept beside",
        ) from damage
    _show(place, report)


def _show(place: Place, report: Answer) -> None:
    if place.is_json:
        print_json(report)
        return
    for name in ("program", "store", "counts", "health", "vectors"):
        section = part(report, name)
        if section:
            print_line(name, style="bold")
            print_fields([(key.replace("_", " "), _text(key, section[key])) for key in section])
    if "settings" in report:
        print_line("settings", style="bold")
        _print_environment(rows(report, "settings"))
    warnings = report.get("warnings")
    for warning in warnings if isinstance(warnings, list) else []:
        print_line(f"warning: {warning}", style="yellow")


async def _local(place: Place) -> Answer:
    from remembrancer.app.health import check_health
    from remembrancer.app.settings import describe_settings
    from remembrancer.app.vectors.health import vector_health
    from remembrancer.local.wire import examine

    async with open_store(place) as local:
        facts = await examine(local.store, local.folder)
        health = await check_health(local.app)
        vectors = await vector_health(local.app, local.owner(place.namespace), pause=None)
        shown: list[JSON] = [
            {"variable": info.variable, "value": info.value, "source": info.source}
            for info in describe_settings(local.app.settings)
        ]
        return {
            "program": {"version": VERSION},
            "store": facts,
            "counts": await _counts(Door(lambda one: local.exchange(one, place.namespace))),
            "health": {
                "status": health.status,
                "reasons": list(health.reasons),
                "details": health.details,
            },
            "vectors": _told(vectors),
            "settings": shown,
            "warnings": _warnings(facts),
        }


def _damaged(place: Place) -> Answer:
    from remembrancer.local.wire import environment, examine_damaged

    facts = examine_damaged(place.data, environment())
    return {"program": {"version": VERSION}, "store": facts, "warnings": []}


def _told(vectors: Answer) -> Answer:
    """Return what is known of the vectors without sending one: loading the encoder takes long."""
    return {name: value for name, value in vectors.items() if value is not None}


async def _counts(door: Door) -> Answer:
    counts: Answer = {}
    questions: tuple[tuple[str, str, Answer], ...] = (
        ("tasks", "list_items", {"kinds": ["task"], "limit": 1}),
        ("memories", "list_items", {"kinds": ["memory"], "limit": 1}),
        ("projects", "list_projects", {"limit": 1}),
        ("topics", "list_groups", {"limit": 1}),
    )
    for label, tool, arguments in questions:
        answer = await door.call(tool, arguments)
        counts[label] = answer.get("total")
        if answer.get("total_is_minimum"):
            counts[f"{label}_at_least"] = True
    return counts


async def _remote(place: Place) -> Answer:
    from remembrancer.cli.remote import RemoteServer

    async with RemoteServer(place) as server:
        welcome = await server.ask("GET", "/")
        return {
            "program": {"version": VERSION, "server": welcome.get("version")},
            "counts": await _counts(Door(server.send)),
            "health": await server.ask("GET", "/health"),
            "warnings": [],
        }


def _warnings(facts: Answer) -> list[JSON]:
    wide = facts.get("open_to_others")
    found: list[JSON] = [
        f"others can open {path!r}; chmod go-rwx closes it"
        for path in (wide if isinstance(wide, list) else [])
    ]
    free = facts.get("free_bytes")
    if isinstance(free, int) and free < FREE_BYTES_MIN:
        found.append(f"only {_size(free)} are free on the disk of the data folder")
    if facts.get("database_check") != "ok":
        found.append(f"the database is damaged: {facts.get('database_check')}; restore a backup")
    return found


def _text(name: str, value: JSON) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return _size(value)
    if isinstance(value, dict):
        return "\n".join(f"{key}: {text_of(each)}" for key, each in value.items())
    return words({name: value}, name)


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def list_settings(place: Place) -> None:
    """List what is set for the namespace, and for this machine's environment."""
    reply = ask(place, "get_app_settings", {})
    answer = reply.answer
    if place.url is None:
        answer = {**answer, "environment": finish(_environment(place))}
    if place.is_json:
        print_json(answer)
        return
    sources = part(answer, "sources")
    values = part(answer, "settings")
    columns = (Column("setting", whole=True), Column("value"), Column("from", whole=True))
    print_table(columns, [[name, words(values, name), words(sources, name)] for name in values])
    if "environment" in answer:
        print_line("")
        _print_environment(rows(answer, "environment"))


async def _environment(place: Place) -> list[JSON]:
    from remembrancer.app.settings import describe_settings

    async with open_store(place) as local:
        return [
            {"variable": info.variable, "value": info.value, "source": info.source}
            for info in describe_settings(local.app.settings)
        ]


def _print_environment(found: list[Answer]) -> None:
    columns = (Column("variable", whole=True), Column("value"), Column("from", whole=True))
    print_table(
        columns,
        [[words(each, "variable"), words(each, "value"), words(each, "source")] for each in found],
    )


Name = Annotated[str, typer.Argument(metavar="NAME", help="The setting, such as time_zone.")]


def set_setting(
    place: Place,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value.")],
) -> None:
    """Change a setting of the namespace."""
    given: JSON = int(value) if value.isascii() and value.isdigit() else value
    _change(place, {name: given})


def reset_setting(place: Place, name: Name) -> None:
    """Give a setting of the namespace its default again."""
    _change(place, {"reset": [name]})


def _change(place: Place, arguments: Answer) -> None:
    reply = ask(place, "update_app_settings", arguments)
    if place.is_json:
        print_json(reply.answer)
        return
    values = part(reply.answer, "settings")
    print_fields([(name, words(values, name)) for name in values])


for _name, _command in (("list", list_settings), ("set", set_setting), ("reset", reset_setting)):
    settings.command(_name)(placed(_command))
