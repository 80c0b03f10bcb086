"""The reference: tables of everything with a public name, made from the code into REFERENCE.md.

`scripts/reference` writes the file. The check fails when it is stale, and when something with a
public name says nothing about itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from checks import tool_list
from checks.sources import Table, make_tables
from checks.tree import Problem, Tree

FILE = "REFERENCE.md"
"""Where the reference lies."""

INTRODUCTION = """# Reference

Everything with a public name.
This file is written by `scripts/reference` from the code; do not edit it.
"""


def render(sections: Iterable[Table]) -> str:
    """The whole file."""
    return "\n".join([INTRODUCTION, *(section.render() for section in sections)])


def check(tree: Tree) -> Iterator[Problem]:
    """A stale file, and names without a meaning."""
    try:
        sections = make_tables(tree.root)
    except ImportError as error:
        yield Problem(FILE, 1, f"cannot be made: {error}")
        return
    yield from find_gaps(sections)
    if FILE not in tree.files or tree.text(FILE) != render(sections):
        yield Problem(FILE, 1, "is stale: run scripts/reference")


def find_gaps(sections: Iterable[Table]) -> Iterator[Problem]:
    """Rows that do not say what the thing in their first column is."""
    for section in sections:
        if not section.rows:
            yield Problem(FILE, 1, f"{section.title} is empty")
        for row in section.rows:
            if not row[-1].strip():
                yield Problem(FILE, 1, f"{section.title}: {' '.join(row).strip()} is not described")


def main() -> int:
    """Writes the file."""
    root = Path(__file__).resolve().parents[2]
    (root / FILE).write_text(render(make_tables(root)), encoding="utf-8")
    (root / tool_list.FILE).write_text(tool_list.render(), encoding="utf-8")
    print(f"wrote {FILE} and {tool_list.FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
