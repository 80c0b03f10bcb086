"""A conversation with the door as its owner: every answer is held against the description.

The world that many tests begin with is `settle`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import jsonschema_rs
from tests.builders import Bench
from tests.protocol.rest.doors import OWNER, Served, error_of, serve

from remembrancer.http.openapi import build_document
from remembrancer.http.route_table import RouteTable
from remembrancer.http.routes import AREAS

TABLE = RouteTable(AREAS)
"""What is served."""


@cache
def document() -> dict[str, Any]:
    """The description of what is served."""
    return build_document(TABLE)


@cache
def _validator(path: str, method: str, status: str) -> Any:
    responses = document()["paths"][path][method.lower()]["responses"]
    assert status in responses, f"{method} {path} answered {status}, which is not described"
    schema = responses[status]["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**schema, "components": document()["components"]})


def check_described(method: str, url: str, response: httpx.Response) -> None:
    """Hold an answer against the description of its route."""
    found = TABLE.find(unquote(urlsplit(url).path))
    assert found is not None, url
    route = found.by_method[method]
    if response.is_error:
        code = response.json()["error"]["code"]
        assert code in route.error_codes, f"{route.name} answered {code!r}, which it does not name"
    path = route.path.replace(":path}", "}")
    _validator(path, method, str(response.status_code)).validate(response.json())


@dataclass(frozen=True, slots=True)
class Talk:
    """A client with the owner's key, and the server behind it."""

    served: Served
    client: httpx.AsyncClient

    async def send(self, method: str, url: str, **options: Any) -> httpx.Response:
        """The response to a request; its form is checked."""
        options["headers"] = {**OWNER, **options.get("headers", {})}
        response = await self.client.request(method, url, **options)
        check_described(method, url, response)
        return response

    async def ask(self, method: str, url: str, body: Any = None, **options: Any) -> Any:
        """The answer to a request that succeeds."""
        if body is not None:
            options["json"] = body
        response = await self.send(method, url, **options)
        assert response.is_success, response.text
        return response.json()

    async def refuse(
        self, method: str, url: str, body: Any = None, *, code: str, status: int = 400, **more: Any
    ) -> dict[str, Any]:
        """The error of a request that is refused."""
        if body is not None:
            more["json"] = body
        return error_of(await self.send(method, url, **more), status=status, code=code)

    async def make(self, title: str, **fields: Any) -> str:
        """The id of a new item."""
        answer = await self.ask("POST", "/v1/items", {"title": title, **fields})
        return str(answer["item"]["id"])

    async def tables(self) -> dict[str, Any]:
        """Every row that the ledger gave, how long the ledger is, stored messages and the cache."""
        bench = Bench(sql=self.served.app.sql)
        [events] = await bench.rows("SELECT count(*) AS events FROM events")
        messages = await bench.rows("SELECT * FROM messages ORDER BY namespace, id")
        cache = await bench.rows("SELECT * FROM cache_entries ORDER BY namespace, bucket, name")
        outside = {"messages": messages, "cache": cache}
        return {**await bench.tables(), **outside, "events": events["events"]}


@asynccontextmanager
async def talk(environ: Mapping[str, str] | None = None) -> AsyncIterator[Talk]:
    """A conversation with a fresh server."""
    served = serve(environ)
    async with served.client() as client:
        yield Talk(served, client)


@dataclass(frozen=True, slots=True)
class World:
    """Ids of what `settle` made."""

    milk: str
    bread: str
    gone: str
    goal: str


async def settle(one: Talk) -> World:
    """Make a small household: tasks, a deleted one, a goal, a project, a topic, a relation."""
    await one.ask("POST", "/v1/projects", {"name": "家"})
    await one.ask("POST", "/v1/topics", {"name": "厨房", "retrieval_priority": 3})
    milk = await one.make("买牛奶", project="家", topic="厨房", tags=["家务"], due="2026-03-02")
    bread = await one.make("Bake bread", kind="task", tags=["家务", "Fun"])
    gone = await one.make("Old note", kind="memory", content="nothing of worth")
    await one.ask("DELETE", f"/v1/items/{gone}")
    goal = await one.ask("PUT", "/v1/projects/家/objective", {"title": "整洁的家"})
    edge = {"source_id": milk, "type": "blocks", "target_id": bread}
    await one.ask("POST", "/v1/relations", edge)
    await one.ask("PUT", "/v1/cache/b/kept", {"value": "留着", "ttl_seconds": None})
    return World(milk, bread, gone, str(goal["item"]["id"]))
