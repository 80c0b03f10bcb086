"""What a person reads and types: one time zone, any direction of writing, nothing dropped."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser, expect
from tests.browser.panel import PHONE, Panel, window
from tests.e2e.serving import Server

ARABIC = "مرحبا بكم في الذاكرة"
EDGES = """
element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const text = range.getBoundingClientRect();
  const box = element.getBoundingClientRect();
  return [text.left - box.left, box.right - text.right];
}
"""
"""Pixels between a text and the left and right edges of what holds it."""


def _make(server: Server, path: str, body: dict[str, Any]) -> dict[str, Any]:
    with server.client() as client:
        made = client.post(path, json=body).json()
        found: dict[str, Any] = made.get("data") or made["item"]
        return found


def test_moments_are_read_typed_and_told_in_the_namespace_s_zone(
    browser: Browser, server: Server
) -> None:
    task = _make(server, "/v1/items", {"title": "交季报", "due_at": "2099-03-05T07:00:00Z"})
    with window(browser, server, device_zone="America/New_York") as (_, panel):
        panel.log_in()
        panel.go(f"#/tasks/{task['id']}")
        expect(panel.page.locator(".change", has_text="截止时间:")).to_have_text(
            "截止时间: 2099-03-05 15:00"
        )
        panel.button("编辑").click()
        due = panel.field("截止")
        expect(due).to_have_value("2099-03-05 15:00")
        due.fill("2099-03-06 08:30")
        panel.save()
        expect(panel.page.locator("time").first).to_have_attribute(
            "datetime", re.compile("2099-03-06T00:30:00")
        )


def test_editing_without_touching_a_moment_leaves_its_seconds(
    browser: Browser, server: Server
) -> None:
    body = {"content": "签证有效", "valid_to": "2099-03-05T07:00:59Z"}
    memory = _make(server, "/v1/memories", body)
    with window(browser, server) as (_, panel):
        panel.log_in()
        panel.go(f"#/memories/{memory['id']}")
        panel.button("编辑").click()
        panel.field("标签").fill("证件")
        panel.save()
        expect(panel.page.get_by_text("#证件")).to_be_visible()
    with server.client() as client:
        shown = client.get(f"/v1/memories/{memory['id']}").json()["data"]
    assert shown["valid_to"] == memory["valid_to"]


def test_arabic_runs_from_the_right_beside_chinese_from_the_left(
    browser: Browser, server: Server
) -> None:
    memory = _make(server, "/v1/memories", {"content": f"{ARABIC}\n你好"})
    with window(browser, server, size=PHONE) as (_, panel):
        panel.log_in()
        panel.go("#/memories")
        row = panel.page.locator(".rows a", has_text="مرحبا")
        expect(row).to_have_css("unicode-bidi", "plaintext")
        panel.go(f"#/memories/{memory['id']}")
        said = panel.page.locator(".said")
        expect(said).to_contain_text(ARABIC)
        left, right = said.evaluate(EDGES)
        assert right < 2 and left < 2, "one line begins at each edge"
        panel.button("编辑").click()
        expect(panel.field("内容")).to_have_css("unicode-bidi", "plaintext")


def test_word_where_a_number_belongs_is_refused_and_kept(panel: Panel) -> None:
    panel.expected = {400}
    panel.go("#/memories")
    panel.button("写一条记忆").click()
    panel.field("内容").fill("重要的事")
    panel.dialog.locator("summary").click()
    panel.field("重要程度").fill("九")
    panel.press("保存")
    expect(panel.dialog.get_by_role("alert")).to_contain_text("importance")
    expect(panel.field("重要程度")).to_have_value("九")


def test_digest_is_shown_as_the_markdown_that_it_is(panel: Panel) -> None:
    with panel.server.client() as client:
        digest = {"content": "# 近况\n\n- 在学做面包"}
        assert client.patch("/v1/memory_boot", json=digest).status_code == 200
    panel.page.reload()
    expect(panel.page.get_by_role("heading", name="近况")).to_be_visible()
    expect(panel.page.get_by_role("listitem").filter(has_text="在学做面包")).to_be_visible()
    with panel.server.client() as client:
        assert client.patch("/v1/memory_boot", json={"content": ""}).status_code == 200
