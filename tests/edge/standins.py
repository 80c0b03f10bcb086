"""Stand-ins for what the platform gives to Python: `js`, `pyodide.ffi`, `workers` and bindings.

They do what the real ones do as far as the Worker's modules can see it, and can be told to fail.
That the real ones do the same is shown by `tests/pyodide`. Nothing here is shipped.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any


class JsException(Exception):
    """What JavaScript throws."""

    @property
    def message(self) -> str:
        return str(self)


class JsNull:
    """JavaScript's null."""

    def __bool__(self) -> bool:
        return False


JSNULL = JsNull()


class JsBytes:
    """A Uint8Array."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def to_bytes(self) -> bytes:
        return self.data


class Headers:
    """Headers of a request: names in lower case, repeated ones joined."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self.pairs = {name.lower(): value for name, value in pairs.items()}


@dataclass
class Response:
    """A response as it was made."""

    body: Any
    status: int
    headers: list[list[str]]

    @classmethod
    def new(cls, body: Any, *, status: int, headers: list[list[str]]) -> Response:
        return cls(body, status, headers)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def data(self) -> bytes:
        """The bytes of a body that is no stream."""
        assert isinstance(self.body, JsBytes)
        return self.body.data


class Pipe:
    """A TransformStream, both ends in one: a write waits until its chunk is read."""

    def __init__(self) -> None:
        self.chunks: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self.is_closed = False
        self.is_broken = False
        self._arrived = asyncio.Event()
        self.readable = self
        self.writable = self

    @classmethod
    def new(cls) -> Pipe:
        return cls()

    def getWriter(self) -> Pipe:  # noqa: N802
        return self

    async def write(self, chunk: JsBytes) -> None:
        self._check()
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.chunks.append((chunk.data, taken))
        self._arrived.set()
        await taken

    async def close(self) -> None:
        self._check()
        self.is_closed = True
        self._arrived.set()

    def abort(self) -> None:
        self.is_broken = True
        self._arrived.set()
        while self.chunks:
            self.chunks.popleft()[1].set_exception(JsException("the stream was aborted"))

    async def next(self) -> bytes | None:
        """Read as the platform does; None at the end."""
        while not self.chunks:
            if self.is_broken:
                raise JsException("the stream was aborted")
            if self.is_closed:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        data, taken = self.chunks.popleft()
        taken.set_result(None)
        return data

    def cancel(self) -> None:
        """Stop reading, as the platform does when the client has left."""
        self.abort()

    def _check(self) -> None:
        if self.is_broken:
            raise JsException("the stream was aborted")


class Promise:
    """A promise that is resolved from outside."""

    @staticmethod
    def withResolvers() -> SimpleNamespace:  # noqa: N802
        made: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        def resolve(value: object) -> None:
            if not made.done():
                made.set_result(value)

        return SimpleNamespace(promise=made, resolve=resolve)

    @staticmethod
    def allSettled(promises: list[Awaitable[object]]) -> Awaitable[object]:  # noqa: N802
        return asyncio.gather(*promises, return_exceptions=True)


class Signal:
    """An AbortSignal."""

    def __init__(self) -> None:
        self.aborted = False
        self.listeners: list[Callable[[object], None]] = []

    def addEventListener(self, _kind: str, call: Callable[[object], None]) -> None:  # noqa: N802
        self.listeners.append(call)

    def removeEventListener(self, _kind: str, call: Callable[[object], None]) -> None:  # noqa: N802
        self.listeners.remove(call)

    def abort(self) -> None:
        self.aborted = True
        for call in list(self.listeners):
            call(object())


class Body:
    """A request's body that arrives in chunks; `BREAK` in place of a chunk breaks it."""

    BREAK = b"\0break"
    SILENCE = b"\0silence"

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self.chunks = deque(chunks)
        self.reads = 0

    def tee(self) -> tuple[Body, Body]:
        return Body(self.chunks), Body(self.chunks)

    def pipeTo(  # noqa: N802
        self,
        end: Pipe,
        *,
        preventClose: bool,  # noqa: N803
        preventAbort: bool,  # noqa: N803
    ) -> Awaitable[None]:
        assert preventClose and preventAbort
        return asyncio.ensure_future(self._pipe(end))

    async def _pipe(self, end: Pipe) -> None:
        while not (piece := await self.read()).done:
            await end.write(piece.value)

    def getReader(self) -> Body:  # noqa: N802
        return self

    async def read(self) -> SimpleNamespace:
        self.reads += 1
        await asyncio.sleep(0)
        if not self.chunks:
            return SimpleNamespace(done=True, value=None)
        chunk = self.chunks.popleft()
        if chunk == self.BREAK:
            raise JsException("the connection was lost")
        if chunk == self.SILENCE:
            await asyncio.Event().wait()
        return SimpleNamespace(done=False, value=JsBytes(chunk))


