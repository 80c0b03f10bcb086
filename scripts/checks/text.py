"""Text: no tracked file names a folder of somebody's machine or a package registry's host."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.tree import Problem, Tree

MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(?:work|root|home/(?!you\b)\w+|Users/(?!you\b)\w+)/")
"""Absolute folders of one machine; `you` stands for the reader."""
REGISTRY = re.compile(
    r"registry\.npmjs\.org|(?:files\.)?pythonhosted\.org|\bpypi\.org|deb\.debian\.org"
    r"|static\.crates\.io|proxy\.golang\.org"
)
"""Hosts that packages come from; the clients know them, the repository need not."""
LOCK_ADDRESS = re.compile(r'"resolved": ?"[^"]*:|--(?:extra-)?index-url|--find-links|file:')
"""How a lock file says where a package came from; ours say only what it is."""
BINARY_SUFFIXES = (".png", ".ico", ".woff2", ".sqlite", ".db", ".gz", ".zip")
"""Files without text."""


def check(tree: Tree) -> Iterator[Problem]:
    """Every line that would be true on one machine only."""
    for name in tree.files:
        if name.endswith(BINARY_SUFFIXES):
            continue
        is_lock = name.endswith((".lock", "package-lock.json"))
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if MACHINE_PATH.search(line):
                yield Problem(name, number, "names a folder of one machine")
            if REGISTRY.search(line):
                yield Problem(name, number, "names the host of a package registry")
            if is_lock and LOCK_ADDRESS.search(line):
                yield Problem(name, number, "says where a package was downloaded from")
