"""No request sends more statements than the platform lets one, however large the memory is.

Each route and each tool is asked for as much as it takes, in a household where everything is at
its limit, by a made key; what follows the answer counts as well.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.protocol.mcp.sample import body as rpc
from tests.protocol.mcp.tools.test_every_tool import CALLS
from tests.protocol.rest.doors import serve
from tests.protocol.rest.large import SECRET, Counted, large, served_large
from tests.protocol.rest.talk import TABLE

from remembrancer.app.memories import read
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, LimitExceeded
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.ports.sql import Statement

TAGS = [f"标签 {n}" for n in range(limits.TAGS_MAX)]
HASHES = " ".join(f"#t{n}" for n in range(40))
LONG = "很长的一段话。A long line. " * 30_000
WISHES = [
    {"role": "user", "content": f"请记住：{n} 号柜子在 {n * 37} 楼。{SECRET}"} for n in range(100)
]
TURNS = [
    {"role": role, "content": f"{n}: {SECRET} 阳台的番茄架是哪天买的？请记住：我的柜子是 {n} 号。"}
    for n in range(60)
    for role in ("user", "assistant")
][:-1]
FIELDS: dict[str, Any] = {"tags": TAGS, "project_name": "新项目", "topic_name": "新主题"}
MEMORY: dict[str, Any] = {"content": "住在苏黎世", "fact_key": "p:city3", "tags": TAGS}
HUNDRED, ALL_BUT_ONE, PENDING = "<hundred>", "<ninety-nine>", "<pending>"

ASKED: dict[str, tuple[str, Any]] = {
    "welcome": ("/", None),
    "health": ("/health", None),
    "icon": ("/favicon.ico", None),
    "openapi": ("/openapi.json", None),
    "docs": ("/docs", None),
    "panel": ("/admin", None),
    "panel_file": ("/admin/x.js", None),
    "list_items": ("/v1/items?limit=100&project={project}&sort=-updated_at", None),
    "create_item": ("/v1/items", {"title": "新", "content": LONG, **FIELDS}),
    "quick_capture": ("/v1/capture", {"text": f"写信 +新项目 @新主题 {HASHES}"}),
    "delete_items": ("/v1/items/delete", {"ids": HUNDRED}),
    "get_item": ("/v1/items/{busy}?as_of=5000", None),
    "update_item": ("/v1/items/{busy}", {"title": "改", "content": LONG, **FIELDS}),
    "delete_item": ("/v1/items/{busy}", None),
    "set_item_state": ("/v1/items/{task}/state", {"action": "complete"}),
    "supersede_items": ("/v1/items/{busy}/supersede", {"target_ids": HUNDRED, "reason": "旧"}),
    "restore_item": ("/v1/items/{gone}/restore", None),
    "get_artifact": ("/v1/artifacts/{artifact}", None),
    "list_projects": ("/v1/projects", None),
    "create_project": ("/v1/projects", {"name": "全新的", "description": "长" * 4_000}),
    "get_project": ("/v1/projects/{project}", None),
    "upsert_project": ("/v1/projects/{project}", {"name": "换名"}),
    "update_project": ("/v1/projects/{project}", {"name": "换名"}),
    "delete_project": ("/v1/projects/{project}", None),
    "get_project_timeline": ("/v1/projects/{project}/timeline", None),
    "set_active_objective": ("/v1/projects/{project}/objective", {"title": "新目标"}),
    "get_active_objectives": ("/v1/objectives", None),
    "list_topics": ("/v1/topics", None),
    "create_topic": ("/v1/topics", {"name": "全新的主题"}),
    "get_topic": ("/v1/topics/{topic}", None),
    "upsert_topic": ("/v1/topics/{topic}", {"name": "换名"}),
    "update_topic": ("/v1/topics/{topic}", {"name": "换名"}),
    "delete_topic": ("/v1/topics/{topic}", None),
    "set_canonical_item": ("/v1/topics/忙/canonical", {"item_id": "{busy}"}),
    "list_tags": ("/v1/tags", None),
    "add_relation": (
        "/v1/relations",
        {"source_id": "{busy}", "type": "blocks", "target_id": "{task}"},
    ),
    "remove_relation": ("/v1/relations?source_id={edge}&type=supports&target_id={busy}", None),
    "list_relations": ("/v1/items/{busy}/relations", None),
    "search_items": ("/v1/search/items?q=user", None),
    "search_items_by_body": ("/v1/search/items", {"query": "user 喜欢 the " * 20}),
    "find_conflicts": ("/v1/search/conflicts", {"query": SECRET}),
    "find_consolidation_candidates": ("/v1/consolidation", None),
    "consolidate": (
        "/v1/consolidation",
        {"source_id": "{busy}", "target_ids": HUNDRED, "type": "duplicate_of"},
    ),
    "list_memories": ("/v1/memories?limit=1000", None),
    "save_memory": ("/v1/memories", MEMORY),
    "search_memories": ("/v1/search/memories", {"query": "user 喜欢什么", "include_prompt": True}),
    "export_memories": ("/v1/memories/export", None),
    "get_memory": ("/v1/memories/{busy}", None),
    "update_memory": ("/v1/memories/{busy}", {"content": LONG[:9_000], "tags": TAGS}),
    "delete_memory": ("/v1/memories/{busy}", None),
    "list_recalls": ("/v1/recalls", None),
    "explain_recall": ("/v1/recalls/{recall}", None),
    "list_candidates": ("/v1/candidates?limit=200", None),
    "decide_candidates": (
        "/v1/candidates/decide",
        {"decisions": PENDING},
    ),
    "get_candidate": ("/v1/candidates/{candidate}", None),
    "preview_merge": ("/v1/candidates/{candidate}/preview?target_id={busy}", None),
    "approve_candidate": ("/v1/candidates/{candidate}/approve", {"tags": TAGS}),
    "discard_candidate": ("/v1/candidates/{candidate}/discard", None),
    "merge_candidate": ("/v1/candidates/{candidate}/merge", {"target_id": "{busy}"}),
    "supersede_candidate": ("/v1/candidates/{candidate}/supersede", {"target_id": "{held}"}),
    "memory_boot": ("/v1/memory_boot", None),
    "set_digest": ("/v1/memory_boot", {"content": "字" * 500}),
    "list_days": ("/v1/days", None),
    "get_day": ("/v1/days/2026-03-01", None),
    "list_precious": ("/v1/precious?limit=200", None),
    "add_precious": ("/v1/precious", {"content": "字" * 10_000}),
    "remove_precious": ("/v1/precious/{quote}?reason=旧", None),
    "list_glossary": ("/v1/glossary", None),
    "set_glossary": (
        "/v1/glossary",
        {
            "term": "第五百个",
            "definition": "义" * 2_000,
            "aliases": [f"别名 {n}" for n in range(20)],
        },
    ),
    "update_glossary": ("/v1/glossary/{entry}", {"aliases": [f"别名 {n}" for n in range(20)]}),
    "remove_glossary": ("/v1/glossary/{entry}", None),
    "chat_completions": ("/v1/chat/completions", {"model": "companion", "messages": TURNS}),
    "guide_dog_chat_completions": (
        "/v1/guide-dog/chat/completions",
        {"model": "companion", "messages": TURNS},
    ),
    "messages": ("/v1/messages", {"model": "companion", "max_tokens": 9, "messages": TURNS}),
    "count_tokens": ("/v1/messages/count_tokens", {"model": "companion", "messages": TURNS}),
    "list_models": ("/v1/models", None),
    "get_cache_entry": ("/v1/cache/桶/键", None),
    "put_cache_entry": ("/v1/cache/桶/键", {"value": ["长" * 1_000] * 50}),
    "delete_cache_entry": ("/v1/cache/桶/键", None),
    "list_conversations": ("/v1/conversations", None),
    "get_conversation": ("/v1/conversations/c", None),
    "list_messages": ("/v1/conversations/c/messages", None),
    "ingest_messages": ("/v1/messages/ingest", {"messages": WISHES}),
    "get_startup_context": ("/v1/context/startup", None),
    "get_topic_context": ("/v1/context/topics/{topic}", None),
    "get_project_context": ("/v1/context/projects/{project}?include_history=true", None),
    "load_context": ("/v1/context", {"level": "raw_memories", "topic": "{topic}"}),
    "get_focus": ("/v1/focus", None),
    "get_focus_task": ("/v1/focus/task", None),
    "get_stale_tasks": ("/v1/stale", None),
    "mark_stale": ("/v1/stale", {"limit": 100}),
    "history": ("/v1/history?limit=100", None),
    "item_history": ("/v1/items/{busy}/history?limit=100", None),
    "undo": ("/v1/undo", {"cause": "req_busy"}),
    "redo": ("/v1/redo", {"cause": "req_busy"}),
    "undo_item": ("/v1/items/{busy}/undo", None),
    "redo_item": ("/v1/items/{busy}/redo", None),
    "preview_forgetting": ("/v1/items/{busy}/forget", None),
    "forget_item": ("/v1/items/{busy}/forget", None),
    "list_jobs": ("/v1/jobs", None),
    "list_runs": ("/v1/jobs/runs", None),
    "get_run": ("/v1/jobs/runs/{run}", None),
    "undo_run": ("/v1/jobs/runs/{run}/undo", None),
    "run_job": ("/v1/jobs/extract/run", {"force": True}),
    "pause_job": ("/v1/jobs/dream/pause", None),
    "resume_job": ("/v1/jobs/dream/resume", None),
    "preview_job": ("/v1/jobs/retention/preview", None),
    "dream": ("/v1/memories/dream", {"force": True}),
    "list_skipped": ("/v1/jobs/extract/skipped", None),
    "retry_skipped": ("/v1/jobs/extract/skipped/msg_x/retry", None),
    "drop_skipped": ("/v1/jobs/extract/skipped/msg_x/drop", None),
    "get_settings": ("/v1/settings", None),
    "update_settings": ("/v1/settings", {"default_snooze_hours": 3}),
    "server_settings": ("/v1/settings/server", None),
    "parse_date": ("/v1/dates/parse", {"text": "下周五"}),
    "create_key": ("/v1/keys", {"name": "n", "scopes": ["memory:read"]}),
    "list_keys": ("/v1/keys", None),
    "revoke_key": ("/v1/keys/{key}", None),
    "export": ("/v1/export", None),
    "vector_health": ("/v1/debug/vector_health", None),
    "vector_reindex": ("/v1/debug/vector_reindex", {"dry_run": False, "force": True, "limit": 100}),
    "cache_health": ("/v1/debug/cache_health", None),
    "verify": ("/v1/admin/verify", {}),
    "rebuild": ("/v1/admin/rebuild", {}),
    "import": ("/v1/admin/import?pieces=true", b"<lines>"),
}
"""Route → the largest request to it."""

REFUSED = {
    "panel": 503,
    "panel_file": 404,
    "get_cache_entry": 404,
    "redo": 409,
    "redo_item": 409,
    "get_day": 404,
    "get_conversation": 404,
    "retry_skipped": 404,
    "drop_skipped": 404,
}
"""Routes whose request finds nothing to do in this world, and what they answer."""


def filled(value: Any) -> Any:
    """The value with the world's names in the place of words in brackets."""
    world = large()
    if value == b"<lines>":
        return b"".join(world.lines[:3_200])
    if isinstance(value, str):
        lists = {HUNDRED: world.hundred, ALL_BUT_ONE: world.hundred[1:]}
        if value in lists:
            return lists[value]
        if value == PENDING:
            return [{"id": one, "action": "approve"} for one in world.pending]
        for name, text in world.names.items():
            value = value.replace(f"{{{name}}}", text).replace(f"<{name}>", text)
        return value
    if isinstance(value, dict):
        return {name: filled(part) for name, part in value.items()}
    return [filled(part) for part in value] if isinstance(value, list) else value


