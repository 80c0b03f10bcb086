"""Memories by hand: written in Chinese, found as a recall finds them, corrected, taken back."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import expect
from tests.browser.panel import Panel


def keep(panel: Panel, content: str, **fields: Any) -> dict[str, Any]:
    """A memory that is there already."""
    with panel.server.client() as client:
        response = client.post("/v1/memories", json={"content": content, **fields})
        assert response.status_code == 201, response.text
        memory: dict[str, Any] = response.json()["data"]
        return memory


def wait_until_embedded(panel: Panel) -> None:
    """Wait until meaning finds what was written, half a minute at most."""
    until = time.monotonic() + 30
    with panel.server.client() as client:
        while client.get("/health").json()["details"]["vectors"]["waiting"] > 0:
            assert time.monotonic() < until, "the vectors are still waiting"
            time.sleep(0.1)


def show(panel: Panel, memory: dict[str, Any]) -> dict[str, Any]:
    """The memory as the server has it now."""
    with panel.server.client() as client:
        shown: dict[str, Any] = client.get(f"/v1/memories/{memory['id']}").json()["data"]
        return shown


def test_memory_written_in_chinese_is_found_as_a_conversation_would_find_it(panel: Panel) -> None:
    panel.go("#/memories")
    panel.button("写一条记忆").click()
    panel.field("内容").fill("外婆住在绍兴，每年清明去看她。")
    panel.field("标签").fill("家人，绍兴")
    panel.field("类型").select_option("relationship")
    panel.button("保存").click()
    expect(panel.page.locator(".said")).to_have_text("外婆住在绍兴，每年清明去看她。")
    expect(panel.page.get_by_text("#家人")).to_be_visible()
    panel.go("#/memories")
    panel.field("像对话那样问一句").fill("外婆住在哪里")
    panel.button("搜索").click()
    row = panel.page.locator(".rows li").first
    expect(row).to_contain_text("外婆住在绍兴")
    expect(row.locator("meter")).to_be_visible()
    expect(row).to_contain_text("字面")


def test_search_says_what_it_left_out_and_why(panel: Panel) -> None:
    keep(panel, "窗台上的薄荷要两天浇一次水，用的是二号水壶。")
    for other in ("税单夹在蓝色文件夹里。", "The train leaves at nine.", "表哥在读考古。"):
        keep(panel, other)
    wait_until_embedded(panel)
    panel.go("#/memories?q=窗台上的薄荷用几号水壶浇水")
    expect(panel.page.locator(".rows li").first).to_contain_text("二号水壶")
    panel.page.locator("summary", has_text="看过但没有采用").click()
    dropped = panel.page.locator("details .rows li").last
    expect(dropped).to_contain_text("把握不够")
    expect(dropped).to_contain_text("语义 0.")


def test_small_talk_finds_nothing_and_says_so(panel: Panel) -> None:
    panel.go("#/memories?q=你好呀")
    expect(panel.page.get_by_text("不会想起任何记忆")).to_be_visible()


def test_edit_shows_what_changed_and_can_be_undone_and_redone(panel: Panel) -> None:
    memory = keep(panel, "牙医约在十二月三日上午。")
    panel.go(f"#/memories/{memory['id']}")
    panel.button("编辑").click()
    panel.field("内容").fill("牙医约在十二月五日下午。")
    panel.button("保存").click()
    expect(panel.page.locator(".said")).to_have_text("牙医约在十二月五日下午。")
    diff = panel.page.locator(".diff").first
    assert diff.locator("del").all_text_contents() == ["三", "上"]
    assert diff.locator("ins").all_text_contents() == ["五", "下"]
    panel.page.locator(".toast").get_by_role("button", name="撤销").click()
    expect(panel.page.locator(".said")).to_have_text("牙医约在十二月三日上午。")
    panel.button("重做").click()
    expect(panel.page.locator(".said")).to_have_text("牙医约在十二月五日下午。")
    assert show(panel, memory)["content"] == "牙医约在十二月五日下午。"


def test_long_text_is_shown_and_edited_whole(panel: Panel) -> None:
    text = "长文的开头。" + "中间有很多很多的话要说。" * 1_000 + "长文的结尾。"
    memory = keep(panel, text)
    assert memory["artifact_id"]
    panel.expected = {503}
    artifacts = "**/v1/artifacts/*"
    panel.page.route(artifacts, lambda route: route.fulfill(status=503, body="busy"))
    panel.go(f"#/memories/{memory['id']}")
    expect(panel.page.get_by_role("alert")).to_contain_text("503")
    panel.page.unroute(artifacts)
    panel.button("重试").click()
    expect(panel.page.locator(".said")).to_have_text(text)
    panel.button("编辑").click()
    expect(panel.field("内容")).to_have_value(text)
    panel.field("内容").fill(text + "还有一句。")
    panel.save()
    expect(panel.page.locator(".said")).to_have_text(text + "还有一句。")


def test_escape_asks_before_what_was_written_is_gone(panel: Panel) -> None:
    memory = keep(panel, "门铃坏了。")
    panel.go(f"#/memories/{memory['id']}")
    panel.button("编辑").click()
    panel.page.keyboard.press("Escape")
    expect(panel.dialog).to_have_count(0)
    panel.button("编辑").click()
    panel.field("内容").fill("门铃坏了，星期六有人来修。")
    editor = panel.page.locator("dialog[open]", has=panel.page.locator("textarea"))
    question = panel.page.locator("dialog[open]", has_text="放弃写下的内容？")
    panel.page.keyboard.press("Escape")
    expect(question).to_be_visible()
    for _ in range(2):
        panel.page.keyboard.press("Escape")
        expect(question).to_have_count(0)
        expect(editor.locator("textarea")).to_have_value("门铃坏了，星期六有人来修。")
        panel.page.keyboard.press("Escape")
        expect(question).to_be_visible()
    question.get_by_role("button", name="放弃", exact=True).click()
    expect(panel.page.locator("dialog[open]")).to_have_count(0)
    assert show(panel, memory)["content"] == "门铃坏了。"


def test_two_edits_at_once_show_both_sides(panel: Panel) -> None:
    memory = keep(panel, "周会在星期二。", importance=0.4)
    panel.expected = {409}
    panel.go(f"#/memories/{memory['id']}")
    panel.button("编辑").click()
    with panel.server.client() as client:
        changed = {"content": "周会在星期四。", "importance": 0.9}
        assert client.patch(f"/v1/memories/{memory['id']}", json=changed).status_code == 200
    panel.field("内容").fill("周会在星期五。")
    panel.button("保存").click()
    expect(panel.dialog).to_contain_text("刚刚被别人改过")
    expect(panel.dialog.locator("del")).to_have_text("四")
    expect(panel.dialog.locator("ins")).to_have_text("五")
    assert show(panel, memory)["content"] == "周会在星期四。"
    panel.button("用我的覆盖").click()
    expect(panel.page.locator(".said")).to_have_text("周会在星期五。")
    # What was not touched here stays as the other left it.
    assert show(panel, memory)["importance"] == 0.9


def test_edit_gives_way_to_the_others_when_asked(panel: Panel) -> None:
    memory = keep(panel, "钥匙在鞋柜里。")
    panel.expected = {409}
    panel.go(f"#/memories/{memory['id']}")
    panel.button("编辑").click()
    with panel.server.client() as client:
        client.patch(f"/v1/memories/{memory['id']}", json={"content": "钥匙在信箱里。"})
    panel.field("内容").fill("钥匙在车里。")
    panel.button("保存").click()
    panel.button("保留对方的").click()
    expect(panel.page.locator(".said")).to_have_text("钥匙在信箱里。")


def test_deleted_memory_is_listed_as_deleted_and_restored(panel: Panel) -> None:
    memory = keep(panel, "旧手机放在书桌第二格。")
    panel.go(f"#/memories/{memory['id']}")
    panel.button("删除").click()
    expect(panel.dialog).to_contain_text("30 天内可以恢复")
    panel.dialog.get_by_role("button", name="取消").click()
    assert show(panel, memory)["status"] == "active"
    panel.button("删除").click()
    panel.dialog.get_by_role("button", name="删除").click()
    expect(panel.button("恢复")).to_be_visible()
    panel.go("#/memories?state=deleted")
    panel.page.get_by_role("link", name="旧手机放在书桌第二格。").click()
    panel.button("恢复").click()
    expect(panel.button("编辑")).to_be_visible()
    assert show(panel, memory)["status"] == "active"


def test_forgotten_memory_leaves_no_word(panel: Panel) -> None:
    memory = keep(panel, "门锁密码是紫色海螺。")
    panel.expected = {404}
    panel.go(f"#/memories/{memory['id']}")
    panel.button("彻底忘记").click()
    expect(panel.dialog).to_contain_text("无法撤销")
    panel.dialog.get_by_role("button", name="彻底忘记").click()
    expect(panel.page.get_by_text("已彻底忘记")).to_be_visible()
    panel.go("#/memories?state=all")
    expect(panel.page.get_by_text("紫色海螺")).to_have_count(0)
    with panel.server.client() as client:
        assert "紫色海螺" not in client.get("/v1/history").text


def test_memory_is_pinned_archived_and_takes_the_place_of_another(panel: Panel) -> None:
    old = keep(panel, "健身房在城西路的二楼。")
    new = keep(panel, "健身房搬到了江边。")
    panel.go(f"#/memories/{new['id']}")
    panel.button("置顶").click()
    expect(panel.button("取消置顶")).to_be_visible()
    panel.button("取代其他记忆…").click()
    panel.field("搜索").fill("城西路")
    panel.dialog.get_by_role("button", name="健身房在城西路的二楼。").click()
    panel.dialog.locator("button[type=submit]").click()
    expect(panel.page.locator(".rows", has_text="取代").first).to_contain_text("健身房在城西路")
    assert show(panel, old)["status"] == "superseded"
    panel.button("归档").click()
    expect(panel.button("重新启用")).to_be_visible()
    assert show(panel, new) | {"pinned": True, "status": "archived"} == show(panel, new)


def test_list_goes_on_page_by_page_and_filters_stay_in_the_address(panel: Panel) -> None:
    for number in range(35):
        keep(panel, f"第 {number} 号书架放的是词典。", tags=["书架"])
    panel.go("#/memories?tag=书架")
    expect(panel.page.locator(".rows li")).to_have_count(30)
    panel.button("显示更多").click()
    expect(panel.page.locator(".rows li")).to_have_count(35)
    panel.field("类型").select_option("event")
    expect(panel.page.get_by_text("没有符合条件的记忆")).to_be_visible()
    assert "type=event" in panel.page.url
    panel.page.reload()
    expect(panel.page.get_by_text("没有符合条件的记忆")).to_be_visible()


def test_text_from_memory_is_only_text(panel: Panel) -> None:
    wicked = (
        "<img src=x onerror=document.title='坏'> [点我](javascript:alert(1)) <script>1</script>"
    )
    memory = keep(panel, wicked, tags=["<b>粗</b>"], summary="<svg onload=alert(1)>")
    for address in ("#/memories", f"#/memories/{memory['id']}", "#/overview"):
        panel.go(address)
        panel.settled()
        expect(panel.page.get_by_text(wicked).first).to_be_visible()
        assert panel.page.locator("main img, main script, main svg").count() == 0
        assert panel.page.locator("a[href^='javascript']").count() == 0
    assert "坏" not in panel.page.title()


def test_forgetting_shows_first_what_would_go_and_where(panel: Panel) -> None:
    with panel.server.client() as client:
        said = {"messages": [{"role": "user", "content": "早上好。我对花生过敏，下午去游泳。"}]}
        client.post("/v1/ingest/messages", json=said).raise_for_status()
    memory = keep(panel, "用户对花生过敏")
    panel.go(f"#/memories/{memory['id']}")
    panel.button("彻底忘记").click()
    dialog = panel.page.locator("dialog")
    expect(dialog).to_contain_text("这些地方也说到它")
    expect(dialog.locator(".going li")).to_have_count(1)
    expect(dialog.locator(".going del")).to_have_text("我对花生过敏")
    expect(dialog).to_contain_text("1 条消息")
    dialog.get_by_role("button", name="彻底忘记").click()
    expect(panel.page.get_by_text("已彻底忘记")).to_be_visible()
    with panel.server.client() as client:
        response = client.get("/v1/conversations/default:default/messages").raise_for_status()
        left = response.text
    assert "游泳" in left
    assert "花生" not in left


def test_forgetting_what_stands_nowhere_else_says_so(panel: Panel) -> None:
    memory = keep(panel, "灰色雨伞在三号储物柜里")
    panel.go(f"#/memories/{memory['id']}")
    panel.button("彻底忘记").click()
    dialog = panel.page.locator("dialog")
    expect(dialog).to_contain_text("别处没有说到它")
    dialog.get_by_role("button", name="取消").click()
    assert show(panel, memory)["content"] == "灰色雨伞在三号储物柜里"
