"""Workflows: they only call scripts, with pinned actions, read-only rights and time limits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.tree import Problem, Tree

PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d[\w.]*$")
"""An action at a full commit hash, with its version beside it for the reader."""
SCRIPT = re.compile(r"run: (?:scripts/\w+|\$\{\{ needs\.)")
"""A step of our own: one of the scripts, or the one word that sums up a matrix."""
CALLED = re.compile(r"run: (scripts/[\w-]+)")
"""The script that a step calls."""
JOB = re.compile(r"^  \w[\w-]*:$", re.MULTILINE)
"""The head of a job (two spaces deep, below `jobs:`)."""
REQUIRED = ("permissions:\n  contents: read\n", "cancel-in-progress: true\n")
"""Lines that each workflow holds."""


def check(tree: Tree) -> Iterator[Problem]:
    """Every step that is not a script, every loose action, every job without a limit."""
    for name in tree.below(".github/workflows"):
        text = tree.text(name)
        for number, line in enumerate(text.splitlines(), start=1):
            if "uses: " in line and not PINNED.search(line):
                yield Problem(name, number, "pin the action by commit hash, version in a comment")
            if "run: " in line and not SCRIPT.search(line):
                yield Problem(name, number, "a workflow only calls scripts")
            called = CALLED.search(line)
            if called and called[1] not in tree.files:
                yield Problem(name, number, f"there is no {called[1]}")
        for required in REQUIRED:
            if required not in text:
                yield Problem(name, 1, f"must say {required.strip()!r}")
        _, _, jobs = text.partition("\njobs:\n")
        if text.count("timeout-minutes:") < len(JOB.findall(jobs)):
            yield Problem(name, 1, "each job has timeout-minutes")
