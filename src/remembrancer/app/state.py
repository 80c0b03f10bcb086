"""The App: the ports and settings that every use case is given. Composition is the wires' work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from remembrancer.app.context.cache import FirstLevel
from remembrancer.app.settings import Settings
from remembrancer.app.spending import MeteredSql, Spending, Writes
from remembrancer.app.turnstile import Turnstile
from remembrancer.app.vectors.indexing import Indexing
from remembrancer.core.limits import CHAT_BODY_BYTES_MAX, SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.recall.frequencies import CommonWords
from remembrancer.core.vectors.background import Background
from remembrancer.ports.assets import Assets
from remembrancer.ports.blobs import BlobStore
from remembrancer.ports.kv import KeyValue
from remembrancer.ports.models import ChatModel, Embedder, EmbeddingModel, Reranker
from remembrancer.ports.outbound import Outbound
from remembrancer.ports.queue import JobQueue
from remembrancer.ports.runtime import Runtime
from remembrancer.ports.sql import SqlStore
from remembrancer.ports.vectors import VectorIndex


def _no_damage() -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class App:
    """What the use cases stand on; made once per process or isolate.

    Each request, message and line of the schedule works on a copy of its own (see `serving`); the
    copies share the turnstile, the first level of the bundle cache and how the last write went.
    *Shape:* what a deployment may do without is None there: `embedder` and `vectors` (then search
    is by words), `embedder_next` and `vectors_next` (but while another model's index is made),
    `reranker`, `chat`, `outbound`, `queue`, `blobs` (then long texts stay in the database) and
    `assets` (the panel's files). `embedder` is of the model that `vectors` holds. `request_pieces`
    bounds the pieces of a job that one request may run, None where requests have no bound;
    `chat_bytes_max` the bytes of a chat, unless the settings do;
    `spending` what this copy has sent to the database; `writes` how the last write of all went;
    `backgrounds` what the cosines of models mean, as far as they were asked; `common` how many
    items hold the common words of what was asked lately; `damage` says what the database's keeper
    found broken in it, None while nothing is known.
    """

    sql: SqlStore
    kv: KeyValue
    runtime: Runtime
    settings: Settings
    turnstile: Turnstile = field(default_factory=Turnstile)
    bundles: FirstLevel = field(default_factory=FirstLevel)
    indexing: Indexing = field(default_factory=Indexing)
    embedder: Embedder | None = None
    vectors: VectorIndex | None = None
    embedder_next: Embedder | None = None
    vectors_next: VectorIndex | None = None
    reranker: Reranker | None = None
    chat: ChatModel | None = None
    outbound: Outbound | None = None
    queue: JobQueue | None = None
    blobs: BlobStore | None = None
    assets: Assets | None = None
    request_pieces: int | None = None
    chat_bytes_max: int = CHAT_BODY_BYTES_MAX
    spending: Spending = field(default_factory=Spending)
    writes: Writes = field(default_factory=Writes)
    backgrounds: dict[EmbeddingModel, Background] = field(default_factory=dict)
    common: CommonWords = field(default_factory=CommonWords)
    damage: Callable[[], str | None] = _no_damage

    def serving(self, bookmark: str | None) -> App:
        """Return the app as one request, message or line of the schedule has it.

        *Shape:* its `sql` is a session at least as new as the bookmark. *Promise:* where requests
        have a bound, no more than SQL_BATCH_STATEMENTS_MAX statements pass it.
        """
        spending = Spending(None if self.request_pieces is None else SQL_BATCH_STATEMENTS_MAX)
        sql = MeteredSql(self.sql.session(bookmark), spending, self.writes, self.runtime)
        return replace(self, sql=sql, spending=spending)
