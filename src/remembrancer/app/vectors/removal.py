"""Removing vectors at once, ahead of the outbox: for what was forgotten."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput, LimitExceeded, PlatformError
from remembrancer.core.vectors.embedding import vector_id

logger = logging.getLogger(__name__)


async def remove_vectors(app: App, namespace: str, item_ids: Sequence[str]) -> None:
    """Remove the vectors of items from every index, if it answers.

    *Promise:* never fails: the removal stands in the outbox, which is tried until it is done.
    """
    ids = [vector_id(namespace, item_id) for item_id in item_ids]
    for index in (app.vectors, app.vectors_next):
        try:
            if index is not None:
                await index.delete(ids)
        except (PlatformError, LimitExceeded, InvalidInput) as error:
            logger.warning("a vector's removal waits in the outbox: %s", error.code)
