"""Rerankers over the way out: Workers AI's bge-reranker, and any server with `/rerank`.

Answers are checked: one score for each text. Nothing is retried: without them the order stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from remembrancer.app.models.posting import Asking
from remembrancer.app.setting_groups import CHAT_PATH
from remembrancer.app.settings import Settings
from remembrancer.core.errors import UpstreamFailed
from remembrancer.ports.models import Reranker
from remembrancer.ports.outbound import WORKERS_AI, Outbound

PREFIX: Final = "workers-ai/"
"""What stands before the name of a model of Workers AI in settings."""

ANSWER_BYTES_MAX: Final = 1024 * 1024
"""Bytes of an answer: a score for each of a few dozen texts. Our choice."""

TIMEOUT_MS: Final = 10_000
"""Milliseconds until an answer begins. Our choice; a recall gives up earlier by itself."""

_ASKING: Final = Asking("reranker", "MEMORY_RERANKER_MODEL", TIMEOUT_MS, ANSWER_BYTES_MAX)


def make_reranker(settings: Settings, outbound: Outbound | None) -> Reranker | None:
    """Return the reranker that the settings name.

    *Shape:* None when it is switched off, without a way out, or where no server is set up for it.
    """
    name = settings.memory_reranker_model
    if outbound is None or not settings.enable_memory_reranker:
        return None
    if name.startswith(PREFIX):
        return WorkersAiReranker(outbound, name.removeprefix(PREFIX))
    if settings.ai_gateway_base_url is None:
        return None
    token = settings.cf_aig_token
    return ServerReranker(
        outbound,
        name,
        base_url=settings.ai_gateway_base_url,
        token=None if token is None else token.get_secret_value(),
    )


class WorkersAiReranker:
    """The reranker port over Workers AI.

    *Source:* Cloudflare's type `Ai_Cf_Baai_Bge_Reranker_Base_Output`: `id` is the place of a
    context in the request.
    """

    def __init__(self, outbound: Outbound, model: str) -> None:
        self._outbound = outbound
        self._url = WORKERS_AI + model

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text; see the port."""
        body = {
            "query": _prepared(query),
            "contexts": [{"text": _prepared(text)} for text in texts],
            "top_k": len(texts),
        }
        answer = await _ASKING.post(self._outbound, self._url, (), body)
        return _scores(answer.get("response"), len(texts), place="id", score="score")


class ServerReranker:
    """The reranker port over `/rerank`, as Jina, Cohere and vLLM have it."""

    def __init__(
        self, outbound: Outbound, model: str, *, base_url: str, token: str | None = None
    ) -> None:
        self._outbound = outbound
        self._model = model
        self._url = f"{base_url.removesuffix(CHAT_PATH).removesuffix('/compat')}/rerank"
        self._headers = () if token is None else (("authorization", f"Bearer {token}"),)

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text; see the port."""
        body = {
            "model": self._model,
            "query": _prepared(query),
            "documents": [_prepared(text) for text in texts],
            "top_n": len(texts),
        }
        answer = await _ASKING.post(self._outbound, self._url, self._headers, body)
        return _scores(answer.get("results"), len(texts), place="index", score="relevance_score")


def _prepared(text: str) -> str:
    """Return a text that every server takes: without half a surrogate pair, never empty."""
    return text.encode(errors="replace").decode().strip() or "-"


def _scores(rows: object, count: int, *, place: str, score: str) -> list[float]:
    """Return the scores by place. *Raises:* UpstreamFailed unless each text has just one."""
    found: dict[int, float] = {}
    for row in rows if isinstance(rows, list) else []:
        at, value = (row.get(place), row.get(score)) if isinstance(row, dict) else (None, None)
        if isinstance(at, int) and isinstance(value, int | float) and math.isfinite(value):
            found[at] = float(value)
    if sorted(found) != list(range(count)):
        raise UpstreamFailed(f"the reranker answered {len(found)} scores for {count} texts")
    values = [found[index] for index in range(count)]
    if all(0 <= value <= 1 for value in values):
        return values
    # Some servers answer log-odds.
    return [1 / (1 + math.exp(-max(-50.0, min(50.0, value)))) for value in values]
