"""After any history, drained at any moments, through failures: vectors are as they should be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.app.indexing import make_indexed
from tests.app.test_ledger_properties import STEPS, commands

from remembrancer.app.vectors.index import BACKOFF_MS_MAX
from remembrancer.core.errors import RemembrancerError, StoreUnavailable
from remembrancer.core.values import DAY_MS
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.testing.models import HashingEmbedder


@given(
    script=commands,
    drains=st.sets(st.integers(0, 40)),
    fail_every=st.integers(0, 4),
    is_changing=st.booleans(),
)
async def test_vectors_agree_with_any_history_in_the_end(
    script: list[tuple[str, int, int]], drains: set[int], fail_every: int, is_changing: bool
) -> None:
    indexed = make_indexed()
    following = HashingEmbedder(48)
    index = LocalVectors(MEMORY, following.model, threads=0)
    if is_changing:
        indexed.app = replace(indexed.app, embedder_next=following, vectors_next=index)
    indexed.vectors.fail_every = fail_every
    ids: list[str] = []
    for place, (name, first, second) in enumerate(script):
        indexed.bench.runtime.advance(DAY_MS // 3)
        with suppress(RemembrancerError):
            await STEPS[name](indexed.bench, ids, first, second)
        if place in drains:
            with suppress(StoreUnavailable):
                await indexed.drain(limit=3)
    indexed.vectors.fail_every = 0
    indexed.bench.runtime.advance(BACKOFF_MS_MAX)
    await indexed.drain()
    assert await indexed.outbox() == []
    assert await indexed.agrees(model="hashing@64")
    if is_changing:
        # Every text was written to both; the filling has what is left, here nothing.
        assert (await index.describe()).count == (await indexed.vectors.describe()).count
