"""Vendors the Worker's packages into `python_modules`; `scripts/vendor` is its face.

The folder has the layout that the platform's own tool makes: the content of a site-packages
folder, with a `pyvenv.cfg` that marks it. Wheels come from the package index through pip, checked
against the hashes of `requirements-edge.lock`, for the edge's Python and processor or for any.
"""

from __future__ import annotations

import argparse
import io
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
MARK = MODULES / "pyvenv.cfg"
"""The last file that is made; the platform's tool makes it, too."""
STAMP = ROOT / ".venv" / ".vendored"
"""A copy of the lock that the folder was made from; not in the folder, which is uploaded."""
PLATFORM = "pyemscripten_2026_0_wasm32"
"""The platform tag of wheels for the edge's Pyodide 314."""
PYTHON = "314"
"""The edge's Python. Source: compatibility dates from 2026-09-08 on."""
UPLOAD_BYTES_MAX = 4 * 1024 * 1024
"""Compressed bytes of the upload. Source: DESIGN section 14."""
MIB = 1024 * 1024


def install(into: Path) -> None:
    """Unpacks every locked wheel. *Raises:* CalledProcessError; pip has said why."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:"]
    command += ["--platform", PLATFORM, "--python-version", PYTHON, "--implementation", "cp"]
    command += ["--abi", f"cp{PYTHON}", "--target", str(into), "-r", str(LOCK)]
    subprocess.run(command, check=True)
    shutil.rmtree(into / "bin", ignore_errors=True)
    (into / MARK.name).touch()


def is_fresh() -> bool:
    """Whether the folder holds what the lock says."""
    is_made = MARK.exists() and STAMP.exists()
    return is_made and STAMP.read_bytes() == LOCK.read_bytes()


def vendor() -> None:
    """Makes the folder anew; the old one stays until the new one is complete."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "python_modules"
        install(fresh)
        shutil.rmtree(MODULES, ignore_errors=True)
        shutil.move(fresh, MODULES)
    shutil.copyfile(LOCK, STAMP)


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
    """Vendors when the lock has changed, and answers the exit code: 1 for a large upload."""
    parser = argparse.ArgumentParser(prog="scripts/vendor", description="Vendors for the Worker.")
    parser.add_argument("--force", action="store_true", help="even if nothing has changed")
    chosen = parser.parse_args(arguments)
    if chosen.force or not is_fresh():
        print(f"Installing {LOCK.name} into {MODULES.name}", file=sys.stderr)
        try:
            vendor()
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
