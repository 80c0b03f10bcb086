"""The panel's files through the binding of static assets, and through the Worker's own routes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.edge.databases import bindings
from tests.edge.platform import Panel, Stored
from tests.edge.standins import Request, Response
from tests.edge.test_wire import ask

from remembrancer.core.errors import StoreUnavailable
from remembrancer.edge.assets import WorkersAssets
from remembrancer.edge.wire import Isolate
from remembrancer.ports.assets import Asset

PAGE = Stored("<title>记忆</title>".encode(), given={"Content-Type": "text/html; charset=utf-8"})


async def test_file_comes_with_its_type() -> None:
    panel = Panel({"index.html": PAGE, "assets/x": Stored(b"\0")})
    assets = WorkersAssets(panel)
    assert await assets.read("index.html") == Asset("text/html; charset=utf-8", PAGE.data)
    assert await assets.read("assets/x") == Asset("application/octet-stream", b"\0")
    assert await assets.read("nothing.js") is None


async def test_path_is_one_of_the_address_and_cannot_lead_out_of_it() -> None:
    panel = Panel()
    assets = WorkersAssets(panel)
    for path in ("", "a//b", "../index.html", "assets/./x", "..", "/index.html"):
        assert await assets.read(path) is None
    assert panel.asked == []
    for path in ("?token=1", "a b#c", "面板.js", "%2e%2e/index.html"):
        assert await assets.read(path) is None
    assert panel.asked == [
        "https://assets.invalid/%3Ftoken%3D1",
        "https://assets.invalid/a%20b%23c",
        "https://assets.invalid/%E9%9D%A2%E6%9D%BF.js",
        "https://assets.invalid/%252e%252e/index.html",
    ]


@pytest.mark.parametrize("panel", [Panel(is_broken=True), Panel({"x": Stored(b"", 503)})])
async def test_failing_binding_is_one_of_our_errors_without_its_words(panel: Panel) -> None:
    with pytest.raises(StoreUnavailable) as raised:
        await WorkersAssets(panel).read("x")
    assert "secret" not in str(raised.value)


async def served(env: SimpleNamespace, path: str) -> Response:
    return await ask(Isolate(), env, Request(url=f"https://memory.example{path}"))


async def test_panel_is_served_before_login_and_the_files_at_the_root_are_closed() -> None:
    env = bindings(ASSETS=Panel({"index.html": PAGE, "assets/a-1.js": Stored(b"1")}))
    page = await served(env, "/admin")
    assert (page.status, page.data) == (200, PAGE.data)
    assert "default-src 'none'" in str(page.header("content-security-policy"))
    script = await served(env, "/admin/assets/a-1.js")
    assert (script.status, script.data) == (200, b"1")
    for path in ("/index.html", "/assets/a-1.js", "/admin/none.js"):
        assert (await served(env, path)).status in {401, 404}


async def test_panel_that_was_not_uploaded_is_told_on_its_page() -> None:
    assert (await served(bindings(), "/admin")).status == 503
    assert (await served(bindings(ASSETS=Panel()), "/admin")).status == 503
