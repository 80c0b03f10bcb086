"""What is answered of memories: the predecessor's shapes. They describe `core.memories.view`."""

from __future__ import annotations

from pydantic import Field

from remembrancer.core.items.fields import MemoryType, State
from remembrancer.http.parsing import Shape
from remembrancer.http.rest.item_shapes import OwnerName, RelationShape


class MemoryShape(Shape):
    """A memory; times are ISO 8601 in UTC. Counters of use are there where they were read."""

    id: str
    type: MemoryType
    title: str
    content: str
    summary: str | None
    fact_key: str | None
    importance: float | None
    confidence: float | None
    status: State
    pinned: bool
    tags: list[str]
    source: str | None
    source_message_ids: list[str]
    authored_by: str
    project: OwnerName | None
    topic: OwnerName | None
    superseded_by: str | None
    artifact_id: str | None
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    created_at: str
    updated_at: str
    version: int
    recall_count: int = 0
    last_recalled_at: str | None = None
    seen_count: int = 0
    last_seen_at: str | None = None


class Paging(Shape):
    """Where a page stands; `cursor` is that of the next one."""

    limit: int
    cursor: str | None
    has_more: bool
    count: int


class ListedMemories(Shape):
    """A page of memories."""

    data: list[MemoryShape]
    paging: Paging


class OneMemory(Shape):
    """One memory, with its relations where it is shown, or whether it changed."""

    data: MemoryShape
    relations: list[RelationShape] = Field(default_factory=list)
    changed: bool | None = None


class SavedMemory(Shape):
    """What became of a statement: `created`, `seen` or `superseded`, with the ids that were."""

    data: MemoryShape
    outcome: str
    superseded: list[str]


class GoneMemory(Shape):
    """A deleted memory."""

    id: str
    status: State


class DeletedMemory(Shape):
    """What was deleted, and for how many days it can be restored."""

    data: GoneMemory
    restorable_days: int


class FoundMemory(Shape):
    """A match of a search."""

    id: str
    content: str
    score: float
    type: MemoryType
    fact_key: str | None
    status: State
    pinned: bool
    tags: list[str]
    updated_at: str


class CandidateShape(Shape):
    """A candidate of a recall with its scores, and the gate that dropped it."""

    id: str
    words: float | None
    meaning: float | None
    score: float
    answers: float | None = None
    rerank: float | None
    layer: str
    gate: str | None


class SearchMeta(Shape):
    """How a search went; `degraded` says what had no part in it."""

    namespace: str
    backend: str
    top_k: int
    raw_count: int
    count: int
    filtered: bool
    recall_id: str
    degraded: list[str]
    filter_debug: list[CandidateShape] | None = None


class FoundMemories(Shape):
    """The matches, the surest first; `prompt` quotes them as data for a conversation."""

    data: list[FoundMemory]
    meta: SearchMeta
    prompt: str | None = None


class ExportMeta(Shape):
    """What an export holds; `next_cursor` is there when another request is to go on."""

    namespace: str
    count: int
    next_cursor: str | None = None


class ExportedMemories(Shape):
    """All memories, or those of one piece."""

    data: list[MemoryShape]
    meta: ExportMeta
