"""Names: the top level of the repository, the words that no module may be called, the tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from checks.tree import Problem, Tree

TOP_FOLDERS = frozenset({"src", "migrations", "scripts", "tests", "admin", ".github", ".ci"})
"""The only folders of the top level; HOUSE section 8."""
TOP_FILES = frozenset(
    {"wrangler.toml", "pyproject.toml", "package.json", "package-lock.json", "LICENSE"}
)
"""Files of the top level beside documents (`*.md`), lock files and dot-files."""
FORBIDDEN_WORDS = frozenset({"utils", "helpers", "common", "misc", "manager", "base", "impl"})
"""Words that say nothing; no module or folder of Python is called so."""
PLATFORM_NAMES = frozenset({"workers", "asgi", "js", "pyodide"})
"""Top-level module names that the Workers runtime takes for itself."""
MIGRATION = re.compile(r"migrations/\d{4}_[a-z0-9_]+\.sql")
"""`NNNN_what_it_does.sql`."""


def check(tree: Tree) -> Iterator[Problem]:
    """Everything that has a name it may not have, or lies where it may not lie."""
    yield from _top_level(tree)
    yield from _modules(tree)
    yield from _migrations(tree)


def _top_level(tree: Tree) -> Iterator[Problem]:
    for name in sorted({PurePosixPath(file).parts[0] for file in tree.files}):
        if (tree.root / name).is_dir():
            is_known = name in TOP_FOLDERS
        else:
            is_known = name in TOP_FILES or name.startswith(".") or name.endswith((".md", ".lock"))
        if not is_known:
            yield Problem(name, 1, "does not belong to the top level")


def _modules(tree: Tree) -> Iterator[Problem]:
    for name in tree.modules:
        path = PurePosixPath(name)
        words = {word for part in path.with_suffix("").parts for word in part.split("_")}
        for word in sorted(words & FORBIDDEN_WORDS):
            yield Problem(name, 1, f"{word!r} names nothing: use a noun of the domain")
        top = PurePosixPath(path.parts[1]).stem
        if path.parts[0] == "src" and top in PLATFORM_NAMES:
            yield Problem(name, 1, f"{top!r} is a module of the Workers runtime")


def _migrations(tree: Tree) -> Iterator[Problem]:
    numbers: dict[str, str] = {}
    for name in tree.below("migrations"):
        if not MIGRATION.fullmatch(name):
            yield Problem(name, 1, "a migration is called NNNN_what_it_does.sql")
            continue
        number = PurePosixPath(name).name[:4]
        if number in numbers:
            yield Problem(name, 1, f"has the number of {numbers[number]}")
        numbers[number] = name
