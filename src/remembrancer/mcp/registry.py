"""What the server offers: tools, resources, templates, prompts, completions, and who sees which.

Declarations and lookups only. A registry is built once, by the wiring; it holds no state of any
request and calls no handler.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel

from remembrancer.core.access.scopes import Scope
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.arguments import did_you_mean, shown
from remembrancer.mcp.exchange import Exchange, InputRequired
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.results import Reply
from remembrancer.mcp.schema import input_schema, open_top, output_schema
from remembrancer.mcp.uri_templates import UriTemplate, parse_uri_template

TOOLSETS: Final = ("essential", "tasks", "memory", "context", "journal", "files")
"""The named groups of tools, and `all` beside them. Source: DESIGN section 11."""
DEFAULT_TOOLSETS: Final = frozenset({"essential"})
"""What is listed when the client names none. Source: DESIGN section 11."""
ESSENTIAL_MAX: Final = 32
"""Tools in `essential`. Source: DESIGN section 11; each costs its reader tokens."""
PAGE_MAX: Final = 200
"""Entries of one page of a list: some clients read only the first. Our choice."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")

AppT = TypeVar("AppT")
ArgumentsT = TypeVar("ArgumentsT")
OutcomeT = TypeVar("OutcomeT")

ToolOutcome = Mapping[str, object] | Reply
PromptOutcome = str | Sequence[Message]


@dataclass(frozen=True, slots=True)
class Interactive(Generic[AppT, ArgumentsT, OutcomeT]):
    """Marks a handler that takes the exchange instead of only the caller, and may ask back."""

    run: Callable[[AppT, Exchange, ArgumentsT], Awaitable[OutcomeT | InputRequired]]


@dataclass(frozen=True, slots=True)
class Tool(Generic[AppT, ArgumentsT]):
    """One tool.

    *Shape:* `arguments` is a pydantic model closed to unknown names; `result` a model, a JSON
    schema or None; `scope` None is open to every caller; `handler` is
    `async (app, caller, arguments) -> mapping`, or the same wrapped in `Interactive`. A tool is
    listed under each of its toolsets, and under `all`. `published` replaces the schema that is
    made from `arguments`.
    """

    name: str
    title: str
    description: str
    handler: (
        Callable[[AppT, Caller, ArgumentsT], Awaitable[ToolOutcome]]
        | Interactive[AppT, ArgumentsT, ToolOutcome]
    )
    arguments: type[ArgumentsT]
    result: type[BaseModel] | Mapping[str, JSON] | None = None
    scope: Scope | None = None
    toolsets: frozenset[str] = DEFAULT_TOOLSETS
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    published: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class Resource(Generic[AppT]):
    """One resource with a fixed URI; the handler returns text or bytes."""

    uri: str
    name: str
    title: str
    description: str
    handler: Callable[[AppT, Caller], Awaitable[str | bytes]]
    mime_type: str = "text/markdown"
    scope: Scope | None = None
    annotations: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceTemplate(Generic[AppT]):
    """A family of resources; the handler also gets the parameters found in the URI."""

    uri_template: str
    name: str
    title: str
    description: str
    handler: Callable[[AppT, Caller, Mapping[str, str]], Awaitable[str | bytes]]
    mime_type: str = "text/markdown"
    scope: Scope | None = None
    annotations: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt: always text."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt(Generic[AppT]):
    """One prompt; the handler returns its messages, or text for one message of the user's."""

    name: str
    title: str
    description: str
    handler: (
        Callable[[AppT, Caller, Mapping[str, str]], Awaitable[PromptOutcome]]
        | Interactive[AppT, Mapping[str, str], PromptOutcome]
    )
    arguments: tuple[PromptArgument, ...] = ()
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Completion(Generic[AppT]):
    """Proposals for one argument of a prompt (by its name) or a template (by its URI template).

    *Shape:* the handler gets what was typed so far and the arguments already chosen, and returns
    proposals, best first.
    """

    kind: Literal["prompt", "resource"]
    target: str
    argument: str
    handler: Callable[[AppT, Caller, str, Mapping[str, str]], Awaitable[Sequence[str]]]
    scope: Scope | None = None


