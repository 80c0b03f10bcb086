"""REST of the ledger as people see it: history, undo, redo, forgetting. Only parsing and form."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from remembrancer.app import forget, undo
from remembrancer.app import history as history_app
from remembrancer.app.commit import Answer as AppAnswer
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Limit, Query, Shape
from remembrancer.http.rest.item_shapes import ItemShape, item_answer
from remembrancer.http.rest.items import ITEM_ID
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route


class PageQuery(Query):
    """A page of events, newest first."""

    limit: Limit = 50
    cursor: Cursor | None = None


class FeedQuery(PageQuery):
    """A page of the namespace's events."""

    stream: str | None = Field(None, description="Only this stream, such as project/prj_….")
    cause: str | None = Field(None, description="Only what this command or run did, such as run_….")


class FieldChange(Shape):
    """One field before and after an event; times are ISO 8601."""

    field: str
    before: object
    after: object


class EventShape(Shape):
    """One event of the ledger."""

    position: int
    stream: str
    version: int
    kind: str
    actor: str
    at: str
    cause: str
    changes: list[FieldChange]
    undone: bool
    note: dict[str, object] = Field(default_factory=dict)
    forgotten: bool = False


class FeedAnswer(Shape):
    """A page of events."""

    events: list[EventShape]
    next_cursor: str | None


class ItemHistoryAnswer(FeedAnswer):
    """A page of one item's events."""

    item_id: str


class Reversed(Shape):
    """One event that was taken back, or brought back."""

    stream: str
    version: int
    kind: str


class UndoneAnswer(Shape):
    """What was taken back; `kept` are streams that others use by now."""

    undone: list[Reversed]
    kept: list[str]
    item: ItemShape | None = None


class RedoneAnswer(Shape):
    """What was brought back."""

    redone: list[Reversed]
    kept: list[str]
    item: ItemShape | None = None


class ForgettingCounts(Shape):
    """How much goes with a forgotten item: `quotes_redacted` of the ledger, `notes_redacted` what
    a night keeps of a day, `questions_redacted` of recalls, `turns_dropped` what chats keep."""

    events_emptied: int
    quotes_redacted: int
    relations_removed: int
    messages_redacted: int
    pages_redacted: int
    digest_redacted: int
    notes_redacted: int
    candidates_removed: int
    questions_redacted: int
    turns_dropped: int


class ForgottenAnswer(ForgettingCounts):
    """What went with a forgotten item."""

    forgotten: str


class PassageShape(Shape):
    """What goes at one place; a candidate and a question go whole."""

    place: Literal["candidate", "page", "digest", "notes", "message", "question"]
    id: str
    texts: list[str]


class ForgettingPreview(Shape):
    """What would go with an item; `more` places are counted and not shown."""

    would_forget: str
    title: str
    kind: str
    state: str
    counts: ForgettingCounts
    passages: list[PassageShape]
    more: int


class Undoing(Named):
    """Which command to take back: by its cause or by the position of one of its events."""

    EXACTLY_ONE: ClassVar[tuple[str, ...]] = ("cause", "position")

    cause: str = optional(
        description="As the history shows it, or the header `x-remembrancer-cause` of the change."
    )
    position: int = optional(ge=1, le=INTEGER_MAX, description="As the history shows it.")


class Redoing(Named):
    """Which undoing to take back."""

    cause: str = Field(description="The undoing's cause, as the history shows it.")


async def _feed(call: Call[FeedQuery, None]) -> Answer:
    query = call.query
    answer = await history_app.history(
        call.app,
        call.caller,
        limit=query.limit,
        cursor=query.cursor,
        stream=query.stream,
        cause=query.cause,
    )
    return Answer(answer)


async def _item_history(call: Call[PageQuery, None]) -> Answer:
    answer = await history_app.item_history(
        call.app,
        call.caller,
        call.path["item_id"],
        limit=call.query.limit,
        cursor=call.query.cursor,
    )
    return Answer(answer)


def _answer(answer: AppAnswer) -> Answer:
    return item_answer(answer) if "item" in answer else Answer(answer)


async def _undo(call: Call[None, Undoing]) -> Answer:
    given = call.body.given()
    answer = await undo.undo(
        call.app, call.caller, cause=given.get("cause"), position=given.get("position")
    )
    return _answer(answer)


async def _redo(call: Call[None, Redoing]) -> Answer:
    return _answer(await undo.redo(call.app, call.caller, cause=call.body.cause))


async def _undo_item(call: Call[None, None]) -> Answer:
    return _answer(await undo.undo(call.app, call.caller, item_id=call.path["item_id"]))


async def _redo_item(call: Call[None, None]) -> Answer:
    return _answer(await undo.redo(call.app, call.caller, item_id=call.path["item_id"]))


async def _preview_forgetting(call: Call[None, None]) -> Answer:
    return Answer(await forget.preview_forgetting(call.app, call.caller, call.path["item_id"]))


async def _forget(call: Call[None, None]) -> Answer:
    return Answer(await forget.forget_item(call.app, call.caller, call.path["item_id"]))


ROUTES = (
    Route(
        method="GET",
        path="/v1/history",
        name="history",
        area="history",
        summary="List what happened in the namespace, newest first",
        scope="memory:read",
        query=FeedQuery,
        response=FeedAnswer,
        handler=_feed,
    ),
    Route(
        method="GET",
        path="/v1/items/{item_id}/history",
        name="item_history",
        area="history",
        summary="List what happened to an item, with a diff for each event",
        params=ITEM_ID,
        scope="memory:read",
        query=PageQuery,
        response=ItemHistoryAnswer,
        handler=_item_history,
    ),
    Route(
        method="POST",
        path="/v1/undo",
        name="undo",
        area="history",
        summary="Take a whole command back",
        description="Every event of one cause; 409 names what stands in the way.",
        scope="memory:write",
        body=Undoing,
        response=UndoneAnswer,
        errors=("not_found",),
        handler=_undo,
    ),
    Route(
        method="POST",
        path="/v1/redo",
        name="redo",
        area="history",
        summary="Bring back what an undoing took back",
        scope="memory:write",
        body=Redoing,
        response=RedoneAnswer,
        errors=("not_found",),
        handler=_redo,
    ),
    Route(
        method="POST",
        path="/v1/items/{item_id}/undo",
        name="undo_item",
        area="history",
        summary="Take the last command on an item back",
        params=ITEM_ID,
        scope="memory:write",
        response=UndoneAnswer,
        handler=_undo_item,
    ),
    Route(
        method="POST",
        path="/v1/items/{item_id}/redo",
        name="redo_item",
        area="history",
        summary="Bring back what the last undoing on an item took back",
        params=ITEM_ID,
        scope="memory:write",
        response=RedoneAnswer,
        handler=_redo_item,
    ),
    Route(
        method="GET",
        path="/v1/items/{item_id}/forget",
        name="preview_forgetting",
        area="history",
        summary="Show what would go, were an item forgotten: writes nothing",
        params=ITEM_ID,
        scope="memory:read",
        response=ForgettingPreview,
        handler=_preview_forgetting,
    ),
    Route(
        method="POST",
        path="/v1/items/{item_id}/forget",
        name="forget_item",
        area="history",
        summary="Remove an item and every copy of its text, for good",
        description="There is no undo. A tombstone stays, so that nothing learns it again.",
        params=ITEM_ID,
        scope="memory:write",
        response=ForgottenAnswer,
        handler=_forget,
    ),
)
"""The routes of history."""
