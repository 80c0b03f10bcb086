"""The folder that is uploaded: what the edge runs, and the configuration with this account's ids.

wrangler sends every Python file beside the entry point, and knows no way to leave one out; so the
files of the edge are copied into a folder of their own. It is made anew by each run and ignored by
git.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

FOLDER = Path(".wrangler") / "upload"
"""Below the project's root."""
CONFIGURATION = "wrangler.json"
"""The file in it that holds the ids."""
MODULES = "python_modules"
"""The vendored packages; their place beside the configuration is the platform's rule."""
LEFT_OUT = frozenset({"cli", "local", "testing", "__pycache__"})
"""Folders of the package that run on one machine only."""


def make_folder(root: Path, below: Path = FOLDER) -> Path:
    """Copies the sources and links the packages. Answers the folder."""
    folder = root / below
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(root / "src", folder / "src", ignore=_ignore)
    if (root / MODULES).is_dir():
        (folder / MODULES).symlink_to(os.path.relpath(root / MODULES, folder), True)
    return folder


def write_configuration(root: Path, configuration: dict[str, Any], below: Path = FOLDER) -> str:
    """Writes the configuration into the folder; answers its path from the root."""
    folder = root / below
    folder.mkdir(parents=True, exist_ok=True)
    made = _moved(configuration, Path(os.path.relpath(root, folder)))
    text = json.dumps(made, indent=2, ensure_ascii=False)
    (folder / CONFIGURATION).write_text(text + "\n", encoding="utf-8")
    return (below / CONFIGURATION).as_posix()


def _ignore(folder: str, names: list[str]) -> set[str]:
    """What is not copied: folders of other runtimes, and whatever is no Python."""
    return {
        name
        for name in names
        if name in LEFT_OUT or not (name.endswith(".py") or (Path(folder) / name).is_dir())
    }


def _moved(configuration: dict[str, Any], back: Path) -> dict[str, Any]:
    """The configuration with the paths that lead out of the folder again."""
    made = dict(configuration)
    made["d1_databases"] = [
        {**each, "migrations_dir": (back / each["migrations_dir"]).as_posix()}
        if "migrations_dir" in each
        else each
        for each in made.get("d1_databases", ())
    ]
    if "assets" in made:
        directory = (back / made["assets"]["directory"]).as_posix()
        made["assets"] = {**made["assets"], "directory": directory}
    return made