class Registry(Generic[AppT]):
    """All that one server offers, in the order of declaration."""

    def __init__(
        self,
        tools: Iterable[Tool[AppT, Any]],  # Any: each tool has its own arguments
        *,
        resources: Iterable[Resource[AppT]] = (),
        templates: Iterable[ResourceTemplate[AppT]] = (),
        prompts: Iterable[Prompt[AppT]] = (),
        completions: Iterable[Completion[AppT]] = (),
        page_size: int = PAGE_MAX,
    ) -> None:
        self.tools: Mapping[str, Tool[AppT, Any]] = _unique((tool.name, tool) for tool in tools)
        self.resources = _unique((resource.uri, resource) for resource in resources)
        self.templates: Sequence[tuple[UriTemplate, ResourceTemplate[AppT]]] = tuple(
            (parse_uri_template(template.uri_template), template) for template in templates
        )
        self.prompts = _unique((prompt.name, prompt) for prompt in prompts)
        self.completions: Mapping[tuple[str, str, str], Completion[AppT]] = _unique(
            ((each.kind, each.target, each.argument), each) for each in completions
        )
        self._page_size = page_size
        self._described: dict[str, Message] = {}
        for tool in self.tools.values():
            assert _NAME.fullmatch(tool.name), f"tool name {tool.name!r}"
            assert tool.toolsets <= {*TOOLSETS}, f"toolsets of {tool.name!r}"
        essential = [t for t in self.tools.values() if "essential" in t.toolsets]
        assert len(essential) <= ESSENTIAL_MAX, f"{len(essential)} essential tools"

    def tool(self, name: JSON) -> Tool[AppT, Any]:
        """Return the tool of this name. *Raises:* InvalidInput that names the close ones."""
        return _found(self.tools, name, "tool")

    def prompt(self, name: JSON) -> Prompt[AppT]:
        """Return the prompt of this name. *Raises:* InvalidInput that names the close ones."""
        return _found(self.prompts, name, "prompt")

    def completion(self, kind: str, target: str, argument: str) -> Completion[AppT] | None:
        """Return who completes this argument, or None."""
        return self.completions.get((kind, target, argument))

    def list_tools(self, scopes: frozenset[str], toolsets: frozenset[str]) -> list[Message]:
        """Return the tools of these toolsets that the scopes permit, in order of declaration."""
        return [
            self.described(tool)
            for tool in self.tools.values()
            if permits(scopes, tool.scope) and ("all" in toolsets or tool.toolsets & toolsets)
        ]

    def list_resources(self, scopes: frozenset[str]) -> list[Message]:
        """Return the resources that the scopes permit."""
        return [
            {"uri": each.uri, **_resource_text(each)}
            for each in self.resources.values()
            if permits(scopes, each.scope)
        ]

    def list_templates(self, scopes: frozenset[str]) -> list[Message]:
        """Return the resource templates that the scopes permit."""
        return [
            {"uriTemplate": each.uri_template, **_resource_text(each)}
            for _, each in self.templates
            if permits(scopes, each.scope)
        ]

    def list_prompts(self, scopes: frozenset[str]) -> list[Message]:
        """Return the prompts that the scopes permit."""
        return [
            _described_prompt(each) for each in self.prompts.values() if permits(scopes, each.scope)
        ]

    def described(self, tool: Tool[AppT, Any]) -> Message:
        """Return a tool as a list shows it; made once, and then the same object."""
        if tool.name not in self._described:
            self._described[tool.name] = _described_tool(tool)
        return self._described[tool.name]

    def page(
        self, entries: Sequence[Message], params: Mapping[str, JSON]
    ) -> tuple[list[JSON], str | None]:
        """Return one page of a list and the cursor of the next, None at the end.

        *Raises:* InvalidInput for a cursor that no page gave; an empty one is such a cursor.
        """
        start = _cursor_start(params["cursor"], len(entries)) if "cursor" in params else 0
        end = start + self._page_size
        return list(entries[start:end]), _cursor(end) if end < len(entries) else None


def permits(scopes: frozenset[str], scope: Scope | None) -> bool:
    """Tell whether a caller with these scopes may use what needs this one."""
    return scope is None or scope in scopes


def parse_toolsets(text: str | None) -> frozenset[str]:
    """Return the toolsets that a comma-joined text names; `essential` when it names none.

    *Raises:* InvalidInput for an unknown name.
    """
    names = [name for name in (part.strip() for part in (text or "").split(",")) if name]
    known = (*TOOLSETS, "all")
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"Unknown toolset {shown(name)}.{did_you_mean(name, known)}",
                hint=f"Toolsets: {', '.join(known)}; join several with commas.",
                field="tools",
            )
    return frozenset(names) or DEFAULT_TOOLSETS


KeyT = TypeVar("KeyT")
EntryT = TypeVar("EntryT")


def _unique(pairs: Iterable[tuple[KeyT, EntryT]]) -> Mapping[KeyT, EntryT]:
    entries: dict[KeyT, EntryT] = {}
    for key, entry in pairs:
        assert key not in entries, f"{key!r} is declared twice"
        entries[key] = entry
    return entries


def _found(entries: Mapping[str, EntryT], name: JSON, kind: str) -> EntryT:
    if not isinstance(name, str):
        raise InvalidInput(f"The {kind}'s name must be a string, not {shown(name)}.", field="name")
    entry = entries.get(name)
    if entry is None:
        raise InvalidInput(
            f"Unknown {kind} {shown(name)}.{did_you_mean(name, entries)}",
            hint=f"{kind}s/list names all {kind}s.",
            field="name",
        )
    return entry


def _described_tool(tool: Tool[AppT, Any]) -> Message:
    hints: Message = {"readOnlyHint": tool.read_only}
    if not tool.read_only:
        hints |= {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    described: Message = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": dict(tool.published or input_schema(tool.arguments)),
        "annotations": {**hints, "openWorldHint": False},
    }
    if tool.result is not None:
        described["outputSchema"] = (
            output_schema(tool.result) if isinstance(tool.result, type) else open_top(tool.result)
        )
    return described


def _described_prompt(prompt: Prompt[AppT]) -> Message:
    described: Message = {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
    }
    if prompt.arguments:
        described["arguments"] = [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in prompt.arguments
        ]
    return described


def _resource_text(resource: Resource[AppT] | ResourceTemplate[AppT]) -> Message:
    described: Message = {
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }
    if resource.annotations:
        described["annotations"] = dict(resource.annotations)
    return described


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(b"from:%d" % start).decode("ascii")


def _cursor_start(cursor: JSON, count: int) -> int:
    # Cursors are compared, not decoded: only one that a page of this list gives can match.
    for start in range(1, count):
        if cursor == _cursor(start):
            return start
    raise InvalidInput(
        f"Unknown cursor {shown(cursor)}.",
        hint="Leave it out to begin at the first page.",
        field="cursor",
    )
