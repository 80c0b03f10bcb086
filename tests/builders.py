"""Builders with defaults: an App on a fresh store, callers, and what tests look at afterwards."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cache

from remembrancer.app.context.cache import FirstLevel
from remembrancer.app.settings import Settings, load_settings
from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.blobs import BlobStore
from remembrancer.ports.sql import Row, SqlStore, Statement
from remembrancer.store.projections import TABLES
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

OWNER_KEY = "sk-test-owner"
NAMESPACE = Namespace("default")


@cache
def _owner_settings() -> Settings:
    """The settings of every bench; parsing them takes longer than most commands."""
    return load_settings({"CHATBOX_API_KEY": OWNER_KEY})


@dataclass(slots=True)
class Bench:
    """An App with its fakes at hand, and a caller for each command."""

    runtime: FixedRuntime = field(default_factory=FixedRuntime)
    sql: SqlStore = field(default_factory=memory_store)
    actor: str = "user"
    causes: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    bundles: FirstLevel = field(default_factory=FirstLevel)
    shared: MemoryKeyValue | None = None
    blobs: BlobStore | None = None

    @property
    def kv(self) -> MemoryKeyValue:
        """The one key-value store of all its apps."""
        if self.shared is None:
            self.shared = MemoryKeyValue(self.runtime)
        return self.shared

    @property
    def app(self) -> App:
        return App(
            sql=self.sql,
            kv=self.kv,
            bundles=self.bundles,
            runtime=self.runtime,
            settings=_owner_settings(),
            blobs=self.blobs,
        )

    def caller(self, **changes: object) -> Caller:
        """A fresh cause for each command, as at the doors."""
        caller = Caller(
            NAMESPACE, self.actor, f"req_{next(self.causes)}", frozenset({"memory:write"})
        )
        return replace(caller, **changes)  # type: ignore[arg-type]  # field names of Caller

    async def rows(self, sql: str, *params: str | int) -> list[Row]:
        [outcome] = await self.sql.read([Statement(sql, params)])
        return outcome.rows

    async def tables(self) -> dict[str, list[tuple[object, ...]]]:
        """Every projected row, sorted, to compare two states of the store."""
        result: dict[str, list[tuple[object, ...]]] = {}
        for table in TABLES:
            columns = "rowid, *" if table == "search" else "*"
            rows = await self.rows(f"SELECT {columns} FROM {table}")
            kept = [row for row in rows if not (table == "counters" and row["value"] == 0)]
            result[table] = sorted((tuple(row.values()) for row in kept), key=repr)
        return result


def item_of(answer: dict[str, JSON]) -> dict[str, JSON]:
    """The item in an answer."""
    item = answer["item"]
    assert isinstance(item, dict)
    return item


def id_of(answer: dict[str, JSON]) -> str:
    """The id of the item in an answer."""
    return str(item_of(answer)["id"])
