"""Another model: the old index answers until the new one is whole, through every interruption."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from tests.app.indexing import Indexed, make_indexed
from tests.builders import NAMESPACE, id_of

from remembrancer.app.forget import forget_item
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.app.vectors import composing
from remembrancer.app.vectors.bound import with_indexes
from remembrancer.app.vectors.composing import TASK, indexed
from remembrancer.app.vectors.filling import fill_next
from remembrancer.app.vectors.health import vector_health
from remembrancer.app.vectors.index import PAUSE_MS, drain_outbox
from remembrancer.app.vectors.repair import reindex_next
from remembrancer.core.errors import InvalidInput, LimitExceeded, StoreUnavailable, UpstreamFailed
from remembrancer.core.vectors.embedding import item_of_vector
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.ports.vectors import VectorScope
from remembrancer.store.vector_models import serve_statements
from remembrancer.testing.models import HashingEmbedder
from remembrancer.testing.outbound import ScriptedAnswer, ScriptedOutbound, json_answer

NEW = {
    "EMBEDDING_MODEL": "own/embedder",
    "EMBEDDING_DIMENSIONS": "48",
    "AI_GATEWAY_BASE_URL": "http://127.0.0.1:9/v1",
}


def vector_of(text: str, dims: int) -> list[float]:
    """A vector that only the same text has."""
    digest = hashlib.sha512(text.encode()).digest()
    values = [digest[place % 64] - 127.5 for place in range(dims)]
    return [value / math.hypot(*values) for value in values]


class Other:
    """An embedder of another model; `refused` texts and failures are told it."""

    def __init__(self) -> None:
        self.model = EmbeddingModel("other", 48)
        self.refused = ""
        self.error: Exception | None = None
        self.meanwhile: list[object] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.error is not None:
            raise self.error
        if self.refused in texts:
            raise UpstreamFailed("refused on purpose")
        while self.meanwhile:
            await self.meanwhile.pop()  # type: ignore[misc]
        return [vector_of(text, 48) for text in texts]


async def changing(count: int = 12) -> tuple[Indexed, Other, LocalVectors, list[str]]:
    """An app with so many items in its index, and an empty one of another model."""
    made = make_indexed()
    ids = []
    for number in range(count):
        answer = await create_item(
            made.app, made.bench.caller(), {"kind": "memory", "title": f"记忆 {number}"}
        )
        ids.append(id_of(answer))
    await made.drain()
    other = Other()
    vectors = LocalVectors(MEMORY, other.model, threads=0)
    made.app = replace(made.app, embedder_next=other, vectors_next=vectors)
    return made, other, vectors, ids


async def found(vectors: LocalVectors, text: str) -> str:
    """The item whose vector is this text's."""
    [match] = await vectors.query(VectorScope(NAMESPACE), vector_of(text, 48), top=1)
    return item_of_vector(match.id) if match.score > 0.999 else ""


async def test_filling_goes_on_where_it_was_until_it_is_whole() -> None:
    made, _, vectors, ids = await changing()
    steps = [await fill_next(made.app, limit=5) for _ in range(2)]
    assert [(step.filled, step.is_whole) for step in steps] == [(5, False), (5, False)]
    steps = [await fill_next(made.app, limit=5) for _ in range(2)]
    assert steps[0].filled + steps[1].filled == 2
    assert (await fill_next(made.app, limit=5)).is_whole
    assert await found(vectors, "记忆 7") == ids[7]
    assert (await vectors.describe()).count == 12


async def test_what_changes_while_it_is_filled_reaches_both_indexes() -> None:
    made, _, vectors, ids = await changing()
    await fill_next(made.app, limit=5)
    caller = made.bench.caller
    await update_item(made.app, caller(), ids[0], {"title": "海边的房子"})
    await update_item(made.app, caller(), ids[11], {"title": "山上的房子"})
    await forget_item(made.app, caller(), ids[1])
    await made.drain()
    while not (await fill_next(made.app)).is_whole:
        pass
    assert await found(vectors, "海边的房子") == ids[0]
    assert await found(vectors, "山上的房子") == ids[11]
    assert await made.nearest("海边的房子") != []
    assert (await vectors.describe()).count == 11
    assert (await made.vectors.describe()).count == 11


@pytest.mark.parametrize("ending", ["edited", "forgotten"])
async def test_filling_that_was_overtaken_repairs_what_it_overwrote(ending: str) -> None:
    made, other, vectors, ids = await changing(1)

    async def overtake() -> None:
        if ending == "edited":
            await update_item(made.app, made.bench.caller(), ids[0], {"title": "海边的房子"})
        else:
            await forget_item(made.app, made.bench.caller(), ids[0])
        await made.drain()

    other.meanwhile.append(overtake())
    await fill_next(made.app)
    await made.drain()
    assert (await fill_next(made.app)).is_whole
    assert await made.outbox() == []
    if ending == "edited":
        assert await found(vectors, "海边的房子") == ids[0]
    else:
        assert (await vectors.describe()).count == 0


