"""The vector port over Vectorize: ids and scores of the nearest, seen some seconds after a write.

Limits that are tighter here than the port's are kept by sending in parts. It embeds nothing and
ranks nothing. `edge.wire` imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Final, Protocol

from remembrancer.core.vectorcheck import (
    check_id,
    check_ids,
    check_scope,
    check_top,
    check_upsert,
    check_values,
)
from remembrancer.edge.convert import JsObject, js_value, json_value
from remembrancer.edge.errors import vector_errors
from remembrancer.ports.models import EmbeddingModel, Vector
from remembrancer.ports.vectors import IndexState, VectorMatch, VectorRow, VectorScope

DELETED_AT_ONCE: Final = 100
"""Ids of one call to delete. Source: the API's error 40007 above it, wevm/vocs#577, 2026-07."""

READ_AT_ONCE: Final = 20
"""Ids of one call to read vectors. Source: Vectorize limits, developers.cloudflare.com."""

WRITTEN_AT_ONCE: Final = 200
"""Vectors of one call to write: at 768 dimensions about 3 MB of JSON. Our choice; 1,000 may be."""


class Index(Protocol):
    """Vectorize, the second version's binding."""

    def upsert(self, vectors: JsObject) -> Awaitable[JsObject]: ...

    def deleteByIds(self, ids: JsObject) -> Awaitable[JsObject]: ...  # noqa: N802 - the platform's

    def getByIds(self, ids: JsObject) -> Awaitable[JsObject]: ...  # noqa: N802 - the platform's

    def query(self, vector: JsObject, options: JsObject) -> Awaitable[JsObject]: ...

    def describe(self) -> Awaitable[JsObject]: ...


class VectorizeIndex:
    """A Vectorize index of one model behind the vector port.

    *Shape:* `kind` and `project` must have metadata indexes, made before the first vector.
    """

    def __init__(self, index: Index, model: EmbeddingModel) -> None:
        self._index = index
        self._model = model

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        """Write vectors; see the port."""
        check_upsert(len(rows))
        last = {row.id: row for row in rows}
        for row in last.values():
            check_id(row.id)
            check_scope(row.scope.namespace, row.scope.kind, row.scope.project)
            check_values(row.values, self._model.dims)
        made = [_vector(row) for row in last.values()]
        for start in range(0, len(made), WRITTEN_AT_ONCE):
            with vector_errors():
                await self._index.upsert(js_value(made[start : start + WRITTEN_AT_ONCE]))

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; see the port."""
        check_ids(ids)
        for start in range(0, len(ids), DELETED_AT_ONCE):
            with vector_errors():
                await self._index.deleteByIds(js_value([*ids[start : start + DELETED_AT_ONCE]]))

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        """Return the nearest vectors of a scope; see the port."""
        check_top(top)
        check_scope(scope.namespace, scope.kind, scope.project)
        check_values(values, self._model.dims)
        if not scope.namespace:  # the platform would take it for every namespace
            return []
        options: dict[str, object] = {
            "topK": top,
            "namespace": scope.namespace,
            "returnValues": False,
            "returnMetadata": "none",
        }
        wanted = {"kind": scope.kind, "project": scope.project}
        narrowed = {name: value for name, value in wanted.items() if value}
        if narrowed:
            options["filter"] = narrowed
        with vector_errors():
            found = json_value(await self._index.query(js_value([*values]), js_value(options)))
        matches = [VectorMatch(str(one["id"]), float(one["score"])) for one in found["matches"]]
        return sorted(matches, key=lambda one: (-one.score, one.id))

    async def held(self, ids: Sequence[str]) -> set[str]:
        """Return which ids have a visible vector; see the port."""
        check_ids(ids)
        found: set[str] = set()
        for start in range(0, len(ids), READ_AT_ONCE):
            with vector_errors():
                part = js_value([*ids[start : start + READ_AT_ONCE]])
                rows = json_value(await self._index.getByIds(part))
            found |= {str(row["id"]) for row in rows}
        return found

    async def describe(self) -> IndexState:
        """Return the model and how many vectors are visible; see the port."""
        with vector_errors():
            told = json_value(await self._index.describe())
        dims = told.get("dimensions") or told.get("config", {}).get("dimensions")
        count = told.get("vectorCount", told.get("vectorsCount", 0))
        return IndexState(EmbeddingModel(self._model.name, int(dims)), int(count))


def _vector(row: VectorRow) -> dict[str, object]:
    metadata = {"kind": row.scope.kind, "project": row.scope.project}
    return {
        "id": row.id,
        "values": [*row.values],
        "namespace": row.scope.namespace,
        "metadata": {name: value for name, value in metadata.items() if value},
    }
