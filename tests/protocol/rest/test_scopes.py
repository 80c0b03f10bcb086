"""Each scope opens what it names and nothing else: every route and every tool by every scope."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.mcp.sample import envelope
from tests.protocol.rest.doors import OWNER, error_of, serve
from tests.protocol.rest.test_debug import served_with_vectors

from remembrancer.core.access.profiles import PROFILES
from remembrancer.core.access.scopes import SCOPES
from remembrancer.http.mcp import mcp_route
from remembrancer.http.route_table import AnyRoute, path_params
from remembrancer.http.routes import AREAS, every_route
from remembrancer.mcp.catalogue import make_server
from remembrancer.mcp.classify import MODERN

if TYPE_CHECKING:
    import httpx

SCOPED = [route for route in every_route() if route.scope is not None]
MCP = make_server()


def _address(route: AnyRoute) -> str:
    path = route.path
    for name in path_params(path):
        path = path.replace(f"{{{name}:path}}", "没有").replace(f"{{{name}}}", "没有")
    return path


async def _key(client: httpx.AsyncClient, *scopes: str) -> dict[str, str]:
    """The headers of a fresh key that has these scopes and no other."""
    made = await client.post(
        "/v1/keys", json={"name": "钥匙", "scopes": list(scopes)}, headers=OWNER
    )
    assert made.status_code == 201, made.text
    return {"authorization": f"Bearer {made.json()['token']}"}


@pytest.mark.parametrize("scope", SCOPES)
async def test_key_of_one_scope_opens_its_routes_alone(scope: str) -> None:
    async with serve({"RATE_LIMIT_PER_MINUTE": "0"}).client() as client:
        headers = await _key(client, scope)
        for route in SCOPED:
            answer = await client.request(route.method, _address(route), headers=headers)
            if route.scope == scope:
                assert answer.status_code not in (401, 403), (route.name, answer.text)
            else:
                error = error_of(answer, status=403, code="forbidden")
                assert repr(route.scope) in error["message"], route.name


@pytest.mark.parametrize("scope", SCOPES)
async def test_key_of_every_other_scope_does_not_open_a_route(scope: str) -> None:
    async with serve().client() as client:
        headers = await _key(client, *(each for each in SCOPES if each != scope))
        for route in SCOPED:
            if route.scope == scope:
                answer = await client.request(route.method, _address(route), headers=headers)
                error_of(answer, status=403, code="forbidden")


@pytest.mark.parametrize("scope", SCOPES)
async def test_key_of_one_scope_sees_and_calls_its_tools_alone(scope: str) -> None:
    served = serve({"RATE_LIMIT_PER_MINUTE": "0"}, routes=(*AREAS, mcp_route(MCP)))
    async with served.client() as client:
        headers = await _key(client, scope)

        async def ask(method: str, params: object) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = await client.post("/mcp?tools=all", json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            result: dict[str, Any] = answer.json()["result"]
            return result

        greeting = await ask("initialize", {"protocolVersion": "2025-06-18"})
        listed = {tool["name"] for tool in (await ask("tools/list", {}))["tools"]}
        permitted = set()
        for tool in MCP.registry.tools.values():
            result = await ask("tools/call", {"name": tool.name, "arguments": {}})
            error = result["structuredContent"].get("error", {})
            if error.get("code") != "forbidden":
                permitted.add(tool.name)
    assert greeting["serverInfo"]["name"] == "remembrancer"
    assert listed == permitted
    assert listed == {tool.name for tool in MCP.registry.tools.values() if tool.scope == scope}


@pytest.mark.parametrize("scope", SCOPES)
async def test_every_key_discovers_the_server_in_the_current_revision(scope: str) -> None:
    served = serve(routes=(*AREAS, mcp_route(MCP)))
    params = {"_meta": envelope()}
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "server/discover"}
    async with served.client() as client:
        answer = await client.post("/mcp", json=body, headers=headers | await _key(client, scope))
        nobody = await client.post("/mcp", json=body, headers=headers)
    assert answer.json()["result"]["supportedVersions"] == [MODERN]
    error_of(nobody, status=401, code="unauthenticated")


async def test_export_of_memories_needs_one_scope_at_every_door() -> None:
    [route] = [each for each in SCOPED if each.name == "export_memories"]
    assert MCP.registry.tool("memory_export").scope == route.scope == "export:read"
    assert "export:read" in PROFILES["MEMORY_MCP_API_KEY"].scopes


async def test_looking_inside_alone_neither_embeds_nor_leaves_its_namespace() -> None:
    async with served_with_vectors().client() as client:
        looking = await _key(client, "debug:read")
        writing = await _key(client, "debug:read", "memory:write")
        allowed: list[str] = []
        refused: list[str] = []
        for headers, body in (
            (looking, {}),
            (writing, {"dry_run": False}),
            (looking, {"dry_run": False}),
            (writing, {"index": "next"}),
        ):
            answer = await client.post("/v1/debug/vector_reindex", json=body, headers=headers)
            (refused if answer.status_code == 403 else allowed).append(json.dumps(body))
    assert allowed == ["{}", '{"dry_run": false}']
    assert refused == ['{"dry_run": false}', '{"index": "next"}']
