"""The table of what a deployment needs in the account; a further kind of resource is one entry."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deploying.words import Stop
from deploying.wrangler import Wrangler, explain

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


Configuration = dict[str, Any]
"""What wrangler.toml holds, on its way to the generated configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(ABC):
    """One kind of resource; how it is found, made and bound is a subclass's."""

    kind: str
    variable: str
    """The environment variable that overrides its name."""
    permission: str
    suffix: str = ""
    """What its default name has after the Worker's."""

    @abstractmethod
    def look(self, wrangler: Wrangler, name: str) -> str | None:
        """Its id, or its name where it has none; None when it is not there. *Raises:* Stop."""

    @abstractmethod
    def make(self, wrangler: Wrangler, name: str) -> None:
        """Makes it. *Raises:* Stop."""

    def missing(self, wrangler: Wrangler, name: str) -> list[tuple[str, ...]]:
        """wrangler's commands for what an existing one still needs. *Raises:* Stop."""
        del wrangler, name
        return []

    @abstractmethod
    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        """Writes its name and id into the configuration that is uploaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Resource):
    """A resource with an id, which wrangler lists as JSON."""

    table: str
    """Its list of bindings in wrangler.toml."""
    binding: str
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

    def look(self, wrangler: Wrangler, name: str) -> str | None:
        listing = wrangler.read(*self.listing, permission=self.permission)
        for entry in listing if isinstance(listing, list) else []:
            if entry.get(self.name_key) == name:
                return str(entry[self.listed_id_key])
        return None

    def make(self, wrangler: Wrangler, name: str) -> None:
        wrangler.must(*self.creation, name, permission=self.permission)

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        bindings = [dict(each) for each in made.get(self.table, ())]
        for binding in bindings:
            if binding["binding"] == self.binding:
                if self.config_name_key:
                    binding[self.config_name_key] = name
                if id_ is not None:
                    binding[self.id_key] = id_
        made[self.table] = bindings


@dataclass(frozen=True, slots=True, kw_only=True)
class Index(Resource):
    """A Vectorize index: of the right size, with an index for whatever queries filter by."""

    binding: str
    dimensions: int
    metric: str
    filtered_by: tuple[str, ...]
    """Properties of a vector that need an index before the first vector is written."""

    def look(self, wrangler: Wrangler, name: str) -> str | None:
        listing = wrangler.read("vectorize", "list", "--json", permission=self.permission)
        for entry in listing if isinstance(listing, list) else []:
            if entry.get("name") == name:
                self._check(wrangler, name, entry.get("config") or {})
                return name
        return None

    def _check(self, wrangler: Wrangler, name: str, found: Mapping[str, object]) -> None:
        wanted = size_of(self, wrangler.environment)
        if (found.get("dimensions"), found.get("metric")) != (wanted, self.metric):
            raise Stop(
                "other_index",
                name=name,
                found=f"{found.get('dimensions')}, {found.get('metric')}",
                wanted=f"{wanted}, {self.metric}",
                variable=self.variable,
            )

    def make(self, wrangler: Wrangler, name: str) -> None:
        size = ("--dimensions", str(size_of(self, wrangler.environment)), "--metric", self.metric)
        wrangler.must("vectorize", "create", name, *size, permission=self.permission)

    def missing(self, wrangler: Wrangler, name: str) -> list[tuple[str, ...]]:
        command = ("vectorize", "list-metadata-index", name, "--json")
        listing = wrangler.read(*command, permission=self.permission)
        entries = listing if isinstance(listing, list) else []
        there = {entry.get("propertyName") for entry in entries}
        return [
            (
                *("vectorize", "create-metadata-index", name),
                *("--propertyName", each, "--type", "string"),
            )
            for each in self.filtered_by
            if each not in there
        ]

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        del id_
        made["vectorize"] = [
            {**each, "index_name": name} if each["binding"] == self.binding else dict(each)
            for each in made.get("vectorize", ())
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Resource):
    """A queue; `role` says where wrangler.toml names it."""

    role: str

    def look(self, wrangler: Wrangler, name: str) -> str | None:
        outcome = wrangler.run("queues", "info", name)
        if outcome.code == 0:
            return name
        if NO_QUEUE.search(outcome.text):
            return None
        raise explain(outcome, self.permission)

    def make(self, wrangler: Wrangler, name: str) -> None:
        wrangler.must("queues", "create", name, permission=self.permission)

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        del id_
        given = made.get("queues", {})
        queues = {side: [dict(each) for each in found] for side, found in given.items()}
        for binding in (*queues.get("producers", ()), *queues.get("consumers", ())):
            if self.role in binding:
                binding[self.role] = name
        made["queues"] = queues


DIMENSIONS_VARIABLE = "EMBEDDING_DIMENSIONS"
"""The setting of another model's dimensions; the index must have as many."""
NO_QUEUE = re.compile(r'Queue "[^"]*" does not exist')
"""How wrangler says that there is no such queue."""


def size_of(index: Index, environment: Mapping[str, str]) -> int:
    """How many dimensions the index has to have."""
    given = environment.get(DIMENSIONS_VARIABLE, "")
    return int(given) if given.isdigit() else index.dimensions


DATABASE = Listed(
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
)
"""The one that migrations go into."""
TABLE: tuple[Resource, ...] = (
    DATABASE,
    Listed(
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
    Index(
        kind="Vectorize",
        variable="VECTORIZE_INDEX_NAME",
        permission="Account > Vectorize > Edit",
        binding="VECTORS",
        dimensions=768,
        metric="cosine",
        filtered_by=("kind", "project"),
    ),
    # The one that failed messages go to comes first: the other's consumer names it.
    Queue(
        kind="DLQ",
        variable="REMEMBRANCER_DEAD_LETTERS_NAME",
        permission="Account > Queues > Edit",
        suffix="-dead-letters",
        role="dead_letter_queue",
    ),
    Queue(
        kind="Queue",
        variable="REMEMBRANCER_QUEUE_NAME",
        permission="Account > Queues > Edit",
        suffix="-jobs",
        role="queue",
    ),
)
"""Every resource, in the order in which it is made."""


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
    chosen = environment.get(resource.variable) or f"{default}{resource.suffix}"
    return check_name(chosen, resource.variable)
