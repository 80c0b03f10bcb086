"""The vector port's promises, over every implementation."""

from __future__ import annotations

import asyncio
import errno
import math
import operator
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.core.errors import InvalidInput, LimitExceeded, StoreUnavailable
from remembrancer.core.vectorcheck import (
    DELETE_IDS_MAX,
    QUERY_TOP_MAX,
    UPSERT_ROWS_MAX,
    VECTOR_ID_BYTES_MAX,
    VECTOR_SCOPE_BYTES_MAX,
)
from remembrancer.local.connection import MEMORY
from remembrancer.local.vector_array import NEAR_ROWS
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.vectors import VectorIndex, VectorMatch, VectorRow, VectorScope
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.vectors import FaultyVectors

MODEL = EmbeddingModel("test", 3)
MINE = VectorScope("default")
EAST, NORTH, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NORTH_EAST = (math.sqrt(0.5), math.sqrt(0.5), 0.0)


@pytest.fixture(params=["memory", "file-threads", "file-inline", "faulty-off", "twice"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    kind = request.param
    path = tmp_path / "vectors.db" if kind.startswith("file") else MEMORY
    local = LocalVectors(path, MODEL, threads=0 if kind == "file-inline" else 1)
    if kind in ("faulty-off", "twice"):
        yield FaultyVectors(local, FixedRuntime(), deliver_twice=kind == "twice")
    else:
        yield local
    local.close()


def unit(chance: random.Random, dims: int) -> tuple[float, ...]:
    """A vector of unit length, in any direction."""
    values = [chance.gauss() for _ in range(dims)]
    length = math.hypot(*values)
    return tuple(value / length for value in values)


def row(id_: str, values: tuple[float, ...] = EAST, scope: VectorScope = MINE) -> VectorRow:
    return VectorRow(id_, scope, values)


async def ids_of(
    index: VectorIndex, values: tuple[float, ...] = EAST, scope: VectorScope = MINE, top: int = 10
) -> list[str]:
    return [match.id for match in await index.query(scope, values, top=top)]


async def test_query_gives_the_nearest_first_with_their_cosine(index: VectorIndex) -> None:
    await index.upsert([row("north", NORTH), row("between", NORTH_EAST), row("east")])
    matches = await index.query(MINE, EAST, top=2)
    assert [match.id for match in matches] == ["east", "between"]
    assert [match.score for match in matches] == pytest.approx([1, math.sqrt(0.5)], abs=1e-6)


async def test_query_equal_scores_come_by_id_at_every_top(index: VectorIndex) -> None:
    await index.upsert([row(id_) for id_ in ("c", "a", "d", "b")])
    assert await ids_of(index, top=2) == ["a", "b"]
    assert await ids_of(index) == ["a", "b", "c", "d"]


async def test_query_of_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert await index.query(MINE, EAST, top=5) == []
    assert (await index.describe()).count == 0
    assert (await index.describe()).model == MODEL


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        pytest.param(VectorScope("default"), ["task", "note", "other"], id="namespace"),
        pytest.param(VectorScope("default", kind="memory"), ["note", "other"], id="kind"),
        pytest.param(VectorScope("default", project="prj_1"), ["task", "note"], id="project"),
        pytest.param(VectorScope("default", "memory", "prj_1"), ["note"], id="both"),
        pytest.param(VectorScope("default", "memory", "prj_9"), [], id="unknown"),
        pytest.param(VectorScope("工作"), ["foreign"], id="another-namespace"),
        pytest.param(VectorScope(""), [], id="no-namespace"),
    ],
)
async def test_query_stays_in_its_scope(
    index: VectorIndex, scope: VectorScope, found: list[str]
) -> None:
    await index.upsert(
        [
            row("task", EAST, VectorScope("default", "task", "prj_1")),
            row("note", NORTH_EAST, VectorScope("default", "memory", "prj_1")),
            row("other", NORTH, VectorScope("default", "memory")),
            row("foreign", EAST, VectorScope("工作", "memory", "prj_1")),
        ]
    )
    assert await ids_of(index, scope=scope) == found


async def test_upsert_again_replaces_values_and_scope(index: VectorIndex) -> None:
    await index.upsert([row("a"), row("b")])
    await index.upsert([row("a", NORTH, VectorScope("default", "memory")), row("b", UP)])
    await index.upsert([row("b", UP), row("b", NORTH)])
    assert (await index.describe()).count == 2
    assert await ids_of(index, NORTH, VectorScope("default", "memory")) == ["a"]
    assert await index.query(MINE, NORTH, top=1) == [VectorMatch("a", 1.0)]
    assert await ids_of(index, NORTH) == ["a", "b"]


