"""The composition: settings from their layers, one store for every door, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.local import wire


def _call(tool: str, arguments: JSON) -> dict[str, JSON]:
    params: JSON = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def test_command_makes_no_key_and_a_server_makes_one(tmp_path: Path) -> None:
    data = str(tmp_path / "数据")
    async with wire.open_app(data, {}) as local:
        assert not local.folder.key_file.exists()
        assert local.app.settings.environment_keys() == {}
    async with wire.open_app(data, {}, is_server=True) as local:
        key = local.owner_key
        assert local.app.settings.source_of("CHATBOX_API_KEY") == "data folder"
        assert local.app.settings.source_of("REMEMBRANCER_DATA") == "command line"
    async with wire.open_app(None, {"REMEMBRANCER_DATA": data}) as local:
        assert local.owner_key == key
        assert local.app.settings.source_of("REMEMBRANCER_DATA") == "environment"


async def test_key_of_the_environment_comes_before_the_made_one(tmp_path: Path) -> None:
    async with wire.open_app(str(tmp_path), {}, is_server=True):
        pass
    environ = {"CHATBOX_API_KEY": "mine"}
    async with wire.open_app(str(tmp_path), environ, is_server=True) as local:
        assert local.owner_key == "mine"


async def test_wrong_setting_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="DREAM_TIME_ZONE"):
        async with wire.open_app(str(tmp_path), {"DREAM_TIME_ZONE": "月球"}):
            pass


async def test_every_door_opens_on_the_same_store(tmp_path: Path) -> None:
    async with wire.open_app(str(tmp_path), {}, is_server=True) as local:
        answer = await local.exchange(_call("quick_add_task", {"title": "一件事"}))
        assert "result" in answer
        transport = httpx.ASGITransport(wire.make_asgi(local))
        headers = {"authorization": f"Bearer {local.owner_key}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as client:
            listed = (await client.post("/mcp", json=_call("list_items", {}))).json()
            assert (await client.get("/health")).status_code == 200
        titles = [item["title"] for item in listed["result"]["structuredContent"]["items"]]
        assert titles == ["一件事"]


async def test_work_after_the_answer_is_done_before_the_store_closes(tmp_path: Path) -> None:
    done: list[str] = []
    async with wire.open_app(str(tmp_path), {}) as local:

        async def later() -> None:
            await local.app.kv.put("k", "值", ttl_s=60)
            done.append(str(await local.app.kv.get("k")))

        local.runtime.run_later(later())
    assert done == ["值"]


async def test_namespaces_are_apart(tmp_path: Path) -> None:
    async with wire.open_app(str(tmp_path), {}) as local:
        await local.exchange(_call("quick_add_task", {"title": "工作"}), "work")
        assert local.owner("work").namespace == "work"
        answer = await local.exchange(_call("list_items", {}))
        assert '"count":0' in str(answer["result"]).replace(" ", "")


async def test_facts_of_a_folder_are_told_without_its_contents(tmp_path: Path) -> None:
    async with wire.open_app(str(tmp_path / "d"), {}, is_server=True) as local:
        facts = await wire.examine(local.store, local.folder)
        assert facts["database_check"] == "ok"
        assert facts["journal_mode"] == "wal"
        assert str(facts["store_version"]).startswith("0")
        assert facts["open_to_others"] == []
        assert local.owner_key not in str(facts)
