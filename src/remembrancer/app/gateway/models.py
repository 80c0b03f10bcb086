"""The list of models, in a form that OpenAI's and Anthropic's clients both read."""

from __future__ import annotations

from typing import Final

from remembrancer.app.settings import Settings
from remembrancer.core.values import JSON

_CREATED_S: Final = 1_767_225_600
_CREATED_AT: Final = "2026-01-01T00:00:00Z"


def list_models(settings: Settings) -> dict[str, JSON]:
    """Return the public name and the models behind it, each once."""
    names = dict.fromkeys([settings.public_model_name, settings.chat_model, settings.vision_model])
    data: list[JSON] = [
        {
            "id": name,
            "object": "model",
            "created": _CREATED_S,
            "owned_by": "remembrancer",
            "type": "model",
            "display_name": name,
            "created_at": _CREATED_AT,
        }
        for name in names
    ]
    last = list(names)[-1]
    return {
        "object": "list",
        "data": data,
        "has_more": False,
        "first_id": settings.public_model_name,
        "last_id": last,
    }
