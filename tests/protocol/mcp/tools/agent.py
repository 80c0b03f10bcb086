"""An agent of a test: it calls tools over the kernel, and every answer is held to its schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
from tests.builders import NAMESPACE, Bench
from tests.protocol.mcp.sample import legacy, modern

from remembrancer.app.state import App
from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.ids import Namespace
from remembrancer.core.values import HOUR_MS, JSON
from remembrancer.mcp.call import IDEMPOTENCY_KEY, Call
from remembrancer.mcp.catalogue import make_server
from remembrancer.mcp.classify import Request
from remembrancer.mcp.dispatch import McpServer

SERVER: McpServer[App] = make_server()
"""It holds no state, so all tests share it."""

Answer = dict[str, Any]  # Any: what a tool answers, looked at by tests


@dataclass(slots=True)
class Agent:
    """A client of one namespace on one store."""

    bench: Bench = field(default_factory=Bench)
    scopes: frozenset[str] = frozenset(SCOPES)
    ask: Callable[..., Request] = modern
    namespace: Namespace = NAMESPACE
    app: App = field(init=False)

    def __post_init__(self) -> None:
        self.app = self.bench.app

    async def request(self, method: str, **params: JSON) -> Answer:
        """The answer to any request."""
        caller = self.bench.caller(scopes=self.scopes, namespace=self.namespace)
        return await SERVER.handle(self.ask(method, **params), Call(self.app, caller))

    async def send(self, tool: str, arguments: Any, *, key: str | None = None) -> Answer:
        """The result of a tool call, whether it worked or not."""
        meta: dict[str, JSON] = {} if key is None else {IDEMPOTENCY_KEY: key}
        params = {"_meta": meta} if self.ask is modern else {}
        answer = await self.request("tools/call", name=tool, arguments=arguments, **params)
        result = answer.get("result")
        assert isinstance(result, dict), answer
        schema = SERVER.registry.described(SERVER.registry.tools[tool])["outputSchema"]
        assert isinstance(schema, dict)
        jsonschema_rs.validate(schema, result["structuredContent"])
        return result

    async def call(self, tool: str, /, *, key: str | None = None, **arguments: Any) -> Answer:
        """The structured content of a call that works."""
        result = await self.send(tool, arguments, key=key)
        content: Answer = result["structuredContent"]
        assert not result.get("isError"), content
        return content

    async def refused(self, tool: str, /, *, key: str | None = None, **arguments: Any) -> Answer:
        """The error of a call that fails."""
        result = await self.send(tool, arguments, key=key)
        assert result.get("isError") is True, result["structuredContent"]
        error: Answer = result["structuredContent"]["error"]
        return error

    async def make(self, title: str, **arguments: Any) -> str:
        """The id of a new item."""
        answer = await self.call("create_item", title=title, **arguments)
        return str(answer["item"]["id"])

    async def item(self, item_id: str) -> Answer:
        """An item in full."""
        item: Answer = (await self.call("get_item", id=item_id))["item"]
        return item

    def wait(self, hours: float) -> None:
        """Move the clock."""
        self.bench.runtime.advance(int(hours * HOUR_MS))


def legacy_agent() -> Agent:
    """An agent whose client speaks an earlier revision."""
    return Agent(ask=legacy)


def ids_of(answer: Answer, name: str = "items") -> list[str]:
    """The ids in a list."""
    return [entry["id"] for entry in answer[name]]