async def test_text_that_the_new_model_refuses_is_left_out() -> None:
    made, other, vectors, _ = await changing()
    other.refused = "记忆 3"
    steps = [await fill_next(made.app) for _ in range(2)]
    assert [(step.filled, step.is_whole) for step in steps] == [(11, False), (0, True)]
    assert (await vectors.describe()).count == 11


@pytest.mark.parametrize(
    "error",
    [UpstreamFailed("away"), StoreUnavailable("away"), LimitExceeded("spent"), InvalidInput("odd")],
    ids=lambda error: error.code,
)
async def test_model_that_is_away_stops_the_filling_and_nothing_else(error: Exception) -> None:
    made, other, vectors, _ = await changing()
    other.error = error
    step = await fill_next(made.app)
    assert step.filled == step.refused == 0
    assert step.failure is not None and not step.is_whole
    answer = await create_item(made.app, made.bench.caller(), {"title": "海边的房子"})
    assert (await made.drain())["embedded"] == 1
    other.error = None
    if isinstance(error, LimitExceeded):
        assert (await fill_next(made.app)).failure is not None
        made.bench.runtime.advance(PAUSE_MS)
    while not (await fill_next(made.app)).is_whole:
        pass
    assert await found(vectors, "海边的房子") == id_of(answer)


async def test_health_shows_how_far_the_next_index_is() -> None:
    made, _, _, _ = await changing()
    await fill_next(made.app, limit=5)
    told = await vector_health(made.app, made.bench.caller(), pause=asyncio.sleep)
    assert told["status"] == "ok"
    assert told["next"] == {"model": "other", "dims": 48, "vectors": 5, "total": 12}


async def test_reindex_fills_the_next_index_by_hand() -> None:
    made, other, vectors, _ = await changing()
    told = await reindex_next(made.app)
    assert (told["missing"], told["embedded"], told["progress"]) == (
        12,
        0,
        {"done": 0, "total": 12},
    )
    steps = 0
    while told["next_cursor"] is not None:
        told = await reindex_next(made.app, dry_run=False, limit=5)
        steps += 1
        assert steps < 9
    assert told["progress"] == {"done": 12, "total": 12} and told["missing"] == 0
    assert (await vectors.describe()).count == 12
    other.error = UpstreamFailed("away")
    await create_item(made.app, made.bench.caller(), {"title": "海边的房子"})
    told = await reindex_next(made.app, dry_run=False)
    assert told["failure"] is not None and told["next_cursor"] is not None
    made.app = replace(made.app, embedder_next=None, vectors_next=None)
    with pytest.raises(InvalidInput, match="another model"):
        await reindex_next(made.app)


def opened(model: EmbeddingModel) -> LocalVectors:
    """A bound index."""
    return LocalVectors(MEMORY, model, threads=0)


def bound(**environ: str) -> App:
    """The app of a Worker with two indexes bound."""
    bare = replace(make_indexed().bench.app, settings=load_settings({**NEW_NEXT, **environ}))
    return with_indexes(
        bare,
        ScriptedOutbound(answer),
        embedder=HashingEmbedder(),
        current=opened,
        following=opened,
    )


NEW_NEXT = {
    "EMBEDDING_MODEL_NEXT": "own/embedder",
    "EMBEDDING_DIMENSIONS_NEXT": "48",
    "AI_GATEWAY_BASE_URL": "http://127.0.0.1:9/v1",
}


async def test_bound_indexes_follow_the_settings() -> None:
    app = bound()
    assert app.embedder is not None and app.embedder.model.name == "hashing"
    assert app.embedder_next is not None and app.embedder_next.model.dims == 48
    assert app.vectors_next is not None
    assert (await app.vectors_next.describe()).model.name == "own/embedder"
    app = bound(VECTORS_SERVE="next")
    assert app.embedder is not None and app.embedder.model.name == "own/embedder"
    assert app.vectors is not None and (app.embedder_next, app.vectors_next) == (None, None)
    assert (await app.vectors.describe()).model == app.embedder.model
    app = bound(EMBEDDING_MODEL_NEXT="off")
    assert (app.embedder_next, app.vectors_next) == (None, None)
    with pytest.raises(InvalidInput, match="VECTORS_SERVE"):
        bound(EMBEDDING_MODEL_NEXT="off", VECTORS_SERVE="next")


async def test_bound_without_an_index_embeds_what_is_asked_to() -> None:
    bare = make_indexed().bench.app
    embedder = HashingEmbedder()
    app = with_indexes(
        bare, ScriptedOutbound(answer), embedder=embedder, current=None, following=None
    )
    assert app.embedder is embedder and app.vectors is None


async def test_process_with_an_outdated_model_leaves_the_outbox_to_the_others() -> None:
    made, _, _, _ = await changing(1)
    await made.store.write(serve_statements("newest@32"))
    await create_item(made.app, made.bench.caller(), {"title": "海边的房子"})
    done = await made.drain()
    assert (done["embedded"], done["left"]) == (0, 1)


