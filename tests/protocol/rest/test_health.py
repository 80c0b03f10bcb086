"""The open routes: health, the welcome, discovery paths, the icon."""

from __future__ import annotations

import sqlite3

import pytest
from tests.protocol.rest.doors import DOG, OWNER, error_of, serve

from remembrancer.app.health import WRITE_FAILED_MS_MAX
from remembrancer.ports.sql import Statement
from remembrancer.testing.faults import Faults, FaultyStore
from remembrancer.testing.stores import memory_store

UNFINISHED = (
    "INSERT INTO rebuild_state (id, started_position, last_namespace, last_stream, last_version)"
    " VALUES (1, 7, '', '', 0)"
)


@pytest.mark.parametrize("query", ["", "?strict", "?strict=true", "?strict=false"])
async def test_health_is_ok_and_open(query: str) -> None:
    async with serve().client() as client:
        response = await client.get(f"/health{query}")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "reasons": []}


@pytest.mark.parametrize(("query", "status"), [("", 200), ("?strict", 503), ("?strict=1", 503)])
async def test_health_degraded_is_503_only_when_strict(query: str, status: int) -> None:
    served = serve()
    served.kv.fail_every = 1
    async with served.client() as client:
        response = await client.get(f"/health{query}")
    assert response.status_code == status
    body = response.json()
    assert body["status"] == "degraded"
    assert len(body["reasons"]) == 1
    assert "cache" in body["reasons"][0]


async def test_health_unfinished_rebuild_is_a_reason() -> None:
    sql = memory_store()
    await sql.write([Statement(UNFINISHED)])
    async with serve(sql=sql).client() as client:
        response = await client.get("/health", headers=OWNER)
    assert response.json()["status"] == "degraded"
    assert "rebuild" in response.json()["reasons"][0]
    assert response.json()["details"]["rebuild"] == {"status": "unfinished"}


async def test_health_store_that_does_not_answer_is_503() -> None:
    served = serve(sql=FaultyStore(memory_store(), Faults(fail_every=1)))
    async with served.client() as client:
        response = await client.get("/health")
    error_of(response, status=503, code="store_unavailable")


async def test_health_disk_that_takes_no_write_is_a_reason_until_one_is_taken() -> None:
    sql = memory_store()
    served = serve(sql=sql)
    item = {"title": "满", "content": "满 " * 4_000}
    async with served.client() as client:
        await client.post("/v1/items", headers=OWNER, json=item)
        pages = await sql.with_writer(_fill)
        refused = await client.post("/v1/items", headers=OWNER, json=item)
        degraded = await client.get("/health?strict", headers=OWNER)
        served.runtime.advance(WRITE_FAILED_MS_MAX + 1)
        later = await client.get("/health", headers=OWNER)
        await client.post("/v1/items", headers=OWNER, json=item)
        await sql.with_writer(lambda raw: raw.execute(f"PRAGMA max_page_count = {pages + 1_000}"))
        made = await client.post("/v1/items", headers=OWNER, json=item)
        well = await client.get("/health?strict", headers=OWNER)
    error_of(refused, status=503, code="store_unavailable")
    assert degraded.status_code == 503
    assert degraded.json()["reasons"] == ["nothing is written: the database's disk is full"]
    assert degraded.json()["details"]["store"]["status"] == "failing"
    assert later.json()["status"] == "ok"
    assert (made.status_code, well.status_code, well.json()["status"]) == (201, 200, "ok")


def _fill(raw: sqlite3.Connection) -> int:
    """Leave the database no page more than it has, and return how many these are."""
    [pages] = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count = {pages}")
    return int(pages)


async def test_health_request_that_clashes_says_nothing_of_the_disk() -> None:
    held = {"title": "t", "kind": "memory", "fact_key": "a:b"}
    async with serve().client() as client:
        await client.post("/v1/items", headers=OWNER, json=held)
        refused = await client.post("/v1/items", headers=OWNER, json=held)
        health = await client.get("/health")
    error_of(refused, status=409, code="conflict")
    assert health.json()["status"] == "ok"


async def test_health_details_need_the_scope() -> None:
    async with serve().client() as client:
        owner = await client.get("/health", headers=OWNER)
        dog = await client.get("/health", headers=DOG)
        wrong = await client.get("/health", headers={"x-api-key": "sk-wrong"})
        broken = await client.get("/health", headers={"authorization": "Basic x"})
    assert owner.json()["details"]["store"] == {"status": "ok", "ledger_position": 0}
    for response in (dog, wrong, broken):
        assert response.status_code == 200
        assert "details" not in response.json()


async def test_health_strict_with_another_word_is_invalid() -> None:
    async with serve().client() as client:
        response = await client.get("/health?strict=perhaps")
    error = error_of(response, status=400, code="invalid_input")
    assert error["details"]["field"] == "strict"


async def test_welcome_names_only_doors_that_are_served() -> None:
    async with serve().client() as client:
        response = await client.get("/")
    body = response.json()
    assert body["name"] == "Remembrancer"
    assert body["doors"]["health"] == "http://remembrancer.example/health"
    assert body["doors"]["docs"] == "http://remembrancer.example/docs"
    assert body["doors"]["panel"] == "http://remembrancer.example/admin"


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/%E4%B8%8D%E5%AD%98%E5%9C%A8",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_discovery_path_is_a_plain_404_without_a_key(path: str, method: str) -> None:
    async with serve().client() as client:
        response = await client.request(method, path)
    error_of(response, status=404, code="not_found")
    assert "www-authenticate" not in response.headers


async def test_icon_is_empty() -> None:
    async with serve().client() as client:
        response = await client.get("/favicon.ico")
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize("path", ["/health/", "/docs/", "/openapi.json/"])
async def test_slash_at_the_end_makes_no_difference(path: str) -> None:
    async with serve().client() as client:
        response = await client.get(path)
    assert response.status_code == 200
