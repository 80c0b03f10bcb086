"""The models behind a way out, loaded when they are first asked: a start pays nothing for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Final

from remembrancer.app.settings import Settings
from remembrancer.app.state import App
from remembrancer.ports.models import ChatModel, Completion, Prompt, Reranker
from remembrancer.ports.outbound import Outbound

_WORKERS_AI: Final = "workers-ai/"


class ChatOnDemand:
    """The ChatModel port; see `app.models.chat.GatewayModel`, which answers."""

    def __init__(self, outbound: Outbound, settings: Settings) -> None:
        self._outbound = outbound
        self._settings = settings
        self._model: ChatModel | None = None

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to a prompt."""
        if self._model is None:
            module = import_module("remembrancer.app.models.chat")
            model: ChatModel = module.GatewayModel(self._outbound, self._settings)
            self._model = model
        return await self._model.complete(prompt)


class RerankerOnDemand:
    """The Reranker port; see `app.models.reranking`, which answers."""

    def __init__(self, outbound: Outbound, settings: Settings) -> None:
        self._outbound = outbound
        self._settings = settings
        self._model: Reranker | None = None

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text."""
        if self._model is None:
            module = import_module("remembrancer.app.models.reranking")
            model: Reranker | None = module.make_reranker(self._settings, self._outbound)
            assert model is not None, "asked only where there is one"
            self._model = model
        return await self._model.rerank(query, texts)


def with_upstream(app: App, outbound: Outbound, *, has_workers_ai: bool | None = None) -> App:
    """Return the app with a way to models' servers, and the models behind it.

    *Shape:* `has_workers_ai` None: as the settings say, which name an account.
    """
    settings = app.settings
    if has_workers_ai is None:
        has_workers_ai = settings.workers_ai is not None
    is_bound = settings.memory_reranker_model.startswith(_WORKERS_AI)
    there = has_workers_ai if is_bound else settings.ai_gateway_base_url is not None
    reranks = there and settings.enable_memory_reranker
    return replace(
        app,
        outbound=outbound,
        chat=ChatOnDemand(outbound, settings),
        reranker=RerankerOnDemand(outbound, settings) if reranks else None,
    )
