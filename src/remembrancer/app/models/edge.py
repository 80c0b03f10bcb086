"""What embeds at the edge, where no encoder comes along. `edge.wire` asks for it."""

from __future__ import annotations

from remembrancer.app.models.embedding import EDGE_MODEL, OFF, embedder_named
from remembrancer.app.settings import Settings
from remembrancer.ports.models import Embedder
from remembrancer.ports.outbound import Outbound


def edge_embedder(settings: Settings, outbound: Outbound, *, has_models: bool) -> Embedder | None:
    """Return the embedder that the settings name, Workers AI's when they name none.

    *Shape:* None when EMBEDDING_MODEL is `off`, and for a model of Workers AI where that is not
    bound. *Raises:* InvalidInput when its size is not known, or no server is set up for it.
    """
    name = settings.embedding_model or EDGE_MODEL
    if name.lower() == OFF or (name.startswith("workers-ai/") and not has_models):
        return None
    return embedder_named(settings, outbound, name, dims=settings.embedding_dimensions)
