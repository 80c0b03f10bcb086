"""Bad input: each gets its documented code, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.rest.doors import DOG
from tests.protocol.rest.talk import Talk, World, settle, talk

from remembrancer.core.text.fold import clean

LONG = "题" * 350_000
"""A title of a megabyte."""

INJECTIONS = (
    "' OR 1=1 --",
    '"; DROP TABLE items; --',
    "%' UNION SELECT body FROM events --",
    "NEAR(a b) AND (c OR NOT *)",
    '"unclosed',
    "title:x ^a {b} -c + C++",
    "\\' \x01 \u202e",
)

CASES: tuple[tuple[str, str, Any, int, str], ...] = (
    # unknown ids
    ("GET", "/v1/items/itm_none", None, 404, "not_found"),
    ("PATCH", "/v1/items/itm_none", {"title": "x"}, 404, "not_found"),
    ("DELETE", "/v1/items/itm_none", None, 404, "not_found"),
    ("POST", "/v1/items/itm_none/state", {"action": "complete"}, 404, "not_found"),
    ("POST", "/v1/items/itm_none/restore", None, 404, "not_found"),
    ("POST", "/v1/items/itm_none/forget", None, 404, "not_found"),
    ("GET", "/v1/items/itm_none/history", None, 404, "not_found"),
    ("GET", "/v1/items/itm_none/relations", None, 404, "not_found"),
    ("POST", "/v1/items/delete", {"ids": ["{milk}", "itm_none"]}, 404, "not_found"),
    ("POST", "/v1/items/{milk}/supersede", {"target_ids": ["itm_none"]}, 404, "not_found"),
    ("POST", "/v1/items", {"title": "x", "objective_id": "itm_none"}, 404, "not_found"),
    ("POST", "/v1/items", {"title": "x", "project": "无"}, 404, "not_found"),
    ("GET", "/v1/items?project=none", None, 404, "not_found"),
    ("GET", "/v1/items?topic=none", None, 404, "not_found"),
    # dates
    ("POST", "/v1/items", {"title": "x", "due": "2026-02-30"}, 400, "invalid_date"),
    ("POST", "/v1/items", {"title": "x", "due": "二月三十日"}, 400, "invalid_date"),
    ("POST", "/v1/capture", {"text": "x due: 2026-02-30"}, 400, "invalid_date"),
    ("PATCH", "/v1/items/{milk}", {"due": "whenever"}, 400, "invalid_date"),
    ("PATCH", "/v1/items/{milk}", {"expires_at": "2026-13-01"}, 400, "invalid_date"),
    ("POST", "/v1/items/{milk}/state", {"action": "snooze", "until": "5"}, 400, "invalid_date"),
    ("POST", "/v1/dates/parse", {"text": "2026-02-30"}, 400, "invalid_date"),
    ("GET", "/v1/items?due_before=2026-02-30", None, 400, "invalid_date"),
    ("GET", "/v1/items?as_of=never", None, 400, "invalid_date"),
    ("GET", "/v1/items/{milk}?as_of=2026-02-30", None, 400, "invalid_date"),
    ("GET", "/v1/projects?as_of=2026-02-30", None, 400, "invalid_date"),
    # states and circles
    ("POST", "/v1/items", {"title": "x", "state": "lost"}, 400, "invalid_input"),
    ("GET", "/v1/items?state=lost", None, 400, "invalid_input"),
    ("POST", "/v1/items/{milk}/state", {"state": "lost"}, 400, "invalid_input"),
    ("POST", "/v1/items/{milk}/state", {"action": "finish"}, 400, "invalid_input"),
    ("POST", "/v1/items/{milk}/state", {}, 400, "invalid_input"),
    (
        "POST",
        "/v1/items/{milk}/state",
        {"action": "complete", "state": "completed"},
        400,
        "invalid_input",
    ),
    (
        "POST",
        "/v1/items/{milk}/state",
        {"action": "complete", "until": "tomorrow"},
        400,
        "invalid_input",
    ),
    ("POST", "/v1/items/{milk}/state", {"action": "supersede"}, 400, "invalid_input"),
    ("PATCH", "/v1/items/{gone}", {"title": "x"}, 409, "conflict"),
    (
        "POST",
        "/v1/relations",
        {"source_id": "{bread}", "type": "blocks", "target_id": "{milk}"},
        409,
        "cycle",
    ),
    (
        "POST",
        "/v1/relations",
        {"source_id": "{milk}", "type": "blocks", "target_id": "{milk}"},
        400,
        "invalid_input",
    ),
    (
        "POST",
        "/v1/relations",
        {"source_id": "{milk}", "type": "likes", "target_id": "{bread}"},
        400,
        "invalid_input",
    ),
    # bounds
    ("POST", "/v1/items", {"title": "x", "startup_priority": 11}, 400, "invalid_input"),
    ("PATCH", "/v1/items/{milk}", {"startup_priority": -1}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "priority": 4}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "importance": 1.1}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": ""}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": " \u3000\n"}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": LONG}, 400, "limit_exceeded"),
    ("PATCH", "/v1/items/{milk}", {"title": LONG}, 400, "limit_exceeded"),
    ("POST", "/v1/items", {"title": "x", "summary": "y" * 2_001}, 400, "limit_exceeded"),
    ("POST", "/v1/items", {"title": "x", "content": "y" * 1_000_001}, 400, "limit_exceeded"),
    ("POST", "/v1/items", {"title": "x", "steps": [""]}, 400, "limit_exceeded"),
    (
        "POST",
        "/v1/items",
        {"title": "x", "tags": [str(n) for n in range(51)]},
        400,
        "invalid_input",
    ),
    ("POST", "/v1/items/delete", {"ids": []}, 400, "invalid_input"),
    ("POST", "/v1/items/delete", {"ids": [f"itm_{n}" for n in range(101)]}, 400, "limit_exceeded"),
    ("POST", "/v1/projects", {"name": "——"}, 400, "invalid_input"),
    ("POST", "/v1/projects", {"name": LONG}, 400, "limit_exceeded"),
    ("POST", "/v1/topics", {"name": "x", "retrieval_priority": 101}, 400, "invalid_input"),
    ("GET", "/v1/items?limit=0", None, 400, "invalid_input"),
    ("GET", "/v1/items?limit=101", None, 400, "invalid_input"),
    ("GET", "/v1/items?sort=colour", None, 400, "invalid_input"),
    ("GET", "/v1/items?cursor=abc", None, 400, "invalid_input"),
    ("GET", "/v1/items?cursor=abc&offset=1", None, 400, "invalid_input"),
    ("GET", "/v1/history?cursor=abc", None, 400, "invalid_input"),
    ("GET", "/v1/projects?cursor=abc", None, 400, "invalid_input"),
    ("GET", "/v1/tags?cursor=abc", None, 400, "invalid_input"),
    # types and names
    ("POST", "/v1/items", {"title": 5}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": None}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "pinned": "yes"}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "priority": True}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "tags": "家务"}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "colour": "red"}, 400, "invalid_input"),
    ("POST", "/v1/items", {"title": "x", "kind": None}, 400, "invalid_input"),
    ("POST", "/v1/items", {}, 400, "invalid_input"),
    ("POST", "/v1/items", [], 400, "invalid_input"),
    ("POST", "/v1/capture", {"text": "#only +markers"}, 400, "invalid_input"),
    (
        "POST",
        "/v1/items",
        {"title": "x", "kind": "memory", "type": "tactical_task"},
        400,
        "invalid_input",
    ),
    (
        "POST",
        "/v1/items",
        {"title": "x", "kind": "memory", "recurrence_kind": "daily"},
        400,
        "invalid_input",
    ),
    ("DELETE", "/v1/relations?source_id=a", None, 400, "invalid_input"),
    ("GET", "/v1/items/a%00b", None, 400, "invalid_input"),
    ("GET", "/v1/items?colour=red", None, 400, "invalid_input"),
)


def _filled(value: Any, world: World) -> Any:
    if isinstance(value, str):
        for name in ("milk", "bread", "gone"):
            value = value.replace(f"{{{name}}}", getattr(world, name))
        return value
    if isinstance(value, dict):
        return {name: _filled(part, world) for name, part in value.items()}
    return [_filled(part, world) for part in value] if isinstance(value, list) else value


def _name(value: object) -> str | None:
    return value[:60] if isinstance(value, str) else None


async def _unchanged(one: Talk, before: dict[str, Any]) -> bool:
    return await one.tables() == before


@pytest.mark.parametrize(("method", "url", "body", "status", "code"), CASES, ids=_name)
async def test_bad_input_gets_its_code_and_changes_nothing(
    method: str, url: str, body: Any, status: int, code: str
) -> None:
    async with talk() as one:
        world = await settle(one)
        before = await one.tables()
        url = _filled(url, world)
        error = await one.refuse(method, url, _filled(body, world), status=status, code=code)
        assert await _unchanged(one, before)
    assert len(error["message"]) < 600


@pytest.mark.parametrize("text", INJECTIONS)
async def test_metacharacters_are_text_wherever_they_come(text: str) -> None:
    async with talk() as one:
        await settle(one)
        before = await one.tables()
        for name in ("q", "tag", "id"):
            page = await one.ask("GET", "/v1/items", params={name: text})
            assert page["items"] == []
        await one.send("GET", "/v1/search/items", params={"q": text})
        await one.ask("GET", "/v1/tags", params={"prefix": text})
        await one.ask("GET", "/v1/history", params={"stream": text})
        for name in ("project", "topic"):
            response = await one.send("GET", "/v1/items", params={name: text})
            assert response.status_code in (400, 404)
        for name in ("sort", "cursor", "as_of", "state"):
            response = await one.send("GET", "/v1/items", params={name: text})
            assert response.status_code == 400
        assert await _unchanged(one, before)
        item_id = await one.make(f"x {text}", content=text, tags=["a"])
        shown = await one.ask("GET", f"/v1/items/{item_id}")
        found = await one.ask("GET", "/v1/items", params={"q": "x"})
    assert shown["item"]["content"] == clean(text)
    assert item_id in {item["id"] for item in found["items"]}


async def test_foreign_namespace_is_seen_by_the_owner_alone() -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/items?namespace=other", {"title": "theirs"})
        url = f"/v1/items/{made['item']['id']}"
        shown = await one.ask("GET", f"{url}?namespace=other")
        before = await one.tables()
        missing: dict[str, Any] = {"status": 404, "code": "not_found"}
        await one.refuse("GET", url, **missing)
        await one.refuse("PATCH", url, {"title": "mine"}, **missing)
        await one.refuse("DELETE", url, **missing)
        await one.refuse("POST", f"{url}/forget", **missing)
        listed = await one.ask("GET", "/v1/items")
        im = {"headers": {"authorization": "Bearer sk-im"}}
        forbidden: dict[str, Any] = {**im, "status": 403, "code": "forbidden"}
        await one.refuse("GET", f"{url}?namespace=other", **forbidden)
        await one.refuse("POST", "/v1/items?namespace=other", {"title": "x"}, **forbidden)
        assert await _unchanged(one, before)
    assert shown["item"]["title"] == "theirs"
    assert listed["items"] == []


async def test_expired_key_and_key_without_the_scope_change_nothing() -> None:
    async with talk() as one:
        wish = {"name": "n", "scopes": ["memory:read", "memory:write"], "expires_at": "2026-03-02"}
        key = {"authorization": f"Bearer {(await one.ask('POST', '/v1/keys', wish))['token']}"}
        await one.ask("POST", "/v1/items", {"title": "in time"}, headers=key)
        # It works to the end of that day.
        one.served.runtime.advance(2 * 86_400_000)
        await one.served.runtime.drain()
        before = await one.tables()
        body = {"title": "x"}
        await one.refuse("POST", "/v1/items", body, headers=key, status=401, code="unauthenticated")
        await one.refuse("POST", "/v1/items", body, headers=DOG, status=403, code="forbidden")
        assert await _unchanged(one, before)
