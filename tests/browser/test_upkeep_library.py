"""The library, keys, settings, vectors and data, by hand."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser, Route, expect
from tests.browser.panel import Panel, wait_for, window
from tests.e2e.serving import Launcher, Server

Json = Any


def ask(panel: Panel, method: str, path: str, body: Json = None) -> Json:
    """What the server says to the key's owner."""
    with panel.server.client() as client:
        response = client.request(method, path, json=body)
        assert response.is_success, response.text
        return response.json()


def test_quote_is_kept_as_it_is_and_removed_only_with_a_reason(panel: Panel) -> None:
    words = "“慢慢来，\n  比较快。”"
    panel.go("#/library/precious")
    panel.button("珍藏一句话").click()
    panel.field("原话").fill(words)
    panel.press("保存")
    expect(panel.page.locator(".toast")).to_contain_text("已珍藏")
    assert words in [one["content"] for one in ask(panel, "GET", "/v1/precious")["data"]]
    row = panel.page.locator(".row", has_text="慢慢来")
    row.get_by_role("button", name="删除").click()
    panel.press("删除")
    expect(panel.dialog).to_be_visible()
    panel.field("理由").fill("抄错了")
    panel.press("删除")
    expect(panel.page.locator(".toast").last).to_contain_text("已移除")
    expect(row).to_have_count(0)
    panel.page.locator(".toast").last.get_by_role("button", name="撤销").click()
    expect(row).to_be_visible()
    assert words in [one["content"] for one in ask(panel, "GET", "/v1/precious")["data"]]


def test_term_is_made_changed_and_removed(panel: Panel) -> None:
    panel.go("#/library/glossary")
    panel.button("新词").click()
    panel.field("词").fill("老窝")
    panel.field("含义").fill("江边的旧公寓")
    panel.field("别名").fill("旧窝，老公寓")
    panel.press("保存")
    row = panel.page.locator(".row", has_text="老窝")
    expect(row).to_contain_text("旧窝 · 老公寓")
    row.get_by_role("button", name="编辑").click()
    panel.field("含义").fill("江边那间租了三年的公寓")
    panel.press("保存")
    expect(row).to_contain_text("租了三年")
    row.get_by_role("button", name="编辑").click()
    [term] = [one for one in ask(panel, "GET", "/v1/glossary")["data"] if one["term"] == "老窝"]
    ask(panel, "PATCH", f"/v1/glossary/{term['id']}", {"aliases": ["江边老宅"]})
    panel.field("含义").fill("搬走了的那间公寓")
    panel.press("保存")
    expect(row).to_contain_text("江边老宅")
    expect(row).to_contain_text("搬走了")
    row.get_by_role("button", name="删除").click()
    panel.press("删除")
    expect(row).to_have_count(0)


def test_digest_is_written_as_text_that_can_do_no_harm(panel: Panel) -> None:
    panel.go("#/library/digest")
    before = ask(panel, "GET", "/v1/memory_boot")["digest"]
    panel.page.locator("main").get_by_role("button", name=re.compile("写摘要|编辑")).click()
    text = "- **四月**搬家 <img src=x onerror=document.title='坏'>\n- [点我](javascript:alert(1))"
    panel.field("摘要").fill(text)
    panel.button("保存").click()
    expect(panel.page.locator(".markdown strong")).to_have_text("四月")
    assert panel.page.locator("main img, a[href^='javascript']").count() == 0
    assert "坏" not in panel.page.title()
    panel.page.locator(".toast").get_by_role("button", name="撤销").click()
    expect(panel.page.locator(".markdown strong")).to_have_count(0)
    after = ask(panel, "GET", "/v1/memory_boot")["digest"]
    assert (after or {}).get("content") == (before or {}).get("content")


