"""What the server offers: tools, resources, templates, prompts, completions, and who sees which.

Declarations and lookups only. A registry is built once, by the wiring; it holds no state of any
request and calls no handler.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel

from remembrancer.core.access.scopes import Scope
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.arguments import did_you_mean, shown
from remembrancer.mcp.descriptions import described_prompt, described_tool, resource_text
from remembrancer.mcp.exchange import Exchange, InputRequired
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.listing import Listed
from remembrancer.mcp.results import Reply
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
class ToolArea:
    """The tools of one module, which is imported when one is called or all are listed.

    *Shape:* `module` holds them as its `TOOLS`; `names` are theirs, in the same order.
    """

    module: str
    names: tuple[str, ...]

    def load(self) -> tuple[Tool[Any, Any], ...]:  # Any: each tool has its own arguments
        """Import the module and return its tools."""
        tools: tuple[Tool[Any, Any], ...] = import_module(self.module).TOOLS
        names = tuple(tool.name for tool in tools)
        assert names == self.names, f"{self.module}: its area names {self.names}, it has {names}"
        return tools


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


EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class Late(Generic[EntryT]):
    """Entries of a module that is imported when somebody asks for them.

    *Shape:* `module` holds them as a tuple called `name`; there is at least one.
    """

    module: str
    name: str

    def load(self) -> tuple[EntryT, ...]:
        """Import the module and return its entries."""
        entries: tuple[EntryT, ...] = vars(import_module(self.module))[self.name]
        assert entries, f"{self.name} of {self.module} is empty"
        return entries


class Registry(Generic[AppT]):
    """All that one server offers, in the order of declaration; imported once it is needed.

    *Shape:* `listing`, once set, gives the tools as they were listed ahead; they are imported for
    a list otherwise.
    """

    def __init__(
        self,
        tools: Iterable[Tool[AppT, Any] | ToolArea],  # Any: each tool has its own arguments
        *,
        resources: Sequence[Resource[AppT]] | Late[Resource[AppT]] = (),
        templates: Sequence[ResourceTemplate[AppT]] | Late[ResourceTemplate[AppT]] = (),
        prompts: Sequence[Prompt[AppT]] | Late[Prompt[AppT]] = (),
        completions: Sequence[Completion[AppT]] | Late[Completion[AppT]] = (),
        page_size: int = PAGE_MAX,
    ) -> None:
        self._tools: Mapping[str, Tool[AppT, Any] | ToolArea] = _unique(
            (name, tool)
            for tool in tools
            for name in (tool.names if isinstance(tool, ToolArea) else (tool.name,))
        )
        self._loaded: dict[str, Tool[AppT, Any]] = {}
        self._all: dict[str, Tool[AppT, Any]] = {}
        self._resources, self._templates = resources, templates
        self._prompts, self._completions = prompts, completions
        self.has_resources = _has(resources) or _has(templates)
        self.has_prompts, self.has_completions = _has(prompts), _has(completions)
        self._page_size = page_size
        self.listing: Callable[[], Sequence[Listed]] | None = None
        self._described: dict[str, Message] = {}
        for name, tool in self._tools.items():
            assert _NAME.fullmatch(name), f"tool name {name!r}"
            if isinstance(tool, Tool):
                self._keep(tool)

    @property
    def tools(self) -> Mapping[str, Tool[AppT, Any]]:
        """Every tool by name, in the order of declaration; this imports every area."""
        if not self._all:
            self._all = {name: self.tool(name) for name in self._tools}
        return self._all

    def tool(self, name: JSON) -> Tool[AppT, Any]:
        """Return the tool of this name. *Raises:* InvalidInput that names the close ones."""
        declared = _found(self._tools, name, "tool")
        if isinstance(declared, Tool):
            return declared
        assert isinstance(name, str)
        if name not in self._loaded:
            for tool in declared.load():
                self._keep(tool)
        return self._loaded[name]

    @cached_property
    def resources(self) -> Mapping[str, Resource[AppT]]:
        """The resources by URI."""
        return _unique((each.uri, each) for each in _all_of(self._resources))

    @cached_property
    def templates(self) -> Sequence[tuple[UriTemplate, ResourceTemplate[AppT]]]:
        """The resource templates, each with its parsed URI template."""
        templates = _all_of(self._templates)
        return tuple((parse_uri_template(each.uri_template), each) for each in templates)

    @cached_property
    def prompts(self) -> Mapping[str, Prompt[AppT]]:
        """The prompts by name."""
        return _unique((each.name, each) for each in _all_of(self._prompts))

    @cached_property
    def completions(self) -> Mapping[tuple[str, str, str], Completion[AppT]]:
        """The completions by what they complete."""
        return _unique(
            ((each.kind, each.target, each.argument), each) for each in _all_of(self._completions)
        )

    def _keep(self, tool: Tool[AppT, Any]) -> None:
        assert tool.toolsets <= {*TOOLSETS}, f"toolsets of {tool.name!r}"
        self._loaded[tool.name] = tool
        essential = [one for one in self._loaded.values() if "essential" in one.toolsets]
        assert len(essential) <= ESSENTIAL_MAX, f"{len(essential)} essential tools"

    def prompt(self, name: JSON) -> Prompt[AppT]:
        """Return the prompt of this name. *Raises:* InvalidInput that names the close ones."""
        return _found(self.prompts, name, "prompt")

    def completion(self, kind: str, target: str, argument: str) -> Completion[AppT] | None:
        """Return who completes this argument, or None."""
        return self.completions.get((kind, target, argument))

    def list_tools(self, scopes: frozenset[str], toolsets: frozenset[str]) -> list[Message]:
        """Return the tools of these toolsets that the scopes permit, in order of declaration."""

        def is_shown(tool: Tool[AppT, Any] | Listed) -> bool:
            return permits(scopes, tool.scope) and (
                "all" in toolsets or bool(tool.toolsets & toolsets)
            )

        if self.listing is not None:
            return [listed.described for listed in self.listing() if is_shown(listed)]
        return [self.described(tool) for tool in self.tools.values() if is_shown(tool)]

    def list_resources(self, scopes: frozenset[str]) -> list[Message]:
        """Return the resources that the scopes permit."""
        return [
            {"uri": each.uri, **resource_text(each)}
            for each in self.resources.values()
            if permits(scopes, each.scope)
        ]

    def list_templates(self, scopes: frozenset[str]) -> list[Message]:
        """Return the resource templates that the scopes permit."""
        return [
            {"uriTemplate": each.uri_template, **resource_text(each)}
            for _, each in self.templates
            if permits(scopes, each.scope)
        ]

    def list_prompts(self, scopes: frozenset[str]) -> list[Message]:
        """Return the prompts that the scopes permit."""
        return [
            described_prompt(each) for each in self.prompts.values() if permits(scopes, each.scope)
        ]

    def described(self, tool: Tool[AppT, Any]) -> Message:
        """Return a tool as a list shows it; made once, and then the same object."""
        if tool.name not in self._described:
            self._described[tool.name] = described_tool(tool)
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


def _has(entries: Sequence[EntryT] | Late[EntryT]) -> bool:
    return isinstance(entries, Late) or bool(entries)


def _all_of(entries: Sequence[EntryT] | Late[EntryT]) -> Sequence[EntryT]:
    return entries.load() if isinstance(entries, Late) else entries


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
