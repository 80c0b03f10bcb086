"""REST of the diary: its pages by day, week and month. Only parsing and form."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from remembrancer.app import days
from remembrancer.app.days import PAGES_MAX
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Query, Shape
from remembrancer.http.route_table import Route

Kind = Literal["day", "week", "month"]


class DaysQuery(Query):
    """Pages of a kind."""

    kind: Kind = "day"
    limit: Annotated[int, Field(ge=1, le=PAGES_MAX, description="Pages of one list.")] = 30
    cursor: Cursor | None = None


class DayBrief(Shape):
    """A page in a list."""

    date: str
    kind: Kind
    path: str
    starts_on: str
    title: str
    summary: str
    version: int
    updated_at: str


class DayShape(DayBrief):
    """A page; `content` is Markdown."""

    content: str


class DaysPage(Shape):
    """Pages of the diary, the newest first."""

    data: list[DayBrief]
    count: int
    next_cursor: str | None


class OneDay(Shape):
    """One page of the diary."""

    data: DayShape


def _data(answer: dict[str, Any], name: str) -> Answer:
    return Answer({"data" if key == name else key: value for key, value in answer.items()})


async def _list(call: Call[DaysQuery, None]) -> Answer:
    query = call.query
    answer = await days.list_days(
        call.app, call.caller, kind=query.kind, limit=query.limit, cursor=query.cursor
    )
    return _data(answer, "days")


async def _get(call: Call[None, None]) -> Answer:
    return _data(await days.get_day(call.app, call.caller, call.path["date"]), "day")


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/days",
        name="list_days",
        area="days",
        summary="List the diary's pages, newest first",
        scope="memory:read",
        query=DaysQuery,
        response=DaysPage,
        handler=_list,
    ),
    Route(
        method="GET",
        path="/v1/days/{date}",
        name="get_day",
        area="days",
        summary="Show the page of a day, a week or a month",
        params={"date": "2026-03-01, 2026-W09 or 2026-03."},
        scope="memory:read",
        response=OneDay,
        handler=_get,
    ),
)
"""The routes of the diary."""
