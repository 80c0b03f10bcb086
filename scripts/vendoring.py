"""Vendors the Worker's packages into `python_modules`; `scripts/vendor` is its face.

For the tests that run on the edge's Python, it also installs what those need beside the Worker,
and the platform's own tool, pywrangler, in a folder of its own.

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
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
LOCK = ROOT / "requirements-edge.lock"
"""Exact versions and hashes, held to those of the local side by `scripts/lock`."""
MODULES = ROOT / "python_modules"
"""Where the platform's tools look for packages."""
PYLOCK = ROOT / "pylock.toml"
"""Where the platform's own tool, pywrangler, keeps the versions that it resolved; untracked."""
TOOL_LOCK = ROOT / "requirements-pywrangler.lock"
"""Exact versions and hashes of pywrangler, and of uv, which it resolves and installs with."""
TOOL = ROOT / ".venv" / "pywrangler"
"""Where pywrangler is installed; what imports it needs this on its path."""
RESOLVER = ROOT / ".venv" / "uv"
"""Where uv is installed, for whoever lets pywrangler resolve by itself."""
SYNCED = (Path("python_modules") / ".synced", Path(".venv-workers") / ".synced")
"""Where pywrangler notes, from a project's root, which version of it has installed packages."""
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


def install(lock: Path, into: Path, *, is_for_here: bool = False) -> None:
    """Unpacks every locked wheel. *Raises:* CalledProcessError; pip has said why."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:"]
    if not is_for_here:
        command += ["--platform", PLATFORM, "--python-version", PYTHON, "--implementation", "cp"]
        command += ["--abi", f"cp{PYTHON}"]
    subprocess.run([*command, "--target", str(into), "-r", str(lock)], check=True)
    if not is_for_here:
        shutil.rmtree(into / "bin", ignore_errors=True)
    (into / MARK).touch()


def refresh(folder: Path, requirements: str, *, is_for_here: bool = False) -> None:
    """Makes a folder of packages anew, unless it holds them; the old one stays until then.

    They are for the edge's Python, or for the one that runs this.
    """
    stamp = ROOT / ".venv" / f".vendored-{folder.name}"
    described = requirements + sys.version * is_for_here
    if (folder / MARK).exists() and stamp.exists() and stamp.read_text() == described:
        return
    whose = "platform's tool" if is_for_here else "edge's packages"
    print(f"Installing the {whose} into {folder.relative_to(ROOT)}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        lock = Path(scratch) / "requirements.lock"
        lock.write_text(requirements)
        fresh = Path(scratch) / folder.name
        install(lock, fresh, is_for_here=is_for_here)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(fresh, folder)
    stamp.write_text(described)


def pins_of(requirements: str) -> list[tuple[str, str]]:
    """The names and versions in a lock."""
    return re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", requirements, re.MULTILINE)


def vendored(folder: Path) -> list[tuple[str, str]]:
    """The names and versions of the packages that lie in a folder, in order."""
    found = (path.name.removesuffix(".dist-info") for path in folder.glob("*.dist-info"))
    return sorted(
        (name.lower().replace("_", "-"), version)
        for name, _, version in (each.rpartition("-") for each in found)
    )


def pin(requirements: str, path: Path) -> None:
    """Names the locked versions in the file that the platform's own tool keeps its versions in.

    It resolves by itself, and takes what it finds there for settled: so it vendors the same.
    """
    pins = pins_of(requirements)
    held = path.read_text(encoding="utf-8") if path.exists() else ""
    if all(f'name = "{name}"\nversion = "{version}"\n' in held for name, version in pins):
        return
    packages = (
        f'\n[[packages]]\nname = "{name}"\nversion = "{version}"\n' for name, version in pins
    )
    text = 'lock-version = "1.0"\ncreated-by = "scripts/vendor"\n' + "".join(packages)
    path.write_text(text, encoding="utf-8")


def mark_synced(project: Path) -> None:
    """Tells pywrangler that it has installed what the lock says, so that it only runs wrangler."""
    [(_, version)] = pins_of(part_of(TOOL_LOCK, {"workers-py"}))
    for mark in SYNCED:
        (project / mark).parent.mkdir(exist_ok=True)
        (project / mark).write_text(version, encoding="utf-8")


def part_of(lock: Path, names: Set[str], *, is_without: bool = False) -> str:
    """The entries of a lock that have these names, or all others."""
    entries = re.split(r"^(?=[a-z])", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "".join(each for each in entries if (each.split("==")[0] in names) != is_without)


def install_tool(*, is_resolving: bool = False) -> None:
    """Installs pywrangler, and uv when it is to resolve. *Raises:* CalledProcessError."""
    refresh(TOOL, part_of(TOOL_LOCK, {"uv"}, is_without=True), is_for_here=True)
    if is_resolving:
        refresh(RESOLVER, part_of(TOOL_LOCK, {"uv"}), is_for_here=True)


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
            refresh(TEST_MODULES, part_of(TEST_LOCK, TEST_PACKAGES))
            install_tool()
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
