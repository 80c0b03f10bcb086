"""Embedders over the way out: Workers AI, and any server with OpenAI's `/embeddings`.

Answers are checked (as many vectors as texts, of the model's size) and brought to unit length.
Nothing is retried here: the outbox does. The encoder of one machine is `local.embedder`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from remembrancer.app.models.posting import Asking
from remembrancer.app.setting_groups import CHAT_PATH
from remembrancer.app.settings import Settings
from remembrancer.core.errors import InvalidInput, UpstreamFailed
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, check_texts
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.outbound import WORKERS_AI, Outbound

OFF: Final = "off"
"""What EMBEDDING_MODEL is set to when nothing is to be embedded."""

EDGE_MODEL: Final = "workers-ai/@cf/google/embeddinggemma-300m"
"""The model of a Worker that names none. Source: the predecessor's default."""

DIMENSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "embeddinggemma-300m": 768,
        "bge-m3": 1024,
        "bge-small-en-v1.5": 384,
        "bge-base-en-v1.5": 768,
        "bge-large-en-v1.5": 1024,
        "qwen3-embedding-0.6b": 1024,
        "text-embedding-3-small": 1536,
        "text-embedding-ada-002": 1536,
        "nomic-embed-text": 768,
        "mxbai-embed-large": 1024,
        "all-minilm": 384,
    }
)
"""A model's last word → the size of its vectors, so that they need not be set. Source: the models'
pages at Cloudflare, OpenAI and Ollama, 2026-08."""

ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of an answer: a hundred vectors of 1536 numbers are about 3.5 MB of JSON. Our choice."""

TIMEOUT_MS: Final = 30_000
"""Milliseconds until an answer begins. Our choice; a query gives up earlier by itself."""

_GATEWAY_HOST: Final = "gateway.ai.cloudflare.com"
_VERSIONED: Final = re.compile(r"/compat$|/v\d[^/]*(/|$)")
_ASKING: Final = Asking("embedder", "EMBEDDING_MODEL", TIMEOUT_MS, ANSWER_BYTES_MAX)


def make_embedder(
    settings: Settings, outbound: Outbound | None, default: Embedder | None
) -> Embedder | None:
    """Return the embedder that the settings name.

    *Shape:* `default` when EMBEDDING_MODEL is unset; None when it is `off`, or when there is no
    way out. *Raises:* InvalidInput when its size is not known, or no server is set up for it.
    """
    name = settings.embedding_model
    if name is None:
        return default
    if name.lower() == OFF or outbound is None:
        return None
    return embedder_named(settings, outbound, name, dims=settings.embedding_dimensions)


def embedder_named(
    settings: Settings, outbound: Outbound, name: str, *, dims: int | None = None
) -> Embedder:
    """Return the embedder of a model's name, as EMBEDDING_MODEL has it.

    *Raises:* InvalidInput when its size is not known, or no server is set up for it.
    """
    size = dims or DIMENSIONS.get(name.rpartition("/")[2].partition(":")[0].lower())
    if size is None:
        raise InvalidInput(
            f"the size of the vectors of {name!r} is not known",
            hint="set EMBEDDING_DIMENSIONS to it",
            field="EMBEDDING_DIMENSIONS",
        )
    model = EmbeddingModel(name, size)
    if name.startswith("workers-ai/@"):
        return WorkersAiEmbedder(outbound, model)
    if settings.ai_gateway_base_url is None:
        raise InvalidInput(
            f"EMBEDDING_MODEL is {name!r}, and no server is set up for it",
            hint="set AI_GATEWAY_BASE_URL, or EMBEDDING_MODEL to workers-ai/… or off",
            field="EMBEDDING_MODEL",
        )
    token = settings.cf_aig_token
    return ServerEmbedder(
        outbound,
        model,
        base_url=settings.ai_gateway_base_url,
        token=None if token is None else token.get_secret_value(),
        asks_size=dims is not None,
    )


class WorkersAiEmbedder:
    """The embedder port over Workers AI. *Shape:* the model's name as settings have it."""

    def __init__(self, outbound: Outbound, model: EmbeddingModel) -> None:
        self._outbound = outbound
        self._model = model

    @property
    def model(self) -> EmbeddingModel:
        """Return name and size."""
        return self._model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of one call; see the port."""
        check_texts(texts)
        if not texts:
            return []
        name = self._model.name.removeprefix("workers-ai/")
        body: dict[str, object] = {"text": _prepared(texts)}
        if name.endswith("/bge-m3"):
            body["truncate_inputs"] = True  # else it refuses what is too long for it
        answer = await _ASKING.post(self._outbound, WORKERS_AI + name, (), body)
        rows = answer.get("data", answer.get("response"))
        return _vectors(rows, len(texts), self._model)


class ServerEmbedder:
    """The embedder port over OpenAI's `/embeddings`, at any server that has it.

    *Shape:* `base_url` may end in a version or `/compat` or not; with `asks_size` the size is sent
    along, for models that can be asked for another than their own.
    """

    def __init__(
        self,
        outbound: Outbound,
        model: EmbeddingModel,
        *,
        base_url: str,
        token: str | None = None,
        asks_size: bool = False,
    ) -> None:
        self._outbound = outbound
        self._model = model
        self._url = embeddings_url(base_url)
        is_gateway = urlsplit(base_url).hostname == _GATEWAY_HOST
        name = "cf-aig-authorization" if is_gateway else "authorization"
        self._headers = () if token is None else ((name, f"Bearer {token}"),)
        self._asks_size = asks_size

    @property
    def model(self) -> EmbeddingModel:
        """Return name and size."""
        return self._model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of one call; see the port."""
        check_texts(texts)
        if not texts:
            return []
        body: dict[str, object] = {"model": self._model.name, "input": _prepared(texts)}
        if self._asks_size:
            body["dimensions"] = self._model.dims
        answer = await _ASKING.post(self._outbound, self._url, self._headers, body)
        entries = answer.get("data")
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise UpstreamFailed(f"{self._model.name!r} answered no list of embeddings")
        entries = sorted(entries, key=_index)
        rows = [one.get("embedding") for one in entries]
        return _vectors(rows, len(texts), self._model)


