"""A small server with one tool of each kind, and builders of requests in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.errors import Conflict, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.arguments import Arguments, NoArguments
from remembrancer.mcp.call import Call
from remembrancer.mcp.classify import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    MODERN,
    VERSION_KEY,
    Request,
    classify,
)
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.exchange import Exchange, InputRequired, elicitation
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import (
    Completion,
    Interactive,
    Prompt,
    PromptArgument,
    Registry,
    Resource,
    ResourceTemplate,
    Tool,
)
from remembrancer.mcp.results import Reply, link_block, text_block


@dataclass(slots=True)
class SampleApp:
    """What the sample's handlers get: who called, with what."""

    calls: list[tuple[Caller, object]] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    ended: list[str] = field(default_factory=list)


class Step(BaseModel):
    """A part of a task, which has parts of its own."""

    text: str
    steps: tuple[Step, ...] = ()


class AddArguments(Arguments):
    """Arguments of every form that tools use."""

    title: str = Field(min_length=1, max_length=200, description="What is to be done")
    kind: Literal["task", "memory"] = "task"
    priority: int | None = Field(default=None, ge=1, le=3, description="1 low, 3 high")
    topic: str | None = Field(default=None, validation_alias=AliasChoices("topic", "group"))
    tags: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    due: int | str | None = None
    is_pinned: bool = False


class AddResult(BaseModel):
    """What the adding tool answers."""

    title: str
    topic: str | None
    priority: int | None = None


async def _add(app: SampleApp, caller: Caller, arguments: AddArguments) -> Mapping[str, object]:
    app.calls.append((caller, arguments))
    return {"title": arguments.title, "topic": arguments.topic, "priority": arguments.priority}


async def _look(app: SampleApp, caller: Caller, arguments: NoArguments) -> Reply:
    app.calls.append((caller, arguments))
    link = link_block("memo://今日", name="today", description="The day's memo")
    return Reply([text_block("见"), link, link_block("memo://x", name="x")], {"seen": 1})


async def _break(app: SampleApp, caller: Caller, arguments: NoArguments) -> Mapping[str, object]:
    raise ZeroDivisionError("secret memory text")


async def _clash(app: SampleApp, caller: Caller, arguments: NoArguments) -> Mapping[str, object]:
    raise Conflict(
        "The key 'a' is taken.", hint="Choose another.", field="key", details={"held_by": "itm_1"}
    )


async def _wait(app: SampleApp, exchange: Exchange, arguments: NoArguments) -> Reply:
    await exchange.progress(1, 2, "waiting")
    app.started.set()
    try:
        await asyncio.sleep(60)
    finally:
        app.ended.append("wait")
    return Reply([text_block("never")])


async def _talk(app: SampleApp, exchange: Exchange, arguments: NoArguments) -> Reply:
    app.calls.append((exchange.caller, arguments))
    await exchange.progress(0.5)
    await exchange.log("debug", "a detail")
    await exchange.log("warning", {"text": "a warning"})
    return Reply([text_block("said")])


async def _confirm(
    app: SampleApp, exchange: Exchange, arguments: NoArguments
) -> Mapping[str, object] | Reply | InputRequired:
    app.calls.append((exchange.caller, exchange.state))
    answer = exchange.accepted("sure")
    if answer is None:
        return InputRequired({"sure": elicitation("Sure?", {"yes": {"type": "boolean"}})}, {"n": 1})
    return {"confirmed": answer.get("yes"), "state": exchange.state}


async def _memo(app: SampleApp, caller: Caller) -> str:
    return "今天的备忘"


async def _picture(app: SampleApp, caller: Caller) -> bytes:
    return b"\x00\x01"


async def _day(app: SampleApp, caller: Caller, parameters: Mapping[str, str]) -> str:
    if parameters["day"] == "never":
        raise NotFound("No day 'never'.", field="uri")
    return f"day {parameters['day']}"


async def _greeting(app: SampleApp, caller: Caller, arguments: Mapping[str, str]) -> str:
    return f"你好 {arguments['name']}"


async def _chat(
    app: SampleApp, exchange: Exchange, arguments: Mapping[str, str]
) -> Sequence[Message] | InputRequired:
    if exchange.accepted("who") is None:
        return InputRequired({"who": elicitation("Who?", {"name": {"type": "string"}})})
    return [{"role": "user", "content": text_block("hello")}]


async def _names(
    app: SampleApp, caller: Caller, typed: str, chosen: Mapping[str, str]
) -> Sequence[str]:
    return [f"{typed}{number}{chosen.get('suffix', '')}" for number in range(150)]


