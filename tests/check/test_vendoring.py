"""Vendoring: the edge runs the versions that the local side runs."""

from __future__ import annotations

import re
from pathlib import Path

import vendoring


def _versions(lock: Path) -> dict[str, str]:
    lines = lock.read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([a-z0-9-]+)==([^ ;]+)", line) for line in lines)
    return {match[1]: match[2] for match in found if match}


def test_edge_lock_has_the_versions_of_the_local_lock(root: Path) -> None:
    edge = _versions(root / "requirements-edge.lock")
    local = _versions(root / "requirements.lock")
    assert {"pydantic", "pydantic-core", "starlette", "tzdata"} <= set(edge)
    assert "httpx" in set(local) - set(edge)
    assert set(edge) - set(local) == {"workers-runtime-sdk"}
    assert {name: local[name] for name in edge if name in local} == {
        name: version for name, version in edge.items() if name in local
    }


def test_upload_holds_our_modules_and_no_bytecode() -> None:
    names = [path.relative_to(vendoring.ROOT).as_posix() for path in vendoring.uploaded()]
    assert "src/remembrancer/core/errors.py" in names
    assert not [name for name in names if name.endswith(".pyc")]
