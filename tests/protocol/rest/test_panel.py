"""The panel's files behind /admin: open, cached, under a strict policy, and none but them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.protocol.rest.doors import Served, error_of, serve

from remembrancer.http.admin import POLICY
from remembrancer.local.assets import LocalAssets

PAGE = "<!doctype html><title>记忆</title>".encode()
SCRIPT = b"console.log('memory')"


@pytest.fixture
def panel(tmp_path: Path) -> Served:
    """A server with a small build, and a secret beside it."""
    build = tmp_path / "dist"
    (build / "assets").mkdir(parents=True)
    (build / "index.html").write_bytes(PAGE)
    (build / "assets" / "index-a1b2c3.js").write_bytes(SCRIPT)
    (build / "notes.txt").write_text("笔记", encoding="utf-8")
    (build / ".secret").write_text("hidden")
    (tmp_path / "owner.key").write_text("sk-secret")
    return serve(assets=LocalAssets(build))


@pytest.mark.parametrize("path", ["/admin", "/admin/", "/memory-admin", "/memory-admin/"])
async def test_page_is_served_without_a_key_and_never_from_a_stale_cache(
    panel: Served, path: str
) -> None:
    async with panel.client() as client:
        response = await client.get(path)
    assert response.status_code == 200
    assert response.content == PAGE
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/admin", "/memory-admin/", "/admin/assets/index-a1b2c3.js"])
@pytest.mark.parametrize(
    "query",
    [
        "x=1",
        "utm_source=newsletter&utm_medium=邮件&fbclid=IwAR0",
        "a=1&a=2",
        "token=abc",
        "namespace=other",
        "flag",
        "=",
        "lang=zh&lang=en",
        "q=%D6%D0%B9%FA",
        "&".join(f"p{number}=1" for number in range(300)),
    ],
)
async def test_link_with_parameters_opens_the_panel(panel: Served, path: str, query: str) -> None:
    async with panel.client() as client:
        plain, tracked = await client.get(path), await client.get(f"{path}?{query}")
    assert (tracked.status_code, tracked.content) == (200, plain.content)


async def test_parameters_of_other_paths_are_still_refused(panel: Served) -> None:
    async with panel.client() as client:
        response = await client.get("/?utm_source=x")
    error_of(response, status=400, code="invalid_input")


@pytest.mark.parametrize("path", ["/admin", "/admin/assets/index-a1b2c3.js"])
async def test_policy_allows_the_panel_its_own_files_and_nothing_else(
    panel: Served, path: str
) -> None:
    async with panel.client() as client:
        headers = (await client.get(path)).headers
    policy = dict(each.strip().split(" ", 1) for each in POLICY.split(";"))
    assert headers["content-security-policy"] == POLICY
    assert policy.pop("default-src") == "'none'"
    assert {policy.pop(f"{kind}-src") for kind in ("script", "style", "img", "connect")} == {
        "'self'"
    }
    assert policy == {
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


async def test_hashed_file_is_kept_for_ever_and_any_other_is_asked_for_again(
    panel: Served,
) -> None:
    async with panel.client() as client:
        hashed = await client.get("/memory-admin/assets/index-a1b2c3.js")
        plain = await client.get("/admin/notes.txt")
    assert hashed.content == SCRIPT
    assert hashed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in hashed.headers["cache-control"]
    assert plain.text == "笔记"
    assert plain.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
async def test_unchanged_page_is_answered_with_304(panel: Served, form: str) -> None:
    async with panel.client() as client:
        etag = (await client.get("/admin")).headers["etag"]
        again = await client.get("/admin", headers={"if-none-match": form.format(etag)})
        changed = await client.get("/admin", headers={"if-none-match": '"other"'})
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == etag
    assert again.headers["content-security-policy"] == POLICY
    assert changed.status_code == 200


async def test_head_has_the_headers_and_no_body(panel: Served) -> None:
    async with panel.client() as client:
        response = await client.head("/admin")
    assert response.status_code == 200
    assert response.content == b""
    assert response.headers["content-length"] == str(len(PAGE))


@pytest.mark.parametrize(
    "path",
    [
        "/admin/missing.js",
        "/admin/index.html",
        "/admin/assets",
        "/admin/assets/",
        "/admin/.secret",
        "/admin/..%2Fowner.key",
        "/admin/%2e%2e/owner.key",
        "/admin/assets/..%2f..%2fowner.key",
        "/admin/..%5Cowner.key",
        "/admin/%2Fetc%2Fpasswd",
        "/admin//etc/passwd",
        "/admin/assets/%00index-a1b2c3.js",
        "/admin/C:%5CWindows",
        "/admin/记忆",
    ],
)
async def test_path_that_names_no_built_file_is_not_found(panel: Served, path: str) -> None:
    async with panel.client() as client:
        response = await client.get(path)
    assert response.status_code in {400, 404}
    error_of(response, status=response.status_code, code=response.json()["error"]["code"])
    assert "sk-secret" not in response.text
    assert "hidden" not in response.text


@pytest.mark.parametrize("path", ["../owner.key", "/etc/passwd", "a//b", "", ".", "assets\\x"])
async def test_files_of_this_machine_lead_nowhere_else(tmp_path: Path, path: str) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "owner.key").write_text("sk-secret")
    assert await LocalAssets(tmp_path / "dist").read(path) is None


async def test_writing_to_the_panel_is_refused(panel: Served) -> None:
    async with panel.client() as client:
        response = await client.post("/admin")
    error_of(response, status=405, code="method_not_allowed")


@pytest.mark.parametrize("has_port", [True, False])
async def test_page_says_how_to_build_it_where_there_is_no_build(
    tmp_path: Path, has_port: bool
) -> None:
    assets = LocalAssets(tmp_path / "dist") if has_port else None
    async with serve(assets=assets).client() as client:
        response = await client.get("/admin")
        script = await client.get("/admin/assets/index.js")
    assert response.status_code == 503
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["content-security-policy"] == POLICY
    assert response.text.count("scripts/install") == 2
    assert "尚未构建" in response.text
    error_of(script, status=404, code="not_found")


async def test_welcome_names_the_panel(panel: Served) -> None:
    async with panel.client() as client:
        doors = (await client.get("/")).json()["doors"]
    assert doors["panel"].endswith("/admin")
