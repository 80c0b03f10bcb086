"""What is written and not saved outlives a lost key, a lost network, a link and a closing tab."""

from __future__ import annotations

from playwright.sync_api import Browser, Dialog, Page, expect
from tests.browser.panel import Panel, window
from tests.e2e.serving import Server

TEXT = "阳台的茉莉每三天浇一次水，冬天一周一次"


def _key(server: Server, name: str, **more: str) -> tuple[str, str]:
    """A key's id and token."""
    scopes = ["memory:read", "memory:write"]
    with server.client() as client:
        made = client.post("/v1/keys", json={"name": name, "scopes": scopes}, params=more).json()
    return made["key"]["id"], made["token"]


def _revoke(server: Server, key_id: str, **more: str) -> None:
    with server.client() as client:
        assert client.delete(f"/v1/keys/{key_id}", params=more).status_code == 200


def _write_new(panel: Panel, text: str = TEXT) -> None:
    panel.go("#/memories")
    panel.button("写一条记忆").click()
    panel.field("内容").fill(text)


def _log_in_again(page: Page, token: str) -> None:
    page.locator(".above input[type=password]").fill(token)
    page.locator(".above button[type=submit]").click()


def test_text_outlives_a_key_that_ended_while_it_was_saved(
    browser: Browser, server: Server
) -> None:
    key_id, token = _key(server, "编辑")
    with window(browser, server) as (_, panel):
        panel.expected = {401}
        panel.log_in(token)
        _write_new(panel)
        _revoke(server, key_id)
        panel.press("保存")
        way_in = panel.page.locator(".above")
        expect(way_in).to_contain_text("重新登录即可继续")
        expect(panel.page.get_by_text(TEXT)).not_to_be_visible()
        assert token not in panel.page.evaluate("JSON.stringify([{...sessionStorage}])")
        assert TEXT not in panel.page.evaluate("JSON.stringify([{...sessionStorage}])")
        _log_in_again(panel.page, server.token)
        expect(way_in).to_have_count(0)
        expect(panel.field("内容")).to_have_value(TEXT)
        panel.save()
        expect(panel.page.get_by_text(TEXT).first).to_be_visible()


def test_what_was_kept_is_gone_after_giving_it_up(browser: Browser, server: Server) -> None:
    key_id, token = _key(server, "放弃")
    with window(browser, server) as (_, panel):
        panel.expected = {401}
        panel.log_in(token)
        _write_new(panel)
        _revoke(server, key_id)
        panel.press("保存")
        panel.page.get_by_role("button", name="放弃这些内容").click()
        expect(panel.page.locator("textarea")).to_have_count(0)
        expect(panel.page.locator("input[type=password]")).to_be_visible()


def test_what_was_written_in_one_namespace_is_not_shown_in_another(
    browser: Browser, server: Server
) -> None:
    key_id, token = _key(server, "甲", namespace="alpha")
    _, other = _key(server, "乙", namespace="beta")
    with window(browser, server) as (_, panel):
        panel.expected = {401}
        panel.log_in(token)
        _write_new(panel)
        _revoke(server, key_id, namespace="alpha")
        panel.press("保存")
        _log_in_again(panel.page, other)
        expect(panel.page.locator(".above")).to_have_count(0)
        expect(panel.page.locator(".frame")).to_be_visible()
        expect(panel.page.locator("textarea")).to_have_count(0)


def test_text_outlives_a_network_that_fails(panel: Panel) -> None:
    _write_new(panel)
    panel.page.context.set_offline(True)
    panel.press("保存")
    expect(panel.dialog.get_by_role("alert")).to_be_visible()
    expect(panel.field("内容")).to_have_value(TEXT)
    panel.page.context.set_offline(False)
    panel.complaints[:] = [each for each in panel.complaints if "ERR_INTERNET" not in each]
    panel.save()


def test_quick_capture_and_note_outlive_a_network_that_fails(panel: Panel) -> None:
    panel.go("#/tasks")
    panel.field("记下一件事").fill("写季度总结 due:明天")
    panel.page.context.set_offline(True)
    panel.button("添加").click()
    expect(panel.page.locator(".toast.error").last).to_be_visible()
    expect(panel.field("记下一件事")).to_have_value("写季度总结 due:明天")
    panel.page.context.set_offline(False)
    panel.complaints[:] = [each for each in panel.complaints if "ERR_INTERNET" not in each]
    panel.button("添加").click()
    expect(panel.field("记下一件事")).to_have_value("")
    panel.page.get_by_role("link", name="写季度总结").first.click()
    expect(panel.page.get_by_role("heading", name="写季度总结")).to_be_visible()
    panel.field("添加备注").fill("先问小王")
    panel.page.context.set_offline(True)
    panel.button("添加").click()
    expect(panel.page.locator(".toast.error").last).to_be_visible()
    expect(panel.field("添加备注")).to_have_value("先问小王")
    panel.page.context.set_offline(False)
    panel.complaints[:] = [each for each in panel.complaints if "ERR_INTERNET" not in each]
    panel.button("添加").click()
    expect(panel.field("添加备注")).to_have_value("")


def test_link_and_way_back_ask_before_they_leave_what_is_written(panel: Panel) -> None:
    panel.go("#/memories")
    panel.go("#/tasks")
    panel.field("记下一件事").fill("写了一半的任务")
    menu = panel.page.get_by_role("navigation", name="菜单")
    menu.get_by_role("link", name="记忆", exact=True).click()
    panel.press("取消")
    expect(panel.field("记下一件事")).to_have_value("写了一半的任务")
    assert panel.page.url.endswith("#/tasks")
    panel.page.evaluate("history.back()")
    panel.press("取消")
    expect(panel.field("记下一件事")).to_have_value("写了一半的任务")
    panel.button("退出登录").click()
    panel.press("取消")
    menu.get_by_role("link", name="记忆", exact=True).click()
    panel.press("放弃")
    expect(panel.field("记下一件事")).to_have_count(0)
    assert panel.page.url.endswith("#/memories")
    menu.get_by_role("link", name="待办", exact=True).click()
    expect(panel.field("记下一件事")).to_have_value("")


def test_closing_tab_asks_only_while_something_is_written(panel: Panel) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    panel.page.on("dialog", stay)
    panel.go("#/tasks")
    panel.field("记下一件事").press_sequentially("半句")
    with panel.page.expect_event("dialog"):
        panel.page.close(run_before_unload=True)
    expect(panel.field("记下一件事")).to_have_value("半句")
    panel.field("记下一件事").fill("")
    panel.page.reload()
    panel.page.locator(".frame").wait_for()
    assert asked == ["beforeunload"]


def test_conflict_that_is_closed_asks_before_it_loses_the_text(panel: Panel) -> None:
    with panel.server.client() as client:
        made = client.post("/v1/memories", json={"content": "书房的灯是黄光"}).json()["data"]
    panel.expected = {409}
    panel.go(f"#/memories/{made['id']}")
    panel.button("编辑").click()
    panel.field("内容").fill("书房的灯是白光")
    with panel.server.client() as client:
        path = f"/v1/memories/{made['id']}"
        assert client.patch(path, json={"content": "书房的灯是蓝光"}).status_code == 200
    panel.press("保存")
    expect(panel.dialog).to_contain_text("蓝")
    expect(panel.dialog).to_contain_text("白")
    panel.page.keyboard.press("Escape")
    expect(panel.page.get_by_text("放弃写下的内容？")).to_be_visible()
    panel.page.locator("dialog[open]").last.get_by_role("button", name="取消").click()
    expect(panel.dialog).to_contain_text("白")
