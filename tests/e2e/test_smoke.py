"""The first minutes with a server, wherever it runs: it is ready, it keeps, it forgets."""

from __future__ import annotations

import uuid

import httpx
import pytest
from tests.e2e.serving import WAIT_S, Server


def test_health_is_open_and_good(server: Server) -> None:
    response = httpx.get(f"{server.url}/health", timeout=WAIT_S)
    assert response.status_code == 200
    assert response.json()["status"] in ("ok", "degraded")
    welcome = httpx.get(f"{server.url}/", timeout=WAIT_S).json()
    assert welcome["doors"]["mcp"].endswith("/mcp")


@pytest.mark.parametrize("path", ["/v1/keys", "/v1/items", "/mcp"])
def test_doors_without_a_key_are_closed(server: Server, path: str) -> None:
    method = "POST" if path == "/mcp" else "GET"
    response = httpx.request(
        method, f"{server.url}{path}", json={} if path == "/mcp" else None, timeout=WAIT_S
    )
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "unauthenticated"


def test_mcp_takes_its_key_in_the_address(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    response = httpx.post(
        f"{server.url}/mcp", params={"token": server.token}, json=message, timeout=WAIT_S
    )
    assert response.status_code == 200
    names = [tool["name"] for tool in response.json()["result"]["tools"]]
    assert "get_startup_context" in names
    assert len(names) <= 32


@pytest.mark.parametrize(
    ("title", "due"),
    [
        pytest.param("Pay the rent", "2030-05-06 15:00", id="english"),
        pytest.param("交房租", "2030年5月6日下午三点", id="chinese"),
    ],
)
def test_task_lives_from_capture_to_forgetting(server: Server, title: str, due: str) -> None:
    tag = uuid.uuid4().hex
    made = server.call("quick_add_task", title=title, due=due, tags=[tag])["item"]
    assert made["due_at"] == "2030-05-06T07:00:00Z"
    listed = server.call("list_items", tags=[tag])
    assert [item["id"] for item in listed["items"]] == [made["id"]]
    done = server.call("update_task_state", id=made["id"], action="complete")["item"]
    assert done["state"] == "completed"
    server.call("undo", id=made["id"])
    assert server.call("get_item", id=made["id"])["item"]["state"] == "active"
    server.call("forget", id=made["id"])
    assert server.call("get_item", id=made["id"])["error"]["code"] == "not_found"


def test_write_is_seen_by_the_next_read_of_the_startup_bundle(server: Server) -> None:
    text = f"对花生过敏 {uuid.uuid4().hex}"
    before = server.call("get_startup_context")
    item = server.call("capture_context", input=text, startup_priority=10)["item"]
    after = server.call("get_startup_context")
    assert item["id"] in [each["id"] for each in after["always_load"]]
    assert after["context_version"] > before["context_version"]
    server.call("forget", id=item["id"])