@dataclass
class Folder:
    """Indexes in memory that outlive an app, as files do."""

    encoder: Embedder | None = field(default_factory=HashingEmbedder)
    is_eager: bool = True
    is_warm: bool = False
    kept: dict[EmbeddingModel, LocalVectors] = field(default_factory=dict)

    def open(self, model: EmbeddingModel) -> LocalVectors:
        return self.kept.setdefault(model, LocalVectors(MEMORY, model, threads=0))

    def keep_only(self, model: EmbeddingModel) -> None:
        self.kept = {model: self.kept[model]}


def answer(request: OutboundRequest) -> ScriptedAnswer:
    """An embedder behind a server."""
    texts = json.loads(request.body)["input"]
    rows = [{"index": place, "embedding": vector_of(text, 48)} for place, text in enumerate(texts)]
    return json_answer({"data": rows})


@asynccontextmanager
async def started(
    made: Indexed, folder: Folder, environ: dict[str, str], *, outbound: bool = True
) -> AsyncIterator[App]:
    """The app as a server composes it, with its work done that follows the start."""
    bare = replace(
        made.bench.app,
        settings=load_settings(environ),
        outbound=ScriptedOutbound(answer) if outbound else None,
    )
    async with indexed(bare, folder) as app:
        [work] = [task for task in asyncio.all_tasks() if task.get_name() == TASK]
        yield app
        await work


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "START_S", 0.0)
    monkeypatch.setattr(composing, "AGAIN_S", 0.0)
    monkeypatch.setattr(composing, "REST_S", 0.0)


async def books(made: Indexed) -> dict[str, int]:
    rows = await made.bench.rows("SELECT model, count(*) AS count FROM vector_rows GROUP BY model")
    return {str(row["model"]): int(str(row["count"])) for row in rows}


async def test_server_changes_over_when_the_new_index_is_whole_and_drops_the_old() -> None:
    made, folder = make_indexed(), Folder()
    async with started(made, folder, {}) as app:
        made.app = app
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        await made.bench.runtime.drain()
    assert await books(made) == {"hashing@64": 1}
    async with started(made, folder, NEW) as app:
        assert app.embedder is not None and app.vectors is not None
        assert app.embedder.model.name == "hashing"
        assert (await app.vectors.describe()).count == 1
    # The same app answers with the new model from now on.
    assert app.embedder.model == EmbeddingModel("own/embedder", 48)
    [values] = await app.embedder.embed(["我的猫叫拿铁"])
    [match] = await app.vectors.query(VectorScope(NAMESPACE), values, top=5)
    assert match.score > 0.999
    assert await app.vectors.query(VectorScope(NAMESPACE), [0.1] * 64, top=5) == []
    assert await books(made) == {"own/embedder@48": 1}
    assert [model.name for model in folder.kept] == ["own/embedder"]
    async with started(made, folder, NEW) as app:
        assert app.embedder_next is None
        assert app.embedder is not None and app.embedder.model.name == "own/embedder"


async def test_drain_after_the_change_writes_the_new_index_alone() -> None:
    made, folder = make_indexed(), Folder()
    async with started(made, folder, {}) as app:
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        await made.bench.runtime.drain()
    async with started(made, folder, NEW) as app:
        pass
    app.indexing.is_closed = False
    await create_item(app, made.bench.caller(), {"title": "海边的房子"})
    assert (await drain_outbox(app))["embedded"] == 1
    assert await books(made) == {"own/embedder@48": 2}
    assert await made.outbox() == []


async def test_change_that_is_taken_back_keeps_the_old_index() -> None:
    made, folder = make_indexed(), Folder()
    async with started(made, folder, {}) as app:
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        await made.bench.runtime.drain()
    bare = replace(made.bench.app, settings=load_settings(NEW), outbound=ScriptedOutbound(answer))
    async with indexed(bare, folder) as app:
        assert app.embedder_next is not None
    async with started(made, folder, {}) as app:
        assert app.embedder_next is None
        assert app.embedder is not None and app.embedder.model.name == "hashing"
    assert await books(made) == {"hashing@64": 1}
    assert [model.name for model in folder.kept] == ["hashing"]


async def test_model_that_cannot_be_had_any_more_gives_way_at_once() -> None:
    made, folder = make_indexed(), Folder()
    async with started(made, folder, NEW) as app:
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        await made.bench.runtime.drain()
    async with started(made, folder, {}, outbound=False) as app:
        assert app.embedder_next is None
        assert app.embedder is not None and app.embedder.model.name == "hashing"
    assert await books(made) == {"hashing@64": 1}


async def test_command_that_ends_soon_neither_notes_nor_fills() -> None:
    made, folder = make_indexed(), Folder(is_eager=False)
    async with indexed(made.bench.app, folder) as app:
        assert app.embedder is not None
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        assert made.bench.runtime.pending == 0
    assert await made.bench.rows("SELECT * FROM vector_models") == []


async def test_command_that_embedded_anyway_does_what_waits() -> None:
    made, folder = make_indexed(), Folder(is_eager=False)
    async with indexed(made.bench.app, folder) as app:
        await create_item(app, made.bench.caller(), {"title": "我的猫叫拿铁"})
        folder.is_warm = True
    assert await made.outbox() == []
    assert await books(made) == {"hashing@64": 1}
