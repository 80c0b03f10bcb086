"""The indexes of a data folder: a file for each model, and a program whose writes are embedded."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.builders import id_of

from remembrancer.app.items.write import create_item
from remembrancer.app.vectors import composing
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.local import indexes
from remembrancer.local.backup import back_up, restore
from remembrancer.local.embedder import ENCODER
from remembrancer.local.folder import DataFolder
from remembrancer.local.indexes import LocalIndexes
from remembrancer.local.wire import open_app
from remembrancer.ports.models import EmbeddingModel
from remembrancer.ports.vectors import VectorRow, VectorScope

SMALL = EmbeddingModel("workers-ai/@cf/baai/bge-small-en-v1.5", 3)
OTHER = EmbeddingModel("workers-ai/@cf/baai/bge-small-en-v1.5", 4)


async def test_each_model_has_a_file_of_its_own_until_only_one_is_kept(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    opened = LocalIndexes(folder, threads=0)
    row = VectorRow("a", VectorScope("default"), (1.0, 0.0, 0.0))
    await opened.open(SMALL).upsert([row])
    assert (await opened.open(OTHER).describe()).count == 0
    names = {path.name for path in folder.vector_files() if path.suffix == ".db"}
    assert len(names) == 2 and all("bge-small" in name for name in names)
    opened.keep_only(SMALL)
    assert {path.suffix for path in folder.vector_files()} >= {".db"}
    opened.close()
    [kept] = [path for path in folder.vector_files() if path.suffix == ".db"]
    again = LocalIndexes(folder, threads=0)
    assert (await again.open(SMALL).describe()).count == 1
    again.keep_only(OTHER)
    assert not kept.exists()
    again.close()


async def test_vector_files_are_their_owners_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.make()
    opened = LocalIndexes(folder, threads=0)
    await opened.open(SMALL).describe()
    opened.close()
    assert folder.open_to_others() == []
    [path] = [path for path in folder.vector_files() if path.suffix == ".db"]
    os.chmod(path, 0o644)  # noqa: PTH101
    assert folder.open_to_others() == [str(path)]


async def test_server_embeds_what_is_written_and_a_command_leaves_it(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    async with open_app(data, {}) as local:
        first = id_of(await create_item(local.app, local.owner(), {"title": "我的猫叫拿铁"}))
        assert local.app.vectors is not None
        assert (await local.app.vectors.describe()).count == 0
    async with open_app(data, {}, is_server=True) as local:
        second = id_of(await create_item(local.app, local.owner(), {"title": "海边的房子"}))
        await local.runtime.drain()
        assert local.app.embedder is not None and local.app.vectors is not None
        assert local.app.embedder.model == ENCODER
        [asked] = await local.app.embedder.embed(["咖啡猫叫什么名字？"])
        found = await local.app.vectors.query(VectorScope("default", "task"), asked, top=5)
        assert [one.id for one in found] == [vector_id("default", id_) for id_ in (first, second)]


async def test_server_makes_lost_vectors_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = DataFolder(tmp_path / "data")
    async with open_app(str(data.path), {}, is_server=True) as local:
        await create_item(local.app, local.owner(), {"title": "我的猫叫拿铁"})
        await local.runtime.drain()
    for path in data.vector_files():
        path.unlink()
    monkeypatch.setattr(composing, "START_S", 0.0)
    async with open_app(str(data.path), {}, is_server=True) as local:
        assert local.app.vectors is not None
        [work] = [task for task in asyncio.all_tasks() if task.get_name() == composing.TASK]
        await work
        assert (await local.app.vectors.describe()).count == 1


async def test_restoring_deletes_the_vectors_of_the_store_it_replaces(tmp_path: Path) -> None:
    data, copy = DataFolder(tmp_path / "data"), tmp_path / "copy.db"
    async with open_app(str(data.path), {}, is_server=True) as local:
        await create_item(local.app, local.owner(), {"title": "我的猫叫拿铁"})
        await local.runtime.drain()
    assert data.vector_files()
    back_up(data, copy)
    restore(data, copy, replace=True)
    assert data.vector_files() == []


@pytest.mark.parametrize("off", ["off", "missing"])
async def test_without_an_embedder_everything_else_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    environ = {"EMBEDDING_MODEL": "off"} if off == "off" else {}
    if off == "missing":
        monkeypatch.setattr(indexes, "ENCODER_PACKAGE", "no_such_package_here")
    async with open_app(str(tmp_path), environ, is_server=True) as local:
        assert local.app.embedder is None and local.app.vectors is None
        await create_item(local.app, local.owner(), {"title": "我的猫叫拿铁"})
        await local.runtime.drain()
