"""A vector index as weak as Vectorize: late, delivering twice, failing.

It wraps a real index, so that what a test sees is what a real one would say later. Every ring's
tests import it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.vectorcheck import (
    check_id,
    check_ids,
    check_scope,
    check_upsert,
    check_values,
)
from remembrancer.ports.models import Vector
from remembrancer.ports.runtime import Runtime
from remembrancer.ports.vectors import (
    IndexState,
    VectorIndex,
    VectorMatch,
    VectorRow,
    VectorScope,
)

Change = Callable[[], Awaitable[None]]


class FaultyVectors:
    """The vector port around another one, with switches that a test may turn at any time.

    *Shape:* `lag_ms` is how old a write must be before it is visible, by the runtime's clock;
    `fail_every` n makes each n-th call raise StoreUnavailable; `deliver_twice` does every write
    twice; 0 and False turn them off. `calls` counts.
    """

    def __init__(
        self,
        inner: VectorIndex,
        runtime: Runtime,
        *,
        lag_ms: int = 0,
        fail_every: int = 0,
        deliver_twice: bool = False,
    ) -> None:
        self.inner = inner
        self._runtime = runtime
        self._waiting: list[tuple[int, Change]] = []
        self.lag_ms = lag_ms
        self.fail_every = fail_every
        self.deliver_twice = deliver_twice
        self.calls = 0

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        """Check the rows now, as the platform does, and write them when the lag has passed."""
        self._count()
        check_upsert(len(rows))
        dims = (await self.inner.describe()).model.dims
        for row in rows:
            check_id(row.id)
            check_scope(row.scope.namespace, row.scope.kind, row.scope.project)
            check_values(row.values, dims)
        kept = tuple(rows)
        await self._later(lambda: self.inner.upsert(kept))

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove when the lag has passed."""
        self._count()
        check_ids(ids)
        kept = tuple(ids)
        await self._later(lambda: self.inner.delete(kept))

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        """Search in what is visible."""
        await self._catch_up()
        return await self.inner.query(scope, values, top=top)

    async def held(self, ids: Sequence[str]) -> set[str]:
        """Look in what is visible."""
        await self._catch_up()
        return await self.inner.held(ids)

    async def describe(self) -> IndexState:
        """Count what is visible."""
        await self._catch_up()
        return await self.inner.describe()

    async def _later(self, change: Change) -> None:
        at_ms = self._runtime.now_ms()
        self._waiting += [(at_ms, change)] * (2 if self.deliver_twice else 1)
        await self._apply()

    async def _catch_up(self) -> None:
        self._count()
        await self._apply()

    async def _apply(self) -> None:
        visible_ms = self._runtime.now_ms() - self.lag_ms
        while self._waiting and self._waiting[0][0] <= visible_ms:
            await self._waiting.pop(0)[1]()

    def _count(self) -> None:
        self.calls += 1
        if self.fail_every and self.calls % self.fail_every == 0:
            raise StoreUnavailable("the vector index fails on purpose")
