"""Tools that bring together what was saved more than once."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from remembrancer.app import consolidation
from remembrancer.app.commit import Answer
from remembrancer.app.consolidation import GROUPS_MAX
from remembrancer.app.state import App
from remembrancer.core.items.fields import Kind
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import named, page_limit
from remembrancer.mcp.registry import Tool
from remembrancer.mcp.tools.relations import Targets


class FindCandidates(Arguments):
    kind: Kind = named("item_kind", "kind", default="memory")
    tag: str | None = None
    min_group_size: int = Field(2, ge=2)
    limit: int = page_limit(20, GROUPS_MAX)


class Consolidate(Arguments):
    source_id: str = named("source_item_id", "source_id", default=..., description="What stays")
    target_ids: Targets = named("target_item_ids", "target_ids", default=...)
    type: Literal["duplicate_of", "supersedes", "replaces", "derived_from"] = named(
        "relationship_type", "type", default=...
    )
    reason: str | None = None
    mark_superseded: bool | None = Field(None, description="Default: true, for derived_from false")


async def _find(app: App, caller: Caller, arguments: FindCandidates) -> Answer:
    return await consolidation.find_consolidation_candidates(app, caller, **dict(arguments))


async def _consolidate(app: App, caller: Caller, arguments: Consolidate) -> Answer:
    return await consolidation.consolidate_memories(
        app,
        caller,
        source_item_id=arguments.source_id,
        target_item_ids=arguments.target_ids,
        relationship_type=arguments.type,
        reason=arguments.reason,
        mark_superseded=arguments.mark_superseded,
    )


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="find_consolidation_candidates",
        title="Find what to consolidate",
        description="Groups of items that share tags and may say the same. Review, then "
        "consolidate_memories.",
        handler=_find,
        arguments=FindCandidates,
        result=results.record({"groups": results.listed(results.OBJECT)}),
        scope="memory:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
    Tool(
        name="consolidate_memories",
        title="Consolidate",
        description="Link a keeper with others and supersede these; what something is derived_from "
        "stays in force. undo takes it back.",
        handler=_consolidate,
        arguments=Consolidate,
        result=results.record(
            {"source": results.ITEM, "created": results.NUMBER, "superseded": results.IDS}
        ),
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        destructive=True,
    ),
)
"""The tools of this area."""
