"""Idempotency keys: every route that writes answers a repetition with the first result, once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.builders import Bench
from tests.protocol.rest.doors import OWNER
from tests.protocol.rest.talk import TABLE, Talk, World, settle, talk

from remembrancer.http.route_table import AnyRoute

ASKING = frozenset(
    {"find_conflicts", "load_context", "mcp", "parse_date", "search_items_by_body", "verify"}
    | {"search_memories"}
)
"""Routes that take a body and write nothing."""

OPERATING = frozenset({"rebuild", "vector_reindex", "pause_job", "resume_job"})
"""Routes that write no event: doing it again gives the same tables."""

WORKING = frozenset({"run_job", "dream", "undo_run", "retry_skipped", "drop_skipped"})
"""Routes that have a job do its work: its lease and its cursors see to it that nothing is done
twice, which `tests/app/jobs` shows; an undone run, or a message that is no longer set aside, is
refused the second time."""

IMPORTING = frozenset({"import"})
"""Routes that skip what they have already brought in, which `tests/app/test_export.py` shows."""

CHATTING = frozenset({"chat_completions", "guide_dog_chat_completions", "messages", "count_tokens"})
"""Routes that ask an upstream: a chat that is sent again is asked again, and kept once, which
`tests/protocol/chat` shows."""

WRITING: dict[str, tuple[str, dict[str, Any] | None]] = {
    "create_item": ("/v1/items", {"title": "新", "project_name": "新项目"}),
    "quick_capture": ("/v1/capture", {"text": "记住：新 #标签"}),
    "update_item": ("/v1/items/{milk}", {"title": "买豆浆"}),
    "delete_item": ("/v1/items/{milk}", None),
    "delete_items": ("/v1/items/delete", {"ids": ["{milk}", "{bread}"]}),
    "set_item_state": ("/v1/items/{milk}/state", {"action": "complete"}),
    "supersede_items": ("/v1/items/{milk}/supersede", {"target_ids": ["{bread}"]}),
    "restore_item": ("/v1/items/{gone}/restore", None),
    "forget_item": ("/v1/items/{milk}/forget", None),
    "undo_item": ("/v1/items/{gone}/undo", None),
    "redo_item": ("/v1/items/{bread}/redo", None),
    "undo": ("/v1/undo", {"cause": "{cause}"}),
    "redo": ("/v1/redo", {"cause": "{undoing}"}),
    "add_relation": (
        "/v1/relations",
        {"source_id": "{bread}", "type": "supports", "target_id": "{milk}"},
    ),
    "remove_relation": ("/v1/relations?source_id={milk}&type=blocks&target_id={bread}", None),
    "create_project": ("/v1/projects", {"name": "读书"}),
    "upsert_project": ("/v1/projects/书", {"name": "书"}),
    "update_project": ("/v1/projects/家", {"name": "Home"}),
    "delete_project": ("/v1/projects/家", None),
    "set_active_objective": ("/v1/projects/家/objective", {"title": "新目标"}),
    "create_topic": ("/v1/topics", {"name": "读书"}),
    "upsert_topic": ("/v1/topics/书", {"name": "书"}),
    "update_topic": ("/v1/topics/厨房", {"retrieval_priority": 7}),
    "delete_topic": ("/v1/topics/厨房", None),
    "set_canonical_item": ("/v1/topics/厨房/canonical", {"item_id": "{milk}"}),
    "update_settings": ("/v1/settings", {"default_snooze_hours": 3}),
    "mark_stale": ("/v1/stale", {"limit": 5}),
    "consolidate": (
        "/v1/consolidation",
        {"source_id": "{milk}", "target_ids": ["{bread}"], "type": "duplicate_of"},
    ),
    "create_key": ("/v1/keys", {"name": "n", "scopes": ["memory:read"]}),
    "revoke_key": ("/v1/keys/{key}", None),
    "put_cache_entry": ("/v1/cache/桶/键", {"value": [1]}),
    "delete_cache_entry": ("/v1/cache/b/kept", None),
    "save_memory": ("/v1/memories", {"content": "喜欢喝茶", "fact_key": "profile:tea"}),
    "update_memory": ("/v1/memories/{memory}", {"content": "喜欢绿茶"}),
    "delete_memory": ("/v1/memories/{memory}", None),
    "add_precious": ("/v1/precious", {"content": " 一字不改 "}),
    "remove_precious": ("/v1/precious/{quote}?reason=旧", None),
    "set_glossary": ("/v1/glossary", {"term": "星星", "definition": "暗号"}),
    "update_glossary": ("/v1/glossary/{entry}", {"aliases": ["jargon"]}),
    "remove_glossary": ("/v1/glossary/{entry}", None),
    "set_digest": ("/v1/memory_boot", {"content": "喜欢喝茶"}),
    "approve_candidate": ("/v1/candidates/{candidate}/approve", {"content": "住在里斯本"}),
    "discard_candidate": ("/v1/candidates/{candidate}/discard", {"decision_note": "不对"}),
    "merge_candidate": ("/v1/candidates/{candidate}/merge", {"target_id": "{memory}"}),
    "supersede_candidate": ("/v1/candidates/{candidate}/supersede", {"target_id": "{memory}"}),
    "decide_candidates": (
        "/v1/candidates/decide",
        {"decisions": [{"id": "{candidate}", "action": "discard"}]},
    ),
    "ingest_messages": ("/v1/messages/ingest", {"messages": [{"role": "user", "content": "好"}]}),
}
"""Route → a request to it that changes something in the world of `settle`."""

UNSAFE = [route for route in TABLE.routes if route.is_unsafe and route.scope is not None]


def _name(route: AnyRoute) -> str:
    return route.name


async def _names(one: Talk, world: World) -> dict[str, str]:
    """Make what some requests need, and return what their placeholders stand for."""
    await one.ask("PATCH", f"/v1/items/{world.bread}", {"content": "rye"})
    undoing = await one.send("POST", f"/v1/items/{world.bread}/undo")
    assert undoing.is_success
    events = (await one.ask("GET", f"/v1/items/{world.bread}/history"))["events"]
    made = await one.ask("POST", "/v1/keys", {"name": "old", "scopes": ["memory:read"]})
    history = (await one.ask("GET", f"/v1/items/{world.gone}/history"))["events"]
    await one.make("lying", due=None)
    memory = await one.make("喜欢红茶", kind="memory")
    quote = await one.ask("POST", "/v1/precious", {"content": "永远"})
    entry = await one.ask("POST", "/v1/glossary", {"term": "黑话", "definition": "行话"})
    candidate = await waiting(Bench(runtime=one.served.runtime, sql=one.served.app.sql))
    one.served.runtime.advance(30 * 86_400_000)
    return {
        "milk": world.milk,
        "bread": world.bread,
        "gone": world.gone,
        "undoing": events[0]["cause"],
        "cause": history[0]["cause"],
        "key": made["key"]["id"],
        "memory": memory,
        "quote": quote["data"]["id"],
        "entry": entry["data"]["id"],
        "candidate": candidate,
    }


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {name: _filled(part, names) for name, part in value.items()}
    return [_filled(part, names) for part in value] if isinstance(value, list) else value


def test_every_route_that_writes_is_repeated_here() -> None:
    unsafe = {route.name for route in UNSAFE}
    assert unsafe - ASKING - OPERATING - WORKING - IMPORTING - CHATTING == set(WRITING)


@pytest.mark.parametrize("route", [route for route in UNSAFE if route.name in WRITING], ids=_name)
async def test_repetition_is_answered_as_before_and_written_once(route: AnyRoute) -> None:
    url, body = WRITING[route.name]
    async with talk() as one:
        names = await _names(one, await settle(one))
        options: dict[str, Any] = {"headers": {**OWNER, "idempotency-key": "key-1"}}
        if body is not None:
            options["json"] = _filled(body, names)
        url = _filled(url, names)
        before = await one.tables()
        first = await one.send(route.method, url, **options)
        after = await one.tables()
        second = await one.send(route.method, url, **options)
        assert first.is_success, first.text
        assert after != before
        assert await one.tables() == after
        other = {"json": {"default_upcoming_days": 9}, "headers": options["headers"]}
        refused = await one.send("PATCH", "/v1/settings", **other)
        assert await one.tables() == after
    answers = [response.json() for response in (first, second)]
    for answer in answers:
        answer.pop("token", None)  # shown once, not on a repetition
    assert answers[0] == answers[1]
    assert first.status_code == second.status_code
    assert first.headers.get("etag") == second.headers.get("etag")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "idempotency_key_reused")


async def test_repetition_with_other_words_is_refused() -> None:
    headers = {"idempotency-key": "key-2"}
    async with talk() as one:
        await one.ask("POST", "/v1/items", {"title": "一"}, headers=headers)
        reordered = await one.send(
            "POST",
            "/v1/items",
            headers={**headers, "content-type": "application/json"},
            content=' { "title" :  "一" } '.encode(),
        )
        await one.refuse(
            "POST",
            "/v1/items",
            {"title": "二"},
            headers=headers,
            status=409,
            code="idempotency_key_reused",
        )
        long = {"idempotency-key": "k" * 256}
        await one.refuse("POST", "/v1/items", {"title": "x"}, headers=long, code="invalid_input")
        listed = await one.ask("GET", "/v1/items")
    assert reordered.status_code == 201
    assert [item["title"] for item in listed["items"]] == ["一"]


async def test_request_that_failed_can_be_repeated_with_its_key() -> None:
    headers = {"idempotency-key": "key-3"}
    body = {"title": "t", "project": "家"}
    async with talk() as one:
        await one.refuse("POST", "/v1/items", body, headers=headers, status=404, code="not_found")
        await one.ask("POST", "/v1/projects", {"name": "家"})
        made = await one.ask("POST", "/v1/items", body, headers=headers)
    assert made["item"]["project"]["slug"] == "家"


ABOUT_ITEMS = (
    *("create_item", "quick_capture", "update_item", "set_item_state", "delete_items"),
    *("supersede_items", "add_relation", "set_canonical_item", "save_memory", "undo_item"),
)
"""Routes whose answers show items."""


@pytest.mark.parametrize("name", ABOUT_ITEMS)
async def test_repetition_of_what_is_forgotten_since_finds_nothing(name: str) -> None:
    [route] = [route for route in UNSAFE if route.name == name]
    url, body = WRITING[name]
    async with talk() as one:
        names = await _names(one, await settle(one))
        headers = {**OWNER, "idempotency-key": "key-4"}
        given = _filled(body, names) if body is not None else None
        first = await one.send(route.method, _filled(url, names), headers=headers, json=given)
        about = sorted(set(re.findall("itm_[0-9A-Z]{26}", first.text)))
        for item_id in about:
            assert (await one.send("POST", f"/v1/items/{item_id}/forget")).is_success
        before = await one.tables()
        again = await one.send(route.method, _filled(url, names), headers=headers, json=given)
        assert await one.tables() == before
    assert about and again.status_code == 404, again.text
    assert again.json()["error"]["code"] == "not_found"
    assert about[-1] in again.text or about[0] in again.text
