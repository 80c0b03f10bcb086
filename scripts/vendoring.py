"""Vendors the Worker's packages into `python_modules`; `scripts/vendor` is its face.

For the tests that run on the edge's Python, it also installs what those need beside the Worker.

The folder has the layout that the platform's own tool makes: the content of a site-packages
folder, with a `pyvenv.cfg` that marks it. Wheels come from the package index through pip, checked
against the hashes of `requirements-edge.lock`, for the edge's Python and processor or for any.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
LOCK = ROOT / "requirements-edge.lock"
"""Exact versions and hashes, held to those of the local side by `scripts/lock`."""
MODULES = ROOT / "python_modules"
"""Where the platform's tools look for packages."""
PYLOCK = ROOT / "pylock.toml"
"""Where the platform's own tool, pywrangler, keeps the versions that it resolved; untracked."""
MARK = "pyvenv.cfg"
"""The last file that is made in a folder; the platform's tool makes it, too."""
TEST_LOCK = ROOT / "requirements-dev.lock"
"""Exact versions and hashes of what the tests need."""
TEST_PACKAGES = frozenset(
    {"hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "pytest", "sortedcontainers"}
)
"""What tests on the edge's Python import, with what that needs."""
TEST_MODULES = ROOT / ".venv" / "pyodide"
"""Where those packages are installed; never uploaded."""
PLATFORM = "pyemscripten_2026_0_wasm32"
"""The platform tag of wheels for the edge's Pyodide 314."""
PYTHON = "314"
"""The edge's Python. Source: compatibility dates from 2026-09-08 on."""
UPLOAD_BYTES_MAX = 4 * 1024 * 1024
"""Compressed bytes of the upload. Source: DESIGN section 14."""
MIB = 1024 * 1024


def install(lock: Path, into: Path) -> None:
    """Unpacks every locked wheel. *Raises:* CalledProcessError; pip has said why."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:"]
    command += ["--platform", PLATFORM, "--python-version", PYTHON, "--implementation", "cp"]
    command += ["--abi", f"cp{PYTHON}", "--target", str(into), "-r", str(lock)]
    subprocess.run(command, check=True)
    shutil.rmtree(into / "bin", ignore_errors=True)
    (into / MARK).touch()


def refresh(folder: Path, requirements: str) -> None:
    """Makes a folder of packages anew, unless it holds them; the old one stays until then."""
    stamp = ROOT / ".venv" / f".vendored-{folder.name}"
    if (folder / MARK).exists() and stamp.exists() and stamp.read_text() == requirements:
        return
    print(f"Installing the edge's packages into {folder.relative_to(ROOT)}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        lock = Path(scratch) / "requirements.lock"
        lock.write_text(requirements)
        fresh = Path(scratch) / folder.name
        install(lock, fresh)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(fresh, folder)
    stamp.write_text(requirements)


def pin(requirements: str, path: Path) -> None:
    """Names the locked versions in the file that the platform's own tool keeps its versions in.

    It resolves by itself, and takes what it finds there for settled: so it vendors the same.
    """
    pins = re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", requirements, re.MULTILINE)
    held = path.read_text(encoding="utf-8") if path.exists() else ""
    if all(f'name = "{name}"\nversion = "{version}"\n' in held for name, version in pins):
        return
    packages = (
        f'\n[[packages]]\nname = "{name}"\nversion = "{version}"\n' for name, version in pins
    )
    text = 'lock-version = "1.0"\ncreated-by = "scripts/vendor"\n' + "".join(packages)
    path.write_text(text, encoding="utf-8")


def test_requirements() -> str:
    """The part of the development lock that tests on the edge's Python need."""
    entries = re.split(r"^(?=[a-z])", TEST_LOCK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "".join(each for each in entries if each.split("==")[0] in TEST_PACKAGES)


def uploaded() -> Iterator[Path]:
    """The files of a Worker's upload: our modules and the vendored packages."""
    yield from sorted((ROOT / "src").rglob("*.py"))
    for path in sorted(MODULES.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path


def measure() -> tuple[int, int]:
    """Bytes of the upload, plain and compressed."""
    plain = 0
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in uploaded():
            plain += path.stat().st_size
            archive.add(path, path.relative_to(ROOT).as_posix())
    return plain, packed.tell()


def main(arguments: Sequence[str]) -> int:
    """Vendors what has changed, and answers the exit code: 1 for a large upload."""
    parser = argparse.ArgumentParser(prog="scripts/vendor", description="Vendors for the Worker.")
    parser.add_argument(
        "--dev", action="store_true", help="for the tests, too; do not weigh the upload"
    )
    chosen = parser.parse_args(arguments)
    try:
        requirements = LOCK.read_text(encoding="utf-8")
        refresh(MODULES, requirements)
        pin(requirements, PYLOCK)
        if chosen.dev:
            refresh(TEST_MODULES, test_requirements())
            return 0
    except subprocess.CalledProcessError as error:
        return error.returncode
    plain, packed = measure()
    budget = UPLOAD_BYTES_MAX / MIB
    print(f"upload: {plain / MIB:.2f} MiB, {packed / MIB:.2f} MiB compressed (budget {budget:.0f})")
    if packed > UPLOAD_BYTES_MAX:
        print("scripts/vendor: the upload is over its budget", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
