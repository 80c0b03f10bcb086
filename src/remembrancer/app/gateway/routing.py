"""Routing: which model answers, at which address, in which form, with which key of ours.

A pure function of the settings; the client's key is never among the headers. It sends nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from remembrancer.app.setting_groups import CHAT_PATH
from remembrancer.app.settings import Settings
from remembrancer.core.errors import InvalidInput
from remembrancer.ports.outbound import WORKERS_AI

Form = Literal["openai", "anthropic", "workers_ai"]
"""The form in which an upstream is asked and answers."""

AI_GATEWAY_HOST: Final = "gateway.ai.cloudflare.com"
"""The host that takes a token of its own beside a provider's key. Source: Cloudflare's docs."""

ANTHROPIC_HOST: Final = "api.anthropic.com"
"""The host whose base is Anthropic's own."""

ANTHROPIC_VERSION: Final = "2023-06-01"
"""The version of the Messages API that is spoken. Source: Anthropic's docs."""

OPENAI_FORM_HOSTS: Final = frozenset({"openrouter.ai"})
"""Hosts that serve `anthropic/claude…` in OpenAI's form and have no native path below theirs."""

_CLAUDE: Final = re.compile(r"anthropic/claude", re.IGNORECASE)
_CUSTOM: Final = re.compile(r"(custom-[a-z0-9._-]+)/(.*claude.*)", re.IGNORECASE | re.DOTALL)
_WORKERS_AI: Final = re.compile(r"@[A-Za-z0-9]+(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")
_VERSION: Final = re.compile(r"/v\d[^/]*(/|$)")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. *Shape:* `headers` hold our own secrets: never logged, never shown."""

    form: Form
    url: str
    model: str
    headers: tuple[tuple[str, str], ...] = ()


def model_for(settings: Settings, asked: str, *, has_images: bool) -> str:
    """Return the model behind the name that a client asked for.

    *Shape:* the public name, or none, stands for CHAT_MODEL, with pictures for VISION_MODEL; any
    other name is the model's own.
    """
    if asked and asked != settings.public_model_name:
        return asked
    return settings.vision_model if has_images else settings.chat_model


def target_for(settings: Settings, model: str, *, is_native: bool = False) -> Target:
    """Return where a model is.

    *Shape:* `is_native` when the client speaks Anthropic's form, so that every Claude is asked in
    it, however it is named.
    *Raises:* InvalidInput when no server is set up for it.
    """
    if model.startswith("workers-ai/@"):
        name = model.removeprefix("workers-ai/")
        if _WORKERS_AI.fullmatch(name) is None:  # it becomes part of an address
            raise InvalidInput(
                f"{model[:200]!r} is no model of Workers AI",
                hint="name one such as workers-ai/@cf/meta/llama-3.3-70b-instruct-fp8-fast",
                field="model",
            )
        return Target("workers_ai", WORKERS_AI + name, name, _JSON)
    base = settings.ai_gateway_base_url
    if base is None:
        raise InvalidInput(
            f"no model server is set up, so {model[:200]!r} cannot answer; memory works without",
            hint="set AI_GATEWAY_BASE_URL to an OpenAI-compatible server",
            details={"setting": "AI_GATEWAY_BASE_URL"},
        )
    host = urlsplit(base).hostname or ""
    custom = _CUSTOM.fullmatch(model)
    if custom is not None:
        path = f"{custom[1]}/{settings.custom_anthropic_messages_path}"
        return Target("anthropic", f"{_root(base)}/{path}", custom[2], _native(settings, host))
    is_claude = _CLAUDE.search(model) is not None and host not in OPENAI_FORM_HOSTS
    if is_native:
        is_claude = is_claude or "claude" in model.lower() or host == ANTHROPIC_HOST
    if is_claude or settings.force_anthropic_native:
        path = "v1/messages" if host == ANTHROPIC_HOST else "anthropic/v1/messages"
        name = model[len("anthropic/") :] if model.lower().startswith("anthropic/") else model
        return Target("anthropic", f"{_root(base)}/{path}", name, _native(settings, host))
    return Target("openai", _completions(base, host), model, _compatible(settings, host))


_JSON: Final = (("content-type", "application/json"),)


def _root(base: str) -> str:
    """Return the base without the ending that belongs to OpenAI's form."""
    base = base.removesuffix(CHAT_PATH)
    if urlsplit(base).hostname == AI_GATEWAY_HOST:
        return base.removesuffix("/compat")
    return base.removesuffix("/compat").removesuffix("/v1")


def _completions(base: str, host: str) -> str:
    if host == AI_GATEWAY_HOST:
        return f"{_root(base)}/compat{CHAT_PATH}"
    path = urlsplit(base).path
    if path.endswith(CHAT_PATH):
        return base
    is_whole = path.endswith("/compat") or _VERSION.search(path) is not None
    return f"{base}{CHAT_PATH}" if is_whole else f"{base}/v1{CHAT_PATH}"


def _token(settings: Settings) -> str | None:
    token = settings.cf_aig_token
    return None if token is None else token.get_secret_value()


def _gateway_headers(settings: Settings) -> tuple[tuple[str, str], ...]:
    # The gateway's own cache would answer one conversation with another's memory.
    skip = ("cf-aig-skip-cache", "true")
    token = _token(settings)
    return (skip,) if token is None else (("cf-aig-authorization", f"Bearer {token}"), skip)


def _compatible(settings: Settings, host: str) -> tuple[tuple[str, str], ...]:
    if host == AI_GATEWAY_HOST:
        return (*_JSON, *_gateway_headers(settings))
    token = _token(settings)
    return _JSON if token is None else (*_JSON, ("authorization", f"Bearer {token}"))


def _native(settings: Settings, host: str) -> tuple[tuple[str, str], ...]:
    headers: tuple[tuple[str, str], ...] = (*_JSON, ("anthropic-version", ANTHROPIC_VERSION))
    if host == AI_GATEWAY_HOST:
        return (*headers, *_gateway_headers(settings))
    token = _token(settings)
    if token is None:
        return headers
    headers = (*headers, ("x-api-key", token))
    # Servers that are not Anthropic's own read the one or the other.
    return headers if host == ANTHROPIC_HOST else (*headers, ("authorization", f"Bearer {token}"))
