"""REST of jobs: the list, running by hand, runs, pausing, taking back, the preview."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.app.distill.nightly import echoing
from tests.protocol.rest.doors import KEYS, OWNER, Served, error_of, serve

from remembrancer.app.jobs import catalogue, listing
from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.frame import Job, JobCode, JobContext, JobReport
from remembrancer.core.errors import ModelRefused, UpstreamFailed
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.ports.models import Completion, Prompt
from remembrancer.testing.models import ScriptedModel

AGENT = {"authorization": f"Bearer {KEYS['MEMORY_MCP_API_KEY']}"}


@pytest.fixture
def only_retention(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of the job that needs no model."""
    for module in (catalogue, listing):
        monkeypatch.setattr(module, "JOBS", {"retention": JOBS["retention"]})


async def old_memory(served: Served) -> str:
    """A memory of an agent that nobody has used for 200 days."""
    async with served.client() as client:
        made = await client.post("/v1/memories", headers=AGENT, json={"content": "喜欢喝乌龙茶"})
        assert made.status_code == 201, made.text
    served.runtime.advance(200 * DAY_MS)
    return str(made.json()["data"]["id"])


async def call(served: Served, method: str, path: str, **more: Any) -> Any:
    async with served.client() as client:
        return await client.request(method, path, headers=OWNER, **more)


@pytest.mark.usefixtures("only_retention")
async def test_jobs_are_listed_with_schedule_backlog_and_last_run() -> None:
    served = serve()
    id_ = await old_memory(served)
    [before] = (await call(served, "GET", "/v1/jobs")).json()["jobs"]
    ran = await call(served, "POST", "/v1/jobs/retention/run", json={"force": True})
    [after] = (await call(served, "GET", "/v1/jobs")).json()["jobs"]

    assert before["name"] == "retention" and before["status"] == "idle"
    assert before["backlog"]["expire"] == 1 and before["last_run"] is None
    assert before["next_due_at"].endswith("T20:40:00Z")
    assert ran.json()["status"] == "done" and ran.json()["counts"]["expired"] == 1
    assert after["last_run"]["id"] == ran.json()["run_id"] and after["backlog"]["expire"] == 0
    assert after["last_run"]["started_by"] == "hand" and after["last_success_at"] is not None
    item = await call(served, "GET", f"/v1/items/{id_}")
    assert item.json()["item"]["state"] == "expired"


async def test_second_run_says_that_nothing_is_to_be_done() -> None:
    served = serve()
    response = await call(served, "POST", "/v1/jobs/retention/run", json={"force": True})
    assert response.status_code == 200
    assert response.json() == {
        "job": "retention",
        "status": "nothing",
        "run_id": None,
        "counts": {},
        "details": {},
    }
    runs = await call(served, "GET", "/v1/jobs/runs")
    assert runs.json() == {"runs": [], "count": 0, "next_cursor": None}


async def test_run_is_shown_and_can_be_taken_back_once() -> None:
    served = serve()
    id_ = await old_memory(served)
    run_id = (await call(served, "POST", "/v1/jobs/retention/run")).json()["run_id"]

    shown = await call(served, "GET", f"/v1/jobs/runs/{run_id}")
    assert shown.json()["run"]["counts"]["expired"] == 1
    undone = await call(served, "POST", f"/v1/jobs/runs/{run_id}/undo")
    assert undone.json()["undone"][0]["kind"] == "ItemExpired"
    assert undone.json()["run"]["undone_at"] is not None
    item = await call(served, "GET", f"/v1/items/{id_}")
    assert item.json()["item"]["state"] == "active"
    again = await call(served, "POST", f"/v1/jobs/runs/{run_id}/undo")
    error_of(again, status=409, code="conflict")


async def test_undo_of_a_run_names_every_later_edit_and_changes_nothing() -> None:
    served = serve()
    first = await old_memory(served)
    served.runtime.advance(-200 * DAY_MS)
    async with served.client() as client:
        made = await client.post("/v1/memories", headers=AGENT, json={"content": "讨厌香菜"})
    second = made.json()["data"]["id"]
    served.runtime.advance(200 * DAY_MS)
    run_id = (await call(served, "POST", "/v1/jobs/retention/run")).json()["run_id"]
    for id_ in (first, second):
        await call(served, "POST", f"/v1/items/{id_}/state", json={"action": "archive"})

    refused = await call(served, "POST", f"/v1/jobs/runs/{run_id}/undo")
    error = error_of(refused, status=409, code="conflict")
    streams = {one["stream"] for one in error["details"]["conflicts"]}
    assert streams == {f"item/{first}", f"item/{second}"}
    assert error["message"].startswith("2 events")


