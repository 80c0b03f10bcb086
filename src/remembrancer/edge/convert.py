"""Conversion: JavaScript's values into Python's and back. The only module here that knows Any.

A whole answer crosses the border as one text: what arrives is plain Python, without proxies to
free and without JavaScript's null in it (measured, it takes as long as the SDK's deep conversion).
Not a driver: it knows no binding by name and no error. The other modules of `edge` import it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

import js
from pyodide.ffi import create_proxy, jsnull, to_js
from workers import python_to_rpc

from remembrancer.core.errors import InvalidInput
from remembrancer.ports.outbound import OutboundRequest

JsObject = Any
"""An object of the platform behind a proxy: its attributes and methods are JavaScript's."""

_CONSOLE_METHODS: Final = ("log", "warn", "error")


def is_absent(value: JsObject) -> bool:
    """Tell whether a value is JavaScript's null or undefined."""
    return value is None or value is jsnull


def binding(env: JsObject, name: str) -> JsObject | None:
    """Return a binding as the platform's own object, without the SDK's wrapper; None without."""
    found = getattr(env, name, None)
    return None if is_absent(found) else python_to_rpc(found)


def required_binding(env: JsObject, name: str) -> JsObject:
    """Return a binding without which nothing works. *Raises:* InvalidInput."""
    found = binding(env, name)
    if found is None:
        raise InvalidInput(
            f"the binding {name!r} is missing",
            hint=f"bind {name} as wrangler.toml does",
            field=name,
        )
    return found


def variables(env: JsObject, names: Iterable[str]) -> dict[str, str]:
    """Return the variables and secrets that are set, as texts; a variable may be JSON."""
    found = {name: getattr(env, name, None) for name in names}
    return {name: _text(value) for name, value in found.items() if _is_plain(value)}


def bindable(value: str | int | float | bytes | None) -> JsObject:
    """Return what D1's `bind` takes for a value.

    None is null, because undefined would be refused; a whole number is a JavaScript number, because
    a large one would become a bigint, which D1 does not know. The store's are below 2⁵³.
    """
    if value is None:
        return jsnull
    if isinstance(value, bytes):
        return to_js(value)
    return float(value) if isinstance(value, int) else value


def js_array(items: Sequence[JsObject]) -> JsObject:
    """Return a JavaScript array of the same objects."""
    return to_js(list(items))


def json_value(value: JsObject) -> Any:
    """Return a JavaScript value that JSON can hold, read from one text."""
    return json.loads(js.JSON.stringify(value))


def js_value(value: object) -> JsObject:
    """Return a plain value of Python's, such as JSON has, as JavaScript's, read from one text."""
    return js.JSON.parse(json.dumps(value, ensure_ascii=False))


def unwrapped(value: JsObject) -> JsObject:
    """Return the platform's own object of what the SDK has wrapped."""
    return python_to_rpc(value)


def header_pairs(headers: JsObject) -> list[tuple[bytes, bytes]]:
    """Return a request's headers as ASGI has them; the platform has joined repeated ones."""
    found: dict[str, str] = json_value(js.Object.fromEntries(headers))
    return [(name.encode("latin-1"), _header_bytes(value)) for name, value in found.items()]


def header_texts(headers: JsObject) -> list[tuple[str, str]]:
    """Return the headers of an answer, names in lower case, a cookie's each for itself."""
    return [(str(name), str(value)) for name, value in json_value(js.Array.from_(headers))]


class Abort:
    """An AbortController."""

    def __init__(self) -> None:
        self._controller = js.AbortController.new()

    @property
    def signal(self) -> JsObject:
        """What a request listens to."""
        return self._controller.signal

    def abort(self) -> None:
        """Give the request up; again is no error."""
        self._controller.abort()


async def fetch(request: OutboundRequest, abort: Abort) -> JsObject:
    """Return the platform's answer to a request; it follows no redirect."""
    options: dict[str, JsObject] = {
        "method": request.method,
        "headers": js_value([[name, value] for name, value in request.headers]),
        "redirect": "manual",
        "signal": abort.signal,
    }
    if request.body:
        options["body"] = from_bytes(request.body)
    return await js.fetch(request.url, **options)


def from_bytes(data: bytes) -> JsObject:
    """Return a JavaScript byte array with a copy of the bytes."""
    return to_js(data)


def to_bytes(chunk: JsObject) -> bytes:
    """Return a copy of a JavaScript byte array."""
    data: bytes = chunk.to_bytes()
    return data


def response(
    body: JsObject | None, *, status: int, headers: Iterable[tuple[bytes, bytes]]
) -> JsObject:
    """Return a JavaScript response; `body` is bytes of JavaScript, a stream, or None."""
    pairs = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers]
    return js.Response.new(body, status=status, headers=to_js(pairs))


def pipe() -> tuple[JsObject, JsObject]:
    """Return the two ends of a new stream: what can be read, and the writer."""
    stream = js.TransformStream.new()
    return stream.readable, stream.writable.getWriter()


def extended(stream: JsObject) -> tuple[JsObject, Callable[[bytes], Awaitable[None]]]:
    """Return a stream of the same bytes, and what ends it, with more bytes or none.

    *Promise:* no Python runs for what the stream holds; where it breaks off, the other stays open
    until it is ended.
    """
    # The platform's own kind passes bytes on without JavaScript; elsewhere there is the usual one.
    kind = getattr(js, "IdentityTransformStream", js.TransformStream)
    between = kind.new()
    piping = stream.pipeTo(between.writable, preventClose=True, preventAbort=True)
    # A failure that nobody hears would end the isolate; how it ended is heard from the twin.
    settled = js.Promise.allSettled(to_js([piping]))

    async def finish(last: bytes) -> None:
        await settled
        writer = between.writable.getWriter()
        if last:
            await writer.write(from_bytes(last))
        await writer.close()

    return between.readable, finish


def promise() -> tuple[JsObject, Callable[[], None]]:
    """Return a promise, and what fulfils it.

    Whoever waits for it goes on in the request that waits, not in the one that fulfilled it.
    """
    made = js.Promise.withResolvers()
    return made.promise, lambda: made.resolve(None)


def on_abort(signal: JsObject, call: Callable[[], None]) -> Callable[[], None]:
    """Call when the signal aborts; return what takes that back and frees the proxy."""

    def hear(_event: JsObject) -> None:
        call()

    proxy = create_proxy(hear)
    signal.addEventListener("abort", proxy)

    def forget() -> None:
        signal.removeEventListener("abort", proxy)
        proxy.destroy()

    return forget


def print_line(line: str, severity: int) -> None:
    """Write to the platform's log. *Shape:* `severity` 0 for a fact, 1 warning, 2 error."""
    getattr(js.console, _CONSOLE_METHODS[severity])(line)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _header_bytes(value: str) -> bytes:
    # A byte is a character here, as the standard says; a runtime that has decoded UTF-8 for us
    # gives characters that are no byte.
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()
