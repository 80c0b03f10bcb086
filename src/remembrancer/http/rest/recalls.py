"""REST of recalls: which there were, and why each brought up what it did. Only parsing and form."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from remembrancer.app.recall import answers
from remembrancer.app.recall.recall import LIMIT_MAX
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query, Shape
from remembrancer.http.rest.memory_shapes import CandidateShape
from remembrancer.http.route_table import Route


class RecallsQuery(Query):
    """Which recalls a page shows."""

    limit: int = Field(50, ge=1, le=LIMIT_MAX)
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")


class RecallShape(Shape):
    """A recall; `injected` are the memories in the text that it gave, `found` its candidates."""

    id: str
    at: str
    purpose: str
    query: str
    degraded: list[str]
    injected: list[str]
    tokens: int
    found: int


class ExplainedShape(CandidateShape):
    """A candidate with what it is now; a title of null is gone."""

    title: str | None
    state: str | None


class ExplainedRecall(RecallShape):
    """A recall with its candidates: those brought up, then the surest that were not.

    `text` is what a conversation was given: null for a search, and when it is gone.
    """

    text: str | None

    candidates: list[ExplainedShape]


class ListedRecalls(Shape):
    """A page of recalls, the newest first."""

    recalls: list[RecallShape]
    count: int
    next_cursor: str | None


class OneRecall(Shape):
    """One recall."""

    recall: ExplainedRecall


async def _list(call: Call[RecallsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await answers.list_recalls(call.app, call.caller, limit=query.limit, cursor=query.cursor)
    )


async def _get(call: Call[None, None]) -> Answer:
    return Answer(await answers.explain_recall(call.app, call.caller, call.path["recall_id"]))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/recalls",
        name="list_recalls",
        area="recalls",
        summary="List recalls, the newest first",
        scope="memory:read",
        query=RecallsQuery,
        response=ListedRecalls,
        handler=_list,
    ),
    Route(
        method="GET",
        path="/v1/recalls/{recall_id}",
        name="explain_recall",
        area="recalls",
        summary="Show why a recall brought up what it did",
        params={"recall_id": "The recall's id, `rcl_…`."},
        scope="memory:read",
        response=OneRecall,
        handler=_get,
    ),
)
"""The routes of recalls."""
