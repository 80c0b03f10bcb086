"""The composition of one isolate: env to ports, ports to the app, the app behind the bridge.

The only module of this side that sees every ring; `src/worker.py` imports it and nothing else.
Routes and tools are made at import, so that they are in the snapshot that isolates start from;
what needs the environment is made at the first event, and jobs are imported by the first that is
delivered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Final

from starlette.types import ASGIApp

from remembrancer.app.models.edge import edge_embedder
from remembrancer.app.models.on_demand import with_upstream
from remembrancer.app.settings import FIELDS, load_settings
from remembrancer.app.state import App
from remembrancer.app.turnstile import Turnstile
from remembrancer.app.vectors.bound import with_indexes
from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.limits import EDGE_CHAT_BODY_BYTES_MAX
from remembrancer.edge import bindings as names
from remembrancer.edge import bridge
from remembrancer.edge.assets import WorkersAssets
from remembrancer.edge.convert import JsObject, binding, required_binding, unwrapped, variables
from remembrancer.edge.d1 import D1Store
from remembrancer.edge.events import SdkRequest
from remembrancer.edge.kv import WorkersKeyValue
from remembrancer.edge.locks import PatientLock
from remembrancer.edge.logs import log_to_platform
from remembrancer.edge.outbound import FetchOutbound
from remembrancer.edge.queues import WorkersQueue, consume
from remembrancer.edge.r2 import R2Blobs
from remembrancer.edge.runtime import EdgeRuntime, ExecutionContext, serving
from remembrancer.edge.vectorize import VectorizeIndex
from remembrancer.edge.zones import use_packaged_zones
from remembrancer.http.asgi import HttpDoor
from remembrancer.http.dispatch import Door
from remembrancer.http.errors import error_response
from remembrancer.http.mcp import mcp_route
from remembrancer.http.rate_limit import RateLimiter
from remembrancer.http.request_log import log_defect
from remembrancer.http.route_table import RouteTable
from remembrancer.http.routes import AREAS
from remembrancer.mcp.catalogue import make_server
from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.vectors import VectorIndex

TABLE: Final = RouteTable((*AREAS, mcp_route(make_server(is_listed_ahead=True))))
"""Every route, MCP's included: the same as on one machine."""

# What nearly every isolate is asked first is imported with it, and so is in the snapshot; what that
# may cost altogether is the import's budget (`scripts/bench edge`).
TABLE.load("/v1/context/startup")


class Isolate:
    """What all requests of an isolate share; made at import, empty until the first request."""

    def __init__(self) -> None:
        self._runtime = EdgeRuntime()
        self._app: App | None = None
        self._served: ASGIApp | None = None
        log_to_platform()
        use_packaged_zones()

    async def fetch(
        self, env: JsObject, context: ExecutionContext, request: SdkRequest
    ) -> JsObject:
        """Answer one request."""
        if self._served is None:
            try:
                app = self._composed(env)
                limiter = RateLimiter(app.settings.rate_limit_per_minute)
                self._served = HttpDoor(Door(app, TABLE, limiter))
            except InvalidInput as error:
                return await bridge.respond(self._refuse(error), request.js_object)
        with serving(context):
            return await bridge.respond(self._served, request.js_object)

    async def queue(self, env: JsObject, context: ExecutionContext, batch: JsObject) -> None:
        """Do what the messages of a batch are about. *Raises:* InvalidInput (the deployment)."""
        app = self._composed(env).serving(None)
        running = import_module("remembrancer.app.jobs.running")
        with serving(context):
            await consume(unwrapped(batch), lambda message: running.handle_message(app, message))

    async def scheduled(self, env: JsObject, context: ExecutionContext, cron: str) -> None:
        """Do what a line of the schedule stands for. *Raises:* InvalidInput (the deployment)."""
        app = self._composed(env).serving(None)
        schedule = import_module("remembrancer.app.jobs.schedule")
        with serving(context):
            try:
                await schedule.run_line(app, cron)
            except RemembrancerError as error:
                log_defect(error, self._runtime.new_id("run"))
                raise error from None  # the platform logs all it hears, the database's words too

    def _composed(self, env: JsObject) -> App:
        if self._app is None:
            self._app = self._compose(env)
        return self._app

    def _compose(self, env: JsObject) -> App:
        database, cache = (required_binding(env, name) for name in (names.DATABASE, names.CACHE))
        settings = load_settings(variables(env, [name.upper() for name in FIELDS]))
        models = binding(env, names.MODELS)
        outbound = FetchOutbound(models)
        embedder = edge_embedder(settings, outbound, has_models=models is not None)
        app = App(
            sql=D1Store(database),
            kv=WorkersKeyValue(cache),
            runtime=self._runtime,
            settings=settings,
            # A piece of a job and what is around it stay under the free plan's statements.
            request_pieces=1,
            chat_bytes_max=EDGE_CHAT_BODY_BYTES_MAX,
            turnstile=Turnstile(PatientLock),
            queue=names.bound(env, names.QUEUE, WorkersQueue),
            blobs=names.bound(env, names.BUCKET, R2Blobs),
            assets=names.bound(env, names.PANEL, WorkersAssets),
        )
        current, following = (
            names.bound(env, name, _index) for name in (names.INDEX, names.NEXT_INDEX)
        )
        app = with_indexes(app, outbound, embedder=embedder, current=current, following=following)
        return with_upstream(app, outbound, has_workers_ai=models is not None)

    def _refuse(self, error: InvalidInput) -> ASGIApp:
        """Say what is wrong with the deployment; its variables and bindings are no secret."""
        request_id = self._runtime.new_id("req")
        log_defect(error, request_id)
        return error_response(
            RemembrancerError(f"this server is not set up: {error.message}", hint=error.hint),
            request_id,
        )


def _index(index: JsObject) -> Callable[[EmbeddingModel], VectorIndex]:
    return partial(VectorizeIndex, index)