def test_digest_written_in_two_windows_shows_both(panel: Panel) -> None:
    panel.expected = {409}
    panel.go("#/library/digest")
    panel.page.locator("main").get_by_role("button", name=re.compile("写摘要|编辑")).click()
    panel.field("摘要").fill("周五搬家")
    ask(panel, "PATCH", "/v1/memory_boot", {"content": "周四搬家"})
    panel.button("保存").click()
    expect(panel.page.locator(".diff del")).to_have_text("四")
    expect(panel.field("摘要")).to_have_value("周五搬家")
    assert ask(panel, "GET", "/v1/memory_boot")["digest"]["content"] == "周四搬家"
    panel.button("用我的覆盖").click()
    expect(panel.page.locator(".markdown")).to_have_text("周五搬家")


def test_command_is_undone_and_redone_from_the_history(panel: Panel) -> None:
    text = "雨伞借给了楼下的阿姨"
    made = ask(panel, "POST", "/v1/memories", {"content": text})["data"]
    path = f"/v1/memories/{made['id']}"
    panel.go("#/history")
    command = panel.page.locator("[data-cause]", has_text=text).first
    expect(command).to_contain_text("你")
    command.get_by_role("button", name="撤销").click()
    undoing = panel.page.locator("[data-cause]", has_text=f"撤销了一次更改 {text}")
    expect(undoing).to_be_visible()
    with panel.server.client() as client:
        assert client.get(path).json()["data"]["status"] == "deleted"
    undoing.get_by_role("button", name="重做").click()
    expect(panel.page.locator(".toast").last).to_contain_text("已重做")
    assert ask(panel, "GET", path)["data"]["status"] == "active"
    panel.go("#/history?cause=req_nothing")
    expect(panel.page.get_by_text("还没有发生任何事")).to_be_visible()


def used(panel: Panel, name: str) -> bool:
    """Whether the use of a key is written, which is after the answer that it opened."""
    found = ask(panel, "GET", "/v1/keys")["data"]
    return any(key["name"] == name and key["last_used_at"] for key in found)


def test_key_is_shown_once_works_and_is_revoked(panel: Panel) -> None:
    panel.go("#/keys")
    panel.button("新建密钥").click()
    panel.field("用途").fill("书房的平板")
    panel.field("memory:write").uncheck()
    panel.field("智能体").fill("tablet")
    panel.dialog.locator("button[type=submit]").click()
    token = panel.dialog.locator("code").inner_text()
    assert re.fullmatch(r"rmb_[\w-]{43}", token)
    for _ in range(3):
        panel.page.keyboard.press("Escape")
    expect(panel.dialog.locator("code")).to_have_text(token)
    expect(panel.dialog.get_by_role("button")).to_have_text(["复制", "我已保存"])
    panel.press("我已保存")
    assert token not in panel.page.content()
    tablet = Server(panel.server.url, token)
    with tablet.client() as client:
        assert client.get("/v1/memories").status_code == 200
        assert client.post("/v1/memories", json={"content": "x"}).status_code == 403
    wait_for("the key's use", lambda: used(panel, "书房的平板"))
    panel.page.reload()
    row = panel.page.locator("[data-key]", has_text="书房的平板")
    expect(row).to_contain_text("agent:tablet")
    expect(row).to_contain_text("上次使用")
    assert token not in panel.page.content()
    row.get_by_role("button", name="吊销").click()
    expect(panel.dialog).to_contain_text("无法撤销")
    panel.press("吊销")
    expect(row).to_have_count(0)
    with tablet.client() as client:
        assert client.get("/v1/memories").status_code == 401
    panel.field("显示已吊销的").check()
    expect(row.locator(".badge.bad")).to_contain_text("已吊销")


def test_expiry_of_a_key_is_read_and_shown_in_the_namespace_s_zone(
    browser: Browser, server: Server
) -> None:
    with window(browser, server, device_zone="America/New_York") as (_, panel):
        panel.log_in()
        panel.go("#/keys")
        panel.button("新建密钥").click()
        panel.field("用途").fill("到元旦为止")
        expect(panel.dialog).to_contain_text("时区：Asia/Singapore")
        panel.field("过期时间").fill("2099-01-01T08:30")
        panel.dialog.locator("button[type=submit]").click()
        panel.press("我已保存")
        shown = panel.page.locator("[data-key]", has_text="到元旦为止").locator("time").last
        expect(shown).to_have_attribute("datetime", re.compile("2099-01-01T00:30:00"))
        expect(shown).to_have_attribute("title", re.compile(r"2099年1月1日.* 08:30:00"))


