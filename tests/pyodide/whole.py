"""A Worker with every binding, and what its users ask of it. Not a suite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from tests.d1.bridge import D1Bridge
from tests.pyodide.serving import ANSWER_S, TOKEN, VARIABLES, Edge, serve

from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX

MODEL = "workers-ai/@cf/meta/llama-4-scout-17b-16e-instruct"
"""What chats and jobs ask; the stand-in answers for any."""
SETTINGS = {**VARIABLES, "CHAT_MODEL": MODEL, "EXTRACT_MODEL": MODEL, "DREAM_MODEL": MODEL}
"""The Worker's variables."""
CALM: dict[str, Any] = {
    "code": None,
    "latencyMs": 0,
    "form": "workers",
    "replies": [],
    "usual": None,
    "meanings": [],
}
"""What the models do unless a test says otherwise."""
MINUTE_MS = 60_000
"""Milliseconds."""

SWEEP = "*/15 * * * *"
EXTRACT = "0 */4 * * *"
DREAM = "10 20 * * *"
RETENTION = "40 20 * * *"


@dataclass(frozen=True, slots=True)
class Whole:
    """The Worker and a client with its owner's key."""

    edge: Edge
    client: httpx.Client

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return self.client.post(path, json=body, headers=headers)

    def made(self, path: str, body: Any) -> Any:
        """The JSON of an answer that is no error."""
        return self.post(path, body).raise_for_status().json()

    def search(self, query: str) -> tuple[list[str], list[str]]:
        """The contents that a search finds, the surest first, and what had no part in it."""
        found = self.made("/v1/search/memories", {"query": query})
        return [one["content"] for one in found["data"]], found["meta"]["degraded"]

    def call(self, tool: str, **arguments: Any) -> httpx.Response:
        """Call a tool over MCP."""
        params = {"name": tool, "arguments": arguments}
        return self.post(
            "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call"} | {"params": params}
        )

    def fates(self, **order: Any) -> list[str]:
        """Deliver what waits; return what became of each delivery."""
        return [one["fate"] for one in self.edge.order("deliver", **order)["delivered"]]

    def line(self, cron: str) -> list[str]:
        """Run a line of the schedule and what it leaves in the queue, to the end."""
        assert self.edge.order("scheduled", cron=cron) == {"thrown": None}
        fates: list[str] = []
        while found := self.fates():
            fates += found
        return fates

    def later(self, minutes: float) -> None:
        """Let time pass."""
        self.edge.order("clock", aheadMs=round(minutes * MINUTE_MS))

    def blobs(self) -> list[str]:
        """The keys of what lies in the bucket."""
        keys: list[str] = self.edge.order("blobs")["keys"]
        return keys

    def vectors(self) -> int:
        """How many vectors can be seen."""
        size: int = self.edge.order("vectors")["size"]
        return size

    def calm(self) -> None:
        """Take every fault back, and deliver what is left; no message stands for later writes."""
        self.edge.order("fail")
        self.edge.order("ai", **CALM)
        self.edge.order("vectors", lagMs=0, isSettled=True)
        self.edge.order("deliver")
        self.edge.order("ai/calls")
        self.later(1)


@contextmanager
def serving_whole(bridge: D1Bridge) -> Iterator[Whole]:
    """Serve a Worker with every binding; it must end without a promise nobody heard."""
    edge = serve(bridge, variables=SETTINGS, is_whole=True)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(
        base_url=edge.url, headers=headers, timeout=ANSWER_S, trust_env=False
    ) as client:
        yield Whole(edge, client)
        assert edge.statements() <= SQL_BATCH_STATEMENTS_MAX
    assert edge.stop() == 0


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The error of an answer in our shape."""
    error = json.loads(answer.text)["error"]
    assert set(error) >= {"code", "message", "type", "hint", "request_id"}, answer.text
    assert error["request_id"].startswith("req_")
    return dict(error)
