"""REST of the review queue at the predecessor's paths, with previews and decisions by the dozen.

Only parsing and form; what a decision does is `app.candidates`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

from pydantic import Field

from remembrancer.app.candidates import decide, queue
from remembrancer.app.candidates.decide import DECISIONS_MAX, Decision
from remembrancer.app.candidates.queue import PAGE_MAX
from remembrancer.core import limits
from remembrancer.core.candidates.decide import Action, CandidateKind, Status
from remembrancer.core.items.fields import MemoryType
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Body, Cursor, Query, Shape
from remembrancer.http.rest.conversations import MessageShape
from remembrancer.http.rest.memory_shapes import MemoryShape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

Unit = Annotated[float, Field(ge=0, le=1)]


class QueueQuery(Query):
    """A page of the queue."""

    status: Status = "pending"
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX, description="Candidates of one page.")] = 100
    cursor: Cursor | None = None


class DecisionBody(Named):
    """What is changed of a candidate before it is decided, and a note."""

    target_id: str | None = optional(description="The memory that is merged into or superseded.")
    content: str = optional(
        json_schema_extra={"minLength": 1, "maxLength": limits.CONTENT_CHARS_MAX}
    )
    type: MemoryType = optional()
    fact_key: str | None = optional(json_schema_extra={"maxLength": limits.FACT_KEY_CHARS_MAX})
    confidence: Unit = optional()
    importance: Unit = optional()
    tags: list[str] = optional()
    decision_note: str | None = optional(json_schema_extra={"maxLength": limits.REASON_CHARS_MAX})


class OneDecision(DecisionBody):
    """A decision on one candidate."""

    id: str
    action: Action


class Decisions(Body):
    """Decisions on several candidates."""

    decisions: Annotated[list[OneDecision], Field(min_length=1, max_length=DECISIONS_MAX)]


class PreviewQuery(Query):
    """What a merge would be."""

    target_id: str | None = None


class WaitingShape(Shape):
    """A candidate; `why` says what it waits for."""

    id: str
    kind: CandidateKind
    status: Status
    type: str
    content: str
    fact_key: str | None
    confidence: float
    importance: float
    tags: list[str]
    source: str
    source_message_ids: list[str]
    target_id: str | None
    target_ids: list[str]
    why: str | None
    decision_note: str | None
    memory_id: str | None
    decided_at: str | None
    version: int
    created_at: str
    updated_at: str


class QueuePage(Shape):
    """A page of candidates, the least sure first."""

    data: list[WaitingShape]
    count: int
    total: int
    next_cursor: str | None


class OneCandidate(Shape):
    """A candidate, the items it is about, and the messages that it came from."""

    data: WaitingShape
    targets: list[dict[str, Any]]
    sources: list[MessageShape]


class DecidedCandidate(Shape):
    """A decided candidate, the memory that came of it, and how."""

    data: WaitingShape
    memory: MemoryShape | None
    outcome: str


class MergeResult(Shape):
    """What a merge would leave."""

    content: str
    tags: list[str]
    confidence: float | None
    importance: float | None


class MergePreview(Shape):
    """Both texts, and the result."""

    data: WaitingShape
    target: MemoryShape
    result: MergeResult


class DecidedCandidates(Shape):
    """What became of each decision, in their order; a refused one has an `error`.

    What is `left` another call is to name: on Cloudflare a request takes a few.
    """

    results: list[dict[str, Any]]
    decided: int
    failed: int
    left: list[str]


def _data(answer: dict[str, Any], name: str) -> Answer:
    return Answer({"data" if key == name else key: value for key, value in answer.items()})


async def _list(call: Call[QueueQuery, None]) -> Answer:
    query = call.query
    answer = await queue.list_candidates(
        call.app, call.caller, status=query.status, limit=query.limit, cursor=query.cursor
    )
    return _data(answer, "candidates")


async def _get(call: Call[None, None]) -> Answer:
    answer = await queue.get_candidate(call.app, call.caller, call.path["candidate_id"])
    return _data(answer, "candidate")


async def _preview(call: Call[PreviewQuery, None]) -> Answer:
    decision: Decision = {}
    if call.query.target_id is not None:
        decision["target_id"] = call.query.target_id
    candidate_id = call.path["candidate_id"]
    answer = await decide.preview_merge(call.app, call.caller, candidate_id, decision)
    return _data(answer, "candidate")


def _decision(body: DecisionBody) -> Decision:
    given = body.given()
    for name in ("id", "action"):
        given.pop(name, None)
    # The body's fields are the decision's.
    return cast(Decision, given)


async def _decide(call: Call[None, DecisionBody], action: Action) -> Answer:
    candidate_id = call.path["candidate_id"]
    answer = await decide.decide_candidate(
        call.app, call.caller, candidate_id, action, _decision(call.body)
    )
    return _data(answer, "candidate")


async def _approve(call: Call[None, DecisionBody]) -> Answer:
    return await _decide(call, "approve")


async def _discard(call: Call[None, DecisionBody]) -> Answer:
    return await _decide(call, "discard")


async def _merge(call: Call[None, DecisionBody]) -> Answer:
    return await _decide(call, "merge")


async def _supersede(call: Call[None, DecisionBody]) -> Answer:
    return await _decide(call, "supersede")


async def _decide_all(call: Call[None, Decisions]) -> Answer:
    given = [(one.id, one.action, _decision(one)) for one in call.body.decisions]
    return Answer(await decide.decide_candidates(call.app, call.caller, given))


_ID: Final = {"candidate_id": "Id of a candidate."}

_DECIDING: Final[tuple[tuple[Action, Any, str], ...]] = (
    ("approve", _approve, "Approve a candidate, edited or as it is"),
    ("discard", _discard, "Discard a candidate; twice, and it is never proposed again"),
    ("merge", _merge, "Merge a candidate into a memory"),
    ("supersede", _supersede, "Put a candidate in the place of a memory"),
)

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/candidates",
        name="list_candidates",
        area="candidates",
        summary="List what waits for a person's word, the least sure first",
        scope="memory:read",
        query=QueueQuery,
        response=QueuePage,
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/candidates/decide",
        name="decide_candidates",
        area="candidates",
        summary="Decide several candidates, each on its own",
        scope="memory:write",
        body=Decisions,
        response=DecidedCandidates,
        handler=_decide_all,
    ),
    Route(
        method="GET",
        path="/v1/candidates/{candidate_id}",
        name="get_candidate",
        area="candidates",
        summary="Show a candidate with the items it is about and its source messages",
        params=_ID,
        scope="memory:read",
        response=OneCandidate,
        handler=_get,
    ),
    Route(
        method="GET",
        path="/v1/candidates/{candidate_id}/preview",
        name="preview_merge",
        area="candidates",
        summary="Show both texts and the result of a merge",
        params=_ID,
        scope="memory:read",
        query=PreviewQuery,
        response=MergePreview,
        errors=("conflict",),
        handler=_preview,
    ),
    *(
        Route(
            method="POST",
            path=f"/v1/candidates/{{candidate_id}}/{action}",
            name=f"{action}_candidate",
            area="candidates",
            summary=summary,
            params=_ID,
            scope="memory:write",
            body=DecisionBody,
            response=DecidedCandidate,
            handler=handler,
        )
        for action, handler, summary in _DECIDING
    ),
)
"""The routes of the review queue."""
