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

DATABASE: Final = "DB"
"""The name of the D1 binding in `wrangler.toml`."""

CACHE: Final = "KV"
"""The name of the KV binding in `wrangler.toml`."""

INDEX: Final = "VECTORS"
"""The name of the Vectorize binding; without it search is by words."""

NEXT_INDEX: Final = "VECTORS_NEXT"
"""The name of the binding of another model's index, while it is filled and once it answers."""

MODELS: Final = "AI"
"""The name of the Workers AI binding; without it its models are not there."""

QUEUE: Final = "JOBS"
"""The name of the queue's binding; without it jobs run with their schedule alone."""

BUCKET: Final = "ARTIFACTS"
"""The name of the R2 binding; without it long texts stay in the database."""

PANEL: Final = "ASSETS"
"""The name of the binding of the panel's files."""

TABLE: Final = RouteTable((*AREAS, mcp_route(make_server(is_listed_ahead=True))))
"""Every route, MCP's included: the same as on one machine."""


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
        app = self._composed(env)
        running = import_module("remembrancer.app.jobs.running")
        with serving(context):
            await consume(unwrapped(batch), lambda message: running.handle_message(app, message))

    async def scheduled(self, env: JsObject, context: ExecutionContext, cron: str) -> None:
        """Do what a line of the schedule stands for. *Raises:* InvalidInput (the deployment)."""
        app = self._composed(env)
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
        database, cache = (required_binding(env, name) for name in (DATABASE, CACHE))
        settings = load_settings(variables(env, [name.upper() for name in FIELDS]))
        models, queue, bucket, panel = (
            binding(env, name) for name in (MODELS, QUEUE, BUCKET, PANEL)
        )
        outbound = FetchOutbound(models)
        embedder = edge_embedder(settings, outbound, has_models=models is not None)
        app = App(
            sql=D1Store(database),
            kv=WorkersKeyValue(cache),
            runtime=self._runtime,
            settings=settings,
            # A piece of a job and what is around it stay under the free plan's statements.
            request_pieces=1,
            turnstile=Turnstile(PatientLock),
            queue=None if queue is None else WorkersQueue(queue),
            blobs=None if bucket is None else R2Blobs(bucket),
            assets=None if panel is None else WorkersAssets(panel),
        )
        current, following = (_index(binding(env, name)) for name in (INDEX, NEXT_INDEX))
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


def _index(index: JsObject | None) -> Callable[[EmbeddingModel], VectorIndex] | None:
    return None if index is None else partial(VectorizeIndex, index)
