"""Artifacts: what stays in an item when its content is too large, and how the rest is cut.

Pure; storing is `store.artifacts`. Every ring may import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from remembrancer.core import limits
from remembrancer.core.errors import LimitExceeded
from remembrancer.core.text.graphemes import cut

IN_CHUNKS: Final = 0
"""The stage of an artifact whose text was never moved."""
MOVING: Final = 1
"""Its text may be in the blob store already, and is in chunks still."""
MOVED: Final = 2
"""Its text is in the blob store alone."""
STAYING: Final = 3
"""Its text is in chunks and stays there."""


def blob_key(namespace: str, artifact_id: str) -> str:
    """Return under which key the blob store has an artifact's text."""
    return f"{namespace}/{artifact_id}"


def sha256_of(text: str) -> str:
    """Return the hash of the text's UTF-8 bytes, as hexadecimal text."""
    return hashlib.sha256(text.encode()).hexdigest()


def pointer_text(artifact_id: str, text: str) -> str:
    """Return the excerpt and the pointer that take the place of a large content.

    *Raises:* LimitExceeded above the size of an artifact.
    """
    if len(text) > limits.ARTIFACT_CHARS_MAX:
        raise LimitExceeded(
            f"the content has {len(text)} characters",
            hint=f"at most {limits.ARTIFACT_CHARS_MAX}; split it into several items",
            field="content",
        )
    excerpt = cut(text, limits.CONTENT_EXCERPT_CHARS).rstrip()
    return f"{excerpt}…\n\n[{artifact_id}: {len(text)} characters, sha256 {sha256_of(text)}]"


def chunks(text: str) -> Iterator[str]:
    """Yield the text in pieces that a row can hold."""
    for start in range(0, len(text), limits.ARTIFACT_CHUNK_CHARS):
        yield text[start : start + limits.ARTIFACT_CHUNK_CHARS]
