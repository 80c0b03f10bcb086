"""The command line's jobs: listed, run, shown, taken back, paused, and what goes next."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Program

from remembrancer.app.jobs import catalogue, listing
from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.core.values import DAY_MS
from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import Statement


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program with a catalogue of the one job that needs no model."""
    for module in (catalogue, listing):
        monkeypatch.setattr(module, "JOBS", {"retention": JOBS["retention"]})
    monkeypatch.setenv("DELETED_KEEP_DAYS", "1")
    monkeypatch.setenv("MEMORY_EXPIRE_DAYS", "1")
    return Program(tmp_path)


def age(program: Program, sql: str) -> None:
    """Make the store's rows older by hand: the program has the machine's clock."""

    async def run() -> None:
        store = await SqliteStore.open(program.data / "remembrancer.db")
        await store.write([Statement(sql, (2 * DAY_MS,))])
        store.close()

    asyncio.run(run())


def old_memory(program: Program) -> str:
    id_ = str(program.item("remember", "喜欢喝乌龙茶")["id"])
    age(program, "UPDATE items SET updated_at = updated_at - ?, authored_by = 'agent'")
    return id_


def run_of(program: Program, *more: str) -> dict[str, Any]:
    answer: dict[str, Any] = program("jobs", "run", "retention", "--json", *more).json
    return answer


def test_jobs_list_shows_schedule_and_what_waits(program: Program) -> None:
    old_memory(program)
    [job] = program("jobs", "list", "--json").json["jobs"]
    assert (job["name"], job["cron"], job["backlog"]["expire"]) == ("retention", "40 20 * * *", 1)
    shown = program("jobs")
    assert shown.code == 0 and "retention" in shown.out and "expire 1" in shown.out


def test_jobs_run_does_the_work_once_and_undo_takes_it_back(program: Program) -> None:
    id_ = old_memory(program)
    preview = program("jobs", "preview", "--json").json
    assert [one["item_id"] for one in preview["expire"]] == [id_]
    assert "喜欢喝乌龙茶" in program("jobs", "preview").out

    ran = run_of(program, "--force")
    assert (ran["status"], ran["counts"]["expired"]) == ("done", 1)
    assert run_of(program)["status"] == "nothing"
    run = program("jobs", "show", ran["run_id"], "--json").json["run"]
    assert (run["status"], run["started_by"]) == ("done", "hand")
    assert ran["run_id"] in program("jobs", "show").out
    assert "expired 1" in program("jobs", "show", ran["run_id"]).out
    assert program("jobs", "show", "--job", "retention", "--json").json["count"] == 1
    undone = program("jobs", "undo", ran["run_id"], "--json").json
    assert undone["undone"][0]["kind"] == "ItemExpired"
    refused = program("jobs", "undo", ran["run_id"], "--json")
    assert (refused.code, refused.error["code"]) == (5, "conflict")


def test_jobs_run_says_in_words_what_it_did(program: Program) -> None:
    old_memory(program)
    shown = program("jobs", "run", "retention")
    assert shown.code == 0 and "retention: done" in shown.out and "expired" in shown.out


def test_jobs_pause_and_resume_steer_a_job(program: Program) -> None:
    old_memory(program)
    assert "paused" in program("jobs", "pause", "retention").out
    assert run_of(program)["status"] == "paused"
    resumed = program("jobs", "resume", "retention", "--json").json
    assert resumed["job"]["status"] == "idle"
    assert run_of(program)["status"] == "done"


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (("run", "sleep"), 4, "not_found"),
        (("show", "run_none"), 4, "not_found"),
        (("run", "retention", "--date", "昨天"), 2, "invalid_input"),
        (("preview", "--days", "400"), 2, "invalid_input"),
    ],
)
def test_wrong_arguments_are_refused(
    program: Program, arguments: tuple[str, ...], code: int, name: str
) -> None:
    ran = program("jobs", *arguments, "--json")
    assert ran.code == code
    assert json.loads(ran.err)["error"]["code"] == name


def refused_message(program: Program) -> str:
    """A message that a model refused, as extraction leaves it."""
    program.item("remember", "喜欢喝乌龙茶")
    now = "unixepoch('now') * 1000"
    for sql in (
        (
            "INSERT INTO messages (namespace, id, conversation_id, role, content, client_hash,"
            f" created_at) SELECT 'default', 'msg_1', 'c', 'user', '我喜欢\n紫色', 'h', {now} - ?"
        ),
        (
            "INSERT INTO skipped_messages SELECT namespace, id, created_at, created_at, 'run_1',"
            " 'filtered', 1 FROM messages WHERE ? > 0"
        ),
    ):
        age(program, sql)
    return "msg_1"


def test_jobs_skipped_shows_what_a_model_refused_and_drop_lets_it_go(program: Program) -> None:
    id_ = refused_message(program)
    [one] = program("jobs", "skipped", "--json").json["skipped"]
    assert (one["message_id"], one["reason"]) == (id_, "filtered")
    shown = program("jobs", "skipped")
    assert shown.code == 0 and id_ in shown.out and "我喜欢 紫色" in shown.out
    dropped = program("jobs", "drop", id_)
    assert dropped.code == 0 and f"let go: {id_}" in dropped.out
    assert program("jobs", "skipped", "--json").json["total"] == 0
    again = program("jobs", "drop", id_, "--json")
    assert (again.code, again.error["code"]) == (4, "not_found")


def test_jobs_retry_without_a_model_says_so(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = refused_message(program)
    monkeypatch.setattr(catalogue, "JOBS", JOBS)
    monkeypatch.setenv("EXTRACT_MODEL", "off")
    refused = program("jobs", "retry", id_, "--json")
    assert (refused.code, refused.error["code"]) == (5, "conflict")
    assert program("jobs", "skipped", "--json").json["total"] == 1
