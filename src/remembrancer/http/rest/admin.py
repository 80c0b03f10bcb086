"""REST of the operator's work on the ledger: verify it, rebuild it, import one. Only form."""

from __future__ import annotations

import io
from typing import Final

from pydantic import Field

from remembrancer.app import importing, rebuild, verify
from remembrancer.core.errors import CorruptData, InvalidInput
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query, Shape
from remembrancer.http.rest.export import MEDIA_TYPE
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route


class Verifying(Named):
    """What to verify."""

    all_namespaces: bool = Field(False, description="Not only the caller's.")


class Break(Shape):
    """The first thing in the ledger that is not as it was written."""

    namespace: str
    stream: str
    version: int
    position: int | None
    what: str


class VerifyAnswer(Shape):
    """What verifying found."""

    ok: bool
    events: int
    streams: int
    forgotten: int
    first_break: Break | None


class Rebuilding(Named):
    """How to rebuild."""

    dry_run: bool = Field(False, description="Only tell what it would cost.")


class RebuildAnswer(Shape):
    """What was rebuilt, or would be."""

    events: int
    streams: int
    rows_written_estimate: int
    resumed: bool


class Importing(Query):
    """How to import."""

    dry_run: Flag = Field(False, description="Only check the file and tell what is new.")
    all_namespaces: Flag = Field(False, description="The file may hold others than the caller's.")


class ImportAnswer(Shape):
    """What was imported, or would be; `events_present` were there already."""

    namespaces: list[str]
    events: int
    events_present: int
    artifacts: int
    uses: int
    positions_kept: bool
    dry_run: bool


async def _import(call: Call[Importing, None]) -> Answer:
    namespace = None if call.query.all_namespaces else call.caller.namespace
    try:
        report = await importing.import_ledger(
            call.app,
            lambda: io.BytesIO(call.raw),
            namespace=namespace,
            dry_run=call.query.dry_run,
        )
    except CorruptData as error:
        # What is not as it was written is what was sent, not what is stored here.
        raise InvalidInput(error.message, hint=error.hint) from error
    return Answer(report)


async def _verify(call: Call[None, Verifying]) -> Answer:
    namespace = None if call.body.all_namespaces else call.caller.namespace
    return Answer(await verify.verify(call.app, namespace=namespace))


async def _rebuild(call: Call[None, Rebuilding]) -> Answer:
    return Answer(await rebuild.rebuild(call.app, dry_run=call.body.dry_run))


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/admin/verify",
        name="verify",
        area="admin",
        summary="Walk the ledger's chains and name the first break",
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
        description="Of all namespaces. Readers see the old tables until one atomic swap.",
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
        description="The whole file is checked before anything is written. A file larger than "
        "BODY_BYTES_MAX is imported on the server's own machine, by `remembrancer import`.",
        scope="admin",
        query=Importing,
        raw_body=(MEDIA_TYPE,),
        response=ImportAnswer,
        errors=("conflict",),
        handler=_import,
    ),
)
"""The routes of the operator's work."""
