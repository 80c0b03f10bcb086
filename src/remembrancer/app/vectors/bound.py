"""Giving an app the indexes that are bound to it: one that answers, and one that is being filled.

At the edge a setting changes over; on one machine `composing` does. `edge.wire` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from remembrancer.app.models.embedding import embedder_named
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.ports.models import Embedder, EmbeddingModel
from remembrancer.ports.outbound import Outbound
from remembrancer.ports.vectors import VectorIndex

Opened = Callable[[EmbeddingModel], VectorIndex]
"""Makes the driver of a bound index, whose vectors are of a model."""


def with_indexes(
    app: App,
    outbound: Outbound,
    *,
    embedder: Embedder | None,
    current: Opened | None,
    following: Opened | None,
) -> App:
    """Return the app with what embeds and what it is kept in.

    *Shape:* `following` counts where EMBEDDING_MODEL_NEXT names its model; VECTORS_SERVE says
    which answers. Without an index nothing embeds but what is asked to.
    *Raises:* InvalidInput for a next model that cannot be set up, or that shall answer and is not
    there.
    """
    settings = app.settings
    name, after = settings.embedding_model_next, None
    if following is not None and name is not None:
        after = embedder_named(settings, outbound, name, dims=settings.embedding_dimensions_next)
    if settings.vectors_serve == "next":
        if after is None or following is None:
            raise InvalidInput(
                "VECTORS_SERVE is 'next', and there is no next index",
                hint="bind VECTORS_NEXT and set EMBEDDING_MODEL_NEXT, or serve 'current'",
                field="VECTORS_SERVE",
            )
        return replace(app, embedder=after, vectors=following(after.model))
    if embedder is None or current is None:
        return replace(app, embedder=embedder)
    app = replace(app, embedder=embedder, vectors=current(embedder.model))
    if after is None or following is None:
        return app
    return replace(app, embedder_next=after, vectors_next=following(after.model))
