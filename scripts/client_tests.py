"""Fetches the tests that the OpenAI client ships in its source, which run against our gateway.

The source is that of the locked version, checked against the lock's hashes; it is unpacked, never
installed. With it in place already, nothing happens.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
LOCK = ROOT / "requirements-dev.lock"
"""Exact versions and hashes, those of the source among them."""
FOLDER = ROOT / ".venv" / "client-tests"
"""Where sources are unpacked."""


def locked(package: str) -> tuple[str, str]:
    """The locked version of a package, and its lines of the lock."""
    text = LOCK.read_text(encoding="utf-8")
    found = re.search(rf"^{package}==(\S+).*(?:\n    --hash=\S+.*)+", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{LOCK.name} holds no {package}")
    return found[1], found[0]


def openai_source() -> Path:
    """Where the source of the locked OpenAI client is, or belongs."""
    return FOLDER / f"openai-{locked('openai')[0]}"


def fetch(package: str) -> Path:
    """Fetches a package's source unless it is there. *Raises:* CalledProcessError; pip said why."""
    version, requirement = locked(package)
    source = FOLDER / f"{package}-{version}"
    if source.exists():
        return source
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text(requirement + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet"]
        command += ["--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
        command += ["--no-binary", package, "--require-hashes"]
        subprocess.run([*command, "-r", str(wanted), "-d", scratch], check=True)
        [archive] = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(Path(scratch) / "unpacked", filter="data")
        shutil.rmtree(FOLDER, ignore_errors=True)  # those of an earlier version go
        FOLDER.mkdir(parents=True)
        shutil.move(Path(scratch) / "unpacked" / source.name, source)
    return source


if __name__ == "__main__":
    fetch("openai")
