"""The bench runner: it finds benches by name, gathers their figures, and fails when one does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import benches

Writer = Callable[[dict[str, str]], Path]

MEASURES = '''"""Measures nothing much.

More words.
"""
import sys
from pathlib import Path
Path(sys.argv[2]).write_text('{"recall_ms": 3}')
'''
BREAKS = '"""Breaks."""\nraise SystemExit(3)\n'


@pytest.fixture
def folder(write_tree: Writer, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = write_tree({"bench_good.py": MEASURES, "bench_bad.py": BREAKS, "serve.py": ""})
    monkeypatch.setattr(benches, "FOLDER", found)
    return found


def test_bench_by_name_writes_its_figures(folder: Path) -> None:
    assert benches.main(["good", "--json", str(folder / "all.json")]) == 0
    assert json.loads((folder / "all.json").read_text(encoding="utf-8")) == {
        "good": {"recall_ms": 3}
    }


def test_bench_that_breaks_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benches.main([]) == 1
    assert "could not measure: bad" in capsys.readouterr().err


def test_bench_with_unknown_name_names_the_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        benches.main(["speed"])
    assert stop.value.code == 2
    assert "there are: bad, good" in capsys.readouterr().err


def test_options_go_to_the_one_bench_that_is_named(
    write_tree: Writer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    echo = '"""Echoes."""\nimport json, sys\nfrom pathlib import Path\n'
    echo += "Path(sys.argv[-1]).write_text(json.dumps(sys.argv[1:-2]))\n"
    folder = write_tree({"bench_echo.py": echo})
    monkeypatch.setattr(benches, "FOLDER", folder)
    assert benches.main(["echo", "--items", "7", "--json", str(folder / "all.json")]) == 0
    assert json.loads((folder / "all.json").read_text(encoding="utf-8")) == {
        "echo": ["--items", "7"]
    }
    with pytest.raises(SystemExit):
        benches.main(["--items", "7"])
    assert "'--items' belongs to one bench" in capsys.readouterr().err


def test_list_shows_the_purpose_of_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benches.main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split(maxsplit=1) == [
        "good",
        "Measures nothing much.",
    ]
