"""Where a model is, and with which headers it is asked."""

from __future__ import annotations

import pytest

from remembrancer.app.gateway.routing import model_for, target_for
from remembrancer.app.settings import Settings, load_settings
from remembrancer.core.errors import InvalidInput

GATEWAY = "https://gateway.ai.cloudflare.com/v1/acc/gate"
MESSAGES = "/anthropic/v1/messages"
CHAT = "/chat/completions"
LOCAL = "http://127.0.0.1:11434"


def settings(base: str, **more: str) -> Settings:
    return load_settings({"AI_GATEWAY_BASE_URL": base, "CF_AIG_TOKEN": "tok", **more})


@pytest.mark.parametrize(
    ("base", "model", "form", "url", "name"),
    [
        (GATEWAY, "deepseek/d", "openai", f"{GATEWAY}/compat/chat/completions", "deepseek/d"),
        (GATEWAY + "/compat", "g/x", "openai", f"{GATEWAY}/compat/chat/completions", "g/x"),
        (GATEWAY, "anthropic/claude-x", "anthropic", f"{GATEWAY}{MESSAGES}", "claude-x"),
        (GATEWAY, "custom-or/claude-x", "anthropic", f"{GATEWAY}/custom-or/messages", "claude-x"),
        (LOCAL, "qwen3", "openai", f"{LOCAL}/v1/chat/completions", "qwen3"),
        (LOCAL + "/v1", "qwen3", "openai", f"{LOCAL}/v1/chat/completions", "qwen3"),
        (LOCAL + "/v1/", "qwen3", "openai", f"{LOCAL}/v1/chat/completions", "qwen3"),
        (LOCAL + "/v1" + CHAT, "q", "openai", f"{LOCAL}/v1{CHAT}", "q"),
        (LOCAL + CHAT, "q", "openai", f"{LOCAL}{CHAT}", "q"),
        (GATEWAY + "/compat" + CHAT, "q", "openai", f"{GATEWAY}/compat{CHAT}", "q"),
        (GATEWAY + CHAT, "anthropic/claude-x", "anthropic", f"{GATEWAY}{MESSAGES}", "claude-x"),
        (f"{LOCAL}/v1{CHAT}/", "anthropic/claude-x", "anthropic", LOCAL + MESSAGES, "claude-x"),
        (LOCAL + "/compat", "q", "openai", f"{LOCAL}/compat/chat/completions", "q"),
        (LOCAL + "/v1", "anthropic/claude-x", "anthropic", f"{LOCAL}{MESSAGES}", "claude-x"),
        (
            "https://api.anthropic.com/v1",
            "anthropic/claude-x",
            "anthropic",
            "https://api.anthropic.com/v1/messages",
            "claude-x",
        ),
        (
            "https://openrouter.ai/api/v1",
            "anthropic/claude-x",
            "openai",
            "https://openrouter.ai/api/v1/chat/completions",
            "anthropic/claude-x",
        ),
        (
            "https://g.example/v1beta/openai",
            "gemini",
            "openai",
            "https://g.example/v1beta/openai/chat/completions",
            "gemini",
        ),
        (LOCAL, "workers-ai/@cf/meta/l", "workers_ai", "workers-ai://run/@cf/meta/l", "@cf/meta/l"),
    ],
)  # fmt: skip
def test_model_has_an_address(base: str, model: str, form: str, url: str, name: str) -> None:
    target = target_for(settings(base), model)
    assert (target.form, target.url, target.model) == (form, url, name)


def test_gateway_of_cloudflare_gets_its_own_header() -> None:
    headers = dict(target_for(settings(GATEWAY), "deepseek/d").headers)
    assert headers["cf-aig-authorization"] == "Bearer tok"
    assert headers["cf-aig-skip-cache"] == "true"
    assert "authorization" not in headers


def test_other_server_gets_a_plain_bearer() -> None:
    headers = dict(target_for(settings(LOCAL), "qwen3").headers)
    assert headers == {"content-type": "application/json", "authorization": "Bearer tok"}


def test_anthropic_form_can_be_forced() -> None:
    target = target_for(settings(LOCAL, FORCE_ANTHROPIC_NATIVE="true"), "my-claude")
    assert (target.form, target.model) == ("anthropic", "my-claude")
    assert dict(target.headers)["anthropic-version"] == "2023-06-01"


def test_path_of_a_custom_provider_can_be_set() -> None:
    target = target_for(
        settings(GATEWAY, CUSTOM_ANTHROPIC_MESSAGES_PATH="v1/messages"), "custom-a/b/claude-3"
    )
    assert target.url == f"{GATEWAY}/custom-a/v1/messages"
    assert target.model == "b/claude-3"


def test_client_of_anthropics_form_reaches_every_claude_in_it_and_others_in_openais() -> None:
    assert target_for(settings(GATEWAY), "claude-x", is_native=True).url == GATEWAY + MESSAGES
    assert target_for(settings(GATEWAY), "claude-x").form == "openai"
    assert target_for(settings(LOCAL), "qwen3", is_native=True).form == "openai"
    own = settings("https://api.anthropic.com")
    assert target_for(own, "next", is_native=True).url == "https://api.anthropic.com/v1/messages"


@pytest.mark.parametrize(
    "model",
    [
        "workers-ai/@cf/../../../zones",
        "workers-ai/@cf",
        "workers-ai/@cf/a?b",
        "workers-ai/@cf/a/..",
    ],
)
def test_name_that_would_lead_elsewhere_is_refused(model: str) -> None:
    with pytest.raises(InvalidInput, match="no model of Workers AI"):
        target_for(settings(LOCAL), model)


@pytest.mark.parametrize(
    "model", ["custom-a?b/claude-x", "custom-a%2f/claude-x", "custom-#/claude"]
)
def test_provider_with_odd_signs_is_no_path(model: str) -> None:
    assert target_for(settings(LOCAL), model).url == f"{LOCAL}/v1/chat/completions"


def test_no_server_is_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="memory works without"):
        target_for(load_settings({}), "deepseek/d")


@pytest.mark.parametrize(
    ("asked", "has_images", "model"),
    [
        ("companion", False, "chat"),
        ("", False, "chat"),
        ("companion", True, "see"),
        ("gpt-9", True, "gpt-9"),
        ("gpt-9", False, "gpt-9"),
    ],
)
def test_public_name_stands_for_a_model(asked: str, has_images: bool, model: str) -> None:
    own = settings(LOCAL, CHAT_MODEL="chat", VISION_MODEL="see")
    assert model_for(own, asked, has_images=has_images) == model
