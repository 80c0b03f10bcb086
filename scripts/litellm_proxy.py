"""LiteLLM's proxy over a model's server, for the bench that measures ours beside it.

It lives in an environment of its own in the user's cache, never in ours: its packages are many, and
hold others to versions of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

VERSION = "1.108.7"
"""The release that is measured."""
START_S = 180.0
"""Seconds that its start may take: it imports some two thousand modules."""
MODEL = "mock"
"""The model that it serves."""


def folder() -> Path:
    """Where its environment is, or will be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "remembrancer" / f"litellm-{VERSION}"


def install() -> Path:
    """Makes the environment unless it is there; answers its program.

    *Raises:* CalledProcessError; pip has said why.
    """
    home = folder()
    program, mark = home / "bin" / "litellm", home / ".installed"
    if mark.exists():
        return program
    print(f"installing LiteLLM {VERSION} into {home}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
    command = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    command += ["--disable-pip-version-check", f"litellm[proxy]=={VERSION}"]
    subprocess.run(command, check=True)
    mark.touch()
    return program


@contextlib.contextmanager
def running(upstream: str, scratch: Path) -> Iterator[tuple[str, str]]:
    """The address and key of a proxy over the model's server at `upstream`, on loopback."""
    program = install()
    key = f"sk-{secrets.token_hex(32)}"  # without one it does not start
    settings = {
        "model_list": [
            {
                "model_name": MODEL,
                "litellm_params": {
                    "model": f"openai/{MODEL}",
                    "api_base": f"{upstream}/v1",
                    "api_key": "none",
                },
            }
        ],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
    }
    config = scratch / "litellm.yaml"
    config.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environ = {
        "HOME": str(scratch),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MASTER_KEY": key,
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "*",
        "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    log = scratch / "litellm.log"
    with log.open("wb") as told:
        process = subprocess.Popen(
            [program, "--config", config, "--host", "127.0.0.1", "--port", str(port)],
            stdout=told,
            stderr=told,
            env=environ,
            cwd=scratch,
        )
    try:
        _wait(process, url, log)
        yield url, key
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until it answers. *Raises:* RuntimeError with the end of what it printed."""
    until = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/health/liveliness", timeout=2).status_code == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"LiteLLM's proxy did not start: {log.read_text(errors='replace')[-2000:]}")
