"""REST of the operator's work on the ledger: verify it, rebuild it, import one. Only form."""

from __future__ import annotations

import io
from typing import Final

from pydantic import Field

from remembrancer.app.import_standing import decode_standing, encode_standing
from remembrancer.app.importing import Asked, import_lines, report_of
from remembrancer.app.inspection import Inspection
from remembrancer.app.rebuild import rebuild, rebuild_step
from remembrancer.app.rebuild_place import decode_told, encode_told
from remembrancer.app.verify import verify_piece
from remembrancer.app.verify_place import decode_walked, encode_walked
from remembrancer.core.errors import CorruptData, InvalidInput
from remembrancer.core.values import JSON
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query, Shape
from remembrancer.http.rest.export import MEDIA_TYPE
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route


class Verifying(Named):
    """What to verify."""

    all_namespaces: bool = Field(False, description="Not only the caller's.")
    cursor: str | None = Field(None, description="Of the answer before: the walk goes on there.")


class Break(Shape):
    """The first thing in the ledger that is not as it was written."""

    namespace: str
    stream: str
    version: int
    position: int | None
    what: str


class VerifyAnswer(Shape):
    """What verifying found so far. With `more` it is not over: ask again with `cursor`."""

    ok: bool
    events: int
    streams: int
    forgotten: int
    first_break: Break | None
    more: bool
    cursor: str | None


class Rebuilding(Named):
    """How to rebuild."""

    dry_run: bool = Field(False, description="Only tell what it would cost.")
    cursor: str | None = Field(
        None, description="Of the answer before. Without it a rebuild begins, or one goes on."
    )


class RebuildAnswer(Shape):
    """What was rebuilt, or would be; `rows_changed` were not as they should be.

    With `more` it is not over: `events_done` since it was first asked; ask again with `cursor`.
    """

    events: int
    streams: int
    rows_written_estimate: int
    resumed: bool
    events_done: int
    rows_changed: int
    more: bool
    cursor: str | None


class Importing(Query):
    """How to import."""

    pieces: Flag = Field(False, description="The body is a part of the file: its next lines.")
    cursor: str | None = Field(
        None, description="Of the answer before; the body begins with the line behind its `lines`."
    )
    dry_run: Flag = Field(False, description="Only check the file and tell what is new.")
    all_namespaces: Flag = Field(False, description="The file may hold others than the caller's.")


class ImportAnswer(Shape):
    """What was imported so far, or would be; `events_present` were there already.

    `lines` of the file are done. With `more` the next ones are to be sent, with `cursor`; when
    `lines` has not grown, more of them at once.
    """

    namespaces: list[str]
    events: int
    events_present: int
    artifacts: int
    uses: int
    positions_kept: bool
    dry_run: bool
    lines: int
    more: bool
    cursor: str | None


async def _import(call: Call[Importing, None]) -> Answer:
    query = call.query
    asked = Asked(None if query.all_namespaces else call.caller.namespace, query.dry_run)
    raws = io.BytesIO(call.raw).readlines()
    try:
        if not query.pieces and query.cursor is None:
            for _ in Inspection().lines(raws):
                pass  # a whole file is checked whole before anything is written
        done = await import_lines(call.app, raws, decode_standing(query.cursor), asked)
    except CorruptData as error:
        # What is not as it was written is what was sent, not what is stored here.
        raise InvalidInput(error.message, hint=error.hint) from error
    more: dict[str, JSON] = {
        "lines": done.standing.checked.number,
        "more": not done.is_ended,
        "cursor": None if done.is_ended else encode_standing(done.standing),
    }
    return Answer({**report_of(done.standing, asked), **more})


async def _verify(call: Call[None, Verifying]) -> Answer:
    namespace = None if call.body.all_namespaces else call.caller.namespace
    walked, is_over = decode_walked(call.body.cursor, namespace), False
    while not is_over:
        walked, is_over = await verify_piece(call.app, walked, namespace=namespace)
        if call.app.request_pieces is not None:
            break
    return _going_on(walked.report, None if is_over else encode_walked(walked))


async def _rebuild(call: Call[None, Rebuilding]) -> Answer:
    if call.body.dry_run:
        return _going_on(await rebuild(call.app, dry_run=True), None)
    if call.app.request_pieces is None:
        return _going_on(await rebuild(call.app), None)
    told, is_over = await rebuild_step(call.app, decode_told(call.body.cursor))
    return _going_on(told.report, None if is_over else encode_told(told))


def _going_on(report: dict[str, JSON], cursor: str | None) -> Answer:
    return Answer({**report, "more": cursor is not None, "cursor": cursor})


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/admin/verify",
        name="verify",
        area="admin",
        summary="Walk the ledger's chains and name the first break",
        description="On Cloudflare a request walks some thousand events and says `more`.",
        scope="admin",
        body=Verifying,
        response=VerifyAnswer,
        handler=_verify,
    ),
    Route(
        method="POST",
        path="/v1/admin/rebuild",
        name="rebuild",
        area="admin",
        summary="Make all tables anew from the ledger",
        description="Of all namespaces. Readers see the old tables until one atomic swap. On "
        "Cloudflare a request does one step and says `more`; the next one goes on, also after a "
        "crash. 409: something was written before the swap; ask again.",
        errors=("conflict",),
        scope="admin",
        body=Rebuilding,
        response=RebuildAnswer,
        handler=_rebuild,
    ),
    Route(
        method="POST",
        path="/v1/admin/import",
        name="import",
        area="admin",
        summary="Read what an export wrote into an empty namespace, or go on with it",
        description="A file that is sent whole is checked whole before anything is written; of one "
        "sent in pieces, and `remembrancer import` does that, each piece is. On Cloudflare a "
        "request takes what it may, and `more` says that the rest is to be sent. Repeated from "
        "the beginning, an import finds what is there and goes on behind it.",
        scope="admin",
        query=Importing,
        raw_body=(MEDIA_TYPE,),
        response=ImportAnswer,
        errors=("conflict",),
        handler=_import,
    ),
)
"""The routes of the operator's work."""
