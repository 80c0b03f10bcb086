"""The platform's own tool on our project: it takes the layout, the versions and the packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.conftest import ROOT

import vendoring

UV = """#!/bin/sh
echo "$@" >>"{calls}"
case "$1" in
  --version) echo "uv {version}" ;;
  venv)
    mkdir -p "$2/lib/python3.14/site-packages"
    echo "version_info = 3.14.2" >"$2/pyvenv.cfg" ;;
  pip) if [ "$2" = install ] && [ "$3" = --only-binary ]; then
    cp -R "{packages}/." "$VIRTUAL_ENV/lib/python3.14/site-packages"
  fi ;;
esac
"""
"""Stands in for uv, whose Pythons come from hosts that tests do not reach: it writes down what it
is asked, leaves the versions as they are, and installs what `scripts/vendor` has vendored."""
NPX = """#!/bin/sh
echo "$@" >>"{calls}"
echo "wrangler 4.164.0"
"""
"""Stands in for npx, which starts wrangler."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What pywrangler looks at of the repository, and the packages vendored before."""
    for name in ("pyproject.toml", "wrangler.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "python_modules").mkdir()
    vendoring.pin(vendoring.LOCK.read_text(encoding="utf-8"), tmp_path / "pylock.toml")
    programs = tmp_path / "bin"
    programs.mkdir()
    [version] = vendoring.pins_of(vendoring.part_of(vendoring.TOOL_LOCK, {"uv"}))
    facts = {"packages": vendoring.MODULES, "version": version[1], "calls": tmp_path / "calls"}
    for name, text in (("uv", UV), ("npx", NPX)):
        (programs / name).write_text(text.format(**facts))
        (programs / name).chmod(0o700)
    return tmp_path


def _run(project: Path, *arguments: str) -> list[str]:
    """Runs pywrangler there; answers what it asked uv and npx for."""
    environment = {
        **os.environ,
        "PATH": f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(vendoring.TOOL),
    }
    done = subprocess.run(
        [sys.executable, "-m", "pywrangler", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (project / "calls").read_text(encoding="utf-8").splitlines()


def test_project_is_synced_for_the_edges_python(project: Path) -> None:
    calls = _run(project, "sync")
    [compiled] = [call for call in calls if call.startswith("pip compile")]
    assert f"{project / 'pyproject.toml'} " in compiled
    assert "--python cpython-3.14." in compiled and "-emscripten-" in compiled
    # It resolves into the file that holds our versions, which uv keeps where they fit.
    assert f"-o {project / 'pylock.toml'}" in compiled and "--upgrade" not in compiled
    [installed] = [call for call in calls if call.startswith("pip install --only-binary")]
    assert f"-r {project / 'pylock.toml'}" in installed


def test_synced_packages_are_those_that_we_vendor(project: Path) -> None:
    _run(project, "sync")
    held = tomllib.loads((project / "pylock.toml").read_text(encoding="utf-8"))["packages"]
    locked = sorted((each["name"], each["version"]) for each in held)
    assert vendoring.vendored(project / "python_modules") == locked
    assert (project / "python_modules" / vendoring.MARK).exists()


def test_vendored_project_is_served_without_a_resolution(project: Path) -> None:
    vendoring.mark_synced(project)
    calls = _run(project, "dev", "--local", "--port", "8794")
    assert calls == ["--yes --silent wrangler --version", "--yes wrangler dev --local --port 8794"]
