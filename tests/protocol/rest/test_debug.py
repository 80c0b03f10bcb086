"""A look inside over REST: vectors and cache, and the vectors' repair."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.protocol.rest.doors import OWNER, Served, serve

from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.testing.models import HashingEmbedder

DEBUG = {"authorization": "Bearer sk-debug"}


def served_with_vectors() -> Served:
    """A server whose items are embedded."""
    served = serve()
    embedder = HashingEmbedder()
    vectors = LocalVectors(MEMORY, embedder.model, threads=0)
    app = replace(served.app, embedder=embedder, vectors=vectors)
    return replace(served, app=app, asgi=create_asgi(app, routes=AREAS))


@pytest.mark.parametrize("headers", [OWNER, DEBUG], ids=["owner", "debug"])
async def test_vector_health_and_reindex_over_rest(headers: dict[str, str]) -> None:
    served = served_with_vectors()
    async with served.client() as client:
        made = await client.post("/v1/items", json={"title": "猫叫拿铁"}, headers=OWNER)
        assert made.status_code == 201
        dry = (await client.post("/v1/debug/vector_reindex", json={}, headers=headers)).json()
        assert (dry["dry_run"], dry["examined"], dry["missing"]) == (True, 1, 0)
        await served.runtime.drain()
        health = (await client.get("/v1/debug/vector_health", headers=headers)).json()
        assert health["status"] == "ok", health
        assert health["items"] == health["vectors"] == 1
        body = {"dry_run": False, "force": True, "limit": 10}
        done = (await client.post("/v1/debug/vector_reindex", json=body, headers=headers)).json()
        assert (done["queued"], done["embedded"], done["next_cursor"]) == (1, 1, None)
        details = (await client.get("/health", headers=headers)).json()["details"]
        assert details["vectors"]["status"] == "ok"


async def test_vectors_that_are_off_say_so() -> None:
    async with serve().client() as client:
        health = await client.get("/v1/debug/vector_health", headers=OWNER)
        assert health.json()["status"] == "off"
        refused = await client.post("/v1/debug/vector_reindex", json={}, headers=OWNER)
        assert refused.status_code == 400


async def test_cache_health_sends_a_canary_through() -> None:
    served = serve()
    async with served.client() as client:
        health = (await client.get("/v1/debug/cache_health", headers=OWNER)).json()
    assert health["status"] == "ok"
    assert health["canary"] == {"written": True, "found": True, "deleted": True, "ms": 0}


@pytest.mark.parametrize("key", ["sk-im", "sk-mcp", "sk-dog"])
async def test_looking_inside_needs_its_scope(key: str) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with serve().client() as client:
        for path in ("/v1/debug/vector_health", "/v1/debug/cache_health"):
            assert (await client.get(path, headers=headers)).status_code == 403
        refused = await client.post("/v1/debug/vector_reindex", json={}, headers=headers)
        assert refused.status_code == 403
