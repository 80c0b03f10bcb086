"""The manifest of the black-box suite: no test stays on one machine without a reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.manifest import LOCAL_ONLY

ALIEN = "def test_of_nothing(tmp_path): pass\n"
POINTED = "import pytest\n@pytest.fixture\ndef server(): pass\ndef test_of_it(server): pass\n"


def _collect(root: Path, *folders: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, "-p", "tests.pyodide.suites.pointed", *map(str, folders)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_test_runs_everywhere_or_has_its_reason(root: Path) -> None:
    done = _collect(root, "tests/e2e")
    assert done.returncode == 0, done.stdout + done.stderr
    modules = {path.stem for path in (root / "tests" / "e2e").glob("test_*.py")}
    kept = {
        line.split("::")[0].rsplit("/")[-1] for line in done.stdout.splitlines() if "::" in line
    }
    assert {f"{name}.py" for name in modules - set(LOCAL_ONLY)} == kept
    assert set(LOCAL_ONLY) < modules


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("test_new", ALIEN, id="left-without-a-reason"),
        pytest.param("test_week", POINTED, id="kept-with-a-reason"),
    ],
)
def test_manifest_that_says_otherwise_is_refused(
    root: Path, tmp_path: Path, name: str, text: str
) -> None:
    sample = tmp_path / f"{name}.py"
    sample.write_text(text, encoding="utf-8")
    done = _collect(root, sample)
    assert done.returncode == int(pytest.ExitCode.USAGE_ERROR)
    assert "manifest" in done.stdout + done.stderr
