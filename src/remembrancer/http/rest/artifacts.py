"""REST of artifacts: texts too long to stay in their items. Only parsing and form."""

from __future__ import annotations

from typing import Final

from remembrancer.app.items import read
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Shape
from remembrancer.http.route_table import Route


class ArtifactShape(Shape):
    """A whole text, and the item that points to it."""

    id: str
    item_id: str
    chars: int
    sha256: str
    text: str


class ArtifactAnswer(Shape):
    """One artifact."""

    artifact: ArtifactShape


async def _get(call: Call[None, None]) -> Answer:
    return Answer(await read.get_artifact(call.app, call.caller, call.path["artifact_id"]))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/artifacts/{artifact_id}",
        name="get_artifact",
        area="items",
        summary="Show the whole text that an item points to",
        params={"artifact_id": "The artifact's id, `art_…`."},
        scope="memory:read",
        response=ArtifactAnswer,
        handler=_get,
    ),
)
"""The route of artifacts."""
