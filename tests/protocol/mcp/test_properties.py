"""Whatever comes in, a valid answer goes out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse
from tests.protocol.mcp.sample import TOOLS, call_by, envelope, sample_server

from remembrancer.http.mcp import answer_post
from remembrancer.mcp.classify import CAPABILITIES_KEY, CLIENT_KEY, MODERN, VERSION_KEY

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)
METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "notifications/cancelled",
    ]
)
NAMES = st.sampled_from([tool.name for tool in TOOLS if tool.name != "wait"] + ["greeting", "chat"])
KEYS = st.sampled_from([VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY, "progressToken"])
META = st.just(envelope()) | st.dictionaries(KEYS | TEXT, ANYTHING, max_size=4) | ANYTHING
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | ANYTHING,
        "arguments": st.dictionaries(
            st.sampled_from(["title", "kind", "priority", "tags", "group", "name"]) | TEXT, ANYTHING
        )
        | ANYTHING,
        "uri": st.sampled_from(["memo://today", "memo://day/1"]) | ANYTHING,
        "cursor": ANYTHING,
        "ref": ANYTHING,
        "argument": ANYTHING,
        "inputResponses": ANYTHING,
        "requestState": ANYTHING,
        "_meta": META,
    },
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | ANYTHING, "method": METHODS | ANYTHING},
    optional={"id": st.integers() | TEXT | ANYTHING, "params": PARAMS | ANYTHING},
)
VERSIONS = st.sampled_from([None, MODERN, "2025-11-25", "2025-03-26", "v9", ""])


async def _post(content: bytes, version: str | None, method: str) -> tuple[bytes, Response]:
    headers = {"accept": "application/json, text/event-stream", "mcp-method": method}
    if version is not None:
        headers["mcp-protocol-version"] = version
    response = await answer_post(
        sample_server(), call_by(), body=content, headers=Headers(headers), tools=None
    )
    if isinstance(response, StreamingResponse):
        pieces = [piece async for piece in response.body_iterator]
        return b"".join(piece for piece in pieces if isinstance(piece, bytes)), response
    return bytes(response.body), response


def _check(content: bytes, response: Response) -> None:
    if response.status_code == 202:
        assert content == b""
        return
    assert response.status_code in (200, 400, 404)
    text = content.decode().strip()
    if isinstance(response, StreamingResponse):
        text = text.rpartition("data: ")[2]
    held = json.loads(text)
    answers = held if isinstance(held, list) else [held]
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
        assert answer["id"] is None or isinstance(answer["id"], str | int)
        if "error" in answer:
            # A defect would be internal_error; nothing that a client sends may be one.
            assert answer["error"]["code"] != -32603
            assert isinstance(answer["error"]["message"], str)


# Any: generated JSON.
@given(message=MESSAGES | ANYTHING | st.lists(MESSAGES, max_size=3), version=VERSIONS)
async def test_any_json_gets_an_answer_or_is_accepted(message: Any, version: str | None) -> None:
    method = message.get("method") if isinstance(message, dict) else None
    header = method if isinstance(method, str) and method.isascii() and method.isprintable() else ""
    _check(*await _post(json.dumps(message).encode(), version, header.strip()))


@given(content=st.binary(max_size=60), version=VERSIONS)
async def test_any_bytes_get_an_answer_or_are_accepted(content: bytes, version: str | None) -> None:
    _check(*await _post(content, version, "ping"))