def test_key_without_any_scope_is_refused_in_words(panel: Panel) -> None:
    panel.go("#/keys")
    panel.button("新建密钥").click()
    panel.field("用途").fill("什么也不能做")
    for scope in ("chat:proxy", "memory:read", "memory:write"):
        panel.field(scope).uncheck()
    panel.dialog.locator("button[type=submit]").click()
    expect(panel.dialog.get_by_role("alert")).to_contain_text("至少选择一项")


def test_setting_tells_value_default_and_origin_and_is_set_back(panel: Panel) -> None:
    panel.go("#/settings")
    row = panel.page.locator('[data-setting="default_upcoming_days"]')
    expect(row).to_contain_text("默认")
    row.get_by_role("button", name="编辑").click()
    panel.field("多少天内算“即将到期”").fill("14")
    panel.button("保存").click()
    expect(row).to_contain_text("14")
    expect(row).to_contain_text("默认：7")
    assert ask(panel, "GET", "/v1/settings")["settings"]["default_upcoming_days"] == 14
    row.get_by_role("button", name="编辑").click()
    panel.field("多少天内算“即将到期”").fill("999")
    panel.expected = {400}
    panel.button("保存").click()
    expect(row.get_by_role("alert")).to_be_visible()
    row.get_by_role("button", name="取消").click()
    panel.page.context.set_offline(True)
    row.get_by_role("button", name="恢复默认").click()
    expect(panel.page.locator(".toast.error")).to_contain_text("连不上服务器")
    panel.page.context.set_offline(False)
    panel.complaints = [each for each in panel.complaints if "ERR_INTERNET" not in each]
    row.get_by_role("button", name="恢复默认").click()
    expect(row).to_contain_text("7")
    assert ask(panel, "GET", "/v1/settings")["sources"]["default_upcoming_days"] == "default"


def test_secrets_of_the_server_are_never_shown(browser: Browser, tmp_path: Any) -> None:
    starter = Launcher(tmp_path / "data")
    server = starter.serve(CF_AIG_TOKEN="upstream-secret-1", RATE_LIMIT_PER_MINUTE="50")
    try:
        with window(browser, server) as (_, panel):
            panel.log_in()
            panel.go("#/settings")
            secret = panel.page.locator('[data-variable="CF_AIG_TOKEN"]')
            expect(secret).to_contain_text("已设置，不显示")
            expect(secret).to_contain_text("环境变量")
            rate = panel.page.locator('[data-variable="RATE_LIMIT_PER_MINUTE"]')
            expect(rate).to_contain_text("默认：600")
            assert "upstream-secret" not in panel.page.content()
            assert server.token not in panel.page.content()
            panel.field("查找设置").fill("rate_limit")
            expect(secret).to_have_count(0)
            expect(rate).to_be_visible()
    finally:
        starter.close()


def test_index_is_checked_and_counted_before_it_is_mended(panel: Panel) -> None:
    wait_for("vectors", lambda: ask(panel, "GET", "/health")["details"]["vectors"]["waiting"] == 0)
    panel.go("#/vectors")
    expect(panel.page.locator("dl.facts")).to_contain_text("测试向量", timeout=30_000)
    expect(panel.button("嵌入缺少的")).to_be_disabled()
    panel.button("数一数缺了多少").click()
    expect(panel.page.get_by_role("status").first).to_contain_text("已检查")
    panel.button("全部重新嵌入").click()
    expect(panel.dialog).to_contain_text("会再经过一次模型")
    panel.press("取消")


