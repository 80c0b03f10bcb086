"""The export over REST: the same lines as in the process, streamed, for those who may."""

from __future__ import annotations

import pytest
from tests.protocol.rest.doors import DOG, KEYS, OWNER, error_of, serve
from tests.protocol.rest.talk import settle, talk

from remembrancer.app.export import export_lines
from remembrancer.core.ids import Namespace
from remembrancer.store.export import Scope


async def test_export_gives_the_lines_of_the_callers_namespace() -> None:
    async with talk() as one:
        await settle(one)
        scope = Scope(Namespace("default"))
        lines = b"".join([line async for line in export_lines(one.served.app, scope)])
        response = await one.client.get("/v1/export", headers=OWNER)
        assert response.headers["content-type"] == "application/x-ndjson"
        assert "attachment" in response.headers["content-disposition"]
        assert response.content == lines
        elsewhere = await one.client.get("/v1/export?namespace=empty", headers=OWNER)
        assert elsewhere.content.count(b"\n") == 2
        everything = await one.client.get("/v1/export?all_namespaces", headers=OWNER)
        assert everything.content.count(b"\n") == lines.count(b"\n")


async def test_export_shows_keys_to_admin_only() -> None:
    async with talk() as one:
        await one.ask("POST", "/v1/keys", {"name": "笔记本", "scopes": ["export:read"]})
        assert "笔记本" in (await one.client.get("/v1/export", headers=OWNER)).text
        assert "笔记本" not in (await one.client.get("/v1/export?keys=false", headers=OWNER)).text
        agent = {"x-api-key": KEYS["MEMORY_MCP_API_KEY"]}
        response = await one.client.get("/v1/export", headers=agent)
        assert response.status_code == 200
        assert "笔记本" not in response.text


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        pytest.param("", DOG, id="no-scope"),
        pytest.param(
            "?all_namespaces=true", {"x-api-key": KEYS["MEMORY_MCP_API_KEY"]}, id="no-admin"
        ),
    ],
)
async def test_export_without_the_scope_is_forbidden(query: str, headers: dict[str, str]) -> None:
    async with serve().client() as client:
        response = await client.get(f"/v1/export{query}", headers=headers)
    error_of(response, status=403, code="forbidden")
