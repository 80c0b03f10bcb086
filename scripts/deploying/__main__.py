"""The command: runs the steps one after another, and says where it stopped and why."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from deploying.deployment import Deployment, read_environment
from deploying.steps import STEPS
from deploying.words import STEPS as TITLES
from deploying.words import Stop

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""


def show_addresses(run: Deployment) -> None:
    """What goes into a client's settings."""
    run.tell("mcp_url", url=f"{run.target}/mcp")
    run.tell("base_url", url=f"{run.target}/v1")
    if "assets" in run.configuration:
        run.tell("panel_url", url=f"{run.target}/admin")


def deploy(run: Deployment) -> int:
    """Every step in order; answers the exit code."""
    if run.is_dry:
        run.tell("dry_run")
    for number, (name, step) in enumerate(STEPS.items(), start=1):
        print(f"[{number}/{len(STEPS)}] {run.speech.pick(TITLES[name])}", flush=True)
        try:
            step(run)
        except Stop as stop:
            run.print(run.speech.stop(stop))
            run.tell("again")
            return 1
    if run.is_dry:
        run.tell("done_dry")
    else:
        run.tell("done")
        show_addresses(run)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Reads the command line; answers the exit code."""
    parser = argparse.ArgumentParser(
        prog="npm run deploy:cloudflare --", description="Deploys to Cloudflare."
    )
    parser.add_argument("--dry-run", action="store_true", help="show each step, change nothing")
    chosen = parser.parse_args(arguments)
    environment = read_environment(os.environ)
    return deploy(Deployment(ROOT, environment, is_dry=chosen.dry_run))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
