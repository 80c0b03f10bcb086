"""Tools of the review queue: see what waits, decide it on the user's word."""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic import Field

from remembrancer.app.candidates import decide, queue
from remembrancer.app.candidates.decide import Decision
from remembrancer.app.candidates.queue import PAGE_MAX
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.candidates.decide import Action, Status
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import Names, Paged, Share, named, page_limit
from remembrancer.mcp.registry import Tool


class ListCandidates(Paged):
    status: Status = "pending"
    limit: int = page_limit(100, PAGE_MAX)


class DecideCandidate(Arguments):
    candidate_id: str = named("id", "candidate_id", default=...)
    action: Action
    target_id: str | None = Field(None, description="For merge and supersede: the memory")
    content: str | None = Field(None, description="Left out: as it is")
    type: str | None = None
    fact_key: str | None = None
    confidence: Share | None = None
    importance: Share | None = None
    tags: Names | None = None
    decision_note: str | None = None


async def _list(app: App, caller: Caller, arguments: ListCandidates) -> Answer:
    return await queue.list_candidates(
        app, caller, status=arguments.status, limit=arguments.limit, cursor=arguments.cursor
    )


async def _decide(app: App, caller: Caller, arguments: DecideCandidate) -> Answer:
    given = arguments.model_dump(exclude={"candidate_id", "action"}, exclude_none=True)
    # The arguments' fields are the decision's.
    decision = cast(Decision, given)
    return await decide.decide_candidate(
        app, caller, arguments.candidate_id, arguments.action, decision
    )


_CANDIDATE: Final = results.record(
    {"id": results.TEXT, "content": results.TEXT, "status": results.TEXT}, "id", "content"
)

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="candidates_list",
        title="List candidates",
        description="Facts and changes that jobs were not sure of and the user must decide, the "
        "least sure first.",
        handler=_list,
        arguments=ListCandidates,
        result=results.page_of("candidates", _CANDIDATE),
        scope="memory:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
    Tool(
        name="candidate_decide",
        title="Decide a candidate",
        description="Approve, discard, merge into a memory or supersede one, only as the user "
        "says; a decided one cannot be decided again.",
        handler=_decide,
        arguments=DecideCandidate,
        result=results.record(
            {
                "candidate": _CANDIDATE,
                "memory": results.OBJECT_OR_NULL,
                "outcome": results.TEXT,
            }
        ),
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        destructive=True,
    ),
)
"""The tools of this area."""
