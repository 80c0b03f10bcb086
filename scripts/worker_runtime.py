"""Runs the Worker in the platform's own runtime on this machine; `scripts/edge` is its face.

What runs is what deploying uploads, on a local D1, cache and queue, started by the platform's own
tool, `pywrangler dev`. Workers AI and Vectorize are not to be had here, so search goes by words.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import vendoring
from deploying.deployment import Deployment
from deploying.upload_folder import make_folder, write_configuration
from pyodide_bundle import make_bundle

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
SCRATCH = ROOT / ".wrangler"
"""Where each run has a folder of its own, with a project as pywrangler wants it."""
PROJECT = ("pyproject.toml", "wrangler.toml")
"""What pywrangler reads of a project."""
CACHE = ROOT / ".wrangler" / "pyodide"
"""Where the runtime finds a Pyodide that is made here."""
PROGRAMS = ROOT / "node_modules" / ".bin"
"""wrangler, and the Node that the lock brings."""
FLAGS = ("python_workers_development", "experimental")
"""Compatibility flags with which the runtime takes the Pyodide that lies in its cache."""
WITHOUT_LOGIN = "--local"
"""Without it, Workers AI asks for a login before anything starts."""
VARIABLES = {"EMBEDDING_MODEL": "off", "RATE_LIMIT_PER_MINUTE": "0"}
"""The Worker's variables unless more are given."""
LAUNCHER = '#!/bin/sh\ncommand=$1\nshift\nexec "{runtime}" "$command" {options} "$@"\n'
"""What wrangler starts for the runtime: wrangler has no option for where Pyodides are kept."""
PORTS = range(20_000, 30_000)
"""Below those that Linux (from 32,768) and others (from 49,152) give out. Our choice."""
START_S = 300
"""Seconds until the first answer; the runtime compiles Pyodide, and may first fetch it."""
STOP_S = 60
"""Seconds that the processes may take to end."""
PAUSE_S = 0.5
"""Seconds between two questions whether it answers."""
SHOWN_LINES = 40
"""Last lines of its output that are shown when it did not start."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A Worker that is served. *Shape:* `log` has what it and wrangler say, `project` its files."""

    url: str
    token: str
    log: Path
    project: Path


class NotStarted(Exception):
    """The runtime gave no answer; the text has its last lines."""


def prepare(project: Path, *, is_fetching: bool) -> str:
    """Gathers what is uploaded; answers the configuration's path from the root. *Raises:* Stop."""
    deployment = Deployment(ROOT, {}, is_dry=True)
    deployment.read_project()
    made = deployment.generate()
    below = project.relative_to(ROOT)
    packages = make_folder(ROOT, below) / vendoring.MODULES.name
    # A copy: pywrangler installs into it, or finds its mark in it.
    packages.unlink()
    shutil.copytree(vendoring.MODULES, packages)
    for name in (*PROJECT, vendoring.PYLOCK.name):
        shutil.copy(ROOT / name, project)
    if not is_fetching:
        made["compatibility_flags"] = [*made["compatibility_flags"], *FLAGS]
        make_bundle(CACHE)
        vendoring.mark_synced(project)
    return write_configuration(ROOT, made, below)


