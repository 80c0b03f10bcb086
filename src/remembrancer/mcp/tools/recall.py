"""Tools of recall: the few memories that a message needs, and why it was those."""

from __future__ import annotations

from typing import Any, Final

from remembrancer.app.commit import Answer
from remembrancer.app.recall import answers
from remembrancer.app.recall.recall import LIMIT_MAX, RecallScope
from remembrancer.app.state import App
from remembrancer.core.recall.scale import SHOWN_MIN
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import Names, Share, Types, named, project_slug, topic_slug
from remembrancer.mcp.registry import Tool


class Recall(Arguments):
    query: str = named("query", "q", "message", default=..., description="The user's message")
    k: int = named("k", "top_k", "limit", default=answers.RECALLED, ge=1, le=LIMIT_MAX)
    min_score: Share = SHOWN_MIN
    types: Types = named("types", "type", default=())
    project: str | None = project_slug()
    topic: str | None = topic_slug()
    tags: Names = named("tags", "tag", default=())

    @property
    def scope(self) -> RecallScope:
        """What may be recalled."""
        return RecallScope(types=self.types, project=self.project, topic=self.topic, tags=self.tags)


class Explain(Arguments):
    recall_id: str = named("id", "recall_id", default=..., description="recall_id of a recall")


async def _recall(app: App, caller: Caller, arguments: Recall) -> Answer:
    return await answers.recall_memories(
        app,
        caller,
        arguments.query,
        k=arguments.k,
        min_score=arguments.min_score,
        scope=arguments.scope,
    )


async def _explain(app: App, caller: Caller, arguments: Explain) -> Answer:
    return await answers.explain_recall(app, caller, arguments.recall_id)


_HIT: Final = results.record({"id": results.TEXT, "content": results.TEXT}, "id", "content")
_MEMORY: Final = frozenset({"memory"})

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="memory_recall",
        title="Recall for a message",
        description="The few memories that bear on the user's message, as hits and as text to "
        "quote; none for small talk. It counts as use; memory_search does not.",
        handler=_recall,
        arguments=Recall,
        result=results.record(
            {
                "hits": results.listed(_HIT),
                "glossary_hits": results.listed(results.OBJECT),
                "text": results.TEXT,
                "recall_id": results.TEXT,
                "meta": results.OBJECT,
            }
        ),
        scope="memory:read",
        toolsets=_MEMORY | {"essential"},
        read_only=True,
    ),
    Tool(
        name="recall_explain",
        title="Explain a recall",
        description="Why a recall brought up what it did: each candidate's scores, and the gate "
        "that dropped it.",
        handler=_explain,
        arguments=Explain,
        result=results.record({"recall": results.OBJECT}, "recall"),
        scope="memory:read",
        toolsets=_MEMORY,
        read_only=True,
    ),
)
"""The tools of this area."""
