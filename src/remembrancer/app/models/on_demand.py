"""The chat model of jobs, loaded when it is first asked: a start pays nothing for it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from remembrancer.app.settings import Settings
from remembrancer.app.state import App
from remembrancer.ports.models import ChatModel, Completion, Prompt
from remembrancer.ports.outbound import Outbound


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


def with_upstream(app: App, outbound: Outbound) -> App:
    """Return the app with a way to models' servers, and the model of its jobs behind it."""
    return replace(app, outbound=outbound, chat=ChatOnDemand(outbound, app.settings))
