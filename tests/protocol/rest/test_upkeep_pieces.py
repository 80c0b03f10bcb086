"""Verify, rebuild and export over REST where requests have a bound: asked until it is over."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.protocol.rest.doors import KEYS, OWNER, error_of, serve
from tests.protocol.rest.talk import Talk, check_described, settle

from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.testing.stores import CountingStore, memory_store


@asynccontextmanager
async def bounded() -> AsyncIterator[tuple[Talk, CountingStore]]:
    """A server whose requests have a bound, as on the platform; its store counts."""
    counting = CountingStore(memory_store())
    served = serve(sql=counting)
    app = replace(served.app, request_pieces=1)
    served = replace(served, app=app, asgi=create_asgi(app, routes=AREAS))
    async with served.client() as client:
        yield Talk(served, client), counting


async def made_key(one: Talk) -> dict[str, str]:
    """The header of a made key, which costs a statement more than the environment's."""
    body = {"name": "operator", "scopes": ["admin", "export:read", "memory:read"]}
    made = await one.ask("POST", "/v1/keys", body)
    return {"authorization": f"Bearer {made['token']}"}


async def asked_until_over(
    one: Talk, counting: CountingStore, path: str, headers: dict[str, str]
) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    body: dict[str, Any] = {}
    while not answers or answers[-1]["more"]:
        counting.counts.reset()
        response = await one.client.post(path, json=body, headers=headers)
        check_described("POST", path, response)
        assert counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX
        answers.append(response.raise_for_status().json())
        body = {"cursor": answers[-1]["cursor"]}
    return answers


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remembrancer.app.rebuild.CHUNK_EVENTS", 5)
    monkeypatch.setattr("remembrancer.app.verify.PAGE_EVENTS", 2)
    monkeypatch.setattr("remembrancer.app.verify.PIECE_PAGES", 2)
    monkeypatch.setattr("remembrancer.store.export.PAGE_ROWS", 1)
    monkeypatch.setattr("remembrancer.app.export.PIECE_STATEMENTS", 8)


async def test_verify_and_rebuild_are_asked_until_there_is_no_more() -> None:
    async with bounded() as (one, counting):
        await settle(one)
        key = await made_key(one)
        before = await one.ask("GET", "/v1/items")
        verified = await asked_until_over(one, counting, "/v1/admin/verify", key)
        rebuilt = await asked_until_over(one, counting, "/v1/admin/rebuild", key)
        again = await asked_until_over(one, counting, "/v1/admin/rebuild", OWNER)
        dry = await one.ask("POST", "/v1/admin/rebuild", {"dry_run": True})
        assert await one.ask("GET", "/v1/items") == before
    assert len(verified) > 2 and verified[-1]["ok"] is True
    assert verified[-1]["events"] == rebuilt[-1]["events"] == rebuilt[-1]["events_done"]
    assert len(rebuilt) > 4 and len(again) == len(rebuilt)
    assert (rebuilt[-1]["resumed"], rebuilt[-1]["rows_changed"]) == (False, 0)
    assert (dry["more"], dry["events_done"]) == (False, 0)


async def test_rebuild_that_was_left_goes_on_without_its_cursor() -> None:
    async with bounded() as (one, counting):
        await settle(one)
        for _ in range(2):
            await one.ask("POST", "/v1/admin/rebuild", {})
        answers = await asked_until_over(one, counting, "/v1/admin/rebuild", OWNER)
        health = await one.ask("GET", "/health")
    assert answers[-1]["resumed"] is True
    assert health["status"] == "ok"


async def test_export_in_pieces_is_the_file_and_is_imported_in_pieces() -> None:
    async with bounded() as (one, counting), bounded() as (other, others):
        await settle(one)
        key = await made_key(one)
        lines: list[bytes] = []
        pieces = 0
        query: dict[str, str] = {}
        while True:
            counting.counts.reset()
            response = await one.client.get("/v1/export", params=query, headers=key)
            assert counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX
            *piece, last = response.raise_for_status().content.splitlines(keepends=True)
            pieces, lines = pieces + 1, [*lines, *piece]
            if json.loads(last)["line"] == "end":
                lines.append(last)
                break
            query = {"cursor": json.loads(last)["cursor"]}
        file = b"".join(lines)
        answer: dict[str, Any] = {"lines": 0, "more": True, "cursor": None}
        while answer["more"]:
            others.counts.reset()
            query = {"pieces": "true"} | ({"cursor": answer["cursor"]} if answer["lines"] else {})
            body = b"".join(lines[answer["lines"] :])
            response = await other.client.post(
                "/v1/admin/import", params=query, content=body, headers=_lines(OWNER)
            )
            assert others.counts.statements <= SQL_BATCH_STATEMENTS_MAX
            answer = response.raise_for_status().json()
        back = await _whole(other.client)
    assert pieces > 1
    assert answer["positions_kept"] is True
    assert back == file


async def test_cursor_of_other_work_is_refused() -> None:
    async with bounded() as (one, _):
        await settle(one)
        first = await one.ask("POST", "/v1/admin/verify", {})
        assert first["more"]
        taken = {"cursor": first["cursor"]}
        refused = [
            await one.client.post("/v1/admin/rebuild", json=taken, headers=OWNER),
            await one.client.get("/v1/export", params=taken, headers=OWNER),
            await one.client.post("/v1/admin/verify", json={"cursor": "x"}, headers=OWNER),
            await one.client.post(
                "/v1/admin/import", params=taken, content=b"{}\n", headers=_lines(OWNER)
            ),
        ]
    for response in refused:
        assert error_of(response, status=400, code="invalid_input")["message"].startswith("cursor")


def _lines(headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "content-type": "application/x-ndjson"}


async def _whole(client: httpx.AsyncClient) -> bytes:
    headers = {"authorization": f"Bearer {KEYS['CHATBOX_API_KEY']}"}
    lines: list[bytes] = []
    query: dict[str, str] = {}
    while True:
        response = await client.get("/v1/export", params=query, headers=headers)
        *piece, last = response.content.splitlines(keepends=True)
        lines += piece
        if b'"line":"more"' not in last:
            return b"".join([*lines, last])
        query = {"cursor": json.loads(last)["cursor"]}
