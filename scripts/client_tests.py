"""Fetches what the clients of chats ship in their source alone: tests, and streams as recorded.

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
PACKAGES = ("anthropic", "openai")
"""The clients: openai's tests run against our gateway, anthropic's recordings are its input."""
FOLDER = ROOT / ".venv" / "client-tests"
"""Where sources are unpacked."""


def locked(package: str) -> tuple[str, str]:
    """The locked version of a package, and its lines of the lock."""
    text = LOCK.read_text(encoding="utf-8")
    found = re.search(rf"^{package}==(\S+).*(?:\n    --hash=\S+.*)+", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{LOCK.name} holds no {package}")
    return found[1], found[0]


def source_of(package: str) -> Path:
    """Where the source of a locked client is, or belongs."""
    return FOLDER / f"{package}-{locked(package)[0]}"


def fetch(package: str) -> Path:
    """Fetches a package's source unless it is there. *Raises:* CalledProcessError; pip said why."""
    source = source_of(package)
    if source.exists():
        return source
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text(locked(package)[1] + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet"]
        command += ["--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", package, "--require-hashes"]
        subprocess.run([*command, "-r", str(wanted), "-d", scratch], check=True)
        [archive] = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(Path(scratch) / "unpacked", filter="data")
        FOLDER.mkdir(parents=True, exist_ok=True)
        for old in FOLDER.glob(f"{package}-*"):
            shutil.rmtree(old)
        shutil.move(Path(scratch) / "unpacked" / source.name, source)
    return source


if __name__ == "__main__":
    for name in PACKAGES:
        fetch(name)
