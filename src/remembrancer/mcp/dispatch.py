"""The kernel: takes a classified request, finds who serves it, and returns the answer.

It holds no session and no connection; every request brings all that it needs. Transports call
`handle` and cancel it by cancelling its task. It maps no HTTP status and reads no header but
those that belong to a tool's arguments.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Generic

from remembrancer.core.errors import (
    CODES,
    Forbidden,
    InvalidInput,
    NotFound,
    RemembrancerError,
)
from remembrancer.core.values import JSON, canonical_json
from remembrancer.mcp import jsonrpc, results
from remembrancer.mcp.arguments import parse_arguments, shown
from remembrancer.mcp.call import (
    Call,
    agent_of,
    completion_query,
    idempotency_of,
    prompt_arguments,
)
from remembrancer.mcp.classify import LEGACY, MODERN, Batch, Rejection, Request
from remembrancer.mcp.exchange import CAPABILITY_OF, Exchange, InputRequired, seal, unseal
from remembrancer.mcp.headers import argument_mismatch
from remembrancer.mcp.jsonrpc import Failure, Message
from remembrancer.mcp.registry import AppT, Interactive, Registry, Tool, ToolOutcome, permits

COMPLETIONS_MAX: Final = 100
"""Values of one completion. Source: MCP 2025-06-18, server/utilities/completion."""

FRAMES_LOGGED: Final = 12
"""Innermost frames of a defect that the log names. Our choice."""

logger = logging.getLogger("remembrancer.mcp")
"""Where defects go, one JSON line each; a wire module decides what is done with them."""

Outcome = Message | Failure
_Route = Callable[[Request, Call[AppT]], Awaitable[Outcome]]


class McpServer(Generic[AppT]):
    """One server: a registry, and how it presents itself. The app comes with each call.

    *Shape:* `state_key` tells, of an app, the key that signs what multi-round requests carry;
    without it a handler can ask questions but keep no state.
    """

    def __init__(
        self,
        registry: Registry[AppT],
        *,
        name: str,
        version: str,
        instructions: str = "",
        state_key: Callable[[AppT], bytes] | None = None,
    ) -> None:
        self.registry = registry
        self._info: Message = {"name": name, "version": version}
        self._instructions = instructions
        self._state_key = state_key
        both: dict[str, _Route[AppT]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
        }
        if registry.has_resources:
            both |= {
                "resources/list": self._list_resources,
                "resources/templates/list": self._list_templates,
                "resources/read": self._read_resource,
            }
        if registry.has_prompts:
            both |= {"prompts/list": self._list_prompts, "prompts/get": self._get_prompt}
        if registry.has_completions:
            both["completion/complete"] = self._complete
        self._modern: Mapping[str, _Route[AppT]] = {**both, "server/discover": self._discover}
        self._legacy: Mapping[str, _Route[AppT]] = {
            **both,
            "initialize": self._initialize,
            "ping": _nothing,
            "logging/setLevel": _nothing,
            "resources/subscribe": _nothing,
            "resources/unsubscribe": _nothing,
        }

    async def handle(self, request: Request, call: Call[AppT]) -> Message:
        """Return the answer to a request, always; a defect is logged and answered."""
        call = replace(call, caller=replace(call.caller, actor=agent_of(request, call)))
        route = (self._modern if request.is_modern else self._legacy).get(request.method)
        if route is None:
            return jsonrpc.failure(
                request.id,
                jsonrpc.METHOD_NOT_FOUND,
                f"Method {shown(request.method)} is not served in revision {request.version}.",
            )
        try:
            outcome = await route(request, call)
        except RemembrancerError as error:
            outcome = _refused(error, request, call)
        except Exception as error:
            # The outermost loop of this door: whatever a handler got wrong ends here.
            _log_defect(error, request, call)
            outcome = _defect(request, call)
        if isinstance(outcome, Failure):
            return jsonrpc.failure(request.id, outcome.code, outcome.message, outcome.data)
        return jsonrpc.success(request.id, self._stamped(outcome, request))

    async def handle_batch(self, batch: Batch, call: Call[AppT]) -> list[Message]:
        """Return the answers to a batch's requests, one after the other; none to anything else.

        Each request counts as if it had come alone; the transport has counted the first.
        """
        answers: list[Message] = []
        is_counted = True
        for message in batch.messages:
            if isinstance(message, Request):
                refused = None if is_counted else _over_the_rate(message, call)
                is_counted = False
                answers.append(refused or await self.handle(message, call))
            elif isinstance(message, Rejection):
                answers.append(message.answer())
        return answers

    def _stamped(self, result: Message, request: Request) -> Message:
        if not request.is_modern:
            return result
        stamped: Message = {"resultType": "complete", **result}
        stamped["_meta"] = {results.SERVER_KEY: dict(self._info)}
        return stamped

    # --- what the server is ------------------------------------------------------------------

    def _capabilities(self) -> Message:
        capabilities: Message = {"tools": {}, "logging": {}}
        if "resources/list" in self._modern:
            capabilities["resources"] = {}
        if "prompts/list" in self._modern:
            capabilities["prompts"] = {}
        if "completion/complete" in self._modern:
            capabilities["completions"] = {}
        return capabilities

    async def _discover(self, request: Request, call: Call[AppT]) -> Outcome:  # noqa: ARG002
        result: Message = {
            "supportedVersions": [MODERN],
            "capabilities": self._capabilities(),
            "ttlMs": results.DISCOVER_TTL_MS,
            "cacheScope": "public",
        }
        if self._instructions:
            result["instructions"] = self._instructions
        return result

    async def _initialize(self, request: Request, call: Call[AppT]) -> Outcome:  # noqa: ARG002
        wanted = request.params.get("protocolVersion")
        result: Message = {
            "protocolVersion": wanted if wanted in LEGACY else LEGACY[0],
            "capabilities": self._capabilities(),
            "serverInfo": dict(self._info),
        }
        if self._instructions:
            result["instructions"] = self._instructions
        return result

    # --- lists -------------------------------------------------------------------------------

    async def _list_tools(self, request: Request, call: Call[AppT]) -> Outcome:
        entries = self.registry.list_tools(call.caller.scopes, call.toolsets)
        return self._listed("tools", entries, request)

    async def _list_resources(self, request: Request, call: Call[AppT]) -> Outcome:
        entries = self.registry.list_resources(call.caller.scopes)
        return self._listed("resources", entries, request)

    async def _list_templates(self, request: Request, call: Call[AppT]) -> Outcome:
        entries = self.registry.list_templates(call.caller.scopes)
        return self._listed("resourceTemplates", entries, request)

    async def _list_prompts(self, request: Request, call: Call[AppT]) -> Outcome:
        entries = self.registry.list_prompts(call.caller.scopes)
        return self._listed("prompts", entries, request)

    def _listed(self, member: str, entries: list[Message], request: Request) -> Message:
        page, following = self.registry.page(entries, request.params)
        result: Message = {member: page}
        if following is not None:
            result["nextCursor"] = following
        return _cacheable(result, request, ttl_ms=results.LIST_TTL_MS)

    # --- tools -------------------------------------------------------------------------------

    async def _call_tool(self, request: Request, call: Call[AppT]) -> Outcome:
        tool = self.registry.tool(request.params.get("name"))
        raw = request.params.get("arguments")
        given = raw if isinstance(raw, dict) else {}
        if request.is_modern and request.headers is not None:
            schema = self.registry.described(tool)["inputSchema"]
            assert isinstance(schema, dict)
            mismatch = argument_mismatch(schema, given, request.headers)
            if mismatch is not None:
                return Failure(jsonrpc.HEADER_MISMATCH, mismatch)
        bound_to = canonical_json([call.caller.namespace, tool.name, raw])
        exchange = self._exchange(request, call, bound_to)
        try:
            outcome = await _run_tool(tool, call.app, raw, exchange)
        except RemembrancerError as error:
            return results.tool_failure(error, request_id=call.caller.cause)
        if isinstance(outcome, InputRequired):
            return self._asked(outcome, request, call, bound_to)
        return results.tool_result(outcome)

    # --- multi-round requests ----------------------------------------------------------------

    def _exchange(self, request: Request, call: Call[AppT], bound_to: str) -> Exchange:
        given = request.params.get("inputResponses")
        answers = given if isinstance(given, dict) else {}
        sealed = request.params.get("requestState")
        state: JSON = None
        if request.is_modern and self._state_key is not None and isinstance(sealed, str):
            state = unseal(self._state_key(call.app), sealed, bound_to=bound_to)
        return Exchange(
            caller=call.caller,
            request=request,
            answers={name: each for name, each in answers.items() if isinstance(each, dict)},
            state=state,
            emit=call.emit,
        )

    def _asked(
        self, outcome: InputRequired, request: Request, call: Call[AppT], bound_to: str
    ) -> Outcome:
        needed = {CAPABILITY_OF[str(question["method"])] for question in outcome.questions.values()}
        missing = sorted(needed - request.capabilities.keys())
        if missing or not request.is_modern:
            return Failure(
                jsonrpc.MISSING_CAPABILITY,
                f"This needs a client that declares {', '.join(missing or sorted(needed))}.",
                {"requiredCapabilities": {name: {} for name in missing or sorted(needed)}},
            )
        result: Message = {
            "resultType": "input_required",
            "inputRequests": dict(outcome.questions),
        }
        if outcome.state is not None:
            assert self._state_key is not None, "a handler keeps state, but there is no state key"
            key = self._state_key(call.app)
            result["requestState"] = seal(key, outcome.state, bound_to=bound_to)
        return result

    # --- resources, prompts, completions -----------------------------------------------------

    async def _read_resource(self, request: Request, call: Call[AppT]) -> Outcome:
        uri = request.params.get("uri")
        if not isinstance(uri, str):
            raise InvalidInput(f"params.uri must be a string, not {shown(uri)}.", field="uri")
        body, mime_type = await self._resource_body(uri, call)
        result: Message = {"contents": [results.contents(uri, body, mime_type=mime_type)]}
        return _cacheable(result, request, ttl_ms=0)

    async def _resource_body(self, uri: str, call: Call[AppT]) -> tuple[str | bytes, str]:
        caller = call.caller
        resource = self.registry.resources.get(uri)
        if resource is not None and permits(caller.scopes, resource.scope):
            return await resource.handler(call.app, caller), resource.mime_type
        for matcher, template in self.registry.templates:
            parameters = matcher.match(uri)
            if parameters is not None and permits(caller.scopes, template.scope):
                body = await template.handler(call.app, caller, parameters)
                return body, template.mime_type
        raise NotFound(
            f"No resource {shown(uri)}.",
            hint="resources/list and resources/templates/list name all resources.",
            field="uri",
        )

    async def _get_prompt(self, request: Request, call: Call[AppT]) -> Outcome:
        prompt = self.registry.prompt(request.params.get("name"))
        if not permits(call.caller.scopes, prompt.scope):
            raise Forbidden(
                f"Prompt {prompt.name!r} needs the scope {prompt.scope!r}, which this key lacks."
            )
        arguments = prompt_arguments(prompt, request.params.get("arguments"))
        bound_to = canonical_json([call.caller.namespace, prompt.name, arguments])
        if isinstance(prompt.handler, Interactive):
            exchange = self._exchange(request, call, bound_to)
            outcome = await prompt.handler.run(call.app, exchange, arguments)
        else:
            outcome = await prompt.handler(call.app, call.caller, arguments)
        if isinstance(outcome, InputRequired):
            return self._asked(outcome, request, call, bound_to)
        messages: list[JSON] = (
            [results.user_message(results.text_block(outcome))]
            if isinstance(outcome, str)
            else list(outcome)
        )
        return {"description": prompt.description, "messages": messages}

    async def _complete(self, request: Request, call: Call[AppT]) -> Outcome:
        query = completion_query(request.params)
        completion = self.registry.completion(query.kind, query.target, query.argument)
        proposals: list[str] = []
        if completion is not None and permits(call.caller.scopes, completion.scope):
            found = await completion.handler(call.app, call.caller, query.typed, query.chosen)
            proposals = list(found)
        values: list[JSON] = list(proposals[:COMPLETIONS_MAX])
        return {
            "completion": {
                "values": values,
                "total": len(proposals),
                "hasMore": len(proposals) > COMPLETIONS_MAX,
            }
        }


async def _run_tool(
    tool: Tool[AppT, Any], app: AppT, raw: JSON, exchange: Exchange
) -> ToolOutcome | InputRequired:
    if not permits(exchange.caller.scopes, tool.scope):
        raise Forbidden(
            f"Tool {tool.name!r} needs the scope {tool.scope!r}, which this key lacks.",
            hint="Use a key that has it; the owner's key has every scope.",
        )
    arguments = parse_arguments(tool.arguments, raw)
    key = idempotency_of(exchange.request, tool.name, raw)
    caller = replace(exchange.caller, idempotency=key)
    if isinstance(tool.handler, Interactive):
        asking = replace(exchange, caller=caller)
        return await tool.handler.run(app, asking, arguments)
    return await tool.handler(app, caller, arguments)


def _over_the_rate(request: Request, call: Call[AppT]) -> Message | None:
    try:
        if call.count is not None:
            call.count()
    except RemembrancerError as error:
        data = results.error_object(error, request_id=call.caller.cause)
        return jsonrpc.failure(request.id, CODES[error.code].jsonrpc, error.message, data)
    return None


async def _nothing(request: Request, call: Call[AppT]) -> Outcome:  # noqa: ARG001
    return {}


def _cacheable(result: Message, request: Request, *, ttl_ms: int) -> Message:
    # Private: what is listed depends on the key's scopes.
    return {**result, "ttlMs": ttl_ms, "cacheScope": "private"} if request.is_modern else result


def _refused(error: RemembrancerError, request: Request, call: Call[AppT]) -> Outcome:
    code = CODES[error.code].jsonrpc
    if error.code == "not_found" and request.method == "resources/read" and not request.is_modern:
        code = jsonrpc.RESOURCE_NOT_FOUND
    data = results.error_object(error, request_id=call.caller.cause)
    if request.method == "resources/read" and error.field == "uri":
        data["uri"] = request.params.get("uri")
    return Failure(code, error.message, data)


def _log_defect(error: Exception, request: Request, call: Call[AppT]) -> None:
    # Where it happened, without the exception's own text: that can quote somebody's memory.
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES_LOGGED:]
    line = {
        "event": "defect",
        "id": call.caller.cause,
        "method": request.method,
        "tool": request.params.get("name") if request.method == "tools/call" else None,
        "kind": f"{type(error).__module__}.{type(error).__qualname__}",
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
    logger.error("%s", results.compact(line))


def _defect(request: Request, call: Call[AppT]) -> Outcome:
    error = RemembrancerError(
        "Something went wrong inside the server.",
        hint=f"The server's log has the request id {call.caller.cause!r}.",
    )
    if request.method == "tools/call":
        return results.tool_failure(error, request_id=call.caller.cause)
    return Failure(
        jsonrpc.INTERNAL_ERROR,
        error.message,
        results.error_object(error, request_id=call.caller.cause),
    )
