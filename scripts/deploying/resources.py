"""The table of what a deployment needs in the account; a further kind of resource is one entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from deploying.words import Stop

NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9]){0,53}")
"""Names that every kind of resource may have, a Worker's included."""
PREDECESSORS = frozenset({"companion-memory-proxy", "memo-kb", "memo-kb-jobs", "aelios"})
"""Names of the predecessor's Worker, database, index and queue: nothing is written there."""
WORKER_VARIABLE = "REMEMBRANCER_WORKER_NAME"
"""Overrides the Worker's name."""
BUILD_VARIABLE = "WRANGLER_CI_OVERRIDE_NAME"
"""The name of the connected Worker in Cloudflare's build environment; wrangler obeys it."""
WORKER_PERMISSION = "Account > Workers Scripts > Edit"
"""What uploading needs."""
HOLDERS = frozenset(
    {
        "d1",
        "durable_object_namespace",
        "hyperdrive",
        "kv_namespace",
        "queue",
        "r2_bucket",
        "vectorize",
    }
)
"""Kinds of binding that lead to somebody's data; a secret or a variable does not."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of resource: how wrangler lists and makes it, and where its binding is written."""

    kind: str
    variable: str
    """The environment variable that overrides its name."""
    table: str
    """Its list of bindings in wrangler.toml."""
    binding: str
    permission: str
    listing: tuple[str, ...]
    """wrangler's command that prints all of them as JSON."""
    creation: tuple[str, ...]
    """wrangler's command that makes one; the name is added."""
    name_key: str
    """Where an entry of the listing has the name."""
    listed_id_key: str
    """Where an entry of the listing has the id."""
    id_key: str
    """Where the binding has the id."""
    config_name_key: str | None = None
    """Where the binding has the name, for a kind whose binding has one."""

    def find(self, listing: object, name: str) -> str | None:
        """The id of the resource of that name in a listing."""
        entries = listing if isinstance(listing, list) else []
        for entry in entries:
            if entry.get(self.name_key) == name:
                return str(entry[self.listed_id_key])
        return None


TABLE = (
    Resource(
        kind="D1",
        variable="REMEMBRANCER_D1_NAME",
        table="d1_databases",
        binding="DB",
        permission="Account > D1 > Edit",
        listing=("d1", "list", "--json"),
        creation=("d1", "create"),
        name_key="name",
        listed_id_key="uuid",
        id_key="database_id",
        config_name_key="database_name",
    ),
    Resource(
        kind="KV",
        variable="REMEMBRANCER_KV_NAME",
        table="kv_namespaces",
        binding="KV",
        permission="Account > Workers KV Storage > Edit",
        listing=("kv", "namespace", "list"),
        creation=("kv", "namespace", "create"),
        name_key="title",
        listed_id_key="id",
        id_key="id",
    ),
)
"""Every resource, in the order in which it is made."""
DATABASE = TABLE[0]
"""The one that migrations go into."""


def check_name(name: str, variable: str) -> str:
    """The name, when it may be used. *Raises:* Stop."""
    if name in PREDECESSORS:
        raise Stop("predecessor", name=name, variable=variable)
    if not NAME.fullmatch(name):
        raise Stop("bad_name", name=name, variable=variable)
    return name


def choose_worker_name(environment: Mapping[str, str], default: str) -> str:
    """The Worker's name: that of the connected Worker, of the environment, or of wrangler.toml."""
    for variable in (BUILD_VARIABLE, WORKER_VARIABLE):
        if environment.get(variable):
            return check_name(environment[variable], variable)
    return check_name(default, WORKER_VARIABLE)


def choose_name(resource: Resource, environment: Mapping[str, str], default: str) -> str:
    """A resource's name: that of the environment, or the default."""
    return check_name(environment.get(resource.variable) or default, resource.variable)
