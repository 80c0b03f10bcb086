"""Four doors to one store, each telling in its own way what became of a request.

MCP over HTTP, MCP over the standard streams, REST, and the command line. What a door's numbers
mean is read from the reference, since that is where a user looks it up.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from tests.conftest import ROOT
from tests.e2e.logs import SENT
from tests.e2e.serving import LOGS, PROGRAM, WAIT_S, Json, Launcher, Server, environment

OK = "ok"
"""What a door says when nothing is wrong."""
TOUCHED_BY_USE = ("key_use", "item_use", "recalls")
"""Tables that count uses, and so change when somebody knocks."""
BEHIND = ("vector_outbox", "vector_rows", "vector_models", "job_states", "job_runs")
"""Tables of the work that a server does behind its answers, at moments of its own."""


@dataclass(frozen=True, slots=True)
class Documented:
    """What one error code is at each door, as the reference says."""

    http: int
    jsonrpc: int
    exit: int


def documented() -> dict[str, Documented]:
    """Every code of the reference's table."""
    text = (ROOT / "REFERENCE.md").read_text(encoding="utf-8").partition("## Error codes")[2]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (-\d+) \| `\w+` \| (\d+) \|", text, re.MULTILINE)
    return {code: Documented(*map(int, numbers)) for code, *numbers in rows}


CODES = documented()


@dataclass(frozen=True, slots=True)
class Rest:
    """A request of REST; `text` is a body that is not JSON."""

    method: str
    url: str
    body: Json = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call; `line` is a whole message instead of one."""

    name: str
    arguments: Json
    meta: Mapping[str, Json] = field(default_factory=dict)
    line: str | None = None

    def message(self) -> str:
        """The request as text."""
        if self.line is not None:
            return self.line
        params = {"name": self.name, "arguments": self.arguments, "_meta": dict(self.meta)}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return json.dumps(request, ensure_ascii=False)


@dataclass(slots=True)
class FarDoors:
    """The doors of a server, wherever it is.

    *Shape:* `keys` name → key; `names` placeholder → id.
    """

    server: Server
    keys: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def filled(self, value: Any) -> Any:  # Any: JSON in, the same JSON with names out
        """A value with the world's ids in the place of their names."""
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda found: self.names.get(found[1], found[0]), value)
        if isinstance(value, Mapping):
            return {name: self.filled(part) for name, part in value.items()}
        return [self.filled(part) for part in value] if isinstance(value, list) else value

    def _headers(self, key: str, namespace: str | None) -> dict[str, str]:
        headers = {"authorization": f"Bearer {self.keys[key]}"}
        return headers | ({"x-remembrancer-namespace": namespace} if namespace else {})

    def mcp_http(self, tool: Tool, key: str, namespace: str | None) -> str:
        """What MCP over HTTP says."""
        response = httpx.post(
            f"{self.server.url}/mcp",
            content=tool.message().encode("utf-8"),
            headers={**self._headers(key, namespace), "content-type": "application/json"},
            timeout=WAIT_S,
        )
        answer = response.json()
        code = _told(answer)
        if "jsonrpc" not in answer:
            assert response.status_code == CODES[code].http
        return code

    def rest(self, request: Rest, key: str, namespace: str | None) -> str:
        """What REST says, with the status that the reference gives it."""
        text = request.text if request.text is not None else json.dumps(request.body)
        has_body = request.text is not None or request.body is not None
        response = httpx.request(
            request.method,
            self.server.url + request.url,
            content=text.encode("utf-8") if has_body else None,
            headers={
                **self._headers(key, namespace),
                **({"content-type": "application/json"} if has_body else {}),
                **request.headers,
            },
            timeout=WAIT_S,
        )
        code = _told(response.json())
        assert response.is_success if code == OK else response.status_code == CODES[code].http
        return code

    def newest_event(self) -> Json:
        """The last thing that was written into the owner's store."""
        with self.server.client() as client:
            return client.get("/v1/history?limit=1").raise_for_status().json()