def make_environment(scratch: Path, *, is_fetching: bool) -> dict[str, str]:
    """The environment of the platform's tools: no account, and where they find one another."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLOUDFLARE_")}
    path = [str(PROGRAMS), kept.get("PATH", "")]
    if is_fetching:
        path.insert(0, str(vendoring.RESOLVER / "bin"))
    told = {
        "CI": "true",
        "NO_COLOR": "1",
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(vendoring.TOOL),
        "WRANGLER_SEND_METRICS": "false",
    }
    if not is_fetching:
        launcher = scratch / "workerd"
        options = f'--pyodide-bundle-disk-cache-dir="{CACHE}"'
        launcher.write_text(LAUNCHER.format(runtime=find_runtime(), options=options))
        launcher.chmod(0o700)
        told["MINIFLARE_WORKERD_PATH"] = str(launcher)
    return kept | told


def find_runtime() -> str:
    """The runtime's program of the wrangler that is locked. *Raises:* CalledProcessError."""
    asked = 'require("module").createRequire(require.resolve("wrangler"))("workerd").default'
    node = shutil.which("node", path=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}") or "node"
    done = subprocess.run(
        [node, "--print", asked], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@contextmanager
def serve(
    variables: Mapping[str, str] = VARIABLES, *, is_fetching: bool = False, port: int = 0
) -> Iterator[Runtime]:
    """Serves the Worker on an empty, migrated database until the block ends.

    One that is fetching lets pywrangler resolve the packages and the runtime fetch its Pyodide, as
    on the platform; otherwise both are those of the locks. *Raises:* NotStarted, Stop,
    CalledProcessError.
    """
    SCRATCH.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SCRATCH, prefix="edge-") as folder:
        scratch = Path(folder)
        project, log = scratch / "project", scratch / "log"
        configuration = prepare(project, is_fetching=is_fetching)
        environment = make_environment(scratch, is_fetching=is_fetching)
        base = ("--config", str(ROOT / configuration), "--persist-to", str(scratch / "state"))
        migrate = [str(PROGRAMS / "wrangler"), "d1", "migrations", "apply", "DB", "--local", *base]
        _run(migrate, environment)
        port = port or free_port()
        token = f"sk-{secrets.token_urlsafe(24)}"
        command = [sys.executable, "-m", "pywrangler", "dev", *base, WITHOUT_LOGIN]
        command += ["--ip", "127.0.0.1", "--port", str(port)]
        for name, value in {**variables, "CHATBOX_API_KEY": token}.items():
            command += ["--var", f"{name}:{value}"]
        with log.open("wb") as output:
            # A group of its own: pywrangler, npx, wrangler and the runtime end together.
            process = subprocess.Popen(
                command,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            runtime = Runtime(f"http://127.0.0.1:{port}", token, log, project)
            _wait(runtime, process)
            yield runtime
        finally:
            _stop(process)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotStarted(done.stdout + done.stderr)


def free_port() -> int:
    """A port that nobody listens on, and that no system gives to whoever asks for any.

    Of those that are given out, it could be somebody else's by the time it is used.
    """
    while True:
        number = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", number))
            return number


def _wait(runtime: Runtime, process: subprocess.Popen[bytes]) -> None:
    """Until it answers. *Raises:* NotStarted."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with direct.open(f"{runtime.url}/health", timeout=START_S) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(PAUSE_S)
    lines = runtime.log.read_text(encoding="utf-8", errors="replace").splitlines()
    raise NotStarted("\n".join(lines[-SHOWN_LINES:]))


def _stop(process: subprocess.Popen[bytes]) -> None:
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(STOP_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def test(runtime: Runtime, options: Sequence[str]) -> int:
    """Runs the black-box suite on it; answers pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.pyodide.suites.pointed", "tests/e2e", *options]
    environment = {**os.environ, "BASE_URL": runtime.url, "TOKEN": runtime.token}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Serves and tests; answers the exit code: that of pytest, or 1 without a runtime."""
    parser = argparse.ArgumentParser(
        prog="scripts/edge", description="Tests the Worker in the platform's own runtime."
    )
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="let pywrangler resolve the packages and the runtime fetch its Pyodide, as deployed",
    )
    chosen, options = parser.parse_known_args(arguments)
    try:
        vendoring.install_tool(is_resolving=chosen.fetch)
        with serve(is_fetching=chosen.fetch, port=int(os.environ.get("PORT", "0"))) as runtime:
            locked = sorted(vendoring.pins_of(vendoring.LOCK.read_text(encoding="utf-8")))
            found = vendoring.vendored(runtime.project / vendoring.MODULES.name)
            if found != locked:
                told = ", ".join(f"{name} {version}" for name, version in set(found) ^ set(locked))
                print(f"scripts/edge: not as locked: {told}", file=sys.stderr)
                return 1
            return test(runtime, options)
    except NotStarted as error:
        print(f"{error}\nscripts/edge: the runtime did not start", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
