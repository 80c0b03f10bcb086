"""Tools of the library: precious quotes, the glossary, the digest, the boot pack, messages."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from remembrancer.app import messages
from remembrancer.app.commit import Answer
from remembrancer.app.library import boot, digest, glossary, precious
from remembrancer.app.library.precious import PAGE_MAX
from remembrancer.app.state import App
from remembrancer.core.messages import Message
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments, NoArguments
from remembrancer.mcp.models import Names, Paged, named, page_limit
from remembrancer.mcp.registry import Tool


class Pin(Arguments):
    content: str = Field(description="The exact words; kept byte for byte")
    context_message_ids: Names = Field((), description="Messages around them")


class ListLibrary(Paged):
    limit: int = page_limit(100, PAGE_MAX)


class RemovePrecious(Arguments):
    precious_id: str = named("id", "precious_id", default=...)
    reason: str


class SetGlossary(Arguments):
    term: str
    definition: str
    aliases: Names | None = Field(None, description="Left out: as they are")
    examples: Names | None = None


class RemoveGlossary(Arguments):
    entry_id: str | None = named("id", "entry_id")
    term: str | None = Field(None, description="Or the term, or an alias")


class SetDigest(Arguments):
    content: str = Field(description="At most 500 characters; empty takes it away")


class ChatMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    role: Literal["system", "user", "assistant", "tool"]
    content: str


def _one(value: object) -> object:
    # What models often send for a list of one.
    return [value] if isinstance(value, dict) else value


class Ingest(Arguments):
    messages: Annotated[tuple[ChatMessage, ...], BeforeValidator(_one)]
    conversation_id: str | None = None
    source: str | None = None
    auto_extract: bool = Field(
        False, description="Changes nothing: facts are distilled by a job, later"
    )


async def _pin(app: App, caller: Caller, arguments: Pin) -> Answer:
    return await precious.add_precious(
        app, caller, arguments.content, context_message_ids=arguments.context_message_ids
    )


async def _list_precious(app: App, caller: Caller, arguments: ListLibrary) -> Answer:
    return await precious.list_precious(app, caller, limit=arguments.limit, cursor=arguments.cursor)


async def _remove_precious(app: App, caller: Caller, arguments: RemovePrecious) -> Answer:
    return await precious.remove_precious(
        app, caller, arguments.precious_id, reason=arguments.reason
    )


async def _set_glossary(app: App, caller: Caller, arguments: SetGlossary) -> Answer:
    return await glossary.set_glossary(
        app,
        caller,
        term=arguments.term,
        definition=arguments.definition,
        aliases=arguments.aliases,
        examples=arguments.examples,
    )


async def _list_glossary(app: App, caller: Caller, arguments: ListLibrary) -> Answer:
    return await glossary.list_glossary(app, caller, limit=arguments.limit, cursor=arguments.cursor)


async def _remove_glossary(app: App, caller: Caller, arguments: RemoveGlossary) -> Answer:
    return await glossary.remove_glossary(
        app, caller, entry_id=arguments.entry_id, term=arguments.term
    )


async def _get_digest(app: App, caller: Caller, _: NoArguments) -> Answer:
    return await digest.get_digest(app, caller)


async def _set_digest(app: App, caller: Caller, arguments: SetDigest) -> Answer:
    return await digest.set_digest(app, caller, arguments.content)


async def _boot(app: App, caller: Caller, _: NoArguments) -> Answer:
    return await boot.memory_boot(app, caller, has_messages=False)


async def _ingest(app: App, caller: Caller, arguments: Ingest) -> Answer:
    return await messages.ingest_messages(
        app,
        caller,
        [Message(one.role, one.content) for one in arguments.messages],
        conversation_id=arguments.conversation_id,
        source=arguments.source,
    )


_QUOTE: Final = results.record({"id": results.TEXT, "content": results.TEXT}, "id", "content")
_ENTRY: Final = results.record({"id": results.TEXT, "term": results.TEXT}, "id", "term")
_DIGEST: Final = results.record({"digest": results.OBJECT_OR_NULL, "changed": results.FLAG})
_MEMORY: Final = frozenset({"memory"})

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="memory_boot",
        title="Boot pack",
        description="Long-term memory for a new conversation: digest, diary, precious quotes, "
        "glossary. For tasks too, use get_startup_context.",
        handler=_boot,
        arguments=NoArguments,
        result=results.record(
            {
                "digest": results.OBJECT_OR_NULL,
                "precious": results.listed(_QUOTE),
                "glossary": results.listed(_ENTRY),
                "stats": results.OBJECT,
            }
        ),
        scope="memory:read",
        toolsets=_MEMORY,
        read_only=True,
    ),
    Tool(
        name="memory_ingest",
        title="Store messages",
        description="Store chat messages, each once. They become memories later; what a user asks "
        "to be remembered (“remember that …”) is saved at once, see `saved`.",
        handler=_ingest,
        arguments=Ingest,
        result=results.record(
            {
                "conversation_id": results.TEXT,
                "message_ids": results.IDS,
                "saved": results.listed(
                    results.record(
                        {"id": results.TEXT, "content": results.TEXT, "outcome": results.TEXT}
                    )
                ),
                "deferred": results.NUMBER,
            }
        ),
        scope="memory:write",
        toolsets=_MEMORY,
    ),
    Tool(
        name="memory_pin",
        title="Keep a quote",
        description="Keep precious words for ever, exactly as said; they are in every boot pack.",
        handler=_pin,
        arguments=Pin,
        result=results.record({"precious": _QUOTE, "outcome": results.TEXT}),
        scope="memory:write",
        toolsets=_MEMORY,
        idempotent=True,
    ),
    Tool(
        name="precious_list",
        title="List precious quotes",
        description="Precious quotes, newest first.",
        handler=_list_precious,
        arguments=ListLibrary,
        result=results.page_of("precious", _QUOTE),
        scope="memory:read",
        toolsets=_MEMORY,
        read_only=True,
    ),
    Tool(
        name="precious_remove",
        title="Remove a precious quote",
        description="Remove a precious quote, only when the user wants it; undo of its cause "
        "brings it back.",
        handler=_remove_precious,
        arguments=RemovePrecious,
        result=results.record({"precious": _QUOTE, "removed": results.FLAG, "cause": results.TEXT}),
        scope="memory:write",
        toolsets=_MEMORY,
        destructive=True,
    ),
    Tool(
        name="glossary_set",
        title="Explain a term",
        description="Say what a term of the user's own language means; changes the entry of this "
        "term, or makes one.",
        handler=_set_glossary,
        arguments=SetGlossary,
        result=results.record({"entry": _ENTRY, "outcome": results.TEXT}),
        scope="memory:write",
        toolsets=_MEMORY,
        idempotent=True,
    ),
    Tool(
        name="glossary_list",
        title="List the glossary",
        description="Terms with aliases and meanings, by term.",
        handler=_list_glossary,
        arguments=ListLibrary,
        result=results.page_of("entries", _ENTRY),
        scope="memory:read",
        toolsets=_MEMORY,
        read_only=True,
    ),
    Tool(
        name="glossary_remove",
        title="Remove a term",
        description="Remove a glossary entry; undo of its cause brings it back.",
        handler=_remove_glossary,
        arguments=RemoveGlossary,
        result=results.record({"entry": _ENTRY, "removed": results.FLAG, "cause": results.TEXT}),
        scope="memory:write",
        toolsets=_MEMORY,
        destructive=True,
    ),
    Tool(
        name="digest_get",
        title="Show the digest",
        description="The rolling summary of what matters now.",
        handler=_get_digest,
        arguments=NoArguments,
        result=_DIGEST,
        scope="memory:read",
        toolsets=_MEMORY,
        read_only=True,
    ),
    Tool(
        name="digest_set",
        title="Set the digest",
        description="Replace the rolling summary; earlier ones stay in the history.",
        handler=_set_digest,
        arguments=SetDigest,
        result=_DIGEST,
        scope="memory:write",
        toolsets=_MEMORY,
        idempotent=True,
    ),
)
"""The tools of this area."""
