"""The workflows are read as GitHub reads them, and a fault in one is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

GOOD = """on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: true
        if: vars.IS_WANTED != ''
"""


def _lint(root: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    command = ["node", "scripts/checks/workflows.mjs", *map(str, files)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_ours_have_no_fault(root: Path) -> None:
    files = sorted((root / ".github" / "workflows").glob("*.yml"))
    assert len(files) >= 4
    done = _lint(root, *files)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_variables_of_the_repository_are_known(root: Path, tmp_path: Path) -> None:
    (tmp_path / "good.yml").write_text(GOOD, encoding="utf-8")
    assert _lint(root, tmp_path / "good.yml").returncode == 0


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        pytest.param("runs-on", "runs-one", 'unexpected key "runs-one"', id="key"),
        pytest.param("vars.", "matrix.", '"is_wanted" is not defined', id="expression"),
        pytest.param("jobs:", "job:", 'unexpected key "job"', id="section"),
    ],
)
def test_fault_is_named(root: Path, tmp_path: Path, right: str, wrong: str, told: str) -> None:
    (tmp_path / "bad.yml").write_text(GOOD.replace(right, wrong), encoding="utf-8")
    done = _lint(root, tmp_path / "bad.yml")
    assert done.returncode == 1
    assert told in done.stdout
    assert "bad.yml:" in done.stdout
