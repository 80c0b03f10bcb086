"""REST of the export: a namespace's ledger as JSON lines, streamed. Only parsing and form."""

from __future__ import annotations

from typing import Final

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from remembrancer.app.export import decode_export_place, export_lines, export_scope
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query
from remembrancer.http.route_table import Route

MEDIA_TYPE: Final = "application/x-ndjson"
"""The type of JSON lines. Source: their users' custom; none is registered."""


class Exporting(Query):
    """What to export."""

    all_namespaces: Flag = Field(False, description="Not only the caller's; needs the scope admin.")
    cursor: str | None = Field(
        None, description="Of the line `more` behind the piece before; the file goes on there."
    )
    keys: Flag = Field(
        True, description="With access keys, as hashes; only ever for the scope admin."
    )


async def _export(call: Call[Exporting, None]) -> Response:
    scope = export_scope(
        call.caller, all_namespaces=call.query.all_namespaces, with_keys=call.query.keys
    )
    cursor = call.query.cursor
    place = None if cursor is None else decode_export_place(cursor)
    return StreamingResponse(
        export_lines(call.app, scope, place=place),
        media_type=MEDIA_TYPE,
        headers={"content-disposition": 'attachment; filename="remembrancer.jsonl"'},
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/export",
        name="export",
        area="admin",
        summary="Give the whole ledger as JSON lines",
        description="The file ends with a line of the kind `end`, with counts and a chained hash. "
        "On Cloudflare an answer may be a piece of it: then a line of the kind `more` stands "
        "behind, which is no part of the file, and the next answer goes on at its `cursor`. The "
        "events are those that were there when the first piece began.",
        scope="export:read",
        query=Exporting,
        media_type=MEDIA_TYPE,
        handler=_export,
    ),
)
"""The route of the export."""
