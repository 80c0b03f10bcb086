"""REST of the export: a namespace's ledger as JSON lines, streamed. Only parsing and form."""

from __future__ import annotations

from typing import Final

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from remembrancer.app.export import export_lines, export_scope
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query
from remembrancer.http.route_table import Route

MEDIA_TYPE: Final = "application/x-ndjson"
"""The type of JSON lines. Source: their users' custom; none is registered."""


class Exporting(Query):
    """What to export."""

    all_namespaces: Flag = Field(False, description="Not only the caller's; needs the scope admin.")
    keys: Flag = Field(
        True, description="With access keys, as hashes; only ever for the scope admin."
    )


async def _export(call: Call[Exporting, None]) -> Response:
    scope = export_scope(
        call.caller, all_namespaces=call.query.all_namespaces, with_keys=call.query.keys
    )
    return StreamingResponse(
        export_lines(call.app, scope),
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
        description="A whole answer ends with a line of the kind `end`, with counts and a hash.",
        scope="export:read",
        query=Exporting,
        media_type=MEDIA_TYPE,
        handler=_export,
    ),
)
"""The route of the export."""
