"""Purity: what core may use, where SQL may stand, and where a broad catch is legal."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from checks.tree import Problem, Tree

PACKAGE = "src/remembrancer"
SQL_FOLDERS = ("store", "local")
"""Rings whose modules may hold SQL; `local` for pragmas and for the record of migrations."""
SQL = re.compile(
    r"\s*(?:SELECT\s[^;]*\sFROM\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s"
    r"|DELETE\s+FROM\s|CREATE\s+(?:UNIQUE\s+|VIRTUAL\s+|TEMP\s+)?(?:TABLE|INDEX|TRIGGER|VIEW)\s"
    r"|ALTER\s+TABLE\s|DROP\s+(?:TABLE|INDEX|TRIGGER|VIEW)\s|PRAGMA\s+\w"
    r"|select\s[^;]*\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|update\s+\w+\s+set\s"
    r"|delete\s+from\s|with\s+\w+\s*(?:\([^)]*\)\s*)?as\s*\(|WITH\s+\w+\s*(?:\([^)]*\)\s*)?AS\s*\()"
)
"""The beginnings of statements, in one case throughout, so that English sentences do not match."""
BROAD_CATCHES = {
    "http/asgi.py": "ASGI outermost",
    "mcp/dispatch.py": "MCP dispatch",
    "local/jobs.py": "queue consumer",
    "edge/queues.py": "queue consumer",
    "local/cron.py": "cron tick",
    "cli/main.py": "command line",
}
"""The five outer loops, the queue's once for each side; each may catch everything once."""


def check(tree: Tree) -> Iterator[Problem]:
    """Everything impure in core, SQL outside the store, and catches that swallow."""
    for name, module in tree.source.items():
        if name.startswith(f"{PACKAGE}/core/"):
            yield from _core(name, module)
        if not name.startswith(tuple(f"{PACKAGE}/{ring}/" for ring in SQL_FOLDERS)):
            yield from _sql(name, module)
        yield from _catches(name, module)


def _core(name: str, module: ast.Module) -> Iterator[Problem]:
    for node in ast.walk(module):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield Problem(name, node.lineno, "core waits for nothing: no async")
        for imported in _imported(node):
            root = imported.split(".")[0]
            if root not in sys.stdlib_module_names and not imported.startswith("remembrancer.core"):
                yield Problem(
                    name,
                    getattr(node, "lineno", 1),
                    f"core imports {imported!r}; it may import the standard library and itself",
                )


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.module == "remembrancer":
            return [f"remembrancer.{alias.name}" for alias in node.names]
        return [node.module or "."]
    return []


def _sql(name: str, module: ast.Module) -> Iterator[Problem]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and SQL.match(node.value):
            yield Problem(name, node.lineno, "SQL stands in store/ only")


def _catches(name: str, module: ast.Module) -> Iterator[Problem]:
    place = PurePosixPath(name).relative_to(PACKAGE).as_posix() if PACKAGE in name else name
    left = 1 if place in BROAD_CATCHES else 0
    for node in ast.walk(module):
        if not isinstance(node, ast.ExceptHandler) or not _is_broad(node) or _raises_again(node):
            continue
        left -= 1
        if left < 0:
            yield Problem(name, node.lineno, "a broad catch: name the errors that are expected")


def _is_broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type
    if kinds is None:
        return True
    names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return any(ast.unparse(name) in {"Exception", "BaseException"} for name in names)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the caught error itself goes on: cleaning up is no catch."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
