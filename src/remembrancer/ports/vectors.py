"""The vector port: which vectors are near to one.

It promises the weaker of Vectorize and an exact search in this process: what was written becomes
visible some time later, ids are unique over all namespaces, and matches say an id and a score and
nothing else. It is derived: it may be lost at any time and is made anew from the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from remembrancer.ports.models import EmbeddingModel, Vector


@dataclass(frozen=True, slots=True)
class VectorScope:
    """What a vector belongs to, and what a query is narrowed to; '' is everything but there.

    *Shape:* each value at most 64 bytes; `project` an id, never a name.
    """

    namespace: str
    kind: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One vector to keep. *Shape:* `id` 1–64 bytes, `values` of unit length."""

    id: str
    scope: VectorScope
    values: Vector


class VectorMatch(NamedTuple):
    """A vector that is near. *Units:* `score` the cosine, -1…1."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class IndexState:
    """What an index holds. *Shape:* `count` vectors of all namespaces, as far as visible."""

    model: EmbeddingModel
    count: int


class VectorIndex(Protocol):
    """Vectors of one model."""

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        """Keep vectors; one of the same id is replaced, its scope included.

        *Shape:* at most `UPSERT_ROWS_MAX`; of two with one id the last stays. *Raises:*
        InvalidInput (other dimensions), LimitExceeded, StoreUnavailable. *Promise:* may be
        repeated; visible later.
        """
        ...

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; missing ids are no error.

        *Shape:* at most `DELETE_IDS_MAX`. *Raises:* InvalidInput, LimitExceeded,
        StoreUnavailable. *Promise:* may be repeated; still found until later.
        """
        ...

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        """Return the nearest vectors of a scope, the nearest first.

        *Shape:* `top` 1…`QUERY_TOP_MAX`; fewer when the scope has fewer; equal scores by id.
        *Raises:* InvalidInput, StoreUnavailable. *Promise:* what is not visible yet is missing.
        """
        ...

    async def held(self, ids: Sequence[str]) -> set[str]:
        """Return which of the ids have a visible vector.

        *Shape:* at most `DELETE_IDS_MAX`. *Raises:* InvalidInput, LimitExceeded,
        StoreUnavailable.
        """
        ...

    async def describe(self) -> IndexState:
        """Return the model and how many vectors there are. *Raises:* StoreUnavailable."""
        ...