def test_memory_is_exported_verified_and_imported_elsewhere(
    panel: Panel, browser: Browser, tmp_path: Any
) -> None:
    ask(panel, "POST", "/v1/memories", {"content": "地下室的钥匙挂在门后"})
    panel.go("#/transfer")
    with panel.page.expect_download() as download:
        panel.button("下载").click()
    file = tmp_path / "export.jsonl"
    download.value.save_as(file)
    assert "地下室的钥匙挂在门后" in file.read_text(encoding="utf-8")
    panel.button("立即校验").click()
    expect(panel.page.get_by_text("完好：")).to_be_visible()
    panel.button("要花多少？").click()
    expect(panel.page.get_by_text("写入约")).to_be_visible()
    panel.button("立即重建").click()
    expect(panel.dialog).to_contain_text("写入约")
    panel.press("取消")
    starter = Launcher(tmp_path / "data")
    try:
        with window(browser, starter.serve()) as (_, other):
            other.log_in()
            other.go("#/transfer")
            other.page.locator("input[type=file]").set_input_files(file)
            other.button("检查文件").click()
            expect(other.page.get_by_text("文件完整")).to_be_visible()
            other.button("导入").click()
            expect(other.dialog).to_contain_text("无法整体撤销")
            other.press("导入")
            expect(other.page.locator(".toast")).to_contain_text("已导入")
            titles = [one["title"] for one in ask(other, "GET", "/v1/memories?limit=100")["data"]]
            assert "地下室的钥匙挂在门后" in titles
    finally:
        starter.close()


def test_server_that_does_a_piece_a_request_is_asked_until_all_is_done(
    panel: Panel, browser: Browser, tmp_path: Any
) -> None:
    for number in range(8):
        ask(
            panel,
            "POST",
            "/v1/memories",
            {"content": f"第 {number} 卷：" + f"长卷{number}" * 9_000},
        )
    whole = b""

    def export(route: Route) -> None:
        nonlocal whole
        if "cursor=" not in route.request.url:
            whole = route.fetch().body()
            begin = b"\n".join(whole.split(b"\n")[:3]) + b"\n"
            more = b'{"cursor":"there","kind":"more"}\n'
            route.fulfill(body=begin + more, content_type="application/x-ndjson")
            return
        assert "cursor=there" in route.request.url
        route.fulfill(body=b"\n".join(whole.split(b"\n")[3:]), content_type="application/x-ndjson")

    def verify(route: Route) -> None:
        if route.request.post_data_json == {}:
            found = {"ok": True, "events": 3, "streams": 2, "forgotten": 0, "first_break": None}
            route.fulfill(json={**found, "more": True, "cursor": "there"})
        else:
            assert route.request.post_data_json == {"cursor": "there"}
            route.continue_(post_data="{}")

    panel.page.route("**/v1/export*", export)
    panel.page.route("**/v1/admin/verify", verify)
    panel.go("#/transfer")
    panel.button("立即校验").click()
    expect(panel.page.get_by_text("完好：")).not_to_contain_text("3 个事件")
    with panel.page.expect_download() as download:
        panel.button("下载").click()
    file = tmp_path / "export.jsonl"
    download.value.save_as(file)
    assert file.read_bytes() == whole
    starter = Launcher(tmp_path / "data")
    try:
        with window(browser, starter.serve()) as (_, other):
            asked: list[str] = []
            other.page.on("request", lambda request: asked.append(request.url))
            other.log_in()
            other.go("#/transfer")
            other.page.locator("input[type=file]").set_input_files(file)
            other.button("检查文件").click()
            expect(other.page.get_by_text("文件完整")).to_be_visible()
            assert ask(other, "GET", "/v1/memories?limit=100")["data"] == []
            other.button("导入").click()
            other.press("导入")
            expect(other.page.locator(".toast")).to_contain_text("已导入")
            titles = [one["title"] for one in ask(other, "GET", "/v1/memories?limit=100")["data"]]
            assert sum("卷：" in title for title in titles) == 8
            assert sum("/v1/admin/import" in url for url in asked) > 2
    finally:
        starter.close()


def test_broken_file_is_refused_before_anything_is_written(panel: Panel, tmp_path: Any) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text('{"kind": "无"}\n', encoding="utf-8")
    panel.expected = {400}
    panel.go("#/transfer")
    panel.page.locator("input[type=file]").set_input_files(file)
    panel.button("检查文件").click()
    expect(panel.page.get_by_role("alert")).to_be_visible()
    expect(panel.button("导入")).to_have_count(0)
