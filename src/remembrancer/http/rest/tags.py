"""REST of tags: which there are and how many items have each. Only parsing and form."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from remembrancer.app.items import read
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Query, Shape
from remembrancer.http.route_table import Route


class TagsQuery(Query):
    """A page of tags."""

    prefix: str | None = Field(None, description="How the tag begins, in any spelling.")
    limit: Annotated[int, Field(ge=1, le=read.TAGS_PAGE_MAX)] = 100
    cursor: Cursor | None = None


class TagShape(Shape):
    """A tag: its folded form, a spelling in use, and how many current items have it."""

    tag: str
    name: str
    count: int


class TagsAnswer(Shape):
    """A page of tags in the order of their folded forms."""

    tags: list[TagShape]
    count: int
    next_cursor: str | None


async def _list(call: Call[TagsQuery, None]) -> Answer:
    query = call.query
    answer = await read.list_tags(
        call.app, call.caller, prefix=query.prefix, limit=query.limit, cursor=query.cursor
    )
    return Answer(answer)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/tags",
        name="list_tags",
        area="tags",
        summary="List the tags of current items",
        scope="memory:read",
        query=TagsQuery,
        response=TagsAnswer,
        errors=("limit_exceeded",),
        handler=_list,
    ),
)
"""The route of tags."""
