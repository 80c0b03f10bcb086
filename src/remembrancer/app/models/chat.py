"""The chat model of jobs: a question without a conversation, over the upstreams of chats.

What chat clients ask goes another way (`app.gateway`), as it is.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from remembrancer.app.gateway.forms import ReplyName, translate_whole, write_request
from remembrancer.app.gateway.routing import target_for
from remembrancer.app.gateway.sending import read_whole
from remembrancer.app.settings import Settings
from remembrancer.core.chat.request import text_of
from remembrancer.core.chat.shapes import Body, object_of, objects_of, read_object, string_of
from remembrancer.core.chat.usage import usage_from_openai
from remembrancer.core.errors import (
    LimitExceeded,
    ModelRefused,
    RemembrancerError,
    UpstreamFailed,
)
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.outbound import Outbound, OutboundRequest

TIMEOUT_MS: Final = 300_000
"""Milliseconds until an answer begins: an upstream answers whole, so until it has been written.
Our choice; a night's batch has 8,000 tokens, which slow models write at 30 a second."""

OPENAI_HOST: Final = "api.openai.com"
"""OpenAI's own server."""

_REASON_CHARS_MAX: Final = 200
_MISFIT_STATUSES: Final = frozenset({400, 404, 422})
"""Statuses of servers that do not know a form of the answer."""
_PROMPT_STATUSES: Final = frozenset({400, 403, 413, 422, 451})
"""Statuses that may be about what was asked, and not about who asks or what is set up."""
_TOO_LONG: Final = re.compile(
    r"context[_ ](?:length|window)|string_above_max_length|too[_ ](?:long|large)|too many tokens"
    r"|maximum context|reduce the length|exceed\w* the (?:maximum|context|model|limit)",
    re.IGNORECASE,
)
_FILTERED: Final = re.compile(
    r"content[_ ](?:filter|policy|management|moderation|block)|responsible_?ai|moderation|safety"
    r"|usage polic|invalid_prompt|prohibited_content|data_inspection|inappropriate|sensitive"
    r"|敏感|违规|違規|不当内容|安全审核",
    re.IGNORECASE,
)


class GatewayModel:
    """The ChatModel port over the upstreams that the settings name."""

    def __init__(self, outbound: Outbound, settings: Settings) -> None:
        self._outbound = outbound
        self._settings = settings

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to a prompt; a server that takes no form is asked without one."""
        body: Body = {
            "model": prompt.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            self._limit_name(prompt.model): prompt.max_tokens,
        }
        if prompt.schema is None:
            return _completion(*await self._ask(body))
        form: Body = {"type": "json_object"}
        if prompt.model.startswith(("openai/", "workers-ai/", "google-ai-studio/")):
            schema = {"name": "answer", "schema": {**prompt.schema}}
            form = {"type": "json_schema", "json_schema": schema}
        status, reply = await self._ask({**body, "response_format": form})
        if status in _MISFIT_STATUSES:
            status, reply = await self._ask(body)
        return _completion(status, reply)

    def _limit_name(self, model: str) -> str:
        """Return the field that limits an answer: OpenAI's newer models refuse the older one."""
        base = self._settings.ai_gateway_base_url or ""
        is_openais = model.startswith("openai/") or urlsplit(base).hostname == OPENAI_HOST
        return "max_completion_tokens" if is_openais else "max_tokens"

    async def _ask(self, body: Body) -> tuple[int, Body]:
        target = target_for(self._settings, string_of(body["model"]))
        written = write_request(self._settings, target, body, kept_thinking={})
        request = OutboundRequest(
            "POST", target.url, target.headers, written.body, timeout_ms=TIMEOUT_MS
        )
        answer = await self._outbound.send(request)
        raw = await read_whole(answer)
        name = ReplyName(target.model, "", 0, wants_usage=False)
        whole = translate_whole(target, name, answer.status, raw)
        return whole.status, read_object(whole.body.decode(errors="replace")) or {}


def _completion(status: int, reply: Body) -> Completion:
    if status >= 400:
        raise _refused(status, reply)
    choices = objects_of(reply.get("choices"))
    if not choices:
        raise UpstreamFailed("the model's server answered without a reply", hint="try again")
    usage = usage_from_openai(reply.get("usage"))
    message = object_of(choices[0].get("message"))
    text = text_of(message.get("content"))
    is_refused = bool(string_of(message.get("refusal"))) and not text.strip()
    if is_refused or choices[0].get("finish_reason") == "content_filter":
        raise ModelRefused(
            "the model refused to answer", reason="filtered", hint="another model may answer"
        )
    return Completion(
        text=text,
        is_cut=choices[0].get("finish_reason") == "length",
        prompt_tokens=usage.prompt if usage else None,
        completion_tokens=usage.completion if usage else None,
    )


def _refused(status: int, reply: Body) -> RemembrancerError:
    # The upstream's own words may quote the prompt: only its type of error is repeated.
    error = object_of(reply.get("error"))
    kind = string_of(error.get("code")) or string_of(error.get("type"))
    named = f" ({kind[:_REASON_CHARS_MAX]})" if kind else ""
    said = f"{kind} {string_of(error.get('type'))} {string_of(error.get('message'))}"
    why = _about_prompt(status, said)
    if why is not None:
        return ModelRefused(
            f"the model's server refused the prompt with status {status}{named}",
            reason=why,
            hint="asking for less, or another model, may help",
        )
    if status in (402, 429):
        return LimitExceeded(
            f"the model's server refused with status {status}{named}",
            hint="its quota is spent or asked too often; wait, or take another model",
        )
    return UpstreamFailed(
        f"the model's server refused with status {status}{named}",
        hint="see whether the model's name and the token are right",
    )


def _about_prompt(status: int, said: str) -> str | None:
    """Return why a server does not take this very prompt; None when it is about something else."""
    if status not in _PROMPT_STATUSES:
        return None
    if status == 413 or _TOO_LONG.search(said):
        return "too_long"
    return "filtered" if status == 451 or _FILTERED.search(said) else None
