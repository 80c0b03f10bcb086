"""The environment's settings: defaults, layers, wrong values, and that no secret is ever shown."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.app.settings import FIELDS, Settings, describe_settings, load_settings
from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput

SECRET = "sk-my-remembrancer"


def test_settings_without_environment_take_their_defaults() -> None:
    settings = load_settings({})
    assert settings.dream_time_zone == "Asia/Singapore"
    assert settings.rate_limit_per_minute == limits.RATE_PER_MINUTE
    assert settings.body_bytes_max == limits.BODY_BYTES_MAX
    assert settings.allowed_origins == ()
    assert settings.mcp_query_token_enabled is True
    assert settings.remembrancer_data is None
    assert settings.environment_keys() == {}
    assert {settings.source_of(name.upper()) for name in FIELDS} == {"default"}


def test_settings_layers_command_line_wins_over_environment_over_data_folder() -> None:
    settings = load_settings(
        {"RATE_LIMIT_PER_MINUTE": "7", "BODY_BYTES_MAX": "70000", "PATH": "/bin"},
        overrides={"RATE_LIMIT_PER_MINUTE": "8"},
        stored={"CHATBOX_API_KEY": SECRET, "BODY_BYTES_MAX": "80000"},
    )
    assert settings.rate_limit_per_minute == 8
    assert settings.body_bytes_max == 70_000
    assert settings.environment_keys() == {"CHATBOX_API_KEY": SECRET}
    assert settings.source_of("RATE_LIMIT_PER_MINUTE") == "command line"
    assert settings.source_of("BODY_BYTES_MAX") == "environment"
    assert settings.source_of("CHATBOX_API_KEY") == "data folder"
    assert settings.source_of("DREAM_TIME_ZONE") == "default"


@pytest.mark.parametrize("text", ["", "  ", "\n"], ids=["empty", "spaces", "newline"])
def test_settings_blank_value_counts_as_not_set(text: str) -> None:
    settings = load_settings({"DREAM_TIME_ZONE": text, "IM_API_KEY": text})
    assert settings == load_settings({})


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("DREAM_TIME_ZONE", "Europe/Zurich", "dream_time_zone", "Europe/Zurich"),
        ("RATE_LIMIT_PER_MINUTE", "0", "rate_limit_per_minute", 0),
        ("RATE_LIMIT_PER_MINUTE", "1000000", "rate_limit_per_minute", 1_000_000),
        ("BODY_BYTES_MAX", "65536", "body_bytes_max", 65_536),
        ("MCP_QUERY_TOKEN_ENABLED", "false", "mcp_query_token_enabled", False),
        ("MCP_QUERY_TOKEN_ENABLED", "1", "mcp_query_token_enabled", True),
        ("REMEMBRANCER_DATA", "/data/记忆", "remembrancer_data", "/data/记忆"),
        (
            "ALLOWED_ORIGINS",
            "https://a.example/, http://B.example:8080",
            "allowed_origins",
            ("https://a.example", "http://b.example:8080"),
        ),
        ("ALLOWED_ORIGINS", "*", "allowed_origins", ("*",)),
    ],
)
def test_settings_value_is_parsed(variable: str, text: str, field: str, value: object) -> None:
    settings = load_settings({variable: text})
    assert settings.model_dump()[field] == value
    assert settings.source_of(variable) == "environment"


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("DREAM_TIME_ZONE", "Mars/Olympus"),
        ("DREAM_TIME_ZONE", "../../etc/passwd"),
        ("DREAM_TIME_ZONE", "上海"),
        ("RATE_LIMIT_PER_MINUTE", "-1"),
        ("RATE_LIMIT_PER_MINUTE", "1000001"),
        ("RATE_LIMIT_PER_MINUTE", "many"),
        ("BODY_BYTES_MAX", "65535"),
        ("BODY_BYTES_MAX", "104857601"),
        ("ALLOWED_ORIGINS", "chat.example.org"),
        ("ALLOWED_ORIGINS", "https://chat.example.org/path"),
        ("ALLOWED_ORIGINS", "https://user@chat.example.org"),
        ("MCP_QUERY_TOKEN_ENABLED", "perhaps"),
    ],
)
def test_settings_wrong_value_is_named_with_what_is_accepted(variable: str, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({variable: text})
    accepts = next(i.accepts for i in describe_settings(Settings()) if i.variable == variable)
    assert caught.value.field == variable
    assert variable in caught.value.message
    assert repr(text[:60]) in caught.value.message
    assert accepts in caught.value.message


@pytest.mark.parametrize("text", ["two words", "密钥", "x" * 513, "tab\there"])
def test_settings_wrong_secret_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({"DEBUG_API_KEY": text})
    shown = "".join(traceback.format_exception(caught.value))
    assert "DEBUG_API_KEY" in caught.value.message
    assert text not in shown
    assert text[:60] not in shown


def test_settings_same_key_twice_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({"CHATBOX_API_KEY": SECRET, "MEMORY_MCP_API_KEY": SECRET})
    assert "CHATBOX_API_KEY and MEMORY_MCP_API_KEY" in caught.value.message
    assert SECRET not in f"{caught.value.message}{caught.value.hint}"


def test_settings_text_forms_never_hold_a_secret() -> None:
    settings = load_settings({"CHATBOX_API_KEY": SECRET})
    forms = [repr(settings), str(settings), settings.model_dump_json(), repr(settings.model_dump())]
    assert all(SECRET not in form for form in [*forms, repr(describe_settings(settings))])


def test_settings_description_tells_each_variable_once_and_masks_secrets() -> None:
    infos = describe_settings(load_settings({"CHATBOX_API_KEY": SECRET}))
    by_name = {info.variable: info for info in infos}
    assert len(by_name) == len(infos) == len(FIELDS)
    assert all(info.description and info.accepts for info in infos)
    assert by_name["CHATBOX_API_KEY"].value == "***"
    assert by_name["CHATBOX_API_KEY"].source == "environment"
    assert by_name["IM_API_KEY"].value is None
    assert by_name["IM_API_KEY"].secret
    assert by_name["MCP_QUERY_TOKEN_ENABLED"].value == "true"
    assert by_name["MCP_QUERY_TOKEN_ENABLED"].type == "boolean"
    assert by_name["ALLOWED_ORIGINS"].value == ""
    assert by_name["ALLOWED_ORIGINS"].type == "list"
    assert by_name["REMEMBRANCER_DATA"].default == ""


@given(st.dictionaries(st.sampled_from([name.upper() for name in FIELDS]), st.text(max_size=40)))
def test_settings_any_environment_loads_or_is_invalid_input(environ: dict[str, str]) -> None:
    try:
        settings = load_settings(environ)
    except InvalidInput as error:
        named = error.field
    else:
        named = None
        assert describe_settings(settings)
    assert named is None or named in environ
