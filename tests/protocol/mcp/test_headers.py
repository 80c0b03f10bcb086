"""Routing headers: their encoding, and the arguments that clients repeat in them."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.values import JSON
from remembrancer.mcp.headers import argument_mismatch, decode_value

SCHEMA: dict[str, JSON] = {
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "loud": {"type": "boolean", "x-mcp-header": "Loud"},
        "where": {"properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
        "plain": {"type": "string"},
        "anything": True,
    }
}


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("=?base64?SGVsbG8=?=", "Hello", id="encoded"),
        pytest.param("=?base64?SGVsbG8?=", None, id="no-padding"),
        pytest.param("=?base64?SGVs!!!bG8=?=", None, id="bad-characters"),
        pytest.param("=?base64?SGVsbG9=?=", None, id="stray-bits"),
        pytest.param("=?base64?/w==?=", None, id="not-utf8"),
        pytest.param("=?base64?SGVsbG8=", "=?base64?SGVsbG8=", id="no-suffix"),
        pytest.param("", "", id="empty"),
    ],
)
def test_decode_value_unwraps_only_what_is_whole(value: str, decoded: str | None) -> None:
    assert decode_value(value) == decoded


@given(st.text())
def test_decode_value_returns_what_was_encoded(text: str) -> None:
    encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    expected = text if text.encode("utf-8", "replace").decode() == text else None
    assert decode_value(f"=?base64?{encoded}?=") == expected


@pytest.mark.parametrize(
    ("arguments", "headers", "agrees"),
    [
        pytest.param({}, {}, True, id="both-absent"),
        pytest.param({"region": None}, {}, True, id="null-is-absent"),
        pytest.param({"region": "eu"}, {"mcp-param-region": "eu"}, True, id="equal"),
        pytest.param({"region": "eu"}, {"mcp-param-region": "us"}, False, id="other"),
        pytest.param({"region": "eu"}, {}, False, id="no-header"),
        pytest.param({}, {"mcp-param-region": "eu"}, False, id="no-argument"),
        pytest.param({"region": ["eu"]}, {"mcp-param-region": "eu"}, False, id="list"),
        pytest.param({"region": "eu"}, {"mcp-param-region": "=?base64?!?="}, False, id="broken"),
        pytest.param({"region": "北"}, {"mcp-param-region": "=?base64?5YyX?="}, True, id="chinese"),
        pytest.param({"count": 42}, {"mcp-param-count": "42"}, True, id="number"),
        pytest.param({"count": 42}, {"mcp-param-count": "42.0"}, True, id="number-as-decimal"),
        pytest.param({"count": 42.0}, {"mcp-param-count": "42"}, True, id="decimal-as-number"),
        pytest.param({"count": 42}, {"mcp-param-count": "42.5"}, False, id="fraction"),
        pytest.param({"count": 42}, {"mcp-param-count": "4e1"}, False, id="exponent"),
        pytest.param({"count": "42"}, {"mcp-param-count": "42"}, True, id="number-as-text"),
        pytest.param({"loud": True}, {"mcp-param-loud": "true"}, True, id="true"),
        pytest.param({"loud": False}, {"mcp-param-loud": "False"}, False, id="capital"),
        pytest.param({"where": {"zone": "a"}}, {"mcp-param-zone": "a"}, True, id="nested"),
        pytest.param({"where": "a"}, {"mcp-param-zone": "a"}, False, id="not-nested"),
        pytest.param({"plain": "x"}, {"mcp-param-plain": "y"}, True, id="not-declared"),
    ],
)
def test_argument_headers_must_equal_the_arguments(
    arguments: dict[str, JSON], headers: dict[str, str], agrees: bool
) -> None:
    assert (argument_mismatch(SCHEMA, arguments, headers) is None) is agrees


def test_argument_headers_without_declared_properties_are_ignored() -> None:
    assert argument_mismatch({"type": "object"}, {}, {"mcp-param-a": "1"}) is None
