"""The tool that follows the pointer to a long text that an item holds only the beginning of."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from remembrancer.app.commit import Answer
from remembrancer.app.items import read
from remembrancer.app.state import App
from remembrancer.core.limits import ARTIFACT_CHARS_MAX
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import named
from remembrancer.mcp.registry import Tool

PART_CHARS: Final = 20_000
"""Characters of a text that one answer holds unless more are asked for. Our choice: a reader's
window is small, and next_offset leads on."""


class GetArtifact(Arguments):
    artifact_id: str = named("id", "artifact_id", default=...)
    offset: int = Field(0, ge=0, description="First character")
    limit: int = Field(PART_CHARS, ge=1, le=ARTIFACT_CHARS_MAX, description="Characters")


async def _get(app: App, caller: Caller, arguments: GetArtifact) -> Answer:
    answer = await read.get_artifact(app, caller, arguments.artifact_id)
    artifact = answer["artifact"]
    assert isinstance(artifact, dict)
    text = artifact["text"]
    assert isinstance(text, str)
    end = arguments.offset + arguments.limit
    return {
        "artifact": {**artifact, "text": text[arguments.offset : end]},
        "offset": arguments.offset,
        "next_offset": end if end < len(text) else None,
    }


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="get_artifact",
        title="Read a long text",
        description="The text behind an item's artifact_id, in parts.",
        handler=_get,
        arguments=GetArtifact,
        result=results.record(
            {
                "artifact": results.record({"id": results.TEXT, "text": results.TEXT}),
                "next_offset": {"type": ["integer", "null"]},
            }
        ),
        scope="memory:read",
        toolsets=frozenset({"memory", "context"}),
        read_only=True,
    ),
)
"""The tool of this area."""
