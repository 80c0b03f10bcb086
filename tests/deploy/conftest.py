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

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
PARTS = ("src", "migrations", "scripts", "wrangler.toml", "package.json", ".npmrc")
"""What a fork has that deploying reads."""
SECONDS_MAX = 400
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


def make_fork(folder: Path, packages: Path) -> None:
    """A fresh copy of what a fork has, its packages not yet vendored."""
    folder.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=skipped)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / "scripts" / "vendor").write_text(VENDOR.format(packages=packages))
    (folder / "scripts" / "install").write_text(INSTALL)


@pytest.fixture
def fork(tmp_path: Path, packages: Path) -> Iterator[Fork]:
    """A fork beside an account with nothing in it."""
    make_fork(tmp_path / "复本 fork", packages)
    cloud = Cloud()
    with Server(cloud) as server:
        yield Fork(tmp_path / "复本 fork", cloud, server.url)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[Fork]:
    """A fork that the tests of a module have in common: a deployment takes many seconds."""
    folder = tmp_path_factory.mktemp("deploy") / "复本 fork"
    make_fork(folder, packages)
    cloud = Cloud()
    with Server(cloud) as server:
        yield Fork(folder, cloud, server.url)
