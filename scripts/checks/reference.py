"""The reference: tables of everything with a public name, made from the code into REFERENCE.md.

`scripts/reference` writes the file. The check fails when it is stale, and when something with a
public name says nothing about itself.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.tree import Problem, Tree

FILE = "REFERENCE.md"
"""Where the reference lies."""

INTRODUCTION = """# Reference

Everything with a public name.
This file is written by `scripts/reference` from the code; do not edit it.
"""

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
        (_code(info.variable), info.type, _code(info.default), f"{info.description} {info.accepts}")
        for info in settings.describe_settings(settings.load_settings({}))
    ]
    about = (
        "Read once, at the start; an unset variable has its default, a wrong one stops the start."
    )
    yield Table("Environment", about, ("Variable", "Type", "Default", "Meaning; accepts"), rows)


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
    routes = importlib.import_module("remembrancer.http.routes").ROUTES
    rows = [
        (
            _codes([f"{route.method} {path}" for path in (route.path, *route.aliases)]),
            _code(route.scope or "open"),
            _codes(route.query.model_fields if route.query else ()),
            _codes(route.body.model_fields if route.body else route.raw_body),
            route.summary,
        )
        for route in getattr(routes, "routes", routes)
        if route.is_listed
    ]
    about = "`/openapi.json` has their schemas, `/docs` shows it for reading."
    yield Table("REST", about, ("Route", "Scope", "Query", "Body", "What it does"), rows)


def _tools() -> Iterator[Table]:
    registry = importlib.import_module("remembrancer.mcp.offer").REGISTRY
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
    commands: list[Row] = []
    options: list[Row] = []
    for name, command in _walk("remembrancer", root):
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        if name != "remembrancer" and not hasattr(command, "commands"):
            shown = [one.metavar or one.name.upper() for one in arguments]
            commands.append((_code(" ".join([name, *shown])), command.help or ""))
        for one in command.params:
            if one.hidden or one.name in {"install_completion", "show_completion"}:
                continue
            flags = _codes([*one.opts, *one.secondary_opts])
            options.append(
                (_code(name), flags if one not in arguments else _code(one.name.upper()))
            )
            options[-1] = (*options[-1], one.help or "")
    yield Table("Commands", "`--help` tells more.", ("Command", "What it does"), commands)
    yield Table("Options", "Of each command.", ("Command", "Option", "Meaning"), options)


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not command.hidden:
        yield name, command
        for word, inner in getattr(command, "commands", {}).items():
            yield from _walk(f"{name} {word}", inner)


def _migrations(root: Path) -> Iterator[Table]:
    rows = []
    for path in sorted((root / "migrations").glob("*.sql")):
        comment = re.match(r"(?:--.*\n)+", path.read_text(encoding="utf-8"))
        rows.append((_code(path.name), comment.group().replace("--", "") if comment else ""))
    about = (
        "Forward only, in this order, on D1 and SQLite alike; one that was released never changes."
    )
    yield Table("Migrations", about, ("File", "What it makes"), rows)


def tables(root: Path) -> list[Table]:
    """Every section, in the order of the file."""
    makers: tuple[Callable[[], Iterable[Table]], ...] = (
        _commands,
        _variables,
        _settings,
        _scopes,
        _tools,
        _routes,
        _errors,
        lambda: _migrations(root),
    )
    sections: list[Table] = []
    for maker in makers:
        try:
            sections.extend(maker())
        except (ImportError, AttributeError):
            continue
    return sections


def render(sections: Iterable[Table]) -> str:
    """The whole file."""
    return "\n".join([INTRODUCTION, *(section.render() for section in sections)])


def check(tree: Tree) -> Iterator[Problem]:
    """A stale file, and names without a meaning."""
    sections = tables(tree.root)
    yield from find_gaps(sections)
    if FILE not in tree.files or tree.text(FILE) != render(sections):
        yield Problem(FILE, 1, "is stale: run scripts/reference")


def find_gaps(sections: Iterable[Table]) -> Iterator[Problem]:
    """Rows that do not say what the thing in their first column is."""
    for section in sections:
        if not section.rows:
            yield Problem(FILE, 1, f"{section.title} is empty")
        for row in section.rows:
            if not row[-1].strip():
                yield Problem(FILE, 1, f"{section.title}: {' '.join(row).strip()} is not described")


def main() -> int:
    """Writes the file."""
    root = Path(__file__).resolve().parents[2]
    (root / FILE).write_text(render(tables(root)), encoding="utf-8")
    print(f"wrote {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
