"""The reference of recall's cosines is what the local encoder gives."""

from __future__ import annotations

import pytest

from remembrancer.core.vectors.background import (
    REFERENCE,
    REFERENCE_MODEL,
    background_of,
    texts,
)
from remembrancer.local.embedder import ENCODER, SentenceEncoder


async def test_reference_is_the_background_of_the_local_encoder() -> None:
    assert ENCODER.name == REFERENCE_MODEL
    found = background_of(await SentenceEncoder(threads=0).embed(texts()))
    assert found.unrelated == pytest.approx(REFERENCE.unrelated, abs=0.001)
    assert found.related == pytest.approx(REFERENCE.related, abs=0.001)
