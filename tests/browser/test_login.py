"""The way in: a wrong key is refused in words, the right one opens, and a tab forgets it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.panel import Language, window
from tests.e2e.serving import Server

STORES = "JSON.stringify([{...sessionStorage}, {...localStorage}])"


@pytest.mark.parametrize(
    ("language", "words"),
    [("zh-CN", "这里没有这把密钥"), ("en-US", "This key is not known here")],
)
def test_wrong_key_is_refused_in_the_readers_language(
    browser: Browser, server: Server, language: Language, words: str
) -> None:
    with window(browser, server, language=language) as (_, panel):
        panel.expected = {401}
        panel.open()
        panel.page.locator("input[type=password]").fill("sk-wrong")
        panel.page.locator("button[type=submit]").click()
        expect(panel.page.get_by_role("alert")).to_contain_text(words)
        assert "sk-wrong" not in panel.page.evaluate(STORES)


def test_pasted_text_that_is_no_key_is_refused_without_asking(
    browser: Browser, server: Server
) -> None:
    with window(browser, server) as (_, panel):
        panel.open()
        panel.page.locator("input[type=password]").fill("密钥：sk-1")
        panel.page.locator("button[type=submit]").click()
        expect(panel.page.get_by_role("alert")).to_contain_text("多余的内容")


def test_key_lives_as_long_as_its_tab_and_never_in_the_address(
    browser: Browser, server: Server
) -> None:
    with window(browser, server) as (context, panel):
        panel.log_in()
        assert server.token not in panel.page.url
        panel.page.reload()
        panel.page.locator(".frame").wait_for()
        other = context.new_page()
        other.goto(f"{server.url}/admin")
        expect(other.locator("input[type=password]")).to_be_visible()


def test_remembered_key_opens_a_new_tab_until_logged_out(browser: Browser, server: Server) -> None:
    with window(browser, server) as (context, panel):
        panel.log_in(is_remembered=True)
        other = context.new_page()
        other.goto(f"{server.url}/memory-admin")
        other.locator(".frame").wait_for()
        panel.button("退出登录").click()
        expect(panel.page.locator("input[type=password]")).to_be_visible()
        assert server.token not in panel.page.evaluate(STORES)


def test_key_that_was_revoked_leads_back_to_the_way_in(browser: Browser, server: Server) -> None:
    with server.client() as client:
        made = client.post("/v1/keys", json={"name": "短命", "scopes": ["memory:read"]}).json()
    with window(browser, server) as (_, panel):
        panel.expected = {401}
        panel.log_in(made["token"])
        with server.client() as client:
            assert client.delete(f"/v1/keys/{made['key']['id']}").status_code == 200
        panel.go("#/memories")
        expect(panel.page.get_by_text("密钥已失效")).to_be_visible()


def test_key_that_may_not_read_is_told_what_it_lacks(browser: Browser, server: Server) -> None:
    with server.client() as client:
        made = client.post("/v1/keys", json={"name": "chat", "scopes": ["chat:proxy"]}).json()
    with window(browser, server, language="en-US") as (_, panel):
        panel.expected = {403}
        panel.open()
        panel.page.locator("input[type=password]").fill(made["token"])
        panel.page.locator("button[type=submit]").click()
        expect(panel.page.get_by_role("alert")).to_contain_text("memory:read")
