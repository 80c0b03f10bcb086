"""Bindings beyond D1 and KV in the shape of the platform's: Vectorize, Workers AI, Queues."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.edge.standins import JSNULL, Answer, Body, JsBytes, JsException, JsObject


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


@dataclass
class Stored:
    """A body that is read whole: an object of a bucket, or a file of the panel."""

    data: bytes
    status: int = 200
    given: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> Any:
        return Answer(given=self.given).headers

    async def arrayBuffer(self) -> JsBytes:  # noqa: N802
        return JsBytes(self.data)


@dataclass
class Bucket:
    """An R2 bucket that checks the hash it is given, as the platform does."""

    held: dict[str, bytes] = field(default_factory=dict)
    is_broken: bool = False

    def _hear(self) -> None:
        if self.is_broken:
            raise JsException("put: We encountered an internal error. Please try again. (10001)")

    async def put(self, key: str, value: JsBytes, options: Any) -> None:
        self._hear()
        if hashlib.sha256(value.data).hexdigest() != options.sha256:
            raise JsException("put: The SHA-256 checksum you specified did not match (10037)")
        self.held[key] = value.data

    async def get(self, key: str) -> Any:
        self._hear()
        return Stored(self.held[key]) if key in self.held else JSNULL

    async def delete(self, keys: list[str]) -> None:
        self._hear()
        for key in keys:
            self.held.pop(key, None)


@dataclass
class Panel:
    """The binding of static assets: files by path, with HTML handling off."""

    files: dict[str, Stored] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_broken: bool = False

    async def fetch(self, url: str) -> Stored:
        if self.is_broken:
            raise JsException("internal error; reference = secret")
        self.asked.append(url)
        return self.files.get(url.removeprefix("https://assets.invalid/"), Stored(b"", 404))
