"""Looking after a memory: the review queue, jobs and their runs, recalls and conversations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Route, expect
from tests.browser.model import model
from tests.browser.panel import Panel, wait_for, window
from tests.e2e.serving import Launcher, Server

Json = Any


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a model behind it."""
    starter = Launcher(tmp_path_factory.mktemp("upkeep") / "data")
    with model() as address:
        yield starter.serve(
            AI_GATEWAY_BASE_URL=address, CF_AIG_TOKEN="upstream-secret", MODEL_PRICES="*=2/8/1"
        )
        starter.close()


@pytest.fixture
def panel(browser: Browser, modelled: Server) -> Iterator[Panel]:
    """The panel of that server, in Chinese on a laptop, logged in."""
    with window(browser, modelled) as (_, opened):
        opened.log_in()
        yield opened


def ask(panel: Panel, method: str, path: str, body: Json = None) -> Json:
    """What the server says to the key's owner."""
    with panel.server.client() as client:
        response = client.request(method, path, json=body)
        assert response.is_success, response.text
        return response.json()


def hear(panel: Panel, *texts: str) -> Json:
    """Messages that are read for facts; returns the run."""
    said = [{"role": "user", "content": text} for text in texts]
    ask(panel, "POST", "/v1/ingest/messages", {"messages": said, "conversation_id": "闲聊"})
    return ask(panel, "POST", "/v1/jobs/extract/run", {"force": True})


def waiting(panel: Panel, text: str) -> Json:
    """The candidate that says this."""
    found = ask(panel, "GET", "/v1/candidates?limit=200")["data"]
    return next(one for one in found if one["content"] == text)


def card(panel: Panel, text: str) -> Locator:
    """The card on the page that says this."""
    return panel.page.locator("article.card", has_text=text).first


def wait_until_embedded(panel: Panel) -> None:
    """Wait until meaning finds what was written."""
    wait_for("vectors", lambda: ask(panel, "GET", "/health")["details"]["vectors"]["waiting"] == 0)


def backlog(panel: Panel, name: str) -> dict[str, int]:
    """What waits for a job."""
    jobs = ask(panel, "GET", "/v1/jobs")["jobs"]
    found: dict[str, int] = next(job["backlog"] for job in jobs if job["name"] == name)
    return found


def test_candidate_shows_where_it_is_from_and_is_approved_and_taken_back(panel: Panel) -> None:
    text = "我可能会养一只绿色的鹦鹉"
    hear(panel, text)
    id_ = waiting(panel, text)["id"]
    panel.go("#/review")
    shown = card(panel, text)
    expect(shown).to_contain_text("把握 50%")
    shown.get_by_role("button", name="从哪儿来？").click()
    expect(shown.locator("blockquote")).to_contain_text(text)
    shown.get_by_role("button", name="采纳").click()
    expect(panel.page.locator(".toast")).to_contain_text("已采纳")
    expect(card(panel, text)).to_have_count(0)
    decided = ask(panel, "GET", f"/v1/candidates/{id_}")["data"]
    assert decided["status"] == "approved"
    memory = ask(panel, "GET", f"/v1/memories/{decided['memory_id']}")["data"]
    assert (memory["content"], memory["status"]) == (text, "active")
    panel.go("#/review/approved")
    card(panel, text).get_by_role("button", name="撤回").click()
    expect(card(panel, text)).to_have_count(0)
    assert ask(panel, "GET", f"/v1/candidates/{id_}")["data"]["status"] == "pending"


def test_candidate_is_edited_and_then_approved(panel: Panel) -> None:
    text = "我可能对芒果过敏，吃了嘴会肿"
    hear(panel, text)
    id_ = waiting(panel, text)["id"]
    panel.go("#/review")
    card(panel, text).get_by_role("button", name="编辑…").click()
    panel.field("内容").fill("对芒果过敏。")
    panel.field("类型").select_option("boundary")
    panel.field("标签").fill("饮食，过敏")
    panel.field("备注").fill("确认过了")
    panel.press("采纳")
    expect(panel.page.locator(".toast")).to_contain_text("已采纳")
    decided = ask(panel, "GET", f"/v1/candidates/{id_}")["data"]
    memory = ask(panel, "GET", f"/v1/memories/{decided['memory_id']}")["data"]
    assert (memory["content"], memory["type"]) == ("对芒果过敏。", "boundary")
    assert set(memory["tags"]) == {"饮食", "过敏"}
    assert decided["decision_note"] == "确认过了"


