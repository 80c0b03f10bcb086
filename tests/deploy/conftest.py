"""A fork of the repository on disk, an account on loopback, and the command between them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.deploy.cloudflare import ACCOUNT, TOKEN, Cloud, Server
from tests.deploy.resident import running_wrangler

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
PARTS = ("src", "migrations", "scripts", "wrangler.toml", "package.json", ".npmrc")
"""What a fork has that deploying reads."""
SECONDS_MAX = 900
"""Until one deployment is given up; on an idle machine it takes about twenty."""
VENDOR = """#!/usr/bin/env bash
[ ! -e vendor-fails ] && ln -sfn {packages} python_modules
"""
"""Puts the packages there that the real script has already made; `vendor-fails` breaks it."""
INSTALL = """#!/usr/bin/env bash
[ "$*" = --panel ] && [ ! -e panel-fails ] && mkdir -p admin/dist/assets &&
  printf '<title>面板</title>' >admin/dist/index.html && printf 1 >admin/dist/assets/app-1.js
"""
"""Builds a panel of two files in place of the real one; `panel-fails` breaks it."""


@dataclass
class Fork:
    """A folder that deploys into `cloud`."""

    folder: Path
    cloud: Cloud
    url: str

    def deploy(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """`npm run deploy:cloudflare` there, in a bare environment; "" takes a variable away."""
        given = {
            "CLOUDFLARE_ACCOUNT_ID": ACCOUNT,
            "CLOUDFLARE_API_BASE_URL": self.url,
            "CLOUDFLARE_API_TOKEN": TOKEN,
            "HOME": str(self.folder.parent),
            "LANG": "C.UTF-8",
            "NODE_COMPILE_CACHE": str(ROOT / ".wrangler" / "compiled"),
            "PATH": os.environ["PATH"],
            "REMEMBRANCER_ADDRESS": f"{self.url}/address",
            "REMEMBRANCER_SMOKE_SECONDS": "0",
            **environment,
        }
        return subprocess.run(
            ["npm", "run", "--silent", "deploy:cloudflare", "--", *options],
            cwd=self.folder,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )


@pytest.fixture(scope="session")
def packages() -> Path:
    """The vendored packages, made by the real script when they are not fresh."""
    subprocess.run([ROOT / "scripts" / "vendor"], check=True, capture_output=True)
    return ROOT / "python_modules"


@pytest.fixture(scope="session")
def wrangler() -> Iterator[Path]:
    """wrangler in one process for all of its commands, in a folder of programs."""
    with running_wrangler() as programs:
        yield programs


def make_fork(folder: Path, packages: Path, wrangler: Path | None = None) -> None:
    """A fresh copy of what a fork has, its packages not yet vendored.

    Without a folder of programs it has the modules as they are installed.
    """
    folder.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=skipped)
        else:
            shutil.copy(ROOT / name, folder / name)
    if wrangler is None:
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
        # What is compiled of wrangler is the same in every fork.
        compiled = ROOT / ".wrangler" / "compiled"
        compiled.mkdir(parents=True, exist_ok=True)
        (folder / ".wrangler").mkdir()
        (folder / ".wrangler" / "compiled").symlink_to(compiled)
    else:
        (folder / "node_modules").mkdir()
        (folder / "node_modules" / ".bin").symlink_to(wrangler)
    (folder / "scripts" / "vendor").write_text(VENDOR.format(packages=packages))
    (folder / "scripts" / "install").write_text(INSTALL)


@pytest.fixture
def fork(tmp_path: Path, packages: Path, wrangler: Path) -> Iterator[Fork]:
    """A fork beside an account with nothing in it."""
    make_fork(tmp_path / "复本 fork", packages, wrangler)
    cloud = Cloud()
    with Server(cloud) as server:
        yield Fork(tmp_path / "复本 fork", cloud, server.url)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[Fork]:
    """A fork with wrangler as it is installed, a process for each command, for a whole module."""
    folder = tmp_path_factory.mktemp("deploy") / "复本 fork"
    make_fork(folder, packages)
    cloud = Cloud()
    with Server(cloud) as server:
        yield Fork(folder, cloud, server.url)
