"""What the checkers look at: the files of a repository, and the problems found in them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Problem:
    """One breach of a rule: where it is and what to do about it."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Tree:
    """The files of one repository, as POSIX paths below `root`, sorted."""

    root: Path
    files: tuple[str, ...]

    @classmethod
    def of_folder(cls, root: Path) -> Tree:
        """Every file below a folder."""
        found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return cls(root, tuple(sorted(path.as_posix() for path in found)))

    @classmethod
    def of_repository(cls, root: Path) -> Tree:
        """What git tracks or would track; files deleted but not yet committed are left out."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        names = sorted({name for name in listed.split("\0") if name})
        return cls(root, tuple(name for name in names if (root / name).is_file()))

    def below(self, folder: str, suffix: str = "") -> Iterator[str]:
        """The files in a folder, at any depth."""
        return (
            name for name in self.files if name.startswith(folder + "/") and name.endswith(suffix)
        )

    def text(self, name: str) -> str:
        """A file's text; bytes that are no UTF-8 become replacement characters."""
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    @cached_property
    def modules(self) -> dict[str, ast.Module]:
        """Every Python file of the source, the tests and the scripts, parsed."""
        return {
            name: ast.parse(self.text(name), filename=name)
            for name in self.files
            if name.endswith(".py") and PurePosixPath(name).parts[0] in {"src", "tests", "scripts"}
        }

    @property
    def source(self) -> dict[str, ast.Module]:
        """The parsed modules of the package itself."""
        return {name: module for name, module in self.modules.items() if name.startswith("src/")}