def test_merge_shows_both_texts_and_the_result_before_it_happens(panel: Panel) -> None:
    old, new = "我住在上海徐汇", "我可能四月搬到杭州滨江"
    there = {"content": old, "fact_key": "profile:city", "type": "fact"}
    memory = ask(panel, "POST", "/v1/memories", there)["data"]
    hear(panel, new)
    panel.go("#/review")
    expect(card(panel, new)).to_contain_text(f"现有内容{old}")
    card(panel, new).get_by_role("button", name="合并…").click()
    expect(panel.dialog).to_contain_text(f"记忆里写着{old}")
    expect(panel.dialog).to_contain_text(f"候选内容{new}")
    expect(panel.field("合并之后")).to_have_value(new)
    panel.field("合并之后").fill("我住在上海徐汇，四月搬到杭州")
    expect(panel.dialog.locator("ins")).to_have_text("，四月搬到杭州")
    assert ask(panel, "GET", f"/v1/memories/{memory['id']}")["data"]["content"] == old
    panel.press("合并")
    expect(panel.page.locator(".toast")).to_contain_text("已合并")
    after = ask(panel, "GET", f"/v1/memories/{memory['id']}")["data"]
    assert after["content"] == "我住在上海徐汇，四月搬到杭州"
    panel.page.locator(".toast").get_by_role("button", name="撤销").click()
    expect(card(panel, new)).to_be_visible()
    assert ask(panel, "GET", f"/v1/memories/{memory['id']}")["data"]["content"] == old


def test_several_are_discarded_at_once_after_a_question(panel: Panel) -> None:
    texts = ["我可能要学大提琴", "我可能要学制陶"]
    hear(panel, *texts)
    ids = [waiting(panel, text)["id"] for text in texts]
    panel.go("#/review")
    for text in texts:
        panel.page.get_by_label(f"选择“{text}”").check()
    panel.button("全部丢弃").click()
    expect(panel.dialog).to_contain_text("丢弃这 2 条？")
    panel.press("丢弃")
    expect(panel.page.locator(".toast")).to_contain_text("已处理 2 条")
    for id_ in ids:
        assert ask(panel, "GET", f"/v1/candidates/{id_}")["data"]["status"] == "discarded"
    panel.go("#/review/discarded")
    expect(card(panel, texts[0])).to_be_visible()


def test_job_runs_by_hand_and_its_run_is_taken_back(panel: Panel) -> None:
    text = "我每周四晚上打羽毛球"
    said = [{"role": "user", "content": text}]
    ask(panel, "POST", "/v1/ingest/messages", {"messages": said})
    # A message that was said this very second may still get company.
    wait_for("messages", lambda: backlog(panel, "extract")["messages"] > 0)
    panel.go("#/jobs")
    job = panel.page.locator('[data-job="extract"]')
    expect(job).to_contain_text("待处理：")
    job.get_by_role("button", name="立即运行").click()
    expect(panel.page.locator(".toast")).to_contain_text("完成")
    expect(job).to_contain_text("没有待处理的内容")
    panel.page.locator(".toast").get_by_role("button", name="详情").click()
    expect(panel.page.locator(".counts").first).to_contain_text("1 新记忆")
    panel.button("撤回这次运行").click()
    expect(panel.dialog).to_contain_text(f"{text} 会消失")
    panel.press("撤回")
    expect(panel.page.locator(".toast").last).to_contain_text("已撤回 1 处改动")
    expect(panel.page.get_by_text("已撤回").first).to_be_visible()
    found = ask(panel, "GET", f"/v1/items?q={text}")["items"]
    assert found == []


def test_job_is_paused_and_resumed(panel: Panel) -> None:
    panel.go("#/jobs")
    job = panel.page.locator('[data-job="retention"]')
    job.get_by_role("button", name="暂停").click()
    expect(job.locator(".badge", has_text="已暂停")).to_be_visible()
    job.get_by_role("button", name="立即运行").click()
    expect(panel.page.locator(".toast").last).to_contain_text("任务已暂停")
    job.get_by_role("button", name="恢复").click()
    expect(job.locator(".badge", has_text="就绪")).to_be_visible()


def test_what_retention_takes_is_told_before(panel: Panel) -> None:
    hear(panel, "我的自行车锁是蓝色的那把")
    panel.go("#/jobs/leaving")
    panel.field("时间范围").select_option("365")
    expect(panel.page.get_by_role("heading", name=re.compile("没人用到的记忆"))).to_be_visible()
    expect(panel.page.get_by_role("link", name="我的自行车锁是蓝色的那把")).to_be_visible()
    panel.go("#/jobs/skipped")
    expect(panel.page.get_by_text("没有被搁置的消息")).to_be_visible()


