"""The schedule on the platform: the night, and long texts on their way to the bucket."""

from __future__ import annotations

import json
import tomllib
from itertools import count
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.pyodide.whole import DREAM, MODEL, SWEEP, Whole, error_of

DAY = 24 * 60
"""Minutes."""
CRONS = tomllib.loads((ROOT / "wrangler.toml").read_text(encoding="utf-8"))["triggers"]["crons"]
"""The lines that the platform runs."""
LONG = "很长的内容，a long text. 🧠" * 600
"""More than an item holds."""


def pages(whole: Whole) -> dict[str, str]:
    """The diary's pages: what each says, by its day."""
    listed = whole.client.get("/v1/days").raise_for_status().json()["data"]
    days = [one["date"] for one in listed]
    found = {day: whole.client.get(f"/v1/days/{day}").raise_for_status().json() for day in days}
    return {day: str(page["data"]["content"]) for day, page in found.items()}


def runs(whole: Whole, **asked: str) -> list[dict[str, Any]]:
    """The runs that were written down, of one job when it is named."""
    answer = whole.client.get("/v1/jobs/runs", params=asked).raise_for_status()
    found: list[dict[str, Any]] = answer.json()["runs"]
    return found


def say(whole: Whole, text: str) -> None:
    """Say something that a night has to read, and let that day end."""
    message = {"role": "user", "content": text}
    whole.made("/v1/ingest/messages", {"messages": [message]})
    dreamt = {"title": "一天", "summary": text, "digest": text}
    whole.edge.order("ai", usual=json.dumps(dreamt, ensure_ascii=False))
    whole.later(DAY)


def dreamt_with(whole: Whole) -> list[str]:
    """The models that chats were asked of since the last time."""
    calls = whole.edge.order("ai/calls")["calls"]
    return [one["model"] for one in calls if "messages" in one["inputs"]]


@pytest.mark.parametrize("cron", CRONS)
def test_every_line_of_the_schedule_is_done_in_the_worker(whole: Whole, cron: str) -> None:
    earlier = runs(whole)
    # Whatever other tests have said is there to be read: nothing worth keeping, and a day.
    read = {"memories": [], "title": "一天", "summary": "没什么事", "digest": "没什么事"}
    whole.edge.order("ai", usual=json.dumps(read, ensure_ascii=False))
    whole.made("/v1/memories", {"content": f"{cron} 之前记下的一件事", "type": "note"})
    assert set(whole.line(cron)) <= {"ack"}
    failed = [run for run in runs(whole) if run not in earlier and run["status"] != "done"]
    assert failed == []


def test_line_of_the_dream_writes_the_page_once_though_its_message_comes_twice(
    whole: Whole,
) -> None:
    text = "今天去了西湖边跑步，跑了10公里。"
    earlier = runs(whole, job="dream")
    say(whole, text)
    assert whole.edge.order("scheduled", cron=DREAM) == {"thrown": None}
    assert set(whole.fates(times=2)) == {"ack"}
    while fates := whole.fates(times=2):
        assert set(fates) == {"ack"}
    assert set(dreamt_with(whole)) == {MODEL.removeprefix("workers-ai/")}
    written = pages(whole)
    [day] = [day for day, content in written.items() if "西湖" in content]
    done = len(runs(whole, job="dream"))
    made = [run for run in runs(whole, job="dream") if run not in earlier]
    finished = [run for run in made if run["counts"].get("days")]
    assert len(finished) == 1, finished
    digest = whole.call("digest_get").raise_for_status().json()["result"]["structuredContent"]
    assert "西湖" in digest["digest"]["content"]
    # The line again, late and on another day without a word: no model is asked, nothing changes.
    whole.later(DAY)
    assert set(whole.line(DREAM)) == {"ack"}
    assert dreamt_with(whole) == []
    assert pages(whole)[day] == written[day]
    assert len(runs(whole, job="dream")) == done


