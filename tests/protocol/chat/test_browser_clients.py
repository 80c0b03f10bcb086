"""Chat clients that are pages: on the web, in Electron, Tauri and Capacitor, in an extension."""

from __future__ import annotations

import pytest
from tests.protocol.chat.test_anthropic_door import CLAUDE, PATH, claude, question
from tests.protocol.chat.test_injection import user
from tests.protocol.chat.upstreams import chats
from tests.protocol.rest.doors import error_of

APPS = [
    "https://web.chat.example",
    "http://192.168.1.5:3000",
    "file://",
    "null",
    "app://.",
    "tauri://localhost",
    "capacitor://localhost",
    "chrome-extension://abcdef",
]
PATHS = [
    "/v1/chat/completions",
    "/v1/guide-dog/chat/completions",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/anthropic/v1/messages",
    "/v1/models",
    "/anthropic/v1/models",
]


@pytest.mark.parametrize("origin", APPS)
async def test_page_with_a_key_chats(origin: str) -> None:
    async with chats() as one:
        response = await one.post({"messages": [user("你好")]}, origin=origin)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == origin
    assert "x-remembrancer-recall" in response.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in response.headers


async def test_page_with_a_key_chats_in_anthropics_form() -> None:
    async with chats(claude, CLAUDE) as one:
        response = await one.post(question("你好"), path=PATH, origin="app://.")
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "app://."


@pytest.mark.parametrize("path", PATHS)
async def test_preflight_of_a_chat_takes_every_header(path: str) -> None:
    asked = {
        "origin": "file://",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,http-referer,x-title",
    }
    async with chats() as one:
        response = await one.client.options(path, headers=asked)
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "file://"
    allowed = response.headers["access-control-allow-headers"].split(", ")
    assert {"*", "authorization", "content-type"} <= set(allowed)


async def test_page_without_a_key_learns_that_it_needs_one() -> None:
    headers = {"origin": "https://evil.example"}
    body = {"messages": [user("hi")]}
    async with chats() as one:
        response = await one.client.post("/v1/chat/completions", json=body, headers=headers)
    error_of(response, status=401, code="unauthenticated")
    assert response.headers["access-control-allow-origin"] == "https://evil.example"


@pytest.mark.parametrize("path", ["/v1/memories", "/mcp", "/v1/chat/completionsx", "/v1/settings"])
async def test_other_doors_refuse_a_foreign_page(path: str) -> None:
    async with chats() as one:
        response = await one.client.get(path, headers={**one.headers, "origin": "file://"})
    assert response.status_code == 403


@pytest.mark.parametrize("query", ["beta=true", "api-version=2024-10-21&x=1", "limit=1000", "a=b"])
async def test_parameters_that_a_client_adds_are_passed_over(query: str) -> None:
    async with chats() as one:
        chat = await one.post({"messages": [user("hi")]}, path=f"/v1/chat/completions?{query}")
        models = await one.client.get(f"/v1/models?{query}")
    assert chat.status_code == 200
    assert models.json()["data"][0]["id"] == "companion"