async def test_run_without_events_says_that_it_changed_nothing() -> None:
    served = serve({"ENABLE_AUTO_MEMORY": "false"})
    message = {"role": "user", "content": "你好"}
    await call(served, "POST", "/v1/ingest/messages", json={"messages": [message]})
    served.runtime.advance(20 * DAY_MS)
    ran = (await call(served, "POST", "/v1/jobs/retention/run")).json()
    assert ran["counts"]["messages"] == 1
    refused = await call(served, "POST", f"/v1/jobs/runs/{ran['run_id']}/undo")
    error_of(refused, status=409, code="conflict")


async def test_runs_are_paged_newest_first_and_narrowed_to_a_job() -> None:
    served = serve({"ENABLE_AUTO_MEMORY": "false"})
    ids = []
    for number in range(3):
        message = {"role": "user", "content": f"第{number}句"}
        await call(served, "POST", "/v1/ingest/messages", json={"messages": [message]})
        served.runtime.advance(20 * DAY_MS)
        ids.append((await call(served, "POST", "/v1/jobs/retention/run")).json()["run_id"])
    served.runtime.advance(-5 * DAY_MS)

    page = (await call(served, "GET", "/v1/jobs/runs?limit=1&job=retention")).json()
    assert [run["id"] for run in page["runs"]] == ids[-1:]
    rest = (await call(served, "GET", f"/v1/jobs/runs?cursor={page['next_cursor']}")).json()
    # The oldest had its thirty days when the last one ran.
    assert [run["id"] for run in rest["runs"]] == [ids[1]] and rest["next_cursor"] is None
    none = (await call(served, "GET", "/v1/jobs/runs?job=index")).json()
    assert none["runs"] == []


async def test_paused_job_waits_until_it_is_resumed_or_forced() -> None:
    served = serve()
    await old_memory(served)
    paused = await call(served, "POST", "/v1/jobs/retention/pause")
    assert paused.json()["job"]["status"] == "paused"
    refused = await call(served, "POST", "/v1/jobs/retention/run", json={})
    assert refused.json()["status"] == "paused"
    resumed = await call(served, "POST", "/v1/jobs/retention/resume")
    assert resumed.json()["job"]["status"] == "idle"
    assert (await call(served, "POST", "/v1/jobs/retention/run")).json()["status"] == "done"