async def test_delete_is_repeatable_and_leaves_the_rest(index: VectorIndex) -> None:
    await index.upsert([row(id_, values) for id_, values in (("a", EAST), ("b", NORTH), ("c", UP))])
    await index.delete(["a", "missing"])
    await index.delete(["a"])
    assert await index.held(["a", "b", "c", "missing"]) == {"b", "c"}
    assert [match.score for match in await index.query(MINE, UP, top=2)] == [1.0, 0.0]
    await index.upsert([row("a")])
    assert await ids_of(index, top=1) == ["a"]


async def test_index_grows_past_its_first_room(index: VectorIndex) -> None:
    count = 700
    await index.upsert([row(f"v{number:04}") for number in range(count)])
    await index.delete([f"v{number:04}" for number in range(0, count, 2)])
    assert (await index.describe()).count == count // 2
    assert await ids_of(index, top=2) == ["v0001", "v0003"]


@pytest.mark.parametrize("id_", ["a" * VECTOR_ID_BYTES_MAX, "记" * 21, "'; --", "\n", "🦆"])
async def test_ids_up_to_the_limit_are_kept(index: VectorIndex, id_: str) -> None:
    await index.upsert([row(id_)])
    assert await index.held([id_]) == {id_}
    assert await ids_of(index) == [id_]


@pytest.mark.parametrize("id_", ["", "a" * (VECTOR_ID_BYTES_MAX + 1), "记" * 22, "\ud83d"])
async def test_ids_over_the_limit_are_refused(index: VectorIndex, id_: str) -> None:
    for refused in (index.upsert([row(id_)]), index.delete([id_]), index.held([id_])):
        with pytest.raises(InvalidInput):
            await refused


@pytest.mark.parametrize(
    "values", [(1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0), (math.inf, 0.0, 0.0)]
)
async def test_vectors_that_do_not_fit_are_refused(
    index: VectorIndex, values: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidInput):
        await index.upsert([row("good"), row("bad", values)])
    with pytest.raises(InvalidInput):
        await index.query(MINE, values, top=1)
    assert await index.held(["good"]) == set()


@pytest.mark.parametrize(
    "field", [pytest.param(name, id=name) for name in ("namespace", "kind", "project")]
)
async def test_scope_over_the_limit_is_refused(index: VectorIndex, field: str) -> None:
    fits = {"namespace": "default", field: "x" * VECTOR_SCOPE_BYTES_MAX}
    await index.upsert([row("a", EAST, VectorScope(**fits))])
    with pytest.raises(InvalidInput):
        await index.upsert([row("a", EAST, VectorScope(**(fits | {field: fits[field] + "x"})))])


async def test_calls_over_their_limits_are_refused(index: VectorIndex) -> None:
    await index.upsert([row(f"v{number}") for number in range(UPSERT_ROWS_MAX)])
    assert len(await index.held([f"v{number}" for number in range(DELETE_IDS_MAX)])) == 1_000
    assert len(await index.query(MINE, EAST, top=QUERY_TOP_MAX)) == QUERY_TOP_MAX
    with pytest.raises(LimitExceeded):
        await index.upsert([row(f"v{number}") for number in range(UPSERT_ROWS_MAX + 1)])
    with pytest.raises(LimitExceeded):
        await index.delete(["v"] * (DELETE_IDS_MAX + 1))
    for top in (0, QUERY_TOP_MAX + 1):
        with pytest.raises(InvalidInput):
            await index.query(MINE, EAST, top=top)


async def test_writes_at_once_all_arrive(index: VectorIndex) -> None:
    await asyncio.gather(*(index.upsert([row(f"v{number}")]) for number in range(20)))
    assert (await index.describe()).count == 20


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([EAST, NORTH, UP, NORTH_EAST, None]))
    )
)
@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_any_writes_leave_what_a_dictionary_would_hold(
    kind: str,
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[str, tuple[float, ...] | None]],
) -> None:
    path = MEMORY if kind == "memory" else tmp_path_factory.mktemp("vectors") / "vectors.db"
    index = LocalVectors(path, MODEL, threads=kind == "file")
    wanted: dict[str, tuple[float, ...]] = {}
    for id_, values in changes:
        if values is None:
            await index.delete([id_])
            wanted.pop(id_, None)
        else:
            await index.upsert([row(id_, values)])
            wanted[id_] = values
    scores = {id_: sum(a * b for a, b in zip(v, EAST, strict=True)) for id_, v in wanted.items()}
    best = sorted(scores, key=lambda id_: (-round(scores[id_], 5), id_))
    assert await ids_of(index) == best
    index.close()


async def test_nearest_among_many_are_those_that_a_plain_search_finds() -> None:
    chance = random.Random(7)
    dims, count = 96, NEAR_ROWS + 1_000
    index = LocalVectors(MEMORY, EmbeddingModel("test", dims), threads=0)
    rows = [row(f"v{number:05}", unit(chance, dims)) for number in range(count)]
    for start in range(0, count, UPSERT_ROWS_MAX):
        await index.upsert(rows[start : start + UPSERT_ROWS_MAX])
    for _ in range(3):
        asked = unit(chance, dims)
        plain = {one.id: sum(map(operator.mul, one.values, asked)) for one in rows}
        best = sorted(plain, key=lambda id_: -plain[id_])[:QUERY_TOP_MAX]
        found = await index.query(MINE, asked, top=QUERY_TOP_MAX)
        assert [match.id for match in found] == best
        assert [match.score for match in found] == pytest.approx(
            [plain[id_] for id_ in best], abs=1e-6
        )
    index.close()


