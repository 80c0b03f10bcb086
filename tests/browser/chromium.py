"""Which browser the tests drive: the system's Chromium, installed where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that are a Chromium; a package of a browser test's own would be another download."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""A browser that runs as root in a container and speaks to nobody but its pages."""
APT = ("apt-get", "-o", "DPkg::Lock::Timeout=120")
PACKAGES = ("chromium", "fonts-noto-cjk")
"""The browser, and letters for Chinese pages, without which a screenshot shows boxes."""


def find_chromium() -> str:
    """Return the program, installing it as root on Debian. *Raises:* RuntimeError."""
    found = _found()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for arguments in (
            ("update", "-q"),
            ("install", "-y", "--no-install-recommends", *PACKAGES),
        ):
            subprocess.run([*APT, *arguments], check=False, stdout=subprocess.DEVNULL)
        found = _found()
    if found is None:
        raise RuntimeError(
            f"no browser was found ({', '.join(NAMES)}); install one, such as: apt install chromium"
        )
    return found


def _found() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)
