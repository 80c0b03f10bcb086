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
    Rejected,
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
_PROMPT_STATUSES: Final = frozenset({400, 403, 413, 422, 429, 451})
"""Statuses that may be about what was asked, and not about who asks or what is set up."""
_UNKNOWN_STATUSES: Final = frozenset({400, 406, 409, 413, 415, 422, 451})
"""Statuses that say no to a request, in whatever words: others speak of keys, names and outages."""
_TOO_LONG: Final = re.compile(
    r"context[_ ](?:length|window|limit)|string_above_max_length|too[_ ](?:long|large)"
    r"|too many (?:input )?tokens|maximum context|reduce the length|range of input length"
    r"|\b(?:tokens?|count|length|size)\b.{0,40}\bexceed"
    r"|exceed\w* the (?:maximum|context|model|limit)"
    r"|超长|过长|超出.{0,8}(?:长度|上限|限制)|超过.{0,8}(?:长度|上限|限制)",
    re.IGNORECASE,
)
_TOO_LONG_AT_ONCE: Final = re.compile(r"request too large|tokens must be reduced", re.IGNORECASE)
"""What a limit of tokens a minute says of one request that is above all of it: 429 for ever."""
_WORKERS_AI_TOO_LONG: Final = "context window limit"
"""What Workers AI says, at times without a status of its own."""
_FILTERED: Final = re.compile(
    r"content[_ ](?:filter|policy|management|moderation|block|exists risk|security|safety)"
    r"|responsible_?ai|moderation|safety|usage polic|invalid_prompt|prohibited_content"
    r"|data_?inspection|inappropriate|sensitive|considered high risk|risk_?control"
    r"|敏感|违规|違規|违法|不当内容|不安全|安全审核|内容审核|风控",
    re.IGNORECASE,
)
_FILTERED_ENDS: Final = frozenset({"content_filter", "sensitive", "safety", "refusal"})
"""Finish reasons of an answer that was stopped: OpenAI's, Zhipu's and Hunyuan's, Gemini's."""


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
        text = whole.body.decode(errors="replace")
        # Gemini's errors are an object in a list.
        listed = read_object(f'{{"all": {text}}}') if text.lstrip().startswith("[") else None
        found = objects_of(listed["all"]) if listed else []
        return whole.status, found[0] if found else read_object(text) or {}


def _completion(status: int, reply: Body) -> Completion:
    if status >= 400:
        raise _refused(status, reply)
    choices = objects_of(reply.get("choices"))
    if not choices:
        raise _without_reply(reply)
    usage = usage_from_openai(reply.get("usage"))
    message = object_of(choices[0].get("message"))
    text = text_of(message.get("content"))
    is_refused = bool(string_of(message.get("refusal"))) and not text.strip()
    if is_refused or string_of(choices[0].get("finish_reason")).lower() in _FILTERED_ENDS:
        raise ModelRefused(
            "the model refused to answer", reason="filtered", hint="another model may answer"
        )
    return Completion(
        text=text,
        is_cut=choices[0].get("finish_reason") == "length",
        prompt_tokens=usage.prompt if usage else None,
        completion_tokens=usage.completion if usage else None,
    )


def _without_reply(reply: Body) -> RemembrancerError:
    """Return why a success has no reply: some servers say there what went wrong."""
    said = object_of(reply.get("base_resp")) or object_of(reply.get("error"))
    if not said:
        return UpstreamFailed("the model's server answered without a reply", hint="try again")
    code = said.get("code")
    # MiniMax counts from a thousand, and OpenRouter has the status of whom it asked.
    status = code if isinstance(code, int) and 400 <= code < 600 else 400
    return _refused(status, {**reply, "error": said})


def _refused(status: int, reply: Body) -> RemembrancerError:
    # The upstream's own words may quote the prompt: only its type of error is repeated.
    kind, said = _words(reply)
    named = f" ({kind[:_REASON_CHARS_MAX]})" if kind else ""
    message = f"the model's server refused the prompt with status {status}{named}"
    why = _about_prompt(status, said)
    if why is not None:
        return ModelRefused(message, reason=why, hint="asking for less, or another model, may help")
    message = f"the model's server refused with status {status}{named}"
    if status in (402, 429):
        return LimitExceeded(
            message, hint="its quota is spent or asked too often; wait, or take another model"
        )
    kind_of = Rejected if status in _UNKNOWN_STATUSES else UpstreamFailed
    return kind_of(message, hint="see whether the model's name and the token are right")


def _words(reply: Body) -> tuple[str, str]:
    """Return a refusal's type, and all that it says of itself, in any of the forms in use."""
    error = object_of(reply.get("error")) or reply
    inner = object_of(error.get("innererror"))
    # A relay's own code may be a number; the words are elsewhere then.
    kind = string_of(error.get("code")) or string_of(error.get("type"))
    parts = [kind, inner.get("code"), reply.get("error"), reply.get("detail")]
    names = ("type", "status", "message", "msg", "status_msg", "error_msg", "status_code")
    parts += [error.get(name) for name in names]
    return kind, " ".join(part for part in parts if isinstance(part, str))


def _about_prompt(status: int, said: str) -> str | None:
    """Return why a server does not take this very prompt; None when it is about something else."""
    if status >= 500 and _WORKERS_AI_TOO_LONG in said:
        return "too_long"
    if status not in _PROMPT_STATUSES:
        return None
    if status == 429:
        return "too_long" if _TOO_LONG_AT_ONCE.search(said) else None
    if status == 413 or _TOO_LONG.search(said):
        return "too_long"
    return "filtered" if status == 451 or _FILTERED.search(said) else None
