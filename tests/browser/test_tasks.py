"""Tasks and places by hand: noted down in a line, done, put off, changed, taken back."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.panel import Panel


def test_task_noted_in_a_line_is_completed_and_opened_again(panel: Panel) -> None:
    panel.go("#/tasks")
    panel.field("记下一件事").fill("给阳台换纱窗 #家务 !high")
    panel.button("添加").click()
    panel.field("关键词").fill("纱窗")
    panel.button("搜索").click()
    row = panel.page.locator(".rows li", has_text="给阳台换纱窗")
    expect(row).to_contain_text("优先级: 高")
    row.get_by_role("button", name="完成").click()
    expect(row).to_have_count(0)
    panel.page.locator(".toast", has_text="已完成").get_by_role("button", name="撤销").click()
    expect(row).to_have_count(1)


def test_occurrence_that_another_window_completed_is_not_completed_twice(panel: Panel) -> None:
    series = {"title": "给多肉浇水", "due": "2099-01-04", "recurrence_kind": "weekly"}
    with panel.server.client() as client:
        task = client.post("/v1/items", json=series).json()["item"]
        path = f"/v1/items/{task['id']}"
        panel.go(f"#/tasks/{task['id']}")
        expect(panel.page.locator("h1")).to_have_text("给多肉浇水")
        done = client.post(f"{path}/state", json={"action": "complete"}).json()["item"]
        panel.page.get_by_role("button", name="完成").click()
        expect(panel.page.locator(".toast")).to_have_count(1)
        assert client.get(path).json()["item"]["due_at"] == done["due_at"]


def test_task_is_put_off_in_words(panel: Panel) -> None:
    with panel.server.client() as client:
        task = client.post("/v1/capture", json={"text": "续借图书馆的书"}).json()["item"]
    panel.go(f"#/tasks/{task['id']}")
    panel.button("推迟").click()
    panel.field("推迟到").fill("三天后")
    panel.dialog.locator("button[type=submit]").click()
    expect(panel.page.locator(".meta").first).to_contain_text("推迟到")
    with panel.server.client() as client:
        shown = client.get(f"/v1/items/{task['id']}").json()["item"]
    assert shown["snoozed_until"]


def test_wrong_date_is_refused_where_it_was_typed(panel: Panel) -> None:
    panel.expected = {400}
    with panel.server.client() as client:
        task = client.post("/v1/capture", json={"text": "校对年终小结"}).json()["item"]
    panel.go(f"#/tasks/{task['id']}")
    panel.button("编辑").click()
    panel.field("截止").fill("二月三十日")
    panel.button("保存").click()
    expect(panel.dialog.get_by_role("alert")).to_contain_text("二月三十日")


def test_steps_are_written_ticked_and_kept(panel: Panel) -> None:
    with panel.server.client() as client:
        task = client.post("/v1/capture", json={"text": "办居住证"}).json()["item"]
    panel.go(f"#/tasks/{task['id']}")
    panel.button("编辑").click()
    panel.field("步骤").fill("拍照片\n预约\n交材料")
    panel.save()
    panel.field("预约").check()
    expect(panel.page.locator(".steps .faint")).to_have_text("预约")
    panel.button("编辑").click()
    panel.field("步骤").fill("预约\n交材料\n取证")
    panel.save()
    expect(panel.page.locator(".steps li")).to_have_text(["预约", "交材料", "取证"])
    expect(panel.field("预约")).to_be_checked()
    panel.field("添加备注").fill("窗口在二楼")
    panel.button("添加").click()
    expect(panel.page.get_by_text("窗口在二楼").first).to_be_visible()


def test_project_and_topic_are_made_edited_and_deleted_with_a_way_back(panel: Panel) -> None:
    panel.go("#/projects")
    panel.button("新建项目").click()
    panel.field("名称").fill("学陶艺")
    panel.button("保存").click()
    row = panel.page.locator(".rows li", has_text="学陶艺")
    expect(row).to_contain_text("没有说明")
    row.get_by_role("button", name="编辑").click()
    panel.field("说明").fill("每周六下午")
    panel.button("保存").click()
    expect(row).to_contain_text("每周六下午")
    panel.expected = {409}
    row.get_by_role("button", name="编辑").click()
    panel.field("说明").fill("每周六晚上")
    with panel.server.client() as client:
        [shown] = [
            one for one in client.get("/v1/projects").json()["projects"] if one["name"] == "学陶艺"
        ]
        path = f"/v1/projects/{shown['slug']}"
        client.patch(path, json={"name": "学做陶艺", "description": "每周日下午"})
        panel.press("保存")
        expect(panel.dialog.get_by_role("alert")).to_contain_text("在此期间被改动过")
        panel.press("用我的覆盖")
        row = panel.page.locator(".rows li", has_text="学做陶艺")
        expect(row).to_contain_text("每周六晚上")
        assert client.get(path).json()["project"]["name"] == "学做陶艺"
    row.get_by_role("button", name="删除").click()
    panel.dialog.get_by_role("button", name="删除").click()
    expect(row).to_have_count(0)
    panel.page.locator(".toast", has_text="已删除").get_by_role("button", name="撤销").click()
    expect(row).to_have_count(1)
    panel.page.get_by_role("link", name="主题", exact=True).click()
    panel.button("新建主题").click()
    panel.field("名称").fill("器物")
    panel.field("召回优先级").fill("12")
    panel.button("保存").click()
    expect(panel.page.locator(".rows li", has_text="器物")).to_be_visible()
