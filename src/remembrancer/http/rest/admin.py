"""REST of the operator's work on the ledger: verify it, rebuild from it. Only parsing and form."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from remembrancer.app import rebuild, verify
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Shape
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
)
"""The routes of the operator's work."""
