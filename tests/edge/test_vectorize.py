"""The Vectorize driver: what it asks the platform for, in parts that the platform takes."""

from __future__ import annotations

import json

import pytest
from tests.edge.platform import Index

from remembrancer.core.errors import InvalidInput, LimitExceeded, StoreUnavailable
from remembrancer.edge.vectorize import VectorizeIndex
from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.vectors import VectorMatch, VectorRow, VectorScope

MODEL = EmbeddingModel("workers-ai/@cf/google/embeddinggemma-300m", 3)
HERE = VectorScope("default", "memory", "prj_1")


def row(id_: str, *, scope: VectorScope = HERE) -> VectorRow:
    return VectorRow(id_, scope, (0.6, 0.8, 0.0))


async def test_vector_goes_with_its_namespace_and_what_it_is_filtered_by() -> None:
    index = Index()
    await VectorizeIndex(index, MODEL).upsert([row("v1"), row("v2", scope=VectorScope("other"))])
    [(name, sent)] = index.calls
    assert name == "upsert"
    assert [json.loads(json.dumps(vars(one), default=vars)) for one in sent] == [
        {
            "id": "v1",
            "values": [0.6, 0.8, 0.0],
            "namespace": "default",
            "metadata": {"kind": "memory", "project": "prj_1"},
        },
        {"id": "v2", "values": [0.6, 0.8, 0.0], "namespace": "other", "metadata": {}},
    ]


async def test_many_are_sent_in_parts_and_the_last_of_an_id_stays() -> None:
    index = Index()
    driver = VectorizeIndex(index, MODEL)
    await driver.upsert([*(row(f"v{n}") for n in range(450)), row("v0", scope=VectorScope("z"))])
    assert [len(sent) for _, sent in index.calls] == [200, 200, 50]
    assert vars(index.calls[0][1][0])["namespace"] == "z"
    index.calls.clear()
    await driver.delete([f"v{n}" for n in range(250)])
    assert [len(sent) for _, sent in index.calls] == [100, 100, 50]
    index.calls.clear()
    assert await driver.held([*(f"v{n}" for n in range(30)), "missing"]) == {
        f"v{n}" for n in range(30)
    }
    assert [len(sent) for _, sent in index.calls] == [20, 11]


async def test_query_asks_for_ids_and_scores_of_its_scope_alone() -> None:
    index = Index()
    driver = VectorizeIndex(index, MODEL)
    found = await driver.query(HERE, (1.0, 0.0, 0.0), top=50)
    assert found == [VectorMatch("c", 1.0), VectorMatch("a", 0.5), VectorMatch("b", 0.5)]
    await driver.query(VectorScope("default"), (1.0, 0.0, 0.0), top=1)
    [(_, (vector, first)), (_, (_, second))] = index.calls
    assert vector == [1.0, 0.0, 0.0]
    assert {**first, "filter": vars(first["filter"])} == {
        "topK": 50,
        "namespace": "default",
        "filter": {"kind": "memory", "project": "prj_1"},
        "returnValues": False,
        "returnMetadata": "none",
    }
    assert "filter" not in second


async def test_query_without_a_namespace_does_not_look_into_everybodys() -> None:
    index = Index()
    assert await VectorizeIndex(index, MODEL).query(VectorScope(""), (1.0, 0.0, 0.0), top=9) == []
    assert index.calls == []


async def test_state_is_what_the_platform_counts() -> None:
    state = await VectorizeIndex(Index(), MODEL).describe()
    assert (state.model, state.count) == (MODEL, 41)


async def test_failing_platform_is_an_unavailable_store_without_its_text() -> None:
    driver = VectorizeIndex(Index(is_broken=True), MODEL)
    for call in (
        driver.upsert([row("v")]),
        driver.delete(["v"]),
        driver.held(["v"]),
        driver.query(HERE, (1.0, 0.0, 0.0), top=1),
        driver.describe(),
    ):
        with pytest.raises(StoreUnavailable) as caught:
            await call
        assert "secret" not in caught.value.message


async def test_what_the_platform_would_refuse_is_not_sent() -> None:
    driver = VectorizeIndex(Index(is_broken=True), MODEL)
    for call in (
        driver.upsert([VectorRow("v", HERE, (1.0,))]),
        driver.upsert([row("长" * 22)]),
        driver.query(HERE, (1.0, 0.0, 0.0), top=101),
        driver.query(VectorScope("n" * 65), (1.0, 0.0, 0.0), top=1),
    ):
        with pytest.raises(InvalidInput):
            await call
    with pytest.raises(LimitExceeded):
        await driver.delete([f"v{n}" for n in range(1_001)])
