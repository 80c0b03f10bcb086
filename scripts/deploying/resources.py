"""The table of what a deployment needs in the account; a further kind of resource is one entry."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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
    is_optional: bool = False
    """Whether it is only there when its variable names it, or the deployed Worker has it."""

    @abstractmethod
    def look(self, wrangler: Wrangler, name: str) -> str | None:
        """Its id, or its name where it has none; None when it is not there. *Raises:* Stop."""

    @abstractmethod
    def make(self, wrangler: Wrangler, name: str) -> str | None:
        """Makes it; answers as `look`, None when only looking tells the id. *Raises:* Stop."""

    def missing(
        self, wrangler: Wrangler, name: str, *, is_new: bool = False
    ) -> list[tuple[str, ...]]:
        """wrangler's commands for what it still needs; a new one needs all. *Raises:* Stop."""
        del wrangler, name, is_new
        return []

    def bound_name(self, bindings: Sequence[Mapping[str, object]]) -> str | None:
        """The name of the one that a deployed Worker has; None without."""
        del bindings
        return None

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

    def make(self, wrangler: Wrangler, name: str) -> str | None:
        wrangler.must(*self.creation, name, permission=self.permission)
        return None

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
    dimensions: int | None
    """How many it has unless the environment says so; None when only that can say it."""
    size_variable: str
    """The setting that says it."""
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
        wanted = size_of(self, wrangler.environment) or found.get("dimensions")
        if (found.get("dimensions"), found.get("metric")) != (wanted, self.metric):
            raise Stop(
                "other_index",
                name=name,
                found=f"{found.get('dimensions')}, {found.get('metric')}",
                wanted=f"{wanted}, {self.metric}",
                variable=self.variable,
            )

    def make(self, wrangler: Wrangler, name: str) -> str:
        wanted = size_of(self, wrangler.environment)
        if wanted is None:
            raise Stop("next_size", name=name, variable=self.size_variable)
        size = ("--dimensions", str(wanted), "--metric", self.metric)
        wrangler.must("vectorize", "create", name, *size, permission=self.permission)
        return name

    def missing(
        self, wrangler: Wrangler, name: str, *, is_new: bool = False
    ) -> list[tuple[str, ...]]:
        command = ("vectorize", "list-metadata-index", name, "--json")
        listing = [] if is_new else wrangler.read(*command, permission=self.permission)
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

    def bound_name(self, bindings: Sequence[Mapping[str, object]]) -> str | None:
        return _found(bindings, self.binding, "index_name")

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        del id_
        others = [each for each in made.get("vectorize", ()) if each["binding"] != self.binding]
        made["vectorize"] = [*others, {"binding": self.binding, "index_name": name}]


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

    def make(self, wrangler: Wrangler, name: str) -> str:
        wrangler.must("queues", "create", name, permission=self.permission)
        return name

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        del id_
        given = made.get("queues", {})
        queues = {side: [dict(each) for each in found] for side, found in given.items()}
        for binding in (*queues.get("producers", ()), *queues.get("consumers", ())):
            if self.role in binding:
                binding[self.role] = name
        made["queues"] = queues


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(Resource):
    """An R2 bucket, which wrangler.toml names only in a comment: the account must have R2."""

    binding: str

    def look(self, wrangler: Wrangler, name: str) -> str | None:
        # wrangler's list ends with its first page, and what it tells of one asks for more rights.
        outcome = wrangler.run("r2", "bucket", "dev-url", "get", name)
        if outcome.code == 0:
            return name
        if NO_BUCKET.search(outcome.text):
            return None
        raise explain(outcome, self.permission)

    def make(self, wrangler: Wrangler, name: str) -> str:
        wrangler.must("r2", "bucket", "create", name, permission=self.permission)
        return name

    def bound_name(self, bindings: Sequence[Mapping[str, object]]) -> str | None:
        return _found(bindings, self.binding, "bucket_name")

    def bind(self, made: Configuration, name: str, id_: str | None) -> None:
        del id_
        made["r2_buckets"] = [{"binding": self.binding, "bucket_name": name}]


NO_QUEUE = re.compile(r'Queue "[^"]*" does not exist')
"""How wrangler says that there is no such queue."""
NO_BUCKET = re.compile(r"\[code: 10006\]")
"""How the API says that there is no such bucket."""
NONE = "none"
"""What an optional resource's variable says so that a deployed Worker loses it."""


def size_of(index: Index, environment: Mapping[str, str]) -> int | None:
    """How many dimensions the index has to have; None when nothing says it."""
    given = environment.get(index.size_variable, "")
    return int(given) if given.isdigit() else index.dimensions


def _found(bindings: Sequence[Mapping[str, object]], binding: str, name_key: str) -> str | None:
    found = (each.get(name_key) for each in bindings if each.get("name") == binding)
    return next((str(name) for name in found if name), None)


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
        size_variable="EMBEDDING_DIMENSIONS",
        metric="cosine",
        filtered_by=("kind", "project"),
    ),
    # While the vectors move to another model; the two have different sizes as a rule.
    Index(
        kind="VectorizeNext",
        variable="VECTORIZE_INDEX_NAME_NEXT",
        permission="Account > Vectorize > Edit",
        is_optional=True,
        binding="VECTORS_NEXT",
        dimensions=None,
        size_variable="EMBEDDING_DIMENSIONS_NEXT",
        metric="cosine",
        filtered_by=("kind", "project"),
    ),
    Bucket(
        kind="R2",
        variable="REMEMBRANCER_R2_NAME",
        permission="Account > Workers R2 Storage > Edit",
        is_optional=True,
        binding="ARTIFACTS",
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


def choose_names(environment: Mapping[str, str], default: str) -> dict[str, str]:
    """The name of each resource by its kind: that of the environment, or the default.

    *Raises:* Stop. Optional ones have none unless the environment names them.
    """
    names: dict[str, str] = {}
    for resource in TABLE:
        given = environment.get(resource.variable)
        if resource.is_optional and given in (None, NONE):
            continue
        names[resource.kind] = check_name(given or f"{default}{resource.suffix}", resource.variable)
    if names.get("VectorizeNext") == names["Vectorize"]:
        raise Stop("same_index", name=names["Vectorize"])
    return names
