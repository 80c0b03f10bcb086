"""REST of the library at the predecessor's paths: precious quotes and the glossary.

Answers hold their entries under `data`, as the predecessor's do. Only parsing and form; the boot
pack is `boot.py`, messages are `messages.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from remembrancer.app.library import glossary, precious
from remembrancer.app.library.precious import PAGE_MAX
from remembrancer.core import limits
from remembrancer.core.library.precious import PreciousSource
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Query, Shape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

PageLimit = Annotated[int, Field(ge=1, le=PAGE_MAX, description="Entries of one page, at most.")]


def _bounded(chars_max: int, words: str = "") -> Any:  # Any: as pydantic's own Field
    """Return a required text; its length is described here and checked by the rules."""
    return Field(
        description=words or None, json_schema_extra={"minLength": 1, "maxLength": chars_max}
    )


class PageQuery(Query):
    """A page of precious quotes."""

    limit: PageLimit = 100
    cursor: Cursor | None = None


class GlossaryQuery(PageQuery):
    """A page of the glossary; every entry is active."""

    status: Literal["active"] = "active"


class RemovalQuery(Query):
    """Why a quote is removed."""

    reason: str = _bounded(limits.REASON_CHARS_MAX, "Kept in the history.")


class NewPrecious(Named):
    """A quote to keep."""

    content: str = _bounded(limits.PRECIOUS_CHARS_MAX, "The exact words; kept byte for byte.")
    context_message_ids: list[str] = optional()
    source: PreciousSource = optional(description="By the key, when left out.")


class NewEntry(Named):
    """A term and what it means."""

    term: str = _bounded(limits.TERM_CHARS_MAX)
    definition: str = _bounded(limits.DEFINITION_CHARS_MAX)
    aliases: list[str] = optional()
    examples: list[str] = optional()


class EntryChange(Named):
    """What changes of an entry."""

    term: str = optional(json_schema_extra={"maxLength": limits.TERM_CHARS_MAX})
    definition: str = optional(json_schema_extra={"maxLength": limits.DEFINITION_CHARS_MAX})
    aliases: list[str] = optional()
    examples: list[str] = optional()


class PreciousShape(Shape):
    """A precious quote."""

    id: str
    content: str
    context_message_ids: list[str]
    source: PreciousSource
    created_at: str


class PreciousPage(Shape):
    """A page of precious quotes, newest first."""

    data: list[PreciousShape]
    count: int
    total: int
    next_cursor: str | None


class PreciousAnswer(Shape):
    """A quote; `unchanged` says that the same words were kept already."""

    data: PreciousShape
    outcome: Literal["created", "unchanged"]


class RemovedPrecious(Shape):
    """A quote that was removed."""

    data: PreciousShape
    removed: bool
    cause: str = Field(description="What undo takes to bring it back.")


class EntryShape(Shape):
    """A glossary entry."""

    id: str
    term: str
    aliases: list[str]
    definition: str
    examples: list[str]
    created_at: str
    updated_at: str


class GlossaryPage(Shape):
    """A page of the glossary, by term."""

    data: list[EntryShape]
    count: int
    total: int
    next_cursor: str | None


class EntryAnswer(Shape):
    """An entry, and what became of it."""

    data: EntryShape
    outcome: Literal["created", "updated", "unchanged"]


class RemovedEntry(Shape):
    """An entry that was removed."""

    data: EntryShape
    removed: bool
    cause: str = Field(description="What undo takes to bring it back.")


def _data(answer: dict[str, Any], name: str, *, status: int = 200) -> Answer:
    body = {"data" if key == name else key: value for key, value in answer.items()}
    return Answer(body, status=201 if body.get("outcome") == "created" else status)


async def _list_precious(call: Call[PageQuery, None]) -> Answer:
    query = call.query
    answer = await precious.list_precious(
        call.app, call.caller, limit=query.limit, cursor=query.cursor
    )
    return _data(answer, "precious")


async def _add_precious(call: Call[None, NewPrecious]) -> Answer:
    given = call.body.given()
    content = given.pop("content")
    return _data(await precious.add_precious(call.app, call.caller, content, **given), "precious")


async def _remove_precious(call: Call[RemovalQuery, None]) -> Answer:
    answer = await precious.remove_precious(
        call.app, call.caller, call.path["precious_id"], reason=call.query.reason
    )
    return _data(answer, "precious")


async def _list_glossary(call: Call[GlossaryQuery, None]) -> Answer:
    query = call.query
    answer = await glossary.list_glossary(
        call.app, call.caller, limit=query.limit, cursor=query.cursor
    )
    return _data(answer, "entries")


async def _set_glossary(call: Call[None, NewEntry]) -> Answer:
    answer = await glossary.set_glossary(call.app, call.caller, **call.body.given())
    return _data(answer, "entry")


async def _update_glossary(call: Call[None, EntryChange]) -> Answer:
    answer = await glossary.update_glossary(
        call.app, call.caller, call.path["entry_id"], **call.body.given()
    )
    return _data(answer, "entry")


async def _remove_glossary(call: Call[None, None]) -> Answer:
    answer = await glossary.remove_glossary(call.app, call.caller, entry_id=call.path["entry_id"])
    return _data(answer, "entry")


_PRECIOUS_ID: Final = {"precious_id": "Id of a precious quote."}
_ENTRY_ID: Final = {"entry_id": "Id of a glossary entry."}

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/precious",
        name="list_precious",
        area="library",
        summary="List precious quotes, newest first",
        scope="memory:read",
        query=PageQuery,
        response=PreciousPage,
        handler=_list_precious,
    ),
    Route(
        method="POST",
        path="/v1/precious",
        name="add_precious",
        area="library",
        summary="Keep a quote for ever, byte for byte",
        scope="memory:write",
        body=NewPrecious,
        response=PreciousAnswer,
        statuses=(200, 201),
        handler=_add_precious,
    ),
    Route(
        method="DELETE",
        path="/v1/precious/{precious_id}",
        name="remove_precious",
        area="library",
        summary="Remove a precious quote, with a reason",
        params=_PRECIOUS_ID,
        scope="memory:write",
        query=RemovalQuery,
        response=RemovedPrecious,
        errors=("limit_exceeded",),
        handler=_remove_precious,
    ),
    Route(
        method="GET",
        path="/v1/glossary",
        name="list_glossary",
        area="library",
        summary="List the glossary by term",
        scope="memory:read",
        query=GlossaryQuery,
        response=GlossaryPage,
        handler=_list_glossary,
    ),
    Route(
        method="POST",
        path="/v1/glossary",
        name="set_glossary",
        area="library",
        summary="Say what a term means",
        description="Changes the entry of this term, or makes one. A term or alias that another "
        "entry has is a conflict that names it.",
        scope="memory:write",
        body=NewEntry,
        response=EntryAnswer,
        statuses=(200, 201),
        handler=_set_glossary,
    ),
    Route(
        method="PATCH",
        path="/v1/glossary/{entry_id}",
        name="update_glossary",
        area="library",
        summary="Change a glossary entry",
        params=_ENTRY_ID,
        scope="memory:write",
        body=EntryChange,
        response=EntryAnswer,
        handler=_update_glossary,
    ),
    Route(
        method="DELETE",
        path="/v1/glossary/{entry_id}",
        name="remove_glossary",
        area="library",
        summary="Remove a glossary entry",
        params=_ENTRY_ID,
        scope="memory:write",
        response=RemovedEntry,
        handler=_remove_glossary,
    ),
)
"""The routes of the library."""
