"""Runs every checker over the repository and prints what they found, one problem a line."""

from __future__ import annotations

import sys
from pathlib import Path

from checks import names, purity, reference, sizes, text, tool_list, workflows
from checks.tree import Tree

CHECKERS = (
    sizes.check,
    names.check,
    purity.check,
    text.check,
    workflows.check,
    reference.check,
    tool_list.check,
)


def main() -> int:
    """Exit code 1 when anything was found."""
    tree = Tree.of_repository(Path(__file__).resolve().parents[2])
    problems = [problem for checker in CHECKERS for problem in checker(tree)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