async def ask(one: Counted, name: str) -> Any:
    """The response to the route's request, once all that follows is done; counted."""
    route = next(each for each in TABLE.routes if each.name == name)
    url, body = ASKED[name]
    given: dict[str, Any] = {}
    if isinstance(body, bytes):
        given = {"content": filled(body), "headers": {"content-type": "application/x-ndjson"}}
    elif body is not None:
        given = {"json": filled(body)}
    given["headers"] = {**large().headers, **given.get("headers", {})}
    one.store.counts.reset()
    async with one.served.client() as client:
        response = await client.request(route.method, filled(url), **given)
    # What a chat saves beside its answer may be left to extraction.
    with suppress(Conflict):
        await one.served.runtime.drain()
    await one.served.runtime.drain()
    return response


@pytest.fixture(scope="module", autouse=True)
def world() -> None:
    large()  # outside of any loop


def sent(one: Counted) -> int:
    return one.store.counts.statements


def test_table_names_every_route() -> None:
    assert set(ASKED) == {route.name for route in TABLE.routes}


@pytest.mark.parametrize("name", ASKED)
async def test_largest_request_to_a_route_sends_few_statements(name: str) -> None:
    one = served_large()
    response = await ask(one, name)
    assert sent(one) <= SQL_BATCH_STATEMENTS_MAX
    if name in REFUSED:
        assert response.status_code == REFUSED[name], response.text[:500]
    else:
        assert response.is_success, response.text[:500]