@dataclass(slots=True, kw_only=True)
class Doors(FarDoors):
    """A store of this machine with all its doors open."""

    launcher: Launcher
    streams: subprocess.Popen[bytes] | None = None

    def mcp_stdio(self, tool: Tool, key: str, namespace: str | None) -> str:
        """What MCP over the standard streams says; a key is used through a remote server's."""
        line = tool.message().encode("utf-8") + b"\n"
        if key == "owner" and namespace is None:
            return _told(json.loads(self._exchange(line)))
        place = ["--url", self.server.url, "--token", self.keys[key]]
        place += ["--namespace", namespace] if namespace else []
        done = subprocess.run(
            [PROGRAM, "mcp", *place],
            input=line,
            capture_output=True,
            timeout=WAIT_S,
            check=True,
            env=environment(),
        )
        return _told(json.loads(done.stdout))

    def _exchange(self, line: bytes) -> bytes:
        SENT.add_body(line)
        if self.streams is None:
            log = self.launcher.data.parent / "streams.log"
            LOGS.append(log)
            with log.open("wb") as errors:
                self.streams = subprocess.Popen(
                    [PROGRAM, "mcp", "--data", self.launcher.data],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment(),
                )
        assert self.streams.stdin is not None and self.streams.stdout is not None
        self.streams.stdin.write(line)
        self.streams.stdin.flush()
        return self.streams.stdout.readline()

    def cli(self, arguments: Sequence[str], key: str, namespace: str | None) -> str:
        """What the command line says, with the exit code that the reference gives it."""
        where = [] if key == "owner" else ["--url", self.server.url, "--token", self.keys[key]]
        where += ["--namespace", namespace] if namespace else []
        done = self.launcher.run(*arguments, *where, "--json")
        if done.returncode == 0:
            return OK
        code = _told(json.loads(done.stderr))
        assert done.returncode == CODES[code].exit
        return code

    def dump(self) -> dict[str, list[str]]:
        """Every row of every table that use alone does not change."""
        with closing(sqlite3.connect(self.launcher.data / "remembrancer.db")) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = [name for (name,) in tables if name not in (*TOUCHED_BY_USE, *BEHIND)]
            return {
                name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"')))
                for name in names
            }

    def close(self) -> None:
        """Close them all."""
        if self.streams is not None:
            self.streams.communicate(timeout=WAIT_S)
        self.launcher.close()


def open_doors(folder: Path) -> Doors:
    """A household: items, one deleted, one of another namespace, a relation, and keys."""
    launcher = Launcher(folder / "data")
    server = launcher.serve()
    doors = Doors(server, launcher=launcher)
    furnish(doors)
    with closing(sqlite3.connect(launcher.data / "remembrancer.db", timeout=WAIT_S)) as database:
        # Years pass for one key; nobody waits for them.
        database.execute("UPDATE keys SET expires_at = 1 WHERE name = 'expired'")
        database.commit()
    return doors


def furnish(doors: FarDoors) -> None:
    """Put into a store what the cases are about."""
    doors.keys |= {"owner": doors.server.token, "unknown": "sk-nobody-has-this"}
    with doors.server.client() as client:
        doors.names["milk"] = _make(client, {"title": "买牛奶", "tags": ["家务"]})
        doors.names["bread"] = _make(client, {"title": "Bake bread"}, key="used")
        doors.names["gone"] = _make(client, {"title": "旧的"})
        client.delete(f"/v1/items/{doors.names['gone']}").raise_for_status()
        foreign = {"x-remembrancer-namespace": "other"}
        doors.names["theirs"] = _make(client, {"title": "theirs"}, **foreign)
        edge = {"source_id": doors.names["milk"], "type": "blocks"}
        edge["target_id"] = doors.names["bread"]
        client.post("/v1/relations", json=edge).raise_for_status()
        for name, scopes in {
            "reader": ["memory:read"],
            "writer": ["memory:read", "memory:write"],
            "stranger": ["chat:proxy"],
            "expired": ["memory:read", "memory:write"],
        }.items():
            wish = {"name": name, "scopes": scopes, "expires_at": "2099-01-01"}
            made = client.post("/v1/keys", json=wish).raise_for_status().json()
            doors.keys[name] = made["token"]


def _make(client: httpx.Client, body: Json, key: str | None = None, **headers: str) -> str:
    if key is not None:
        headers["idempotency-key"] = key
    made = client.post("/v1/items", json=body, headers=headers).raise_for_status()
    return str(made.json()["item"]["id"])


def path_of(item_id: str) -> str:
    """An item's path, whatever its id is made of."""
    return f"/v1/items/{quote(item_id, safe='{}')}"


def _told(answer: Json) -> str:
    """The code that an answer names, of whichever door; `ok` when it names none."""
    if "result" in answer:
        result = answer["result"]
        return str(result["structuredContent"]["error"]["code"]) if result.get("isError") else OK
    if "error" not in answer:
        return OK
    error = answer["error"]
    if isinstance(error["code"], str):
        return error["code"]
    named = (error.get("data") or {}).get("code")
    if named is None:
        # The protocol's own errors carry a number alone.
        [named] = [code for code, each in CODES.items() if each.jsonrpc == error["code"]]
    assert CODES[named].jsonrpc == error["code"]
    return str(named)
