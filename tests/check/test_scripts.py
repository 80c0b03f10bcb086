"""The shell scripts: they are executable, well-formed, strict, and refuse what they do not know."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import ROOT

SCRIPTS = [
    ".ci/run",
    *(f"scripts/{path.name}" for path in sorted((ROOT / "scripts").iterdir()) if path.is_file()),
]
SCRIPTS = [name for name in SCRIPTS if not name.endswith(".py")]
"""Every script without a suffix: bash."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_executable_and_well_formed(name: str, root: Path) -> None:
    path = root / name
    assert os.access(path, os.X_OK)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n#")
    assert "\nset -euo pipefail\n" in text
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0


@pytest.mark.parametrize("name", [".ci/run", "scripts/check", "scripts/serve", "scripts/test"])
def test_script_that_starts_python_often_lets_it_keep_its_bytecode(name: str, root: Path) -> None:
    before, _, after = (root / name).read_text(encoding="utf-8").partition("scripts/install")
    assert "\nunset PYTHONDONTWRITEBYTECODE\n" in before
    assert after


def test_install_takes_the_python_that_is_named_whatever_its_path(
    root: Path, tmp_path: Path
) -> None:
    place = tmp_path / "我的 仓库"
    (place / "scripts").mkdir(parents=True)
    shutil.copy(root / "scripts" / "install", place / "scripts" / "install")
    python = tmp_path / "my python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] || { echo "asked: $*" >&2; exit 1; }\n')
    python.chmod(0o755)
    done = subprocess.run(
        [place / "scripts" / "install", "--dev"],
        env={**os.environ, "PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "asked: -m venv .venv" in done.stderr
    assert f"{python} could not make .venv" in done.stderr


def test_promised_scripts_are_there() -> None:
    promised = {"install", "serve", "test", "check", "bench", "reference", "lock"}
    assert {f"scripts/{name}" for name in promised} <= set(SCRIPTS)


@pytest.mark.parametrize("name", ["scripts/install", "scripts/check", "scripts/bench"])
def test_script_with_unknown_option_shows_its_usage(name: str, root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [root / name, "--unknown"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"usage: {name}" in done.stderr
