"""The ASGI app: ids, the outermost catch, headers on every answer, one log line per request.

The only broad catch of this door. What a request goes through is in `dispatch.py`, what is served
in `routes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.app.state import App
from remembrancer.core.errors import CODES, RemembrancerError
from remembrancer.http import conditions, origins
from remembrancer.http.dispatch import Door, Exchange, dispatch
from remembrancer.http.errors import error_response, internal_error
from remembrancer.http.headers import RequestHeaders
from remembrancer.http.rate_limit import RateLimiter
from remembrancer.http.request_log import RequestLine, log_defect, log_request
from remembrancer.http.route_table import UNSAFE_METHODS, AnyRoute, Area, RouteTable

SECURITY_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer that does not set them itself."""

_SECURITY: Final = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

CLIENT_GONE: Final = 499
"""Status in the log of a request whose client left before an answer. Source: nginx's custom."""


def create_asgi(app: App, *, routes: Iterable[AnyRoute | Area]) -> ASGIApp:
    """Return the ASGI app that serves these routes."""
    table = RouteTable(routes)
    return HttpDoor(Door(app, table, RateLimiter(app.settings.rate_limit_per_minute)))


class HttpDoor:
    """Everything that surrounds a request."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, or the server's start and stop."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        runtime = self._door.app.runtime
        started_ms = runtime.now_ms()
        headers = RequestHeaders(scope)
        cause = runtime.new_id("req")
        request_id = conditions.request_id_from(headers) or cause
        line = RequestLine(id=request_id, method=scope["method"][:20])
        if cause != request_id:
            line.cause = cause
        outlet = _Outlet(send, line, request_id, is_head=scope["method"] == "HEAD")
        if scope["method"] in UNSAFE_METHODS:
            # Not the request's id where a client or a proxy chose that one.
            outlet.headers["x-remembrancer-cause"] = cause
        app: App | None = None
        try:
            origin = origins.check_origin(
                headers,
                scope["path"].removeprefix(scope.get("root_path", "")),
                server_host=(scope.get("server") or (None,))[0],
                allowed=self._door.app.settings.allowed_origins,
            )
            if origin is not None:
                outlet.headers.update(origins.cors_headers(origin))
            app = self._door.app.serving(conditions.bookmark_from(headers))
            exchange = Exchange(
                request=Request(scope, receive),
                headers=headers,
                app=app,
                request_id=request_id,
                cause=cause,
                line=line,
            )
            response = await dispatch(self._door, exchange)
            bookmark = app.sql.bookmark() if scope["method"] in UNSAFE_METHODS else None
            if bookmark is not None:
                outlet.headers["x-remembrancer-bookmark"] = bookmark
            await response(scope, receive, outlet.send)
        except ClientDisconnect:
            line.status = line.status or CLIENT_GONE
        except RemembrancerError as error:
            if CODES[error.code].http >= 500:
                log_defect(error, request_id)
            await outlet.fail(scope, receive, error)
        except Exception as error:
            log_defect(error, request_id)
            await outlet.fail(scope, receive, internal_error(request_id))
        finally:
            line.ms = runtime.now_ms() - started_ms
            if app is not None:
                line.queries = app.spending.queries
                line.statements = app.spending.statements
            log_request(line)


class _Outlet:
    """The way out: adds the headers of every answer and notes the status."""

    def __init__(self, send: Send, line: RequestLine, request_id: str, *, is_head: bool) -> None:
        self._send = send
        self._line = line
        self._is_head = is_head
        self.headers: dict[str, str] = {"x-request-id": request_id}

    async def send(self, message: Message) -> None:
        """Pass a message on, completed; a HEAD request gets no body."""
        if message["type"] == "http.response.start":
            self._line.status = message["status"]
            message = {**message, "headers": self._completed(message.get("headers", ()))}
        elif self._is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    def _completed(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return an answer's headers with those of every answer that it does not set itself."""
        own = {name.encode(): value.encode("latin-1") for name, value in self.headers.items()}
        vary = own.pop(b"vary", None)
        kept = [header for header in headers if header[0] not in own]
        if vary is not None:
            told = [value for name, value in kept if name == b"vary"]
            kept = [header for header in kept if header[0] != b"vary"]
            kept.append((b"vary", b", ".join([*told, vary])))
        names = {name for name, _ in kept}
        kept += [header for header in _SECURITY if header[0] not in names]
        return [*kept, *own.items()]

    async def fail(self, scope: Scope, receive: Receive, error: RemembrancerError) -> None:
        """Answer with an error; once an answer has begun, only the connection can end."""
        self._line.error = error.code
        if self._line.status == 0:
            response: Response = error_response(
                error, self.headers["x-request-id"], path=scope["path"]
            )
            await response(scope, receive, self.send)


async def _live(receive: Receive, send: Send) -> None:
    """Answer the server's start and stop; the ports live and end with their wire."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
