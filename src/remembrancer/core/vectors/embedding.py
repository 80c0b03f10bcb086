"""What is embedded of an item, under which id and scope, and whether a change touches it.

Names of projects and topics are read when the text is made: renaming one embeds nothing anew
(`vector_reindex` with `force` does). Pure; queueing is `store.vector_outbox`, embedding
`app.vectors`. Every ring may import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.memories.wording import whole_of
from remembrancer.core.recall.names import key_words
from remembrancer.core.values import JSON
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX

COLD: Final = "cold"
"""The scope's kind of an archived memory: searched only when nothing else was found."""

_WORDED: Final = ("title", "content", "tags", "fact_key", "project_id", "topic_id")
"""Fields whose change changes the vector or its scope."""

_MARK_CHARS: Final = 16
"""Characters of the namespace's mark in a vector's id: 64 bits, and the id stays under 64 bytes."""


def vector_kind(fields: Mapping[str, JSON]) -> str | None:
    """Return under which kind an item's vector is filed; None for what has none.

    *Shape:* `task` or `memory` while it is active, dormant or stale; `COLD` for an archived
    memory. What is completed, superseded, expired, deleted or forgotten is found by words alone.
    """
    if not fields:
        return None
    kind, state = str(fields["kind"]), str(fields["state"])
    if state in CURRENT_STATES:
        return kind
    return COLD if kind == "memory" and state == "archived" else None


def is_reworded(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> bool:
    """Tell whether a change needs another vector, another scope, or none any more."""
    kind = vector_kind(after)
    if kind != vector_kind(before):
        return True
    return kind is not None and any(before.get(name) != after.get(name) for name in _WORDED)


def embedding_text(
    fields: Mapping[str, JSON], *, project: str | None = None, topic: str | None = None
) -> str:
    """Return the text that stands for an item: its key in words, what it says, its tags, its
    project and topic.

    “属猴” alone says little; `profile zodiac` says what it is about (zh-recall's dev half, vectors
    alone: mean reciprocal rank 0.784 without the key, 0.812 with it).
    *Shape:* `project` and `topic` are names; at most `EMBED_CHARS_MAX` characters, and of a text
    that is kept apart only its beginning. *Source:* DESIGN section 6; `scripts/bench recall`.
    """
    content = fields.get("content")
    if fields.get("artifact_id") is not None and isinstance(content, str):
        content = content.rpartition("\n\n[")[0]
    tags = fields.get("tags")
    words = [str(tag) for tag in tags] if isinstance(tags, list) else []
    words += [name for name in (project, topic) if name]
    ending = " ".join(words)
    key = fields.get("fact_key")
    about = f"{key_words(key)} " if isinstance(key, str) and key else ""
    said = about + whole_of({"title": fields.get("title"), "content": content})
    # The ending is short, and says more of a long text than its last sentence.
    room = max(EMBED_CHARS_MAX - len(ending) - 1, EMBED_CHARS_MAX // 2)
    return f"{said[:room]} {ending}".strip()[:EMBED_CHARS_MAX]


def vector_id(namespace: str, item_id: str) -> str:
    """Return the id of an item's vector: unique over all namespaces, at most 64 bytes."""
    mark = hashlib.sha256(namespace.encode()).hexdigest()[:_MARK_CHARS]
    return f"{mark}/{item_id}"


def item_of_vector(id_: str) -> str:
    """Return the item's id in a vector's id."""
    return id_.partition("/")[2]
