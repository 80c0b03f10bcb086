"""Bindings beyond D1 and KV in the shape of the platform's: Vectorize, Workers AI, Queues."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.edge.standins import Answer, Body, JsException, JsObject


@dataclass
class Index:
    """A Vectorize index that keeps what it was asked."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    is_broken: bool = False

    def _hear(self, name: str, given: Any) -> None:
        if self.is_broken:
            raise JsException("VECTOR_QUERY_ERROR (code = 40006): secret text")
        self.calls.append((name, given))

    async def upsert(self, vectors: Any) -> JsObject:
        self._hear("upsert", vectors)
        return JsObject(mutationId="m1")

    async def deleteByIds(self, ids: Any) -> JsObject:  # noqa: N802
        self._hear("delete", ids)
        return JsObject(mutationId="m2")

    async def getByIds(self, ids: Any) -> list[JsObject]:  # noqa: N802
        self._hear("get", ids)
        return [JsObject(id=id_, values=[1, 0, 0]) for id_ in ids if id_.startswith("v")]

    async def query(self, vector: Any, options: Any) -> JsObject:
        self._hear("query", (vector, vars(options)))
        found = [
            JsObject(id="b", score=0.5),
            JsObject(id="a", score=0.5),
            JsObject(id="c", score=1),
        ]
        return JsObject(matches=found, count=3)

    async def describe(self) -> JsObject:
        self._hear("describe", None)
        return JsObject(dimensions=3, vectorCount=41, processedUpToMutation="m2")


@dataclass
class Ai:
    """The binding of Workers AI: it answers as told, or embeds each text as the same vector."""

    answer: Answer | None = None
    calls: list[tuple[str, Any, Any]] = field(default_factory=list)

    async def run(self, model: str, inputs: Any, options: Any) -> Answer:
        self.calls.append((model, inputs, options))
        if self.answer is not None:
            return self.answer
        vectors = [[1.0, *[0.0] * 767] for _ in inputs.text]
        body = json.dumps({"shape": [len(vectors), 768], "data": vectors}).encode()
        return Answer(200, {"content-type": "application/json"}, Body([body]))


@dataclass
class Producer:
    """A queue's producing side."""

    batches: list[Any] = field(default_factory=list)
    is_broken: bool = False

    async def sendBatch(self, messages: Any) -> None:  # noqa: N802
        if self.is_broken:
            raise JsException("Queue send failed")
        self.batches.append(messages)


@dataclass
class Delivered:
    """A message as the platform delivers it."""

    body: Any
    attempts: int = 1
    fate: str = ""

    def ack(self) -> None:
        self.fate = "ack"

    def retry(self, *, delaySeconds: int) -> None:  # noqa: N803
        self.fate = f"retry {delaySeconds}"
