"""A real D1, KV, R2 and Queue for tests: ports over loopback HTTP to a Node process with Miniflare.

They check and translate with the same functions as every driver, so that what is tested is the
platform itself. Rows read and written are D1's own counts. Not shipped.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from remembrancer.core.blobcheck import check_key as check_blob_key
from remembrancer.core.blobcheck import check_keys, check_put
from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.kvcheck import check_entry, check_key
from remembrancer.core.sqlcheck import check_statement
from remembrancer.core.sqlerrors import classify
from remembrancer.local.migrate import load_migrations
from remembrancer.ports.sql import Outcome, Row, SqlValue, Statement

ROOT: Final = Path(__file__).resolve().parents[2]
NODE: Final = ROOT / "node_modules" / ".bin" / "node"
MINIFLARE: Final = ROOT / "node_modules" / "miniflare"

CALL_S_MAX: Final = 120.0
"""Seconds one call may take: D1's own limit is 30, and a busy machine may be slower."""


def missing_part() -> str | None:
    """Return what the bridge needs and does not find, as a sentence; None when all is there."""
    for part in (NODE, MINIFLARE):
        if not part.exists():
            name = part.relative_to(ROOT)
            return f"real D1 is not tested: {name} is missing; `scripts/install --dev` installs it"
    return None


class D1BridgeStore:
    """The SQL port over one database of the bridge.

    *Shape:* a session has a bookmark after its first call; the store itself has none.
    """

    def __init__(
        self, url: str, database: str, *, is_session: bool = False, bookmark: str | None = None
    ) -> None:
        self.url = url
        self.database = database
        self._is_session = is_session
        self._bookmark = bookmark

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Send reading statements as one batch, which D1 runs on one snapshot."""
        for each in statements:
            check_statement(each.sql, each.params, is_reading=True)
        return await self._send(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Send statements as one atomic batch."""
        for each in statements:
            check_statement(each.sql, each.params)
        return await self._send(statements)

    def session(self, bookmark: str | None) -> D1BridgeStore:
        """Return the database as one request sees it."""
        return D1BridgeStore(self.url, self.database, is_session=True, bookmark=bookmark)

    def bookmark(self) -> str | None:
        """Return where the session's last call left it."""
        return self._bookmark

    async def scrub(self) -> None:
        """Do nothing: D1 has no log to cut."""

    def write_now(self, statements: Sequence[Statement]) -> list[Outcome]:
        """As `write`, for fixtures that cannot wait."""
        if not statements:
            return []
        answer = httpx.post(
            self.url, content=self._body(statements), timeout=CALL_S_MAX, trust_env=False
        )
        return self._outcomes(answer)

    async def _send(self, statements: Sequence[Statement]) -> list[Outcome]:
        if not statements:  # D1 refuses an empty batch
            return []
        # A client for each call: tests run in event loops of their own, sockets belong to one.
        async with httpx.AsyncClient(timeout=CALL_S_MAX, trust_env=False, verify=False) as client:
            answer = await client.post(self.url, content=self._body(statements))
        return self._outcomes(answer)

    def _body(self, statements: Sequence[Statement]) -> bytes:
        call: dict[str, object] = {
            "database": self.database,
            "statements": [[each.sql, [_encoded(v) for v in each.params]] for each in statements],
        }
        if self._is_session:
            call["bookmark"] = self._bookmark
        return json.dumps(call).encode()

    def _outcomes(self, answer: httpx.Response) -> list[Outcome]:
        answer.raise_for_status()
        body: Any = answer.json()  # our own script's JSON
        if "error" in body:
            raise classify(body["error"]) from RuntimeError(body["error"])
        if self._is_session:
            self._bookmark = body["bookmark"]
        return [
            Outcome(
                rows=[_decoded(row) for row in outcome["rows"]],
                changes=outcome["changes"],
                rows_read=outcome["rows_read"],
                rows_written=outcome["rows_written"],
            )
            for outcome in body["outcomes"]
        ]


class KvBridgeStore:
    """The key-value port over one namespace of the bridge; the platform's clock rules expiry."""

    def __init__(self, url: str, namespace: str) -> None:
        self._url = f"{url}kv"
        self.namespace = namespace

    async def get(self, key: str) -> str | None:
        """Ask KV."""
        check_key(key)
        value = await self._call("get", key)
        return None if value is None else str(value)

    async def put(self, key: str, value: str, *, ttl_s: int) -> None:
        """Store in KV."""
        check_entry(key, value, ttl_s)
        await self._call("put", key, value, {"expirationTtl": ttl_s})

    async def delete(self, key: str) -> None:
        """Remove from KV."""
        check_key(key)
        await self._call("delete", key)

    async def _call(self, method: str, *arguments: object) -> object:
        call = {"namespace": self.namespace, "method": method, "arguments": arguments}
        async with httpx.AsyncClient(timeout=CALL_S_MAX, trust_env=False, verify=False) as client:
            answer = await client.post(self._url, content=json.dumps(call).encode())
        answer.raise_for_status()
        body: Any = answer.json()  # our own script's JSON
        if "error" in body:
            raise StoreUnavailable("the key-value store failed") from RuntimeError(body["error"])
        value: object = body["value"]
        return value


