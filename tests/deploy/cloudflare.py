"""A stand-in for Cloudflare's API: one account, as far as deploying a Worker goes.

wrangler talks to it as it is. Databases are SQLite in memory, so that migrations really run.
Addresses, error codes and shapes are those of the API; whatever else is asked for is a 404, and
is remembered in `unknown`, so that a test notices what a newer wrangler asks for.
"""

from __future__ import annotations

import base64
import json
import re
import socket
import sqlite3
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.deploy.multipart import Upload, read_upload

ACCOUNT = "0123456789abcdef0123456789abcdef"
"""The account's id."""
SESSION = "session-of-an-upload"
"""What the platform hands out for the upload of static assets, in place of the token."""
TOKEN = "token-of-the-owner"
"""The token that may do everything, except what `denied` takes away."""
SAID_MAX = 200_000
"""Bytes of a body that a failure may look at; a migration's text is shorter."""
JSON = Any


class Refusal(Exception):
    """An answer with an error: HTTP status, code and message of the API."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class Worker:
    """A Worker: its versions, what is kept beside them, and whether it has an address."""

    versions: list[tuple[str, list[dict[str, JSON]]]] = field(default_factory=list)
    uploads: list[Upload] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    """Its static assets by path."""
    is_public: bool = False
    tag: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass
class Call:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes
    content_type: str

    @property
    def described(self) -> str:
        """Method, path and what a short body says."""
        said = self.body[:SAID_MAX].decode("utf-8", "replace")
        return f"{self.method} {self.path} {said}"

    @property
    def data(self) -> dict[str, JSON]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


@dataclass
class Cloud:
    """The account's state, and what a test wants to go wrong."""

    databases: dict[str, tuple[str, sqlite3.Connection]] = field(default_factory=dict)
    """By id: the name, and what is in it."""
    namespaces: dict[str, str] = field(default_factory=dict)
    """Titles of KV namespaces by id."""
    workers: dict[str, Worker] = field(default_factory=dict)
    indexes: dict[str, dict[str, JSON]] = field(default_factory=dict)
    """Configurations of Vectorize indexes by name."""
    filters: dict[str, list[str]] = field(default_factory=dict)
    """Properties with a metadata index, by index."""
    queues: dict[str, list[dict[str, JSON]]] = field(default_factory=dict)
    """Consumers of queues by name."""
    buckets: list[str] | None = field(default_factory=list)
    """Names of R2's buckets; None while the account has no R2."""
    assets: dict[str, bytes] = field(default_factory=dict)
    """Static assets by the hash that wrangler names them by."""
    manifests: dict[str, dict[str, str]] = field(default_factory=dict)
    """Path → hash of what was asked to be uploaded last, by Worker."""
    crons: dict[str, list[str]] = field(default_factory=dict)
    """Schedules by Worker."""
    accounts: dict[str, str] = field(default_factory=lambda: {ACCOUNT: "Mine"})
    subdomain: str | None = "mine"
    denied: re.Pattern[str] | None = None
    """Paths that the token may not touch."""
    failing: re.Pattern[str] | None = None
    """`METHOD path body`s that are answered with an error of the platform, until it is cleared."""
    is_healthy: bool = True
    calls: list[str] = field(default_factory=list)
    """`METHOD path` of everything that was asked."""
    unknown: list[str] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        """What changed something, in order, without the account; reading by SQL is none."""
        return [
            each.replace(f"/accounts/{ACCOUNT}", "")
            for each in self.calls
            if not each.startswith("GET ")
        ]

    def database(self, name: str) -> sqlite3.Connection:
        """The content of a database."""
        return next(content for found, content in self.databases.values() if found == name)

    def add_database(self, name: str) -> str:
        """Makes one; answers its id."""
        made = str(uuid.uuid4())
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.databases[made] = (name, connection)
        return made


def _page(items: list[JSON], query: dict[str, str]) -> tuple[JSON, JSON]:
    """One page; some of wrangler's lists end at the first empty one."""
    page, size = int(query.get("page", 1)), int(query.get("per_page", 20))
    part = items[(page - 1) * size : page * size]
    info = {"page": page, "per_page": size, "count": len(part), "total_count": len(items)}
    return part, info


