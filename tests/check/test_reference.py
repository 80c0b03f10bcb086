"""The reference: it is made from the code, is never stale, and describes every name."""

from __future__ import annotations

from pathlib import Path

from checks import reference
from checks.reference import FILE, find_gaps, render
from checks.sources import Table, make_tables
from checks.tree import Tree

FULL = Table("Things", "About.", ("Name", "Meaning"), [("`a`", "says | what\nit is")])


def test_table_with_pipes_and_lines_stays_one_row() -> None:
    assert FULL.render().splitlines()[-1] == "| `a` | says \\| what it is |"


def test_row_without_a_meaning_is_named() -> None:
    section = Table("Things", "About.", ("Name", "Meaning"), [("`a`", "it"), ("`b`", " ")])
    assert [str(gap) for gap in find_gaps([section])] == [f"{FILE}:1: Things: `b` is not described"]


def test_table_without_rows_is_named() -> None:
    assert list(find_gaps([Table("Things", "About.", ("Name",), [])]))


def test_tables_hold_every_error_code(root: Path) -> None:
    text = render(make_tables(root))
    assert "| `invalid_input` | 400 |" in text
    assert "| `CHATBOX_API_KEY` |" in text
    assert "| `0001_event_log.sql` |" in text


def test_file_that_is_stale_is_named(root: Path, tmp_path: Path) -> None:
    (tmp_path / "migrations").symlink_to(root / "migrations")
    (tmp_path / FILE).write_text(render(make_tables(tmp_path)), encoding="utf-8")
    tree = Tree(tmp_path, (FILE,))
    assert [problem for problem in reference.check(tree) if "stale" in str(problem)] == []
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write("| `gone` | a route that is no more |\n")
    assert [problem for problem in reference.check(tree) if "stale" in str(problem)]


def test_file_that_is_missing_is_named(root: Path) -> None:
    assert [problem for problem in reference.check(Tree(root, ())) if "stale" in str(problem)]
