"""The panel's build: made when sources changed, shipped in the wheel, and no need of a server's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.conftest import ROOT

from remembrancer.core.errors import CODES

TOOLS = ("bash", "cat", "cksum", "dirname", "find", "sort")
"""What scripts/install needs to see that it cannot build."""


def test_without_node_the_panel_is_left_out_and_the_way_to_it_is_said(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/install", tmp_path / "scripts")
    (tmp_path / "admin").mkdir()
    (tmp_path / "admin/index.html").write_text("<!doctype html>")
    (tmp_path / "package-lock.json").write_text("{}")
    done = subprocess.run(
        [programs / "bash", tmp_path / "scripts/install", "--panel"],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "takes Node.js 20 or newer" in done.stderr
    assert not (tmp_path / "admin/dist").exists()


def test_build_that_is_fresh_is_left_as_it_is() -> None:
    def build() -> str:
        done = subprocess.run(
            [ROOT / "scripts/install", "--panel"], capture_output=True, text=True, check=True
        )
        return done.stderr

    build()
    index = ROOT / "admin/dist/index.html"
    before = index.stat().st_mtime_ns
    assert build() == ""
    assert index.stat().st_mtime_ns == before


WRONG_CLIENTS = {
    "idempotency_key_reused",
    "invalid_json",
    "method_not_allowed",
    "unsupported_media_type",
}
"""Codes that only a client with a defect meets."""


def test_every_error_that_a_person_may_meet_has_words_in_both_languages() -> None:
    text = (ROOT / "admin/src/words/common.ts").read_text(encoding="utf-8")
    for language in ("en", "zh"):
        _, _, own = text.partition(f"\n  {language}: {{\n")
        words = re.search(r"\n    errors: {\n(.*?)\n    },", own, re.DOTALL)
        assert words is not None
        named = set(re.findall(r"^      (\w+):", words[1], re.MULTILINE))
        assert set(CODES) - WRONG_CLIENTS <= named, language


def test_page_has_nothing_inline_and_names_only_its_own_files() -> None:
    page = (ROOT / "admin/dist/index.html").read_text(encoding="utf-8")
    assert "<style" not in page
    assert "style=" not in page
    assert "://" not in page
    assert page.count("<script") == page.count('src="/admin/assets/')
    for name in page.split('"/admin/')[1:]:
        assert (ROOT / "admin/dist" / name.split('"')[0]).is_file()


def test_wheel_ships_the_panel_and_the_migrations(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "remembrancer/panel/index.html" in names
    assert any(
        name.startswith("remembrancer/panel/assets/") and name.endswith(".js") for name in names
    )
    assert "remembrancer/migrations/0001_event_log.sql" in names
    assert not any(name.startswith("remembrancer/panel/src") for name in names)
