"""What has a public name: each function makes the tables of one kind from the code itself."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """One section: the last column says what the thing in the first one is, and is never empty."""

    title: str
    about: str
    head: Row
    rows: Sequence[Row]

    def render(self) -> str:
        """The section as Markdown."""
        lines = [f"## {self.title}", "", self.about, ""]
        lines += ["| " + " | ".join(self.head) + " |", "|" + " --- |" * len(self.head)]
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def _codes(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _variables() -> Iterator[Table]:
    settings = importlib.import_module("remembrancer.app.settings")
    rows = [
        (_code(info.variable), _code(info.default), info.accepts, info.description)
        for info in settings.describe_settings(settings.load_settings({}))
    ]
    about = (
        "Read once, at the start; an unset variable has its default, a wrong one stops the start."
    )
    yield Table("Environment", about, ("Variable", "Default", "Accepts", "Meaning"), rows)


def _settings() -> Iterator[Table]:
    decide = importlib.import_module("remembrancer.core.settings.decide")
    rows = [
        (
            _code(name),
            _code("unset" if decide.DEFAULTS[name] is None else decide.DEFAULTS[name]),
            text,
        )
        for name, text in decide.MEANINGS.items()
    ]
    about = "Of a namespace; changed at run time by `update_app_settings` or `PATCH /v1/settings`."
    yield Table("Settings", about, ("Setting", "Default", "Meaning"), rows)


def _scopes() -> Iterator[Table]:
    scopes = importlib.import_module("remembrancer.core.access.scopes")
    rows = [(_code(name), text) for name, text in scopes.SCOPE_MEANINGS.items()]
    yield Table("Scopes", "What a key may do.", ("Scope", "Allows to"), rows)


def _errors() -> Iterator[Table]:
    codes: Mapping[str, Any] = importlib.import_module("remembrancer.core.errors").CODES
    rows = [
        (
            _code(code),
            str(info.http),
            str(info.jsonrpc),
            _code(info.openai_type),
            str(info.exit),
            info.meaning,
        )
        for code, info in codes.items()
    ]
    about = "One table for every door: HTTP status, JSON-RPC code, exit code of the command line."
    head = ("Code", "HTTP", "JSON-RPC", "Type", "Exit", "Meaning")
    yield Table("Error codes", about, head, rows)


def _routes() -> Iterator[Table]:
    routes = importlib.import_module("remembrancer.http.routes").every_route()
    server = importlib.import_module("remembrancer.mcp.catalogue").make_server()
    mcp_route = importlib.import_module("remembrancer.http.mcp").mcp_route(server)
    rows = [
        (
            _codes([f"{route.method} {path}" for path in (route.path, *route.aliases)]),
            "any key" if route.any_key else _code(route.scope or "open"),
            _codes(route.query.model_fields if route.query else ()),
            _codes(route.body.model_fields if route.body else route.raw_body),
            route.summary,
        )
        for route in (*routes, mcp_route)
    ]
    about = "`/openapi.json` has their schemas, `/docs` shows it for reading."
    yield Table("REST", about, ("Route", "Scope", "Query", "Body", "What it does"), rows)


def _tools() -> Iterator[Table]:
    registry = importlib.import_module("remembrancer.mcp.catalogue").make_registry()
    rows: list[Row] = []
    for tool in registry.tools.values():
        schema = registry.described(tool)["inputSchema"]
        required = schema.get("required", ())
        names = [f"{name}*" if name in required else name for name in schema.get("properties", {})]
        sets = ", ".join(sorted(tool.toolsets))
        rows.append(
            (_code(tool.name), sets, _code(tool.scope or "open"), _codes(names), tool.description)
        )
    about = (
        "Listed by toolset (`?tools=`), callable whether listed or not; `*` marks what is required."
    )
    yield Table(
        "MCP tools", about, ("Tool", "Toolsets", "Scope", "Arguments", "What it does"), rows
    )
    resources = [
        (_code(each.uri), each.mime_type, each.description) for each in registry.resources.values()
    ]
    resources += [
        (_code(each.uri_template), each.mime_type, each.description)
        for _, each in registry.templates
    ]
    yield Table("MCP resources", "Read-only views.", ("URI", "Type", "What it shows"), resources)
    prompts = [
        (
            _code(each.name),
            _codes([f"{one.name}*" if one.required else one.name for one in each.arguments]),
            each.description,
        )
        for each in registry.prompts.values()
    ]
    yield Table("MCP prompts", "Beginnings.", ("Prompt", "Arguments", "What it is for"), prompts)


def _commands() -> Iterator[Table]:
    app = importlib.import_module("remembrancer.cli.main").app
    root = importlib.import_module("typer.main").get_command(app)
    commands = list(_leaves("remembrancer", root))
    options = [(name, *option) for name, command in commands for option in _options(command)]
    shared = [option for option in _options(commands[0][1]) if _is_everywhere(option, commands)]
    rows: list[Row] = [(_code(_usage(name, one)), one.help or "") for name, one in commands]
    yield Table("Commands", "`--help` tells more.", ("Command", "What it does"), rows)
    rows = [("every command", *option) for option in shared]
    rows += [("", *option) for option in _options(root)]
    rows += [(_code(name), *option) for name, *option in options if tuple(option) not in shared]
    about = "Words in capitals are arguments."
    yield Table("Options", about, ("Command", "Option", "Meaning"), rows)


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if command.hidden:
        return
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, one in (inner or {}).items():
        yield from _leaves(f"{name} {word}", one)


def _options(command: Any) -> list[tuple[str, str]]:
    found = []
    for one in command.params:
        is_argument = one.param_type_name == "argument"
        names = [one.name.upper()] if is_argument else [*one.opts, *one.secondary_opts]
        if not one.hidden:
            found.append((_codes(names), one.help or ""))
    return found


def _is_everywhere(option: tuple[str, str], commands: Iterable[tuple[str, Any]]) -> bool:
    return all(option in _options(command) for _, command in commands)


def _usage(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    return " ".join([name, *(one.metavar or one.name.upper() for one in arguments)])


def _migrations(root: Path) -> Iterator[Table]:
    rows = []
    for path in sorted((root / "migrations").glob("*.sql")):
        comment = re.match(r"(?:--.*\n)+", path.read_text(encoding="utf-8"))
        rows.append((_code(path.name), comment.group().replace("--", "") if comment else ""))
    about = (
        "Forward only, in this order, on D1 and SQLite alike; one that was released never changes."
    )
    yield Table("Migrations", about, ("File", "What it makes"), rows)


def make_tables(root: Path) -> list[Table]:
    """Every section of the reference, in its order."""
    return [
        *_commands(),
        *_variables(),
        *_settings(),
        *_scopes(),
        *_tools(),
        *_routes(),
        *_errors(),
        *_migrations(root),
    ]
