"""The kernel: every method in both eras, and what a failing handler turns into."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.protocol.mcp.sample import (
    TOOLS,
    SampleApp,
    ask,
    call_by,
    legacy,
    modern,
    refuse,
    sample_registry,
    sample_server,
)

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.arguments import NoArguments
from remembrancer.mcp.call import DEFAULT_AGENT, IDEMPOTENCY_KEY
from remembrancer.mcp.classify import Request
from remembrancer.mcp.registry import Registry
from remembrancer.mcp.results import SERVER_KEY, Reply

LEGACY_ONLY = (
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
)


async def test_discover_says_what_is_served() -> None:
    assert await ask(sample_server(), modern("server/discover")) == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {
            "tools": {},
            "logging": {},
            "resources": {},
            "prompts": {},
            "completions": {},
        },
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "instructions": "Call look first.",
        "_meta": {SERVER_KEY: {"name": "sample", "version": "1.0"}},
    }


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        pytest.param("2025-11-25", "2025-11-25", id="newest"),
        pytest.param("2025-03-26", "2025-03-26", id="oldest"),
        pytest.param("2024-11-05", "2025-11-25", id="older"),
        pytest.param("2026-07-28", "2025-11-25", id="modern"),
        pytest.param(None, "2025-11-25", id="none"),
    ],
)
async def test_initialize_answers_a_legacy_version(wanted: JSON, version: str) -> None:
    result = await ask(sample_server(), legacy("initialize", protocolVersion=wanted))
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "sample", "version": "1.0"}
    assert result["instructions"] == "Call look first."
    assert "resultType" not in result


async def test_server_without_prompts_or_resources_does_not_offer_them() -> None:
    server = sample_server(registry=Registry(TOOLS), instructions="")
    discovered = await ask(server, modern("server/discover"))
    assert discovered["capabilities"] == {"tools": {}, "logging": {}}
    assert "instructions" not in discovered
    assert "instructions" not in await ask(server, legacy("initialize"))
    for method in ("prompts/list", "resources/read", "completion/complete"):
        assert (await refuse(server, modern(method)))["code"] == -32601


@pytest.mark.parametrize("method", LEGACY_ONLY)
async def test_legacy_method_is_answered_there_and_unknown_in_the_current_revision(
    method: str,
) -> None:
    assert await ask(sample_server(), legacy(method)) == {}
    assert (await refuse(sample_server(), modern(method)))["code"] == -32601


@pytest.mark.parametrize(
    "request_",
    [modern("initialize"), legacy("server/discover"), legacy("tasks/list"), modern("没有")],
    ids=["initialize", "discover", "tasks", "chinese"],
)
async def test_unknown_method_is_refused_by_name(request_: Request) -> None:
    error = await refuse(sample_server(), request_)
    assert error["code"] == -32601
    assert repr(request_.method) in str(error["message"])


@pytest.mark.parametrize(
    ("method", "member", "count"),
    [
        ("tools/list", "tools", 2),
        ("resources/list", "resources", 2),
        ("resources/templates/list", "resourceTemplates", 1),
        ("prompts/list", "prompts", 2),
    ],
)
async def test_list_methods_answer_in_both_eras(method: str, member: str, count: int) -> None:
    old = await ask(sample_server(), legacy(method))
    new = await ask(sample_server(), modern(method))
    assert list(old) == [member]
    assert new["ttlMs"] == 300_000
    assert new["cacheScope"] == "private"
    entries = new[member]
    assert isinstance(entries, list)
    assert len(entries) == count
    assert entries == old[member]


async def test_list_pages_follow_the_cursor() -> None:
    server = sample_server(registry=sample_registry(page_size=1))
    first = await ask(server, legacy("tools/list"))
    second = await ask(server, legacy("tools/list", cursor=first["nextCursor"]))
    assert "nextCursor" not in second
    assert (await refuse(server, legacy("tools/list", cursor="")))["code"] == -32602


@pytest.mark.parametrize("make", [legacy, modern], ids=["legacy", "modern"])
async def test_call_answers_the_same_object_as_text_and_structure(
    make: Callable[..., Request],
) -> None:
    request = make("tools/call", name="add", arguments={"title": "买牛奶", "group": "home"})
    result = await ask(sample_server(), request)
    assert result["structuredContent"] == {"title": "买牛奶", "topic": "home", "priority": None}
    assert result["content"] == [
        {"type": "text", "text": '{"title":"买牛奶","topic":"home","priority":null}'}
    ]
    assert "isError" not in result
    assert "ttlMs" not in result


async def test_call_with_blocks_answers_them_as_they_are() -> None:
    result = await ask(sample_server(), legacy("tools/call", name="look"))
    assert result == {
        "content": [
            {"type": "text", "text": "见"},
            {
                "type": "resource_link",
                "uri": "memo://今日",
                "name": "today",
                "description": "The day's memo",
            },
            {"type": "resource_link", "uri": "memo://x", "name": "x"},
        ],
        "structuredContent": {"seen": 1},
    }


async def test_call_of_an_unlisted_tool_works() -> None:
    call = call_by(toolsets=frozenset({"essential"}))
    result = await ask(sample_server(), legacy("tools/call", name="talk"), call)
    assert result == {"content": [{"type": "text", "text": "said"}]}


async def test_call_of_an_unknown_tool_is_a_protocol_error() -> None:
    error = await refuse(sample_server(), modern("tools/call", name="ad"))
    assert error["code"] == -32602
    assert error["message"] == "Unknown tool 'ad'. Did you mean 'add'?"
    assert error["data"] == {
        "code": "invalid_input",
        "message": error["message"],
        "hint": "tools/list names all tools.",
        "field": "name",
        "request_id": "req_1",
    }


async def test_call_without_the_scope_is_an_error_result() -> None:
    app = SampleApp()
    call = call_by("memory:read", app=app)
    request = legacy("tools/call", name="add", arguments={"title": "a"})
    result = await ask(sample_server(), request, call)
    assert result["isError"] is True
    assert "needs the scope 'memory:write'" in json.dumps(result["content"])
    assert app.calls == []


async def test_call_refused_by_a_rule_says_message_code_and_hint() -> None:
    result = await ask(sample_server(), modern("tools/call", name="clash"))
    assert result["content"] == [
        {"type": "text", "text": "The key 'a' is taken. (conflict)\nHint: Choose another."}
    ]
    assert result["structuredContent"] == {
        "error": {
            "code": "conflict",
            "message": "The key 'a' is taken.",
            "hint": "Choose another.",
            "field": "key",
            "details": {"held_by": "itm_1"},
            "request_id": "req_1",
        }
    }
    assert result["isError"] is True
    assert result["resultType"] == "complete"


async def test_call_with_wrong_arguments_is_an_error_result_without_hint() -> None:
    request = legacy("tools/call", name="add", arguments={"title": 5})
    result = await ask(sample_server(), request)
    assert result["content"] == [
        {"type": "text", "text": "Argument 'title' must be a text, not 5. (invalid_input)"}
    ]


async def test_call_of_a_broken_tool_is_logged_and_hides_the_defect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        result = await ask(sample_server(), legacy("tools/call", name="break"))
    error = result["structuredContent"]
    assert isinstance(error, dict)
    assert isinstance(error["error"], dict)
    assert error["error"]["code"] == "internal_error"
    assert "secret" not in json.dumps(result)
    line = json.loads(caplog.messages[0])
    assert (line["id"], line["method"], line["tool"]) == ("req_1", "tools/call", "break")
    assert line["kind"] == "builtins.ZeroDivisionError"
    assert line["at"][-1].endswith(" _break")
    assert "secret" not in caplog.text


async def test_defect_outside_of_a_tool_is_a_protocol_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = sample_server(registry=sample_registry())
    # A caller whose scopes are no set at all stands for any defect on our side.
    broken = call_by(toolsets=None)
    error = await refuse(server, legacy("tools/list"), broken)
    assert error["code"] == -32603
    assert "'req_1'" in json.dumps(error)
    assert json.loads(caplog.messages[0])["tool"] is None


@pytest.mark.parametrize(
    ("client", "held", "connection", "actor"),
    [
        pytest.param({"name": "Claude Code"}, "user", None, "agent:Claude-Code", id="spaces"),
        pytest.param({"name": "小红/书 1.0"}, "user", None, "agent:小红-书-1.0", id="chinese"),
        pytest.param({"name": "a" * 90}, "user", None, f"agent:{'a' * 64}", id="long"),
        pytest.param({"name": "\n\t/"}, "user", None, DEFAULT_AGENT, id="nothing-left"),
        pytest.param({}, "user", None, DEFAULT_AGENT, id="none"),
        pytest.param({}, "agent:key", None, "agent:key", id="the-key's"),
        pytest.param({}, "user", "stdio", "agent:stdio", id="the-connection's"),
        pytest.param({"name": "own"}, "agent:key", "stdio", "agent:own", id="its-own-first"),
    ],
)
async def test_call_is_made_in_the_agents_name(
    client: JSON, held: str, connection: str | None, actor: str
) -> None:
    app = SampleApp()
    call = call_by(app=app, actor=held, client=connection)
    request = modern("tools/call", name="look", _meta={"client": client})
    await ask(sample_server(), request, call)
    assert app.calls[0][0].actor == actor
    assert app.calls[0][0].authored_by == "agent"


async def _idempotency_of(key: JSON, name: str, **arguments: JSON) -> object:
    app = SampleApp()
    request = legacy("tools/call", name=name, arguments=arguments, _meta={IDEMPOTENCY_KEY: key})
    result = await ask(sample_server(), request, call_by(app=app))
    return result["structuredContent"] if result.get("isError") else app.calls[0][0].idempotency


async def test_idempotency_key_comes_with_a_hash_of_the_call() -> None:
    first = await _idempotency_of("k1", "add", title="a", priority=1)
    again = await _idempotency_of("k1", "add", priority=1, title="a")
    other = await _idempotency_of("k1", "add", title="b")
    assert first == again
    assert first != other
    assert await _idempotency_of("k1", "talk") != await _idempotency_of("k1", "look")
    assert await _idempotency_of(None, "look") is None


@pytest.mark.parametrize(
    ("key", "is_taken"),
    [("k" * 255, True), ("k" * 256, False), ("", False), (5, False), ([], False)],
    ids=["longest", "too-long", "empty", "number", "list"],
)
async def test_idempotency_key_is_a_text_of_sensible_length(key: JSON, is_taken: bool) -> None:
    seen = await _idempotency_of(key, "look")
    assert isinstance(seen, dict) is not is_taken


ROUTED: dict[str, JSON] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


@pytest.mark.parametrize(
    ("headers", "agrees"),
    [(None, True), ({}, True), ({"mcp-param-region": "eu"}, False)],
    ids=["lines", "absent", "only-in-header"],
)
async def test_param_headers_of_a_modern_call_are_compared(
    headers: dict[str, str] | None, agrees: bool
) -> None:
    server = sample_server(registry=Registry([replace(TOOLS[1], published=ROUTED)]))
    request = replace(modern("tools/call", name="look", arguments={}), headers=headers)
    answer = await server.handle(request, call_by())
    assert ("result" in answer) is agrees
    if not agrees:
        assert isinstance(answer["error"], dict)
        assert answer["error"]["code"] == -32020


async def test_store_that_is_down_is_said_to_be_worth_another_try() -> None:
    async def fail(app: SampleApp, caller: Caller, arguments: NoArguments) -> Reply:
        raise StoreUnavailable("the database did not answer")

    server = sample_server(registry=Registry([replace(TOOLS[1], handler=fail)]))
    result = await ask(server, modern("tools/call", name="look"))
    assert isinstance(result["structuredContent"], dict)
    error = result["structuredContent"]["error"]
    assert isinstance(error, dict)
    assert error["retryable"] is True


@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        pytest.param("memo://today", {"mimeType": "text/plain", "text": "今天的备忘"}, id="text"),
        pytest.param("memo://png", {"mimeType": "image/png", "blob": "AAE="}, id="bytes"),
        pytest.param(
            "memo://day/%E5%91%A8%E4%B8%80",
            {"mimeType": "text/markdown", "text": "day 周一"},
            id="template",
        ),
    ],
)
async def test_resource_is_read(uri: str, contents: dict[str, JSON]) -> None:
    result = await ask(sample_server(), modern("resources/read", uri=uri))
    assert result["contents"] == [{"uri": uri, **contents}]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


@pytest.mark.parametrize("uri", ["memo://nowhere", "memo://day/never"], ids=["unknown", "inside"])
async def test_resource_not_found_has_the_code_of_its_revision(uri: str) -> None:
    new = await refuse(sample_server(), modern("resources/read", uri=uri))
    old = await refuse(sample_server(), legacy("resources/read", uri=uri))
    assert (new["code"], old["code"]) == (-32602, -32002)
    assert isinstance(new["data"], dict)
    assert new["data"]["uri"] == uri


async def test_resource_outside_of_the_scopes_is_not_found() -> None:
    call = call_by("memory:read")
    error = await refuse(sample_server(), legacy("resources/read", uri="memo://png"), call)
    assert error["code"] == -32002


async def test_resource_uri_must_be_a_text() -> None:
    error = await refuse(sample_server(), legacy("resources/read", uri=3))
    assert error["code"] == -32602


async def test_prompt_is_filled_in() -> None:
    request = legacy("prompts/get", name="greeting", arguments={"name": "小红", "tone": "warm"})
    assert await ask(sample_server(), request) == {
        "description": "Greets",
        "messages": [{"role": "user", "content": {"type": "text", "text": "你好 小红"}}],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(None, "Argument 'name' is required.", id="none"),
        pytest.param({"tone": "a"}, "Argument 'name' is required.", id="missing"),
        pytest.param({"nam": "a"}, "Unknown argument 'nam'. Did you mean 'name'?", id="unknown"),
        pytest.param({"name": 3}, "Argument 'name' must be a text, not 3.", id="number"),
        pytest.param("a", "The arguments must be an object, not 'a'.", id="text"),
    ],
)
async def test_prompt_with_wrong_arguments_is_refused(arguments: JSON, message: str) -> None:
    request = legacy("prompts/get", name="greeting", arguments=arguments)
    error = await refuse(sample_server(), request)
    assert (error["code"], error["message"]) == (-32602, message)


async def test_prompt_outside_of_the_scopes_is_forbidden() -> None:
    call = call_by("chat:proxy")
    error = await refuse(sample_server(), legacy("prompts/get", name="chat"), call)
    assert isinstance(error["data"], dict)
    assert error["data"]["code"] == "forbidden"


def _completion(ref: JSON, name: str = "name", **context: JSON) -> Request:
    argument: JSON = {"name": name, "value": "小"}
    return legacy("completion/complete", ref=ref, argument=argument, context=context)


async def test_completion_is_cut_at_a_hundred_values() -> None:
    request = _completion({"type": "ref/prompt", "name": "greeting"}, arguments={"suffix": "!"})
    completion = (await ask(sample_server(), request))["completion"]
    assert isinstance(completion, dict)
    values = completion["values"]
    assert isinstance(values, list)
    assert (len(values), values[0]) == (100, "小0!")
    assert (completion["total"], completion["hasMore"]) == (150, True)


@pytest.mark.parametrize(
    "request_",
    [
        _completion({"type": "ref/prompt", "name": "unknown"}),
        _completion({"type": "ref/prompt", "name": "greeting"}, "tone"),
        _completion({"type": "ref/resource", "uri": "memo://day/{day}{?format}"}, "day"),
    ],
    ids=["prompt", "argument", "scope"],
)
async def test_completion_of_nothing_known_is_empty(request_: Request) -> None:
    result = await ask(sample_server(), request_, call_by("memory:read"))
    assert result == {"completion": {"values": [], "total": 0, "hasMore": False}}


@pytest.mark.parametrize(
    "ref",
    [None, {}, {"type": "ref/other"}, {"type": "ref/prompt"}, {"type": "ref/prompt", "name": 1}],
    ids=["none", "empty", "other", "nameless", "number"],
)
async def test_completion_of_another_form_is_refused(ref: JSON) -> None:
    assert (await refuse(sample_server(), _completion(ref)))["code"] == -32602
