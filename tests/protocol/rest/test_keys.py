"""REST of access keys: a key is made, used, seen, and ended."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.rest.doors import OWNER, error_of, serve

NEW = {"name": "书房 desk", "scopes": ["admin", "memory:read"]}


async def test_key_is_made_used_and_revoked() -> None:
    served = serve()
    async with served.client() as client:
        made = await client.post("/v1/keys", headers=OWNER, json=NEW)
        assert made.status_code == 201
        token, key = made.json()["token"], made.json()["key"]
        assert key["scopes"] == ["memory:read", "admin"]
        mine = {"authorization": f"Bearer {token}"}
        seen = await client.get("/v1/keys", headers=mine)
        assert seen.json() == {"data": [key], "next_cursor": None}
        await served.runtime.drain()
        seen = await client.get("/v1/keys", headers=OWNER)
        assert seen.json()["data"][0]["last_used_at"] == "2026-03-01T12:00:00Z"
        ended = await client.delete(f"/v1/keys/{key['id']}", headers=mine)
        assert ended.json()["key"]["revoked_at"] == "2026-03-01T12:00:00Z"
        refused = await client.get("/v1/keys", headers=mine)
    error_of(refused, status=401, code="unauthenticated")
    assert token not in seen.text + ended.text + refused.text


@pytest.mark.parametrize(
    ("expires_at", "shown"),
    [
        ("2026-04-01T00:00:00+02:00", "2026-03-31T22:00:00Z"),
        ("2026-04-01T08:00", "2026-03-31T23:00:00Z"),
        ("2026-04-01", "2026-04-01T14:59:59.999Z"),
        ("三个月后", "2026-06-01T14:59:59.999Z"),
    ],
    ids=["offset", "own-zone", "whole-day", "words"],
)
async def test_key_expiry_is_a_time_or_a_day_in_the_namespaces_zone(
    expires_at: str, shown: str
) -> None:
    async with serve().client() as client:
        await client.patch("/v1/settings", headers=OWNER, json={"time_zone": "Asia/Tokyo"})
        made = await client.post("/v1/keys", headers=OWNER, json={**NEW, "expires_at": expires_at})
    assert made.json()["key"]["expires_at"] == shown


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"name": ""}, "invalid_input", "name"),
        ({"name": "x" * 201}, "invalid_input", "name"),
        ({"scopes": []}, "invalid_input", "scopes"),
        ({"scopes": ["memory:all"]}, "invalid_input", "scopes[0]"),
        ({"scopes": "admin"}, "invalid_input", "scopes"),
        ({"agent": "two words"}, "invalid_input", "agent"),
        ({"expires_at": "2026-02-30"}, "invalid_date", "expires_at"),
        ({"expires_at": "soon"}, "invalid_date", "expires_at"),
        ({"expires_at": "2020-01-01"}, "invalid_input", "expires_at"),
        ({"token": "mine"}, "invalid_input", "token"),
    ],
)
async def test_key_with_a_wrong_value_is_refused(
    change: dict[str, Any], code: str, field: str
) -> None:
    async with serve().client() as client:
        response = await client.post("/v1/keys", headers=OWNER, json={**NEW, **change})
        listed = await client.get("/v1/keys", headers=OWNER)
    assert error_of(response, status=400, code=code)["details"]["field"] == field
    assert listed.json()["data"] == []


async def test_keys_are_paged_by_cursor() -> None:
    async with serve().client() as client:
        for number in range(5):
            await client.post("/v1/keys", headers=OWNER, json={**NEW, "name": f"n{number}"})
        names: list[str] = []
        place: dict[str, str] = {}
        while len(names) < 5:
            page = await client.get("/v1/keys", headers=OWNER, params={"limit": "2", **place})
            names += [key["name"] for key in page.json()["data"]]
            place = {"cursor": page.json()["next_cursor"]}
        bad = await client.get("/v1/keys?cursor=abc", headers=OWNER)
    assert place == {"cursor": None}
    assert names == ["n0", "n1", "n2", "n3", "n4"]
    assert error_of(bad, status=400, code="invalid_input")["details"]["field"] == "cursor"


async def test_key_made_twice_with_one_idempotency_key_is_one_key() -> None:
    headers = {**OWNER, "idempotency-key": "钥匙".encode().hex()}
    async with serve().client() as client:
        first = await client.post("/v1/keys", headers=headers, json=NEW)
        again = await client.post("/v1/keys", headers=headers, json=NEW)
        other = await client.post("/v1/keys", headers=headers, json={**NEW, "name": "n"})
    assert again.json() == {"key": first.json()["key"], "token": None}
    error_of(other, status=409, code="idempotency_key_reused")


async def test_key_unknown_cannot_be_revoked() -> None:
    async with serve().client() as client:
        response = await client.delete("/v1/keys/key_%E6%97%A0", headers=OWNER)
    error_of(response, status=404, code="not_found")