# Any: handlers of either kind, with whatever arguments.
def _tool(name: str, handler: Any, arguments: Any = NoArguments, **rest: Any) -> Tool[Any, Any]:
    return Tool(
        name=name,
        title=name.title(),
        description=f"Does {name}.",
        handler=handler,
        arguments=arguments,
        **rest,
    )


TOOLS: tuple[Tool[SampleApp, Any], ...] = (
    _tool("add", _add, AddArguments, result=AddResult, scope="memory:write", idempotent=True),
    _tool("look", _look, read_only=True, scope="memory:read"),
    _tool("break", _break, toolsets=frozenset({"tasks"})),
    _tool("clash", _clash, toolsets=frozenset({"tasks", "memory"}), destructive=True),
    _tool("wait", Interactive(_wait), toolsets=frozenset({"journal"})),
    _tool("talk", Interactive(_talk), toolsets=frozenset({"journal"})),
    _tool("confirm", Interactive(_confirm), toolsets=frozenset({"files"}), scope="admin"),
)


def sample_registry(*, page_size: int = 200) -> Registry[SampleApp]:
    """One tool of each kind, and one of everything else."""
    return Registry(
        TOOLS,
        resources=[
            Resource("memo://today", "today", "Today", "The day's memo", _memo, "text/plain"),
            Resource("memo://png", "png", "Picture", "A picture", _picture, "image/png", "admin"),
        ],
        templates=[
            ResourceTemplate(
                "memo://day/{day}{?format}",
                "day",
                "Day",
                "A day",
                _day,
                annotations={"audience": ["assistant"]},
            )
        ],
        prompts=[
            Prompt(
                "greeting",
                "Greeting",
                "Greets",
                _greeting,
                (PromptArgument("name", "Whom", required=True), PromptArgument("tone", "How")),
            ),
            Prompt("chat", "Chat", "Asks first", Interactive(_chat), scope="memory:read"),
        ],
        completions=[
            Completion("prompt", "greeting", "name", _names),
            Completion("resource", "memo://day/{day}{?format}", "day", _names, "admin"),
        ],
        page_size=page_size,
    )


def sample_server(**options: Any) -> McpServer[SampleApp]:
    """A server over the sample; `options` are those of McpServer."""
    given: dict[str, Any] = {
        "state_key": lambda _: b"k",
        "instructions": "Call look first.",
    } | options
    registry = given.pop("registry", None) or sample_registry()
    return McpServer(registry, name="sample", version="1.0", **given)


def caller(*scopes: str, actor: str = "user") -> Caller:
    """A caller with these scopes, by default all."""
    held = frozenset[str](scopes or SCOPES)
    return Caller(Namespace("default"), actor, "req_1", held)


def envelope(**more: JSON) -> dict[str, JSON]:
    """The `_meta` of a modern request; `capabilities` and `client` can be chosen."""
    capabilities = more.pop("capabilities", {})
    client = more.pop("client", {"name": "Tester 9", "version": "1"})
    return {VERSION_KEY: MODERN, CAPABILITIES_KEY: capabilities, CLIENT_KEY: client, **more}


def body(method: str, params: Mapping[str, JSON] | None = None, *, id_: JSON = 1) -> Message:
    """A request's body."""
    message: Message = {"jsonrpc": "2.0", "id": id_, "method": method}
    if params is not None:
        message["params"] = dict(params)
    return message


def modern(method: str, **params: JSON) -> Request:
    """A classified request of the current revision; `_meta` adds to the envelope."""
    extra = params.pop("_meta", {})
    assert isinstance(extra, dict)
    request = classify(body(method, {**params, "_meta": envelope(**extra)}), None)
    assert isinstance(request, Request)
    return request


def legacy(method: str, **params: JSON) -> Request:
    """A classified request of an earlier revision."""
    request = classify(body(method, params), {"mcp-protocol-version": "2025-06-18"})
    assert isinstance(request, Request)
    return request


def call_by(
    *scopes: str,
    app: SampleApp | None = None,
    actor: str = "user",
    **rest: Any,  # Any: the other members of a call
) -> Call[SampleApp]:
    """A call by a caller with these scopes, by default all."""
    return Call(app or SampleApp(), caller(*scopes, actor=actor), **rest)


async def ask(
    server: McpServer[SampleApp], request: Request, call: Call[SampleApp] | None = None
) -> Message:
    """The result of a request that succeeds."""
    answer = await server.handle(request, call or call_by())
    result = answer.get("result")
    assert isinstance(result, dict), answer
    return result


async def refuse(
    server: McpServer[SampleApp], request: Request, call: Call[SampleApp] | None = None
) -> Message:
    """The error of a request that fails."""
    answer = await server.handle(request, call or call_by())
    error = answer.get("error")
    assert isinstance(error, dict), answer
    return error
