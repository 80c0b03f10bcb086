"""Runs wrangler, the platform's own tool, and says in plain words why it failed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploying.words import Stop

STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""What colours a terminal's text."""
DENIED = re.compile(r"\[code: (?:10000|7403|9109)\]|Authentication error|Unauthorized to access")
"""How the API says that a token may not do this."""
OFFLINE = re.compile(
    r"fetch failed|ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|UND_ERR|network error",
    re.IGNORECASE,
)
"""How Node says that nobody answered."""
NO_SUBDOMAIN = re.compile(r"register a workers\.dev subdomain")
"""How wrangler says that the account has no address yet."""
NO_R2 = re.compile(r"\[code: 10042\]|enable R2")
"""How the API says that the account has no R2."""
NO_WORKER = re.compile(r"\[code: (?:10007|10090)\]|has no deployments|does not exist")
"""How the API says that there is no such Worker, or nothing uploaded to it."""
EXPLANATION_LINES_MAX = 12
"""Lines of wrangler's own words that are shown; its log has the rest."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: exit code, and what it printed without colours."""

    code: int
    output: str
    errors: str

    @property
    def text(self) -> str:
        return f"{self.output}\n{self.errors}"


@dataclass(frozen=True, slots=True)
class Wrangler:
    """The tool in one project, in one environment."""

    root: Path
    environment: Mapping[str, str]

    @property
    def program(self) -> Path:
        return self.root / "node_modules" / ".bin" / "wrangler"

    def run(self, *arguments: str, given: str = "", **extra: str) -> Outcome:
        """Runs a command without a terminal, so that it never asks; `extra` is environment."""
        if not self.program.exists():
            raise Stop("no_wrangler")
        environment = {
            **self.environment,
            "FORCE_COLOR": "0",
            "NODE_COMPILE_CACHE": str(self.root / ".wrangler" / "compiled"),
            "WRANGLER_HIDE_BANNER": "true",
            "WRANGLER_SEND_METRICS": "false",
            **extra,
        }
        done = subprocess.run(
            [str(self.program), *arguments],
            cwd=self.root,
            env=environment,
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        return Outcome(done.returncode, STYLE.sub("", done.stdout), STYLE.sub("", done.stderr))

    def must(self, *arguments: str, permission: str, given: str = "", **extra: str) -> Outcome:
        """Runs a command that has to succeed. *Raises:* Stop, in plain words."""
        outcome = self.run(*arguments, given=given, **extra)
        if outcome.code != 0:
            raise explain(outcome, permission)
        return outcome

    def read(self, *arguments: str, permission: str) -> object:
        """Runs a command that prints JSON. *Raises:* Stop."""
        outcome = self.must(*arguments, permission=permission)
        return parse(outcome)


def parse(outcome: Outcome) -> object:
    """The JSON in a command's output, whatever lines stand before it. *Raises:* Stop."""
    for start in re.finditer(r"^[\[{]", outcome.output, re.MULTILINE):
        try:
            found: object = json.JSONDecoder().raw_decode(outcome.output, start.start())[0]
        except json.JSONDecodeError:
            continue
        return found
    raise Stop("failed", text=shorten(outcome.text))


def explain(outcome: Outcome, permission: str) -> Stop:
    """Why a command failed."""
    if NO_SUBDOMAIN.search(outcome.text):
        return Stop("subdomain")
    if NO_R2.search(outcome.text):
        return Stop("no_r2")
    if DENIED.search(outcome.text):
        return Stop("permission", permission=permission)
    if OFFLINE.search(outcome.text):
        return Stop("network")
    return Stop("failed", text=shorten(outcome.text))


def shorten(text: str) -> str:
    """wrangler's own words, from its first error on, without where it keeps its log."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [
        line for line in lines if "Logs were written" not in line and "open an issue" not in line
    ]
    first = next((at for at, line in enumerate(lines) if "ERROR" in line), 0)
    return "\n  ".join(lines[first : first + EXPLANATION_LINES_MAX])