class Api:
    """Answers calls from a `Cloud`."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        account = r"/accounts/(\w+)"
        script = account + r"/workers/scripts/([\w-]+)"
        index = r"/vectorize/v2/indexes/([\w-]+)"
        self._routes: list[tuple[str, str, Callable[..., JSON]]] = [
            ("GET", r"/user/tokens/verify", lambda *_: {"id": "t", "status": "active"}),
            ("GET", r"/user", lambda *_: {"id": "u", "email": "you@example.com"}),
            ("GET", r"/accounts", self._accounts),
            ("GET", r"/memberships", self._memberships),
            ("GET", account + r"/d1/database", self._list_databases),
            ("POST", account + r"/d1/database", self._create_database),
            ("POST", account + r"/d1/database/([\w-]+)/query", self._query),
            ("GET", account + r"/storage/kv/namespaces", self._list_namespaces),
            ("POST", account + r"/storage/kv/namespaces", self._create_namespace),
            ("GET", account + r"/vectorize/v2/indexes", self._list_indexes),
            ("POST", account + r"/vectorize/v2/indexes", self._create_index),
            ("GET", account + index + "/metadata_index/list", self._list_filters),
            ("POST", account + index + "/metadata_index/create", self._create_filter),
            ("GET", account + r"/queues", self._list_queues),
            ("POST", account + r"/queues", self._create_queue),
            ("POST", account + r"/queues/([\w-]+)/consumers", self._add_consumer),
            ("PUT", account + r"/queues/([\w-]+)/consumers/([\w-]+)", self._change_consumer),
            ("POST", account + r"/r2/buckets", self._create_bucket),
            ("GET", account + r"/r2/buckets/([\w-]+)", self._bucket),
            ("GET", account + r"/r2/buckets/([\w-]+)/domains/managed", self._bucket),
            ("POST", script + r"/assets-upload-session", self._begin_assets),
            ("POST", account + r"/workers/assets/upload", self._take_assets),
            ("PUT", script + r"/schedules", self._schedule),
            ("GET", account + r"/workers/subdomain", self._subdomain),
            ("GET", account + r"/workers/services/([\w-]+)", self._service),
            ("GET", account + r"/workers/workers/([\w-]+)", self._worker),
            ("PUT", script, self._upload),
            ("POST", script + r"/versions", self._upload),
            ("GET", script + r"/deployments", self._deployments),
            ("POST", script + r"/deployments", lambda *_: {"id": "d"}),
            ("GET", script + r"/versions/([\w-]+)", self._version),
            ("GET", script + r"/settings", self._settings),
            ("PATCH", script + r"/script-settings", lambda *_: {}),
            ("GET", script + r"/subdomain", self._address),
            ("POST", script + r"/subdomain", self._publish),
            ("GET", script + r"/secrets", self._list_secrets),
            ("PUT", script + r"/secrets", self._put_secret),
        ]

    def answer(self, call: Call) -> tuple[JSON, JSON]:
        """The result of a call and the note about its pages. *Raises:* Refusal."""
        line = f"{call.method} {call.path}"
        self._cloud.calls.append(line)
        if self._cloud.denied and self._cloud.denied.search(line):
            raise Refusal(403, 10000, "Authentication error")
        if self._cloud.failing and self._cloud.failing.search(call.described):
            raise Refusal(400, 7500, "the platform is out of order")
        for method, pattern, route in self._routes:
            found = re.fullmatch(pattern, call.path)
            if found and method == call.method:
                account, *names = found.groups() or (ACCOUNT,)
                if account != ACCOUNT:
                    raise Refusal(403, 10000, "Authentication error")
                result = route(call, *names)
                return _page(result, call.query) if isinstance(result, list) else (result, None)
        self._cloud.unknown.append(line)
        raise Refusal(404, 7003, f"no route for {line}")

    def _accounts(self, _: Call) -> JSON:
        return [{"id": each, "name": name} for each, name in self._cloud.accounts.items()]

    def _memberships(self, call: Call) -> JSON:
        return [{"id": each["id"], "account": each} for each in self._accounts(call)]

    def _list_databases(self, _: Call) -> JSON:
        return [{"uuid": key, "name": name} for key, (name, _) in self._cloud.databases.items()]

    def _create_database(self, call: Call) -> JSON:
        name = call.data["name"]
        if any(name == found for found, _ in self._cloud.databases.values()):
            raise Refusal(400, 7502, "database with that name already exists")
        made = self._cloud.add_database(name)
        return {"uuid": made, "name": name, "version": "production", "created_in_region": "WEUR"}

    def _query(self, call: Call, key: str) -> JSON:
        if key not in self._cloud.databases:
            raise Refusal(404, 7404, "the database was not found")
        connection = self._cloud.databases[key][1]
        asked = call.data
        batch = asked.get("batch") or [asked]
        results = []
        try:
            for one in batch:
                results += run_sql(connection, one["sql"], one.get("params") or [])
        except sqlite3.Error as error:
            raise Refusal(400, 7500, f"{error}: SQLITE_ERROR") from error
        return results

    def _list_namespaces(self, _: Call) -> JSON:
        return [{"id": key, "title": title} for key, title in self._cloud.namespaces.items()]

    def _create_namespace(self, call: Call) -> JSON:
        title = call.data["title"]
        if title in self._cloud.namespaces.values():
            raise Refusal(400, 10014, "a namespace with this title already exists")
        made = uuid.uuid4().hex
        self._cloud.namespaces[made] = title
        return {"id": made, "title": title}

    def _list_indexes(self, _: Call) -> JSON:
        return [{"name": name, "config": each} for name, each in self._cloud.indexes.items()]

    def _create_index(self, call: Call) -> JSON:
        name = call.data["name"]
        if name in self._cloud.indexes:
            raise Refusal(409, 3002, "vectorize.index.duplicate_name")
        self._cloud.indexes[name] = call.data["config"]
        return {"name": name, "config": call.data["config"]}

    def _list_filters(self, _: Call, name: str) -> JSON:
        found = self._cloud.filters.get(name, [])
        return {
            "metadataIndexes": [{"propertyName": each, "indexType": "String"} for each in found]
        }

    def _create_filter(self, call: Call, name: str) -> JSON:
        self._cloud.filters.setdefault(name, []).append(call.data["propertyName"])
        return {"mutationId": uuid.uuid4().hex}

    def _list_queues(self, call: Call) -> JSON:
        wanted = call.query.get("name")
        return [
            {"queue_id": name, "queue_name": name, "consumers": each, "producers": []}
            for name, each in self._cloud.queues.items()
            if wanted in (None, name)
        ]

    def _create_queue(self, call: Call) -> JSON:
        name = call.data["queue_name"]
        if name in self._cloud.queues:
            raise Refusal(409, 11009, "Queue name already taken")
        self._cloud.queues[name] = []
        return {"queue_id": name, "queue_name": name}

    def _add_consumer(self, call: Call, name: str) -> JSON:
        consumer = {**call.data, "consumer_id": "c1", "script": call.data["script_name"]}
        self._cloud.queues[name].append(consumer)
        return consumer

    def _change_consumer(self, call: Call, name: str, _: str) -> JSON:
        consumer = {**call.data, "consumer_id": "c1", "script": call.data["script_name"]}
        self._cloud.queues[name] = [consumer]
        return consumer

    def _r2(self) -> list[str]:
        if self._cloud.buckets is None:
            raise Refusal(403, 10042, "Please enable R2 through the Cloudflare Dashboard.")
        return self._cloud.buckets

    def _bucket(self, _: Call, name: str) -> JSON:
        if name not in self._r2():
            raise Refusal(404, 10006, "The specified bucket does not exist.")
        address = {"bucketId": name, "domain": f"pub-{name}.r2.dev", "enabled": False}
        return {"name": name, "location": "WEUR", "storage_class": "Standard", **address}

    def _create_bucket(self, call: Call) -> JSON:
        name = call.data["name"]
        if name in self._r2():
            raise Refusal(409, 10004, "The bucket you tried to create already exists.")
        self._r2().append(name)
        return {"name": name, "location": "WEUR", "storage_class": "Standard"}

    def _begin_assets(self, call: Call, name: str) -> JSON:
        wanted = {path: each["hash"] for path, each in call.data["manifest"].items()}
        self._cloud.manifests[name] = wanted
        missing = sorted({each for each in wanted.values() if each not in self._cloud.assets})
        return {"jwt": SESSION, "buckets": [missing] if missing else []}

    def _take_assets(self, call: Call) -> JSON:
        assert call.query == {"base64": "true"}, call.query
        for name, content in read_upload(call.content_type, call.body).modules.items():
            self._cloud.assets[name] = base64.b64decode(content)
        return {"jwt": SESSION}

    def _schedule(self, call: Call, name: str) -> JSON:
        found = json.loads(call.body)
        self._cloud.crons[name] = [each["cron"] for each in found]
        return {"schedules": found}

    def _subdomain(self, _: Call) -> JSON:
        if self._cloud.subdomain is None:
            raise Refusal(404, 10007, "the account has no subdomain")
        return {"subdomain": self._cloud.subdomain}

    def _known(self, name: str) -> Worker:
        if name not in self._cloud.workers:
            raise Refusal(404, 10007, "This Worker does not exist on your account.")
        return self._cloud.workers[name]

    def _service(self, _: Call, name: str) -> JSON:
        script = {"tag": self._known(name).tag, "tags": [], "last_deployed_from": "wrangler"}
        return {"default_environment": {"environment": "production", "script": script}}

    def _worker(self, _: Call, name: str) -> JSON:
        address = {"enabled": self._known(name).is_public, "previews_enabled": False}
        return {"id": name, "name": name, "subdomain": address}

    def _upload(self, call: Call, name: str) -> JSON:
        upload = read_upload(call.content_type, call.body)
        worker = self._cloud.workers.setdefault(name, Worker())
        version = str(uuid.uuid4())
        worker.uploads.append(upload)
        if "assets" in upload.metadata:
            assert upload.metadata["assets"]["jwt"] == SESSION
            manifest = self._cloud.manifests[name]
            worker.files = {path: self._cloud.assets[key] for path, key in manifest.items()}
        worker.versions.insert(0, (version, upload.metadata["bindings"]))
        script = {"etag": version, "handlers": ["fetch"]}
        answer = {"id": name, "deployment_id": version, "startup_time_ms": 1, **script}
        if call.method == "POST":
            answer |= {"id": version, "resources": {"script": script}}
        return answer

    def _deployments(self, _: Call, name: str) -> JSON:
        found = self._known(name).versions
        return {
            "deployments": [
                {
                    "id": version,
                    "source": "wrangler",
                    "strategy": "percentage",
                    "author_email": "you@example.com",
                    "created_on": "2026-11-30T00:00:00Z",
                    "versions": [{"version_id": version, "percentage": 100}],
                }
                for version, _ in found
            ]
        }

    def _version(self, _: Call, name: str, version: str) -> JSON:
        bindings = dict(self._known(name).versions)[version]
        secrets = [{"name": key, "type": "secret_text"} for key in self._known(name).secrets]
        return {
            "id": version,
            "number": 1,
            "metadata": {"created_on": "2026-11-30T00:00:00Z", "source": "wrangler"},
            "resources": {"bindings": [*bindings, *secrets], "script": {"handlers": ["fetch"]}},
        }

    def _settings(self, _: Call, name: str) -> JSON:
        return {"bindings": self._known(name).versions[0][1]}

    def _address(self, _: Call, name: str) -> JSON:
        return {"enabled": self._known(name).is_public, "previews_enabled": False}

    def _publish(self, call: Call, name: str) -> JSON:
        self._known(name).is_public = bool(call.data["enabled"])
        return {"enabled": self._known(name).is_public, "previews_enabled": False}

    def _list_secrets(self, _: Call, name: str) -> JSON:
        return [{"name": each, "type": "secret_text"} for each in self._known(name).secrets]

    def _put_secret(self, call: Call, name: str) -> JSON:
        self._known(name).secrets[call.data["name"]] = call.data["text"]
        return {"name": call.data["name"], "type": "secret_text"}


def run_sql(connection: sqlite3.Connection, text: str, values: list[JSON]) -> list[JSON]:
    """Runs statements as D1 does, all or nothing; answers one result for each."""
    results = []
    connection.execute("BEGIN")
    try:
        for statement in split_sql(text):
            cursor = connection.execute(statement, values)
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
            results.append({"results": rows, "success": True, "meta": {"duration": 1}})
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return results


def split_sql(text: str) -> list[str]:
    """Divides where SQLite says that a statement is complete: triggers hold semicolons."""
    found: list[str] = []
    gathered = ""
    for piece in re.split(r"(?<=;)", text):
        gathered += piece
        if sqlite3.complete_statement(gathered):
            found.append(gathered)
            gathered = ""
    bare = re.sub(r"--[^\n]*", "", gathered).strip()
    return [*found, gathered] if bare else found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.server.connections.append(self.connection)

    def _respond(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        path, _, query = self.path.partition("?")
        call = Call(
            self.command,
            path,
            dict(parse_qsl(query)),
            self._body(length),
            self.headers.get("content-type", ""),
        )
        if call.path == "/address/health":
            healthy = self.server.cloud.is_healthy
            self._send(200 if healthy else 500, {"status": "ok", "reasons": []} if healthy else {})
            return
        try:
            is_upload = call.path.endswith("/workers/assets/upload")
            token = SESSION if is_upload else TOKEN
            if self.headers.get("authorization") != f"Bearer {token}":
                raise Refusal(401, 1000, "Invalid API Token")
            with self.server.lock:
                result, pages = self.server.api.answer(call)
        except Refusal as refusal:
            errors = [{"code": refusal.code, "message": str(refusal)}]
            body = {"success": False, "errors": errors, "messages": [], "result": None}
            self._send(refusal.status, body)
            return
        body = {"success": True, "errors": [], "messages": [], "result": result}
        self._send(200, body | ({"result_info": pages} if pages else {}))

    def _body(self, length: int) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(length)
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, status: int, body: JSON) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    """The stand-in on loopback; `with` starts it and ends it."""

    daemon_threads = True

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cloud = cloud
        self.api = Api(cloud)
        self.lock = threading.Lock()
        self.connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
        # A later server may get this one's port: nobody is to find an old connection to it.
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
