"""The test runner: what counts as green, its closing line, and that no folder is left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tiers

Writer = Callable[[dict[str, str]], Path]

REPORT = (
    '<testsuites><testsuite name="pytest" tests="9" errors="1" failures="2" skipped="3"/>'
    "</testsuites>"
)

ASYNC_TESTS = """
import asyncio
import pytest
from hypothesis import given, strategies

@pytest.mark.parametrize("number", [1, 2])
async def test_waits(number, tmp_path):
    await asyncio.sleep(0)
    assert tmp_path.is_dir()

@given(number=strategies.integers())
async def test_property(number):
    await asyncio.sleep(0)
    assert number == number

async def test_fails():
    await asyncio.sleep(0)
    assert False

@given(number=strategies.integers())
async def test_property_fails(number):
    await asyncio.sleep(0)
    assert number < 10
"""


SHARED = ("tests/conftest.py", "tests/examples.py")
"""What every test shares."""

LONG_TESTS = """
import pytest

def test_short(): pass

@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2])
def test_long(number): pass
"""


@pytest.fixture
def small(write_tree: Writer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the runner over a small tree of tests in place of the repository's."""
    # Of the plugins these runs need one, and importing the others takes most of their time.
    monkeypatch.delenv("TESTS_LEFT", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")

    def run(files: dict[str, str], *arguments: str) -> int:
        monkeypatch.setattr(tiers, "ROOT", write_tree(files))
        return tiers.main([*arguments, "--", "-n0"])

    return run


def test_report_with_failures_and_skips_is_added_up(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    count = tiers.read_report(report, exit_code=1)
    assert str(count) == "3 passed, 3 failed, 3 skipped"
    assert not count.is_good


@pytest.mark.parametrize(
    ("exit_code", "failed"),
    [
        pytest.param(0, 0, id="passed"),
        pytest.param(5, 0, id="found-nothing"),
        pytest.param(2, 1, id="interrupted"),
        pytest.param(4, 1, id="usage"),
        pytest.param(-9, 1, id="killed"),
    ],
)
def test_report_missing_counts_a_crash_as_failure(
    exit_code: int, failed: int, tmp_path: Path
) -> None:
    count = tiers.read_report(tmp_path / "none.xml", exit_code)
    assert count.failed == failed
    assert not count.is_good


def test_run_with_passing_tiers_ends_with_the_total(
    small: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    files = {
        "tests/core/test_a.py": "def test_a(): pass\n",
        "tests/app/test_a.py": "import pytest\ndef test_b(): pass\ndef test_c(): pytest.skip('')\n",
    }
    assert small(files) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "2 passed, 0 failed, 1 skipped"


def test_run_without_a_test_exits_with_one(small: Callable[..., int]) -> None:
    assert small({"tests/core/none.txt": ""}, "core") == 1


def test_run_of_one_tier_leaves_the_others_alone(
    small: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    files = {
        "tests/core/test_a.py": "def test_a(): assert False\n",
        "tests/app/test_a.py": "def test_b(): pass\n",
    }
    assert small(files, "app") == 0
    assert capfd.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_longest_tier_begins_first_and_the_summary_keeps_their_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[str] = []

    def note(tier: tiers.Tier, run: tiers.Run) -> tiers.Result:
        begun.append(tier.name)
        return tiers.Result(tier, tiers.Count(passed=1, left=2), seconds=4, busy_seconds=3.4)

    monkeypatch.setattr(tiers, "AT_ONCE", 1)
    monkeypatch.setattr(tiers, "run_tier", note)
    given = [tiers.Tier(name, "", seconds) for name, seconds in (("a", 5), ("b", 60), ("c", 20))]
    total = tiers.run_tiers(given, tiers.Run([], tmp_path))
    assert begun == ["b", "c", "a"]
    assert (total.passed, total.left) == (3, 6)
    said = capsys.readouterr().out
    assert said.startswith("3 tiers, 1 at a time, every test of them\n")
    assert [line.split()[0] for line in said[said.index("== summary") :].splitlines()[1:]] == [
        "a",
        "b",
        "c",
        "6",
    ]
    assert "1 passed, 0 failed, 0 skipped, 2 left for all  (4 s, 3 s of a core)" in said


def test_near_run_leaves_long_tests_and_says_how_many(
    small: Callable[..., int], root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {
        **{name: (root / name).read_text(encoding="utf-8") for name in SHARED},
        "tests/core/test_a.py": LONG_TESTS,
    }
    assert small(files) == 0
    near = capfd.readouterr().out.splitlines()
    assert any(line.startswith("core ") and "2 left for all" in line for line in near)
    assert "2 tests of full matrices are left for: scripts/test all" in near
    assert near[-1] == "1 passed, 0 failed, 0 skipped"
    assert small(files, "all") == 0
    full = capfd.readouterr().out
    assert full.splitlines()[-1] == "3 passed, 0 failed, 0 skipped"
    assert "left for" not in full


def test_tier_that_fails_beside_others_shows_what_pytest_said(
    small: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tiers, "AT_ONCE", 2)
    files = {
        "tests/core/test_a.py": "def test_a(): assert 1 == 2\n",
        "tests/app/test_a.py": "def test_b(): pass\n",
    }
    assert small(files) == 1
    lines = capfd.readouterr().out.splitlines()
    assert "E   assert 1 == 2" in [line.rstrip() for line in lines]
    summary = lines[lines.index("== summary") :]
    assert [line.split()[0] for line in summary[1:3]] == ["core", "app"]
    assert "0 passed, 1 failed, 0 skipped" in summary[1]
    assert "1 passed, 0 failed, 0 skipped" in summary[2]


def test_run_with_unknown_tier_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        tiers.main(["everything"])
    assert stop.value.code == 2
    assert "'everything'" in capsys.readouterr().err


def test_list_names_every_tier(capsys: pytest.CaptureFixture[str]) -> None:
    assert tiers.main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [tier.name for tier in tiers.TIERS]


def test_tests_in_every_folder_belong_to_a_tier(root: Path) -> None:
    folders = {
        path.relative_to(root / "tests").parts[0] for path in root.glob("tests/**/test_*.py")
    }
    assert folders <= {tier.name for tier in tiers.TIERS}


def test_async_tests_run_and_can_fail(root: Path, write_tree: Writer) -> None:
    folder = write_tree({"tests/test_a.py": ASYNC_TESTS})
    for name in SHARED:
        shutil.copy(root / name, folder / name)
    bare = {name: value for name, value in os.environ.items() if name != "TESTS_LEFT"}
    bare["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", folder],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=bare,
    )
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr


def test_far_tiers_and_long_tests_run_when_named_or_all_and_not_by_default(
    write_tree: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = ("core", "deploy", "pyodide")
    monkeypatch.setattr(tiers, "ROOT", write_tree({f"tests/{name}/x.py": "" for name in folders}))
    ran: list[tuple[bool, list[str]]] = []

    def note(chosen: list[tiers.Tier], run: tiers.Run) -> tiers.Count:
        ran.append((run.is_near, [tier.name for tier in chosen]))
        return tiers.Count(passed=1)

    monkeypatch.setattr(tiers, "run_tiers", note)
    assert [tiers.main([]), tiers.main(["all"]), tiers.main(["deploy"])] == [0, 0, 0]
    assert ran == [
        (True, ["core"]),
        (False, ["core", "pyodide", "deploy"]),
        (False, ["deploy"]),
    ]
