"""The configured linters are shown code that breaks the direction of imports or reads a clock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Writer = Callable[[dict[str, str]], Path]

RINGS = ("core", "ports", "store", "app", "mcp", "http", "edge", "local", "cli", "testing")

FORBIDDEN_IMPORTS = {
    "core-sqlite3": ("core", "import sqlite3"),
    "core-clock": ("core", "import time"),
    "core-ports": ("core", "import remembrancer.ports.thing"),
    "ports-store": ("ports", "import remembrancer.store.thing"),
    "store-app": ("store", "import remembrancer.app.thing"),
    "store-local": ("store", "import remembrancer.local.thing"),
    "app-mcp": ("app", "import remembrancer.mcp.thing"),
    "app-threading": ("app", "import threading"),
    "app-testing": ("app", "import remembrancer.testing.thing"),
    "app-starlette": ("app", "import starlette"),
    "mcp-http": ("mcp", "import remembrancer.http.thing"),
    "http-local": ("http", "import remembrancer.local.thing"),
    "http-sqlite3": ("http", "from sqlite3 import connect"),
    "local-store": ("local", "import remembrancer.store.thing"),
    "local-js": ("local", "import js"),
    "local-cli": ("local", "import remembrancer.cli.thing"),
    "cli-store": ("cli", "import remembrancer.store.thing"),
    "cli-local": ("cli", "import remembrancer.local.thing"),
    "testing-app": ("testing", "import remembrancer.app.thing"),
}

LEGAL_IMPORTS = {
    "local": "import sqlite3, threading\nimport remembrancer.ports.thing\n",
    "store": "import remembrancer.ports.thing\n",
    "app": "import remembrancer.store.thing, remembrancer.core.thing\n",
    "http": "import remembrancer.mcp.thing, remembrancer.app.thing\n",
    "cli": "import remembrancer.app.thing\nimport remembrancer.local.wire\n",
}


def skeleton(extra: dict[str, str]) -> dict[str, str]:
    """A package with every ring, one module in each, and some lines added to a ring's module."""
    files = {"remembrancer/__init__.py": "", "remembrancer/local/wire.py": ""}
    for ring in RINGS:
        files[f"remembrancer/{ring}/__init__.py"] = ""
        files[f"remembrancer/{ring}/thing.py"] = extra.get(ring, "")
    files["remembrancer/local/wire.py"] = "import remembrancer.http.thing, remembrancer.store.thing"
    return files


def lint_imports(folder: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Runs the repository's contracts over a package in another folder."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", root / "pyproject.toml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("ring", "line"), FORBIDDEN_IMPORTS.values(), ids=FORBIDDEN_IMPORTS.keys())
def test_contracts_with_forbidden_import_break(
    ring: str, line: str, root: Path, write_tree: Writer
) -> None:
    done = lint_imports(write_tree(skeleton({ring: line})), root)
    assert done.returncode == 1, done.stdout
    assert f"remembrancer.{ring}.thing -> " in done.stdout


def test_contracts_with_legal_imports_hold(root: Path, write_tree: Writer) -> None:
    done = lint_imports(write_tree(skeleton(LEGAL_IMPORTS)), root)
    assert done.returncode == 0, done.stdout + done.stderr


def lint(code: str, name: str, root: Path) -> str:
    """What the linter says of some code, as if it stood in a file of that name."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    options = ["--output-format=concise", "--no-cache", f"--stdin-filename={root / name}"]
    done = subprocess.run(
        [ruff, "check", *options, "-"],
        input=code,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


FUTURE = "from __future__ import annotations\n\n"
READS_CLOCK = f'"""A module."""\n\n{FUTURE}import time\n\nNOW = time.time()\n'
BLOCKS_LOOP = (
    f'"""A module."""\n\n{FUTURE}import time\n\n\nasync def wait() -> None:\n    time.sleep(1)\n'
)
PRINTS = '"""A module."""\n\nprint("hello")\n'
SPEAKS_CHINESE = '"""记住：工具用中文（全角标点）。"""\n\nTEXT = "明天下午三点，开会！"\n'


@pytest.mark.parametrize(
    ("code", "name", "rule"),
    [
        pytest.param(READS_CLOCK, "src/remembrancer/app/a.py", "TID251", id="clock-in-app"),
        pytest.param(BLOCKS_LOOP, "src/remembrancer/local/a.py", "ASYNC251", id="blocked-loop"),
        pytest.param(PRINTS, "src/remembrancer/app/a.py", "T201", id="print-in-app"),
    ],
)
def test_linter_with_bad_code_names_the_rule(code: str, name: str, rule: str, root: Path) -> None:
    assert rule in lint(code, name, root)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        pytest.param(READS_CLOCK, "src/remembrancer/local/a.py", id="clock-in-local"),
        pytest.param(PRINTS, "src/remembrancer/cli/a.py", id="print-in-cli"),
        pytest.param(SPEAKS_CHINESE, "src/remembrancer/core/a.py", id="chinese"),
    ],
)
def test_linter_with_legal_code_is_quiet(code: str, name: str, root: Path) -> None:
    assert "All checks passed" in lint(code, name, root)
