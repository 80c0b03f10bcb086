"""Bindings of the Worker in the shape of the platform's: D1 over a SQLite store, and KV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.edge.standins import JSNULL, JsBytes, JsException

from remembrancer.core.errors import RemembrancerError
from remembrancer.ports.sql import SqlStore, Statement
from remembrancer.testing.stores import memory_store


@dataclass
class Prepared:
    """A prepared statement."""

    sql: str
    params: tuple[Any, ...] = ()

    def bind(self, *params: Any) -> Prepared:
        return Prepared(self.sql, params)

    @property
    def statement(self) -> Statement:
        return Statement(self.sql, tuple(_plain(value) for value in self.params))


@dataclass
class D1:
    """A D1 database: `fail` may throw before a batch; `starts` are the sessions' beginnings."""

    store: SqlStore = field(default_factory=memory_store)
    fail: Callable[[int], None] = lambda _: None
    calls: int = 0
    starts: list[str] = field(default_factory=list)
    bound: list[Any] = field(default_factory=list)

    def withSession(self, start: str) -> Session:  # noqa: N802
        self.starts.append(start)
        return Session(self)


class Session:
    """A session; its bookmark counts its batches."""

    def __init__(self, database: D1) -> None:
        self._database = database
        self._batches = 0

    def prepare(self, sql: str) -> Prepared:
        return Prepared(sql)

    async def batch(self, statements: Any) -> list[dict[str, Any]]:
        prepared: Sequence[Prepared] = statements
        database = self._database
        database.calls += 1
        database.fail(database.calls)
        database.bound += [value for each in prepared for value in each.params]
        try:
            outcomes = await database.store.write([each.statement for each in prepared])
        except RemembrancerError as error:
            raise JsException(f"D1_ERROR: {error.__cause__}") from error
        self._batches += 1
        return [
            {
                "success": True,
                "meta": {"changes": each.changes, "rows_read": 1, "rows_written": 2},
                "results": [
                    {name: _given(value) for name, value in row.items()} for row in each.rows
                ],
            }
            for each in outcomes
        ]

    def getBookmark(self) -> Any:  # noqa: N802
        return f"bookmark-{self._batches}" if self._batches else JSNULL


@dataclass
class Kv:
    """A KV namespace; `is_broken` makes every call throw."""

    values: dict[str, str] = field(default_factory=dict)
    lives: dict[str, int] = field(default_factory=dict)
    is_broken: bool = False

    async def get(self, key: str) -> Any:
        self._check()
        return self.values.get(key, JSNULL)

    async def put(self, key: str, value: str, *, expirationTtl: int) -> None:  # noqa: N803
        self._check()
        self.values[key] = value
        self.lives[key] = expirationTtl

    async def delete(self, key: str) -> None:
        self._check()
        self.values.pop(key, None)

    def _check(self) -> None:
        if self.is_broken:
            raise JsException("KV GET failed: 500 Internal Server Error")


def bindings(**more: Any) -> SimpleNamespace:
    """An environment as the platform makes it: `DB`, `KV`, and variables."""
    return SimpleNamespace(**{"DB": D1(), "KV": Kv(), "CHATBOX_API_KEY": "sk-owner", **more})


def _plain(value: Any) -> Any:
    if value is JSNULL:
        return None
    return value.data if isinstance(value, JsBytes) else value


def _given(value: Any) -> Any:
    return list(value) if isinstance(value, bytes) else value
