"""The composition of one isolate: env to ports, ports to the app, the app behind the bridge.

The only module of this side that sees every ring; `src/worker.py` imports it and nothing else.
Routes and tools are made at import, so that they are in the snapshot that isolates start from;
what needs the environment is made at the first request.
"""

from __future__ import annotations

from typing import Final, Protocol

from starlette.types import ASGIApp

from remembrancer.app.settings import FIELDS, load_settings
from remembrancer.app.state import App
from remembrancer.app.turnstile import Turnstile
from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.edge import bridge
from remembrancer.edge.convert import JsObject, binding, variables
from remembrancer.edge.d1 import D1Store
from remembrancer.edge.kv import WorkersKeyValue
from remembrancer.edge.locks import PatientLock
from remembrancer.edge.logs import log_to_platform
from remembrancer.edge.runtime import EdgeRuntime, ExecutionContext, serving
from remembrancer.http.asgi import HttpDoor
from remembrancer.http.dispatch import Door
from remembrancer.http.errors import error_response
from remembrancer.http.mcp import mcp_route
from remembrancer.http.rate_limit import RateLimiter
from remembrancer.http.request_log import log_defect
from remembrancer.http.route_table import RouteTable
from remembrancer.http.routes import AREAS
from remembrancer.mcp.catalogue import make_server

DATABASE: Final = "DB"
"""The name of the D1 binding in `wrangler.toml`."""

CACHE: Final = "KV"
"""The name of the KV binding in `wrangler.toml`."""

TABLE: Final = RouteTable((*AREAS, mcp_route(make_server())))
"""Every route, MCP's included: the same as on one machine."""


class SdkRequest(Protocol):
    """The SDK's view of a request."""

    @property
    def js_object(self) -> bridge.Request: ...


class Isolate:
    """What all requests of an isolate share; made at import, empty until the first request."""

    def __init__(self) -> None:
        self._runtime = EdgeRuntime()
        self._served: ASGIApp | None = None
        log_to_platform()

    async def fetch(
        self, env: JsObject, context: ExecutionContext, request: SdkRequest
    ) -> JsObject:
        """Answer one request."""
        if self._served is None:
            try:
                app = self._compose(env)
                limiter = RateLimiter(app.settings.rate_limit_per_minute)
                self._served = HttpDoor(Door(app, TABLE, limiter))
            except InvalidInput as error:
                return await bridge.respond(self._refuse(error), request.js_object)
        with serving(context):
            return await bridge.respond(self._served, request.js_object)

    def _compose(self, env: JsObject) -> App:
        database, cache = (_bound(env, name) for name in (DATABASE, CACHE))
        return App(
            sql=D1Store(database),
            kv=WorkersKeyValue(cache),
            runtime=self._runtime,
            settings=load_settings(variables(env, [name.upper() for name in FIELDS])),
            turnstile=Turnstile(PatientLock),
        )

    def _refuse(self, error: InvalidInput) -> ASGIApp:
        """Say what is wrong with the deployment; its variables and bindings are no secret."""
        request_id = self._runtime.new_id("req")
        log_defect(error, request_id)
        return error_response(
            RemembrancerError(f"this server is not set up: {error.message}", hint=error.hint),
            request_id,
        )


def _bound(env: JsObject, name: str) -> JsObject:
    found = binding(env, name)
    if found is None:
        raise InvalidInput(
            f"the binding {name!r} is missing",
            hint=f"bind {name} as wrangler.toml does",
            field=name,
        )
    return found
