"""Vendoring: the edge runs the versions that the local side runs."""

from __future__ import annotations

import re
import tomllib
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


def test_tool_of_the_platform_is_told_the_locked_versions(tmp_path: Path) -> None:
    path = tmp_path / "pylock.toml"
    requirements = vendoring.LOCK.read_text(encoding="utf-8")
    path.write_text("what it resolved by itself")
    vendoring.pin(requirements, path)
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    assert held["lock-version"] == "1.0"
    assert {each["name"]: each["version"] for each in held["packages"]} == _versions(vendoring.LOCK)
    # What it adds to the same versions stays.
    path.write_text(path.read_text() + "# more\n")
    vendoring.pin(requirements, path)
    assert path.read_text().endswith("# more\n")


def test_vendored_packages_are_those_of_the_lock() -> None:
    locked = vendoring.pins_of(vendoring.LOCK.read_text(encoding="utf-8"))
    assert vendoring.vendored(vendoring.MODULES) == sorted(locked)


def test_lock_of_the_tool_has_what_it_resolves_with() -> None:
    tool = dict(vendoring.pins_of(vendoring.TOOL_LOCK.read_text(encoding="utf-8")))
    assert {"uv", "workers-py"} <= set(tool)
    assert vendoring.part_of(vendoring.TOOL_LOCK, {"uv"}).startswith(f"uv=={tool['uv']}")
    assert "\nuv==" not in vendoring.part_of(vendoring.TOOL_LOCK, {"uv"}, is_without=True)
