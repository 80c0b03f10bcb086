"""The routing headers of revision 2026-07-28: decoding them and holding them against the body.

Pure functions over a mapping of lower-case names; reading the headers is the transport's part.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final

from remembrancer.core.values import JSON

VERSION_HEADER: Final = "mcp-protocol-version"
"""Names the revision. Source: MCP 2025-06-18 and later, basic/transports."""
METHOD_HEADER: Final = "mcp-method"
"""Repeats the method. Source: MCP 2026-07-28, basic/transports."""
NAME_HEADER: Final = "mcp-name"
"""Repeats the tool, prompt or resource named. Source: MCP 2026-07-28, basic/transports."""
PARAM_HEADER_PREFIX: Final = "mcp-param-"
"""Begins the header of an argument whose schema has `x-mcp-header`. Source: as above."""

NAME_PARAMS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that `Mcp-Name` repeats."""

_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")
_DECIMAL: Final = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,300})?")


def decode_value(value: str) -> str | None:
    """Return a header's value, unwrapped from `=?base64?…?=`; None when the wrapping is broken."""
    match = _ENCODED.fullmatch(value)
    if match is None:
        return value
    try:
        decoded = base64.b64decode(match[1], validate=True)
        # A decoder forgives stray trailing bits; an encoder never makes them.
        canonical = base64.b64encode(decoded).decode("ascii") == match[1]
        return decoded.decode("utf-8") if canonical else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def routing_mismatch(
    method: str, params: Mapping[str, JSON], headers: Mapping[str, str], *, version: JSON
) -> str | None:
    """Return which routing header contradicts the body, as a sentence; None when all agree."""
    if headers.get(VERSION_HEADER) != version:
        return "The MCP-Protocol-Version header differs from the version in params._meta."
    if headers.get(METHOD_HEADER) != method:
        return f"The Mcp-Method header differs from the method {method!r}."
    param = NAME_PARAMS.get(method)
    named = params.get(param) if param else None
    if named is not None and decode_value(headers.get(NAME_HEADER, "")) != named:
        return f"The Mcp-Name header differs from params.{param}."
    return None


def argument_mismatch(
    schema: Mapping[str, JSON], arguments: Mapping[str, JSON], headers: Mapping[str, str]
) -> str | None:
    """Return which `Mcp-Param-…` header contradicts its argument; None when all agree.

    *Promise:* header and argument are both absent, or both there and equal; integers are
    compared as numbers.
    """
    for path, token, kind in _declared(schema, ()):
        value: JSON = dict(arguments)
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        header = headers.get(PARAM_HEADER_PREFIX + token.lower())
        if header is None and value is None:
            continue
        decoded = None if header is None else decode_value(header)
        if decoded is None or not _same(kind, value, decoded):
            return f"The Mcp-Param-{token} header differs from the argument {'.'.join(path)!r}."
    return None


def _declared(
    schema: Mapping[str, JSON], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, JSON]]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            continue
        token = inner.get("x-mcp-header")
        if isinstance(token, str):
            yield (*path, name), token, inner.get("type")
        yield from _declared(inner, (*path, name))


def _same(kind: JSON, value: JSON, header: str) -> bool:
    if isinstance(value, bool):
        return header == ("true" if value else "false")
    if kind == "integer" and isinstance(value, int | float) and _DECIMAL.fullmatch(header):
        whole, _, fraction = header.partition(".")
        return not fraction.strip("0") and int(whole) == value
    return isinstance(value, str | int | float) and header == str(value)
