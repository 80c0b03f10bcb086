"""Sizes: modules, functions, parameters, ports, and the columns of what is not Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from checks.tree import Problem, Tree

SOURCE_LINES_MAX = 400
"""Lines of a source module or script; HOUSE section 9."""
TEST_LINES_MAX = 600
"""Lines of a test module."""
WORKER_LINES_MAX = 60
"""Lines of `src/worker.py`."""
WIRE_LINES_MAX = 150
"""Lines of a `wire.py`."""
VIEW_LINES_MAX = 300
"""Lines of one view of the panel; HOUSE section 9. Its other sources have the limit of modules."""
FUNCTION_LINES_MAX = 60
"""Lines of a function with its docstring; a table in a decorator above it does not count."""
PARAMETERS_MAX = 6
"""Parameters of a function, `self` and `cls` not counted."""
PORT_METHODS_MAX = 6
"""Methods of a Protocol in `ports/`."""
COLUMNS_MAX = 100
"""Columns of a line in shell scripts and configuration; the linter sees to Python."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def check(tree: Tree) -> Iterator[Problem]:
    """Everything that is longer or wider than the house allows."""
    for name, module in tree.modules.items():
        yield from _module(name, tree.text(name))
        for node in ast.walk(module):
            if isinstance(node, Function):
                yield from _function(name, node)
            elif isinstance(node, ast.ClassDef) and "/ports/" in name:
                yield from _port(name, node)
    for name in tree.below("admin"):
        if name.endswith((".ts", ".tsx", ".css", ".html")):
            yield from _module(name, tree.text(name))
    for name in tree.files:
        if _is_hand_written(name):
            yield from _columns(name, tree.text(name))


def _module(name: str, text: str) -> Iterator[Problem]:
    path = PurePosixPath(name)
    limit = TEST_LINES_MAX if path.parts[0] == "tests" else SOURCE_LINES_MAX
    if name == "src/worker.py":
        limit = WORKER_LINES_MAX
    elif path.name == "wire.py" and path.parts[0] == "src":
        limit = WIRE_LINES_MAX
    elif name.startswith("admin/src/views/"):
        limit = VIEW_LINES_MAX
    lines = len(text.splitlines())
    if lines > limit:
        yield Problem(name, 1, f"{lines} lines, at most {limit}: split it")


def _function(name: str, node: Function) -> Iterator[Problem]:
    first = node.lineno
    lines = (node.end_lineno or first) - first + 1
    if lines > FUNCTION_LINES_MAX:
        yield Problem(name, first, f"{node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}")
    if name.startswith("tests/") and node.name.startswith("test_"):
        return  # the parameters of a test are its fixtures and its table
    arguments = node.args
    named = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    count = len([item for item in named if item not in {"self", "cls"}])
    if count > PARAMETERS_MAX:
        yield Problem(
            name,
            first,
            f"{node.name} has {count} parameters, at most {PARAMETERS_MAX}: a dataclass",
        )


def _port(name: str, node: ast.ClassDef) -> Iterator[Problem]:
    bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
    if "Protocol" not in bases:
        return
    methods = [item.name for item in node.body if isinstance(item, Function)]
    if len(methods) > PORT_METHODS_MAX:
        yield Problem(
            name, node.lineno, f"{node.name} has {len(methods)} methods, at most {PORT_METHODS_MAX}"
        )


def _is_hand_written(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix in {".toml", ".yml"} or (
        path.suffix == "" and path.parts[0] in {"scripts", ".ci"}
    )


def _columns(name: str, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > COLUMNS_MAX:
            yield Problem(name, number, f"{len(line)} columns, at most {COLUMNS_MAX}")