class R2BridgeBlobs:
    """The blob port over one bucket of the bridge."""

    def __init__(self, url: str, bucket: str) -> None:
        self._url = f"{url}r2"
        self.bucket = bucket

    async def put(self, key: str, data: bytes) -> None:
        """Keep in R2."""
        check_put(key, data)
        await self._call("put", data, key=key, sha256=hashlib.sha256(data).hexdigest())

    async def get(self, key: str) -> bytes | None:
        """Ask R2."""
        check_blob_key(key)
        answer = await self._call("get", key=key)
        return None if answer.status_code == 204 else answer.content

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove from R2."""
        check_keys(keys)
        await self._call("delete", json.dumps(list(keys)).encode())

    async def _call(self, method: str, body: bytes = b"", **given: str) -> httpx.Response:
        call = json.dumps({"bucket": self.bucket, "method": method, **given})
        async with httpx.AsyncClient(timeout=CALL_S_MAX, trust_env=False, verify=False) as client:
            answer = await client.post(self._url, content=body, headers={"x-call": call})
        if answer.status_code >= 500:
            raise StoreUnavailable("the bucket failed") from RuntimeError(answer.text)
        return answer


@dataclass(frozen=True, slots=True)
class QueueBridge:
    """One queue of the bridge, as the Worker's harness and a test's consumer see it."""

    url: str
    name: str

    def send(self, messages: Sequence[Mapping[str, object]]) -> str | None:
        """Send a batch as the binding takes it; return the platform's words when it refuses."""
        error = self._call({"messages": messages}).get("error")
        return None if error is None else str(error)

    def delivered(self) -> list[dict[str, Any]]:  # Any: a message's body is JSON
        """Return what the platform has delivered since the last time."""
        answer = self._call({})
        assert "error" not in answer, answer["error"]
        found: list[dict[str, Any]] = answer["value"]
        return found

    def _call(self, call: Mapping[str, object]) -> dict[str, Any]:
        answer = httpx.post(
            f"{self.url}queue",
            content=json.dumps({"queue": self.name, **call}),
            timeout=CALL_S_MAX,
            trust_env=False,
        )
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body


class D1Bridge:
    """The Node processes, one as a rule, and a supply of what nobody has used yet."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []
        self._url = ""
        self._left: list[str] = []
        self._namespaces: list[str] = []
        self._buckets: list[str] = []
        self._queues: list[str] = []

    def fresh(self, *, is_migrated: bool = True) -> D1BridgeStore:
        """Return a database nobody has used, migrated unless told otherwise."""
        if not self._left:
            self._start()
        store = D1BridgeStore(self._url, self._left.pop())
        if is_migrated:
            for migration in load_migrations():
                store.write_now([Statement(sql) for sql in migration.statements()])
        return store

    def fresh_kv(self) -> KvBridgeStore:
        """Return a key-value namespace nobody has used."""
        if not self._namespaces:
            self._start()
        return KvBridgeStore(self._url, self._namespaces.pop())

    def fresh_blobs(self) -> R2BridgeBlobs:
        """Return a bucket nobody has used."""
        if not self._buckets:
            self._start()
        return R2BridgeBlobs(self._url, self._buckets.pop())

    def fresh_queue(self) -> QueueBridge:
        """Return a queue nobody has used."""
        if not self._queues:
            self._start()
        return QueueBridge(self._url, self._queues.pop())

    def stock(self) -> dict[str, object]:
        """Give away all that one process has: its address, and names of each kind."""
        self._start()
        stock = {
            "databases": self._left,
            "namespaces": self._namespaces,
            "buckets": self._buckets,
            "queues": self._queues,
        }
        self._left, self._namespaces, self._buckets, self._queues = [], [], [], []
        return {"url": self._url, **stock}

    def stop(self) -> None:
        """End the processes: each ends by itself when its standard input is closed."""
        for process in self._processes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.stdout.close()
        while self._processes:
            process = self._processes.pop()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)

    def _start(self) -> None:
        """Start a process; databases of an earlier one stay usable."""
        process = subprocess.Popen(
            [str(NODE), str(Path(__file__).with_name("bridge.mjs"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._processes.append(process)
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        assert "url" in ready, "the D1 bridge did not start; its error is above"
        self._url = ready["url"]
        self._left = [f"db{number}" for number in reversed(range(ready["databases"]))]
        self._namespaces = [f"kv{number}" for number in range(ready["namespaces"])]
        self._buckets = [f"r2{number}" for number in range(ready["buckets"])]
        self._queues = [f"queue{number}" for number in range(ready["queues"])]


def _encoded(value: SqlValue) -> object:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


# Any: one row of our own script's JSON; D1 gives a blob as a list of numbers.
def _decoded(row: dict[str, Any]) -> Row:
    return {name: bytes(value) if isinstance(value, list) else value for name, value in row.items()}