async def test_file_keeps_vectors_and_follows_another_process(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    first, second = (LocalVectors(path, MODEL, threads=0) for _ in range(2))
    await first.upsert([row("a"), row("b", NORTH)])
    assert await ids_of(second) == ["a", "b"]
    await second.delete(["a"])
    await second.upsert([row("c", UP)])
    assert await first.held(["a", "b", "c"]) == {"b", "c"}
    first.close()
    second.close()
    third = LocalVectors(path, MODEL, threads=0)
    assert (await third.describe()).count == 2
    third.close()


async def test_floats_apart_and_floats_in_the_file_give_the_same(tmp_path: Path) -> None:
    chance = random.Random(5)
    dims = 24
    model = EmbeddingModel("test", dims)
    apart = LocalVectors(tmp_path / "vectors.db", model, threads=1)
    rows = [row(f"v{number:03}", unit(chance, dims)) for number in range(300)]
    await apart.upsert(rows)
    await apart.delete([one.id for one in rows[40:90]])
    await apart.upsert([row(one.id, unit(chance, dims)) for one in rows[80:120]])
    inside = LocalVectors(tmp_path / "vectors.db", model, threads=0)
    for _ in range(5):
        asked = unit(chance, dims)
        found = await apart.query(MINE, asked, top=40)
        assert len(found) == 40
        again = await inside.query(MINE, asked, top=40)
        assert [one.id for one in found] == [one.id for one in again]
        assert [one.score for one in found] == pytest.approx([one.score for one in again], abs=1e-6)
    apart.close()
    inside.close()


async def test_floats_that_cannot_be_kept_apart_are_read_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no room")

    index = LocalVectors(tmp_path / "vectors.db", MODEL, threads=1)
    await index.upsert([row("a"), row("b", NORTH)])
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", fails)
        await index.upsert([row("c", NORTH_EAST)])
    assert await ids_of(index) == ["a", "c", "b"]
    await index.delete(["a"])
    assert await ids_of(index) == ["c", "b"]
    index.close()


async def test_deleted_floats_are_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[int, bytes] = {}

    def noted(descriptor: int, rows: bytes, offset: int) -> int:
        written.update(
            {offset + place: rows[place : place + 12] for place in range(0, len(rows), 12)}
        )
        return pwrite(descriptor, rows, offset)

    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", noted)
    index = LocalVectors(tmp_path / "vectors.db", MODEL, threads=1)
    await index.upsert([row("a"), row("b", NORTH), row("c", UP)])
    await index.delete(["a"])
    assert [struct.unpack("<3f", written[place]) for place in (0, 12, 24)] == [UP, NORTH, (0, 0, 0)]
    assert await ids_of(index, UP) == ["c", "b"]
    index.close()


async def test_file_of_another_model_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    old = LocalVectors(path, MODEL, threads=0)
    await old.upsert([row("a")])
    old.close()
    new = LocalVectors(path, EmbeddingModel("other", 3), threads=0)
    assert (await new.describe()).count == 0
    new.close()


async def test_broken_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"this is no database, and never was one" * 40)
    index = LocalVectors(path, MODEL, threads=0)
    await index.upsert([row("a")])
    assert await ids_of(index) == ["a"]
    index.close()


async def test_file_that_cannot_be_made_is_refused_plainly(tmp_path: Path) -> None:
    index = LocalVectors(tmp_path, MODEL, threads=0)
    with pytest.raises(StoreUnavailable):
        await index.describe()
    index.close()


async def test_lagging_index_shows_writes_and_deletes_late() -> None:
    runtime = FixedRuntime()
    index = FaultyVectors(LocalVectors(MEMORY, MODEL, threads=0), runtime, lag_ms=5_000)
    await index.upsert([row("a")])
    assert await ids_of(index) == []
    runtime.advance(5_000)
    assert await ids_of(index) == ["a"]
    await index.delete(["a"])
    assert await index.held(["a"]) == {"a"}
    runtime.advance(5_000)
    assert (await index.describe()).count == 0


async def test_failing_index_fails_in_turn_and_recovers() -> None:
    index = FaultyVectors(LocalVectors(MEMORY, MODEL, threads=0), FixedRuntime(), fail_every=2)
    await index.upsert([row("a")])
    with pytest.raises(StoreUnavailable):
        await index.query(MINE, EAST, top=1)
    index.fail_every = 0
    assert await ids_of(index) == ["a"]