UNSAFE = [route.name for route in TABLE.routes if route.is_unsafe and route.scope is not None]


@pytest.mark.parametrize(
    "clashes", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", [name for name in UNSAFE if name not in REFUSED])
async def test_request_that_clashes_sends_few_statements_too(name: str, clashes: int) -> None:
    one = served_large(clashes=clashes)
    response = await ask(one, name)
    assert sent(one) <= SQL_BATCH_STATEMENTS_MAX
    assert response.is_success or response.status_code == 409, response.text[:500]


async def call_mcp(one: Counted, sent_body: Any) -> Any:
    """The answer of the MCP door, once all that follows is done; counted."""
    one.store.counts.reset()
    async with one.served.client() as client:
        answer = await client.post("/mcp?tools=all", json=sent_body, headers=large().headers)
    await one.served.runtime.drain()
    assert sent(one) <= SQL_BATCH_STATEMENTS_MAX
    return answer.json()


def tool_call(name: str, arguments: Any, *, id_: int = 1) -> Any:
    return rpc("tools/call", {"name": name, "arguments": filled(arguments)}, id_=id_)


LARGEST: dict[str, dict[str, Any]] = {
    "create_item": {"title": "新", "content": LONG, "tags": TAGS, "group_name": "新主题"},
    "quick_capture": {"input": f"写信 +新项目 @新主题 {HASHES}"},
    "update_item": {"id": "{busy}", "title": "改", "content": LONG, "tags": TAGS},
    "delete_items": {"ids": HUNDRED},
    "supersede_items": {"source_item_id": "{busy}", "target_item_ids": HUNDRED},
    "consolidate_memories": {
        "source_item_id": "{busy}",
        "target_item_ids": HUNDRED,
        "relationship_type": "duplicate_of",
    },
    "item_history": {"id": "{busy}", "limit": 100},
    "undo": {"cause": "req_busy"},
    "forget": {"id": "{busy}"},
    "memory_ingest": {"messages": WISHES},
    "memory_list": {"limit": 1_000},
    "memory_export": {"limit": 1_000},
    "memory_upsert": MEMORY,
    "candidate_decide": {"id": "{candidate}", "action": "supersede", "target_id": "{held}"},
    "set_active_objective": {"project_slug": "{project}", "title": "新目标"},
    "mark_stale_candidates": {},
}
"""Tool → arguments that ask for more than those of `CALLS`."""

PLACES = {
    "<task>": "task", "<memory>": "busy", "<other>": "held", "<gone>": "gone", "<deleted>": "gone",
    "<artifact>": "artifact", "<quote>": "quote", "<candidate>": "candidate", "<recall>": "recall",
    "<deleted memory>": "gone",
}  # fmt: skip


def arguments_of(name: str) -> Any:
    given: dict[str, Any] = LARGEST.get(name) or CALLS[name]
    text = json.dumps(given, ensure_ascii=False)
    for place, word in PLACES.items():
        text = text.replace(place, f"{{{word}}}")
    text = text.replace("家装", "{project}").replace("读书", "忙")
    return json.loads(text)


@pytest.mark.parametrize("clashes", [0, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CALLS)
async def test_largest_call_of_a_tool_sends_few_statements(name: str, clashes: int) -> None:
    one = served_large(clashes=clashes)
    answer = await call_mcp(one, tool_call(name, arguments_of(name)))
    content = answer["result"]["structuredContent"]
    if "error" in content:
        assert clashes or content["error"]["code"] in ("not_found", "conflict"), content
        assert content["error"]["code"] in ("not_found", "conflict", "version_conflict"), content


async def test_batch_of_many_calls_does_as_many_as_one_request_may_and_names_the_rest() -> None:
    one = served_large()
    wanted = [tool_call("quick_capture", {"input": f"任务 {n} #a"}, id_=n) for n in range(30)]
    done: list[int] = []
    rounds = 0
    left = wanted
    while left:
        rounds += 1
        answers = await call_mcp(one, left)
        assert [each["id"] for each in answers] == [each["id"] for each in left]
        marks = ["structuredContent" in each.get("result", {}) for each in answers]
        fine = [
            each["id"]
            for each in answers
            if not each.get("result", {"isError": True}).get("isError")
        ]
        # What could not be done, and all that came behind it.
        assert fine == [each["id"] for each in left[: len(fine)]]
        assert fine
        done += fine
        refused = answers[len(fine) :]
        left = left[len(fine) :]
        assert marks[: len(fine)] == [True] * len(fine)
        for each in refused:
            text = json.dumps(each, ensure_ascii=False)
            assert "limit_exceeded" in text and "requests of its own" in text
    assert done == [*range(30)]
    assert rounds > 5
    bench = one.served.app
    [made] = await bench.sql.read(
        [Statement("SELECT count(DISTINCT title) AS n FROM items WHERE title LIKE '任务 %'")]
    )
    assert made.rows == [{"n": 30}]


async def test_batch_of_calls_that_read_ends_with_few_statements() -> None:
    one = served_large()
    calls = [tool_call("memory_list", {"limit": 1_000}, id_=n) for n in range(50)]
    answers = await call_mcp(one, calls)
    assert len(answers) == 50
    assert len(answers[0]["result"]["structuredContent"]["memories"]) > 500
    assert answers[-1]["error"]["data"]["code"] == "limit_exceeded"


async def test_write_without_a_queue_embeds_no_more_than_its_request_affords() -> None:
    one = served_large()
    app = replace(one.served.app, queue=None)
    one.served = replace(one.served, app=app, asgi=create_asgi(app, routes=AREAS))
    waiting = "SELECT count(*) AS n FROM vector_outbox"
    [before] = await one.store.inner.read([Statement(waiting)])
    await ask(one, "quick_capture")
    assert 25 < sent(one) <= SQL_BATCH_STATEMENTS_MAX
    [after] = await one.store.inner.read([Statement(waiting)])
    assert 0 < int(str(after.rows[0]["n"])) < int(str(before.rows[0]["n"]))


async def test_export_of_memories_goes_on_where_a_request_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = served_large()
    whole = (await ask(one, "export_memories")).json()
    assert set(whole["meta"]) == {"namespace", "count"}
    assert whole["meta"]["count"] == len(whole["data"]) > 500
    monkeypatch.setattr(read, "export_memories", partial(read.export_memories, limit=3))
    data: list[Any] = []
    cursors: list[str | None] = [None]
    async with one.served.client() as client:
        while cursors[-1] != "over":
            one.store.counts.reset()
            query = {} if cursors[-1] is None else {"cursor": cursors[-1]}
            answer = await client.get("/v1/memories/export", params=query, headers=large().headers)
            assert answer.headers["content-type"] == "application/json"
            assert sent(one) <= SQL_BATCH_STATEMENTS_MAX
            piece = answer.json()
            assert piece["meta"]["count"] == len(piece["data"])
            data += piece["data"]
            cursors.append(piece["meta"].get("next_cursor", "over"))
    assert data == whole["data"]
    assert len(cursors) > 5
    # Where nothing is bounded it is one answer.
    free = serve(sql=one.store.inner)
    async with free.client() as client:
        answer = await client.get("/v1/memories/export", headers=large().headers)
    assert answer.json() == whole


async def test_refused_batch_of_statements_is_not_sent_and_says_the_way_out() -> None:
    one = served_large()
    app = one.served.app.serving(None)
    ping = Statement("SELECT 1")
    await app.sql.read([ping] * SQL_BATCH_STATEMENTS_MAX)
    one.store.counts.reset()
    key = Statement("INSERT INTO key_use VALUES ('default', 'key_x', 1)")
    with pytest.raises(LimitExceeded, match="45 database statements") as refused:
        await app.sql.write([key])
    assert refused.value.hint is not None and "requests of its own" in refused.value.hint
    assert sent(one) == 0 and app.spending.is_over
    await one.served.app.serving(None).sql.read([ping])  # another request is not concerned