@pytest.mark.parametrize("kind", ["ai", "d1"])
def test_night_that_fails_is_tried_again_and_loses_nothing(whole: Whole, kind: str) -> None:
    place = {"ai": "灵隐寺", "d1": "千岛湖"}[kind]
    text = f"今天和妈妈去了{place}，天气很好。"
    say(whole, text)
    assert whole.edge.order("scheduled", cron=DREAM) == {"thrown": None}
    if kind == "ai":
        whole.edge.order("ai", code=3040)
    else:
        whole.edge.order("fail", d1={"text": "D1_ERROR: Network connection lost."})
    assert set(whole.fates()) == {{"ai": "ack", "d1": "retry 30"}[kind]}
    whole.edge.order("fail")
    whole.edge.order("ai", code=None)
    assert place not in str(pages(whole))
    whole.later(60)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert sum(place in content for content in pages(whole).values()) == 1


def long_item(whole: Whole, text: str) -> dict[str, Any]:
    """Keep a long text; return its item."""
    body = {"title": "长文", "kind": "memory", "content": text}
    made: dict[str, Any] = whole.made("/v1/items", body)["item"]
    return made


def text_of(whole: Whole, item: dict[str, Any]) -> str:
    """The whole text of an item's artifact."""
    answer = whole.client.get(f"/v1/artifacts/{item['artifact_id']}").raise_for_status()
    return str(answer.json()["artifact"]["text"])


def test_long_text_moves_into_the_bucket_and_goes_when_it_is_forgotten(whole: Whole) -> None:
    item = long_item(whole, LONG)
    assert whole.blobs() == [] and text_of(whole, item) == LONG
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.blobs() == [f"default/{item['artifact_id']}"]
    assert text_of(whole, item) == LONG
    lines = whole.client.get("/v1/export").raise_for_status().text
    assert json.dumps(LONG[:200], ensure_ascii=False)[1:-1] in lines
    whole.edge.order("fail", r2={"text": "get: We encountered an internal error. (10001)"})
    answer = whole.client.get(f"/v1/artifacts/{item['artifact_id']}")
    assert (answer.status_code, error_of(answer)["code"]) == (503, "store_unavailable")
    whole.call("forget", id=item["id"]).raise_for_status()
    whole.edge.order("fail")
    assert len(whole.blobs()) == 1
    whole.later(15)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.blobs() == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["r2", "d1"])
@pytest.mark.parametrize("is_done", [False, True])
def test_text_moves_though_any_call_of_its_job_fails(
    whole: Whole, kind: str, is_done: bool
) -> None:
    for number in count(1):
        item = long_item(whole, f"{kind} {is_done} {number} {LONG}")
        whole.fates()
        assert whole.edge.order("scheduled", cron=SWEEP) == {"thrown": None}
        plan = {"at": [number], "text": "D1_ERROR: Network connection lost.", "isDone": is_done}
        whole.edge.order("fail", **{kind: plan})
        assert set(whole.fates()) <= {"ack", "retry 30"}
        calls = whole.edge.order("settle")["counts"][kind]
        whole.edge.order("fail")
        assert text_of(whole, item).endswith(LONG)
        whole.later(20)
        whole.line(SWEEP)
        assert f"default/{item['artifact_id']}" in whole.blobs()
        assert text_of(whole, item).endswith(LONG)
        whole.call("forget", id=item["id"]).raise_for_status()
        assert f"default/{item['artifact_id']}" not in whole.blobs()
        if calls < number:
            return


def test_panel_is_served_to_whoever_asks_and_its_files_nowhere_else(whole: Whole) -> None:
    page = whole.client.get("/admin", headers={"authorization": ""})
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert page.text == (ROOT / "admin" / "dist" / "index.html").read_text(encoding="utf-8")
    [script] = (ROOT / "admin" / "dist" / "assets").glob("index-*.js")
    found = whole.client.get(f"/admin/assets/{script.name}", headers={"authorization": ""})
    assert found.content == script.read_bytes()
    assert found.headers["content-type"].startswith("text/javascript")
    assert whole.client.get("/index.html").status_code == 404
    assert whole.client.get("/admin/assets/none.js").status_code == 404
    whole.edge.order("fail", assets={"text": "internal error"})
    answer = whole.client.get("/admin")
    assert (answer.status_code, error_of(answer)["code"]) == (503, "store_unavailable")