@dataclass
class Request:
    """A request as the platform makes it; `js_object` is itself, as seen through the SDK."""

    method: str = "GET"
    url: str = "https://memory.example/v1/items"
    given: Mapping[str, str] = field(default_factory=dict)
    body: Any = JSNULL
    signal: Signal = field(default_factory=Signal)

    @property
    def headers(self) -> Headers:
        return Headers(self.given)

    @property
    def js_object(self) -> Request:
        return self


class AbortController:
    """An AbortController."""

    def __init__(self) -> None:
        self.signal = Signal()

    @classmethod
    def new(cls) -> AbortController:
        return cls()

    def abort(self) -> None:
        self.signal.aborted = True


@dataclass
class Answer:
    """A response that `fetch` brings."""

    status: int = 200
    given: Mapping[str, str] = field(default_factory=dict)
    body: Any = JSNULL

    @property
    def headers(self) -> Headers:
        return Headers(self.given)


@dataclass
class Fetch:
    """What `js.fetch` does: `answer` may raise or wait; `calls` keeps what was asked."""

    answer: Callable[[str, dict[str, Any]], Awaitable[Answer]] | None = None
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, url: str, **options: Any) -> Answer:
        self.calls.append((url, options))
        assert self.answer is not None
        return await self.answer(url, options)


FETCH = Fetch()
"""The one of the process."""


@dataclass
class Context:
    """An ExecutionContext."""

    promises: list[Any] = field(default_factory=list)

    def waitUntil(self, promise: object) -> None:  # noqa: N802
        self.promises.append(promise)

    async def settle(self) -> None:
        """Wait for all work that was registered, and what that registers."""
        while self.promises:
            await asyncio.wait_for(self.promises.pop(0), 5)


def to_js(value: Any) -> Any:
    return JsBytes(value) if isinstance(value, bytes) else value


def _stringify(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(one: Any) -> Any:
    if one is JSNULL:
        return None
    return vars(one) if isinstance(one, JsObject) else list(one.data)


def _parse(text: str) -> Any:
    """Return a value as JavaScript has it: an object has attributes."""
    return json.loads(text, object_hook=lambda members: JsObject(**members))


class JsObject(SimpleNamespace):
    """An object that JSON made."""


def _from_entries(headers: Headers) -> dict[str, str]:
    return dict(headers.pairs)


def _destroyable(call: Callable[..., object]) -> Any:
    def proxy(*given: object) -> object:
        return call(*given)

    proxy.destroy = lambda: None  # type: ignore[attr-defined] # functions take attributes
    return proxy


class WorkerEntrypoint:
    """The SDK's class: made for each event."""

    def __init__(self, ctx: object, env: object) -> None:
        self.ctx = ctx
        self.env = env


PRINTED: list[tuple[str, str]] = []
"""What went to the console: method and line."""


def install() -> None:
    """Put the stand-ins where Python looks for modules; `pyodide` itself stays missing."""
    console = SimpleNamespace(
        **{
            name: (lambda line, name=name: PRINTED.append((name, line)))
            for name in ("log", "warn", "error")
        }
    )
    modules: dict[str, dict[str, Any]] = {
        "js": {
            "AbortController": AbortController,
            "Array": SimpleNamespace(from_=lambda headers: list(headers.pairs.items())),
            "JSON": SimpleNamespace(stringify=_stringify, parse=_parse),
            "Object": SimpleNamespace(fromEntries=_from_entries),
            "Promise": Promise,
            "Response": Response,
            "TransformStream": Pipe,
            "console": console,
            "fetch": FETCH,
        },
        "pyodide.ffi": {
            "JsException": JsException,
            "create_proxy": _destroyable,
            "jsnull": JSNULL,
            "to_js": to_js,
        },
        "workers": {
            "WorkerEntrypoint": WorkerEntrypoint,
            "python_to_rpc": lambda value: value,
        },
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module
