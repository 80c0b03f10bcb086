"""What one deployment knows: where it runs, whether for show, and what was found on the way."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploying.resources import TABLE, Resource, choose_names, choose_worker_name
from deploying.upload_folder import make_folder, write_configuration
from deploying.words import KINDS, Speech, Stop
from deploying.wrangler import Wrangler

CONFIGURATION = "wrangler.toml"
"""The tracked file; it holds no id of anybody's resources."""
ACCOUNT_VARIABLE = "CLOUDFLARE_ACCOUNT_ID"
"""Which account; wrangler reads it, too."""


@dataclass
class Deployment:
    """One run. Steps fill in what they learn; nothing here goes to the network by itself."""

    root: Path
    environment: dict[str, str]
    is_dry: bool
    configuration: dict[str, Any] = field(default_factory=dict)
    worker: str = ""
    names: dict[str, str] = field(default_factory=dict)
    """Names of the resources by kind."""
    ids: dict[str, str] = field(default_factory=dict)
    """Ids of those that exist, by kind."""
    is_online: bool = False
    """Whether the account is known; false only in a dry run without a login."""
    has_plain_key: bool = False
    """Whether the Worker has its key as a variable that anybody with access can read."""
    target: str = ""
    """The Worker's address, once it is uploaded."""

    def __post_init__(self) -> None:
        self.speech = Speech(self.environment)
        self.wrangler = Wrangler(self.root, self.environment)

    def tell(self, key: str, /, **values: object) -> None:
        """Prints a sentence of `words.NOTES`."""
        self.print(self.speech.note(key, **values))

    def tell_command(self, *command: str) -> None:
        """Prints what a real run would execute."""
        self.tell("would_run", command=shlex.join(command))

    @staticmethod
    def print(text: str) -> None:
        """Prints below the step's headline, at once: a build's log is followed live."""
        print("  " + text.replace("\n", "\n  "), flush=True)

    def kind(self, resource: Resource) -> str:
        """What a resource is called in the run's language."""
        return self.speech.pick(KINDS[resource.kind])

    @property
    def resources(self) -> list[Resource]:
        """Those that this deployment has, in the order in which they are made."""
        return [each for each in TABLE if each.kind in self.names]

    def read_project(self) -> None:
        """Reads the tracked configuration and settles every name. *Raises:* Stop."""
        try:
            with (self.root / CONFIGURATION).open("rb") as file:
                self.configuration = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise Stop("no_project", reason=error) from error
        default = str(self.configuration["name"])
        self.worker = choose_worker_name(self.environment, default)
        self.names = choose_names(self.environment, default)

    def generate(self) -> dict[str, Any]:
        """The configuration with this account's names and ids; everything else is as tracked."""
        made = dict(self.configuration)
        made["name"] = self.worker
        for resource in self.resources:
            resource.bind(made, self.names[resource.kind], self.ids.get(resource.kind))
        if "routes" not in made and "route" not in made:
            made.setdefault("workers_dev", True)
        # Addresses of single versions would serve old code on today's database.
        made.setdefault("preview_urls", False)
        return made

    def write(self) -> str:
        """Makes the folder to upload, its configuration included; answers the latter's path."""
        make_folder(self.root)
        return write_configuration(self.root, self.generate())

    def use_account(self, account: str) -> None:
        """Makes every later command of wrangler use one account."""
        self.environment[ACCOUNT_VARIABLE] = account
        self.is_online = True


def read_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what is set but empty: build forms send empty fields along."""
    return {name: value for name, value in environment.items() if value.strip()}