def serve_late(panel: Panel, path: str, before: Json, *, times: int) -> None:
    """A list without its newest row the first times that it is asked for: it is written later."""
    left = iter(range(times))

    def answer(route: Route) -> None:
        if next(left, None) is None:
            route.continue_()
        else:
            route.fulfill(json=before)

    panel.page.route(path, answer)


def test_recall_is_explained_score_by_score_and_gate_by_gate(panel: Panel) -> None:
    for content in ("阳台的茉莉每三天浇一次水", "书房的台灯是黄光的", "The bus stops at ten"):
        ask(panel, "POST", "/v1/memories", {"content": content})
    wait_until_embedded(panel)
    panel.go("#/recalls")
    serve_late(panel, "**/v1/recalls?*", {"recalls": [], "next_cursor": None}, times=2)
    panel.field("一条消息").fill("阳台的茉莉几天浇一次水？")
    panel.button("查一查").click()
    tried = panel.page.locator(".tried")
    first = tried.locator('[data-gate="none"]').first
    expect(first).to_contain_text("阳台的茉莉每三天浇一次水")
    for measure in ("总分", "字词", "含义"):
        expect(first.get_by_label(measure)).to_be_visible()
    expect(tried.locator('[data-gate="score_floor"]').first).to_contain_text("不够可靠")
    expect(tried.locator("pre")).to_contain_text("阳台的茉莉每三天浇一次水")
    panel.page.locator(".rows a", has_text="阳台的茉莉几天浇一次水？").first.click()
    expect(panel.page.locator('[data-gate="none"]').first).to_contain_text("茉莉")
    expect(panel.page.get_by_text("没有留下文字")).to_be_visible()


def chat(panel: Panel, messages: list[Json]) -> Json:
    """One answer of the conversation about the safe, once it is kept: that is after the reply."""
    body = {"model": "companion", "metadata": {"chat_id": "safe"}, "messages": messages}
    before = answers_kept(panel)
    reply = ask(panel, "POST", "/v1/chat/completions", body)
    wait_for("the answer", lambda: answers_kept(panel) > before)
    return reply


def answers_kept(panel: Panel) -> int:
    """How many answers all conversations have."""
    return sum(one["answers"] for one in ask(panel, "GET", "/v1/conversations")["data"])


def test_conversation_shows_what_was_said_given_cached_and_paid(panel: Panel) -> None:
    ask(panel, "POST", "/v1/memories", {"content": "我的保险箱放在衣柜后面"})
    wait_until_embedded(panel)
    system = {"role": "system", "content": "Be brief."}
    messages: list[Json] = [system, {"role": "user", "content": "我的保险箱放在哪里？"}]
    first = chat(panel, messages)
    messages += [first["choices"][0]["message"], {"role": "user", "content": "谢谢你呀"}]
    chat(panel, messages)
    chat(panel, [{**system, "content": "Be long."}, *messages[1:]])
    panel.go("#/conversations")
    panel.page.get_by_role("link", name="谢谢你呀").first.click()
    expect(panel.page.locator(".message.user").first).to_contain_text("谢谢你呀")
    panel.page.get_by_role("link", name="回答与费用").click()
    answers = panel.page.locator("article.card")
    expect(answers.first).to_contain_text("命中缓存")
    expect(answers.first).to_contain_text("费用 0.")
    expect(answers.first).to_contain_text("缓存变少了： 系统提示变了")
    answers.last.get_by_role("link", name="召回了什么").click()
    expect(panel.page.locator("pre.given")).to_contain_text("我的保险箱放在衣柜后面")


def test_failed_job_says_so_in_the_readers_words(browser: Browser, tmp_path: Path) -> None:
    starter = Launcher(tmp_path / "data")
    try:
        with model() as gone:
            pass
        server = starter.serve(AI_GATEWAY_BASE_URL=gone, CF_AIG_TOKEN="upstream-secret")
        with window(browser, server) as (_, panel):
            panel.log_in()
            panel.expected = {502}
            said = [{"role": "user", "content": "我每个月第一个星期天去爬山"}]
            ask(panel, "POST", "/v1/ingest/messages", {"messages": said})
            wait_for("messages", lambda: backlog(panel, "extract")["messages"] > 0)
            panel.go("#/jobs")
            job = panel.page.locator('[data-job="extract"]')
            job.get_by_role("button", name="立即运行").click()
            expect(panel.page.locator(".toast.error")).to_contain_text("没有正常回答")
            expect(job.locator(".note.error")).to_contain_text("没有正常回答")
            expect(job).to_contain_text("等待重试")
            expect(job).to_contain_text("1 消息")
            panel.go("#/jobs/runs?job=extract")
            expect(panel.page.locator(".rows .note.error")).to_contain_text("upstream_failed")
    finally:
        starter.close()
