"""Every view of the menu, in both languages, on a phone and in the dark: nothing to complain of."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.panel import DESKTOP, PHONE, Language, Panel, window
from tests.conftest import ROOT
from tests.e2e.serving import Server

VIEWS = re.findall(
    r'name: "(\w+)"', (ROOT / "admin/src/views/index.ts").read_text(encoding="utf-8")
)
"""Every view that the menu leads to."""
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
"""A word without a place to break, as links and keys are."""


@pytest.fixture(scope="module")
def filled(server: Server) -> Server:
    """The server with something in every list, of awkward length."""
    with server.client() as client:
        client.post("/v1/projects", json={"name": "搬家", "description": LONG})
        client.post("/v1/topics", json={"name": "口味", "retrieval_priority": 9})
        made = client.post(
            "/v1/memories",
            json={
                "content": f"视图测试：{LONG}",
                "fact_key": "key." + LONG[:180],
                "tags": ["标签一", "a-rather-long-tag-of-sixty-characters-without-any-space"],
                "project": "搬家",
                "pinned": True,
            },
        ).json()["data"]
        client.patch(f"/v1/memories/{made['id']}", json={"content": f"改过：{LONG}"})
        client.post("/v1/capture", json={"text": "打包 !high #搬家 due:昨天"})
        client.post("/v1/precious", json={"content": f"珍藏 {LONG}"})
        client.post("/v1/glossary", json={"term": "老地方", "definition": LONG})
        messages = [{"role": "user", "content": f"我喜欢徒步。{LONG}"}]
        client.post(
            "/v1/ingest/messages", json={"messages": messages, "conversation_id": LONG[:90]}
        )
        client.patch("/v1/memory_boot", json={"content": f"摘要 {LONG}"})
        client.post("/v1/search/memories", json={"query": "徒步"})
        client.post("/v1/jobs/extract/run", json={"force": True})
    return server


def test_menu_has_every_view_that_the_panel_promises() -> None:
    promised = {"overview", "memories", "tasks", "projects", "review", "jobs", "recalls"}
    assert promised <= set(VIEWS)


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize(("size", "is_dark"), [(PHONE, True), (DESKTOP, False)])
def test_every_view_opens_and_holds_its_width(
    browser: Browser, filled: Server, language: Language, size: tuple[int, int], is_dark: bool
) -> None:
    with window(browser, filled, language=language, size=size, is_dark=is_dark) as (_, panel):
        panel.log_in()
        wide = []
        for view in VIEWS:
            panel.go(f"#/{view}")
            panel.page.locator("main h1").first.wait_for()
            panel.settled()
            expect(panel.page.locator("main [role=alert]"), view).to_have_count(0)
            current = panel.page.locator(".menu [aria-current=page]")
            assert current.count() == 1, view
            assert (current.text_content() or "") in panel.page.title(), view
            if panel.overflow > 0:
                wide.append((view, panel.overflow))
        assert wide == []


def _first_memory(panel: Panel) -> None:
    panel.go("#/memories?tag=标签一")
    panel.page.locator(".rows a.plain").first.click()
    panel.page.locator(".said").wait_for()


def _memory_dialog(panel: Panel) -> None:
    _first_memory(panel)
    panel.page.locator("button.primary").first.click()
    panel.dialog.locator("summary").click()


def _task(panel: Panel) -> None:
    panel.go("#/tasks")
    panel.page.locator(".rows .row-main a").first.click()
    panel.page.locator(".note.sheet h1").wait_for()


@pytest.mark.parametrize(
    "open_page", [_first_memory, _memory_dialog, _task], ids=lambda f: f.__name__
)
def test_pages_behind_the_views_hold_their_width_on_a_phone(
    browser: Browser, filled: Server, open_page: object
) -> None:
    assert callable(open_page)
    with window(browser, filled, size=PHONE) as (_, panel):
        panel.log_in()
        open_page(panel)
        panel.settled()
        assert panel.overflow <= 0


def test_language_is_switched_at_once_and_kept(browser: Browser, filled: Server) -> None:
    with window(browser, filled, language="en-US") as (context, panel):
        panel.log_in()
        expect(panel.page.get_by_role("heading", name="Overview")).to_be_visible()
        panel.button("中文").click()
        expect(panel.page.get_by_role("heading", name="概览")).to_be_visible()
        assert panel.page.evaluate("document.documentElement.lang") == "zh-CN"
        other = context.new_page()
        other.goto(f"{filled.url}/admin")
        expect(other.get_by_role("button", name="登录")).to_be_visible()


def test_first_line_shows_health_and_what_is_behind(browser: Browser, filled: Server) -> None:
    with window(browser, filled) as (context, panel):
        panel.log_in()
        expect(panel.page.locator(".health")).to_have_text("一切正常")
        behind = "the vectors are behind: a change waits for 47 minutes; words find it"
        ill = json.dumps({"status": "degraded", "reasons": [behind, "a new reason"]})
        context.route("**/health", lambda route: route.fulfill(body=ill))
        panel.page.reload()
        line = panel.page.locator(".health")
        expect(line).to_contain_text("有工作积压")
        expect(line).to_contain_text("一处更改已等待 47 分钟")
        line.get_by_role("button").click()
        expect(line).to_contain_text("a new reason")


def test_server_that_is_gone_is_told_and_found_again(browser: Browser, filled: Server) -> None:
    with window(browser, filled) as (context, panel):
        panel.log_in()
        context.set_offline(True)
        panel.go("#/tasks?state=completed")
        expect(panel.page.get_by_text("连不上服务器").first).to_be_visible()
        panel.complaints = [each for each in panel.complaints if "ERR_INTERNET" not in each]
        context.set_offline(False)
        panel.page.get_by_role("button", name="重试").first.click()
        expect(panel.page.get_by_text("没有符合条件的")).to_be_visible()


def test_page_at_an_address_that_is_not_allowed_is_told_so(
    browser: Browser, filled: Server
) -> None:
    with window(browser, filled) as (context, panel):
        panel.expected = {403}
        panel.log_in()
        # As behind a proxy on the same machine, which the server cannot tell from a foreign page.
        with filled.client(origin="https://memory.example.org") as client:
            refusal = client.post("/v1/capture", json={"text": "换灯泡"})
        context.route(
            "**/v1/capture",
            lambda route: route.fulfill(status=refusal.status_code, body=refusal.text),
        )
        panel.go("#/tasks")
        panel.field("记下一件事").fill("换灯泡")
        panel.button("添加").click()
        expect(panel.page.locator(".toast.error")).to_contain_text("ALLOWED_ORIGINS")


def test_link_to_an_item_finds_its_own_page(panel: Panel) -> None:
    with panel.server.client() as client:
        body = {"content": "链接到的其实是一条记忆。"}
        memory = client.post("/v1/memories", json=body).json()["data"]
    panel.go(f"#/tasks/{memory['id']}")
    expect(panel.page.locator(".said")).to_have_text("链接到的其实是一条记忆。")
    assert panel.page.url.endswith(f"#/memories/{memory['id']}")


def test_address_that_names_no_view_says_so(panel: Panel) -> None:
    panel.go("#/nothing")
    expect(panel.page.get_by_text("没有这个页面")).to_be_visible()
    panel.expected = {404}
    panel.go("#/memories/itm_nothing")
    expect(panel.page.get_by_role("alert")).to_contain_text("它已经不在了")