def embeddings_url(base_url: str) -> str:
    """Return where a server has its embeddings."""
    base_url = base_url.removesuffix(CHAT_PATH)
    parts = urlsplit(base_url)
    if parts.hostname == _GATEWAY_HOST:
        return f"{base_url.removesuffix('/compat')}/compat/embeddings"
    if _VERSIONED.search(parts.path):
        return f"{base_url}/embeddings"
    return f"{base_url}/v1/embeddings"


def _index(entry: dict[str, object]) -> int:
    index = entry.get("index")
    return index if isinstance(index, int) else 0


def _prepared(texts: Sequence[str]) -> list[str]:
    """Return texts that every server takes: cut, without half a surrogate pair, never empty."""
    cut = (text[:EMBED_CHARS_MAX].encode(errors="replace").decode() for text in texts)
    return [text if text.strip() else "-" for text in cut]


# Any: JSON of a foreign server.
def _vectors(rows: object, count: int, model: EmbeddingModel) -> list[Vector]:
    if not isinstance(rows, list) or len(rows) != count:
        got = len(rows) if isinstance(rows, list) else "no"
        raise UpstreamFailed(f"{model.name!r} answered {got} vectors for {count} texts")
    return [_unit(row, model) for row in rows]


def _unit(row: object, model: EmbeddingModel) -> Vector:
    if not isinstance(row, list) or len(row) != model.dims:
        size = len(row) if isinstance(row, list) else "no"
        raise UpstreamFailed(
            f"{model.name!r} answered {size} numbers instead of {model.dims}",
            hint="set EMBEDDING_DIMENSIONS to the model's own size",
        )
    try:
        length = math.hypot(*row)
    except (TypeError, OverflowError) as error:
        raise UpstreamFailed(f"{model.name!r} answered something that is no number") from error
    if not math.isfinite(length):
        raise UpstreamFailed(f"{model.name!r} answered a number that is not finite")
    if length == 0:
        return (1.0, *[0.0] * (model.dims - 1))
    return tuple(value / length for value in row)