async def test_failure_of_a_model_is_the_requests_own(monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve()

    async def pending(_: JobContext) -> dict[str, int]:
        return {"messages": 1}

    async def fail(_: JobContext) -> JobReport:
        raise UpstreamFailed("the model answered 500", hint="look at its provider")

    failing = Job("extract", "Fails", None, code=JobCode(pending, fail))
    monkeypatch.setattr(catalogue, "JOBS", {"extract": failing})
    monkeypatch.setattr(listing, "JOBS", {"extract": failing})
    refused = await call(served, "POST", "/v1/jobs/extract/run", json={"force": True})
    error_of(refused, status=502, code="upstream_failed")
    [job] = (await call(served, "GET", "/v1/jobs")).json()["jobs"]
    assert (job["status"], job["attempts"], job["last_run"]["status"]) == ("waiting", 1, "failed")


async def test_dream_of_named_days_runs_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    served, seen = serve(), []

    async def pending(_: JobContext) -> dict[str, int]:
        return {"days": 1}

    async def dream(ctx: JobContext) -> JobReport:
        seen.append((ctx.asked.dates, ctx.asked.force, ctx.asked.runs_max))
        return JobReport(answer={"day": "done"})

    monkeypatch.setattr(
        catalogue, "JOBS", {"dream": Job("dream", "D", None, code=JobCode(pending, dream))}
    )
    days = ["2026-02-27", "2026-02-28"]
    body = {"date": days[0], "dates": days, "max_runs": 2, "force": True}
    answer = await call(served, "POST", "/v1/memories/dream", json=body)
    assert [one["date"] for one in answer.json()["data"]] == days
    assert answer.json()["data"][0]["details"] == {"day": "done"}
    alias = await call(served, "POST", "/v1/memories/digest", json={})
    assert alias.json()["data"][0]["date"] is None
    assert seen == [((days[0],), True, 2), ((days[1],), True, 2), ((), False, None)]


async def test_preview_names_what_goes_next() -> None:
    served = serve()
    id_ = await old_memory(served)
    served.runtime.advance(-25 * DAY_MS)
    near = (await call(served, "GET", "/v1/jobs/retention/preview?days=4")).json()
    far = (await call(served, "GET", "/v1/jobs/retention/preview?days=6")).json()
    assert near["expire"] == [] and near["counts"]["expire"] == 0
    [memory] = far["expire"]
    assert (memory["item_id"], memory["title"]) == (id_, "喜欢喝乌龙茶")
    assert memory["goes_at"] == "2026-08-28T12:00:00Z" and far["messages_passed_to"] is None


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/jobs/sleep/run", {}, 404, "not_found"),
        ("POST", "/v1/jobs/sleep/pause", None, 404, "not_found"),
        ("GET", "/v1/jobs/runs?job=sleep", None, 404, "not_found"),
        ("GET", "/v1/jobs/runs/run_none", None, 404, "not_found"),
        ("POST", "/v1/jobs/runs/run_none/undo", None, 404, "not_found"),
        ("GET", "/v1/jobs/extract/preview", None, 400, "invalid_input"),
        ("GET", "/v1/jobs/retention/preview?days=367", None, 400, "invalid_input"),
        ("POST", "/v1/jobs/dream/run", {"date": "2026-02-30"}, 400, "invalid_input"),
        ("POST", "/v1/jobs/dream/run", {"dates": ["昨天"]}, 400, "invalid_input"),
        ("POST", "/v1/memories/dream", {"max_runs": 11}, 400, "invalid_input"),
    ],
)
async def test_wrong_request_is_refused(
    method: str, path: str, body: object, status: int, code: str
) -> None:
    response = await call(serve(), method, path, **({} if body is None else {"json": body}))
    error_of(response, status=status, code=code)


async def test_refused_message_is_listed_tried_again_and_let_go() -> None:
    served = serve()
    refused: set[str] = {"我喜欢紫色", "我喜欢灰色"}

    def answer(prompt: Prompt) -> str | Completion:
        if any(text in prompt.user for text in refused):
            raise ModelRefused("not that", reason="filtered")
        return echoing(prompt)

    app = replace(served.app, chat=ScriptedModel(answer))
    served = Served(app, create_asgi(app, routes=AREAS), served.runtime, served.kv)
    said = [{"role": "user", "content": text} for text in ("我养了一只猫", *sorted(refused))]
    await call(served, "POST", "/v1/ingest/messages", json={"messages": said})
    statuses = []
    for _ in range(5):
        served.runtime.advance(4 * HOUR_MS)
        ran = await call(served, "POST", "/v1/jobs/extract/run", json={"force": True})
        statuses.append(ran.status_code)
    assert statuses == [502, 502, 502, 200, 200]
    error_of_run = (await call(served, "GET", "/v1/jobs/runs?job=extract")).json()["runs"][-1]
    assert error_of_run["error"].startswith("model_refused")

    path = "/v1/jobs/extract/skipped"
    page = (await call(served, "GET", f"{path}?limit=1")).json()
    assert (page["count"], page["total"], page["skipped"][0]["reason"]) == (1, 2, "filtered")
    rest = (await call(served, "GET", f"{path}?cursor={page['next_cursor']}")).json()
    first, second = (one["skipped"][0]["message_id"] for one in (page, rest))
    again = await call(served, "POST", f"{path}/{first}/retry")
    error_of(again, status=502, code="model_refused")
    refused.clear()
    again = await call(served, "POST", f"{path}/{first}/retry")
    assert (again.status_code, again.json()["status"]) == (200, "done")
    dropped = await call(served, "POST", f"{path}/{second}/drop")
    assert dropped.json() == {"dropped": second}
    assert (await call(served, "GET", path)).json()["total"] == 0
    for verb in ("retry", "drop"):
        gone = await call(served, "POST", f"{path}/{first}/{verb}")
        error_of(gone, status=404, code="not_found")
