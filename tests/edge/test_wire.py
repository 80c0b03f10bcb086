"""The composition of an isolate: what is bound is served, what is missing is said."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.edge.databases import D1, Kv, bindings
from tests.edge.platform import Ai, Bucket, Delivered, Index, Producer
from tests.edge.standins import PRINTED, Answer, Body, Context, JsException, Request, Response

from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.limits import EDGE_CHAT_BODY_BYTES_MAX
from remembrancer.edge import bindings as names
from remembrancer.edge.wire import Isolate
from worker import Default

OWNER = {"authorization": "Bearer sk-owner", "host": "memory.example"}


async def ask(isolate: Isolate, env: SimpleNamespace, request: Request) -> Response:
    """One request to an isolate, with all that it leaves to be done."""
    context = Context()
    made: Response = await isolate.fetch(env, context, request)
    await context.settle()
    return made


def capture(title: str, **more: str) -> Request:
    """The request that keeps a task, or what else is named."""
    body = json.dumps({"title": title, **more}).encode()
    return Request("POST", given={**OWNER, "content-type": "application/json"}, body=Body([body]))


def json_of(made: Response) -> Any:
    """The JSON of an answer."""
    return json.loads(made.data)


async def test_item_is_kept_and_found_with_a_bookmark() -> None:
    env = bindings()
    isolate = Isolate()
    made = await ask(isolate, env, capture("吃荔枝"))
    assert made.status == 201, made.data
    assert made.header("x-remembrancer-bookmark") == "bookmark-2"
    listed = await ask(isolate, env, Request(given={**OWNER, "x-remembrancer-bookmark": "b-7"}))
    assert [item["title"] for item in json_of(listed)["items"]] == ["吃荔枝"]
    assert env.DB.starts[-1] == "b-7"


async def test_chat_may_have_what_an_isolate_can_hold_and_no_more() -> None:
    for announced, status in ((EDGE_CHAT_BODY_BYTES_MAX, 400), (15_000_000, 413)):
        headers = {**OWNER, "content-type": "application/json", "content-length": str(announced)}
        body = Body([b"{", b" " * (announced - 2), b"}"])
        address = "https://memory.example/v1/chat/completions"
        made = await ask(Isolate(), bindings(), Request("POST", address, headers, body))
        assert made.status == status, made.data
        assert (body.reads == 0) is (status == 413)


async def test_worker_is_the_isolate_behind_the_sdks_class() -> None:
    env, context = bindings(), Context()
    made = await Default(context, env).fetch(Request(url="https://memory.example/health"))
    await context.settle()
    assert isinstance(made, Response)
    assert (made.status, json_of(made)["status"]) == (200, "ok")


async def test_every_request_has_one_line_in_the_platforms_log() -> None:
    PRINTED.clear()
    await ask(Isolate(), bindings(), capture("secret words"))
    lines = [json.loads(line) for _, line in PRINTED]
    assert [(line["event"], line["status"]) for line in lines] == [("request", 201)]
    assert "secret" not in PRINTED[0][1]


async def test_variables_of_other_kinds_than_text_are_settings_too() -> None:
    env = bindings(MCP_QUERY_TOKEN_ENABLED=False, RATE_LIMIT_PER_MINUTE=1, UNKNOWN=object())
    isolate = Isolate()
    asked = Request(url="https://memory.example/v1/items", given=OWNER)
    statuses = [(await ask(isolate, env, asked)).status for _ in range(2)]
    assert statuses == [200, 429]


@pytest.mark.parametrize(
    ("env", "named"),
    [
        pytest.param(SimpleNamespace(KV=Kv()), "DB", id="no-database"),
        pytest.param(SimpleNamespace(DB=D1()), "KV", id="no-cache"),
        pytest.param(bindings(RATE_LIMIT_PER_MINUTE="many"), "RATE_LIMIT_PER_MINUTE", id="setting"),
        pytest.param(bindings(IM_API_KEY="sk-owner"), "IM_API_KEY", id="key-twice"),
    ],
)
async def test_deployment_that_cannot_work_says_what_is_missing(
    env: SimpleNamespace, named: str
) -> None:
    made = await ask(Isolate(), env, Request())
    error = json_of(made)["error"]
    assert (made.status, error["code"]) == (500, "internal_error")
    assert named in error["message"]
    assert "sk-owner" not in made.data.decode()
    assert re.fullmatch(r"req_\w{26}", error["request_id"])


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("D1 DB is overloaded. Too many requests queued.", 503),
        ("D1 DB storage operation exceeded timeout which caused object to be reset.", 504),
        ("no such table: items", 500),
    ],
)
@pytest.mark.parametrize("place", [1, 2])
async def test_failing_database_is_one_of_our_errors(text: str, status: int, place: int) -> None:
    def fail(call: int) -> None:
        if call == place:
            raise JsException(f"D1_ERROR: {text}")

    made = await ask(Isolate(), bindings(DB=D1(fail=fail)), capture("a"))
    assert made.status == status
    assert set(json_of(made)["error"]) >= {"code", "message", "type", "hint", "request_id"}


async def test_failing_cache_degrades_and_does_not_fail() -> None:
    env = bindings(KV=Kv(is_broken=True))
    isolate = Isolate()
    made = await ask(isolate, env, Request(url="https://memory.example/health"))
    assert (made.status, json_of(made)["status"]) == (200, "degraded")
    context = Request(url="https://memory.example/v1/context/startup", given=OWNER)
    assert (await ask(isolate, env, context)).status == 200


def everything_bound(**more: Any) -> SimpleNamespace:
    """An environment with every binding of wrangler.toml."""
    return bindings(VECTORS=Index(), AI=Ai(), JOBS=Producer(), **more)


async def test_what_is_captured_is_embedded_by_the_queues_message() -> None:
    env, isolate = everything_bound(), Isolate()
    await ask(isolate, env, capture("吃荔枝"))
    [[sent]] = env.JOBS.batches
    assert (sent.body.kind, sent.body.namespace) == ("index", "default")
    assert env.VECTORS.calls == []
    message, context = Delivered(sent.body), Context()
    worker = Default(context, env)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("worker._ISOLATE", isolate)
        await worker.queue(SimpleNamespace(messages=[message]))
        await context.settle()
    assert message.fate == "ack"
    [(name, rows)] = env.VECTORS.calls
    assert (name, len(rows), len(rows[0].values)) == ("upsert", 1, 768)
    [(model, inputs, _)] = env.AI.calls
    assert model == "@cf/google/embeddinggemma-300m"
    assert "吃荔枝" in inputs.text[0]


async def test_message_delivered_twice_embeds_once() -> None:
    env, isolate = everything_bound(), Isolate()
    await ask(isolate, env, capture("吃荔枝"))
    [[sent]] = env.JOBS.batches
    for _ in range(2):
        context, message = Context(), Delivered(sent.body)
        await isolate.queue(env, context, SimpleNamespace(messages=[message]))
        await context.settle()
        assert message.fate == "ack"
    assert len(env.VECTORS.calls) == 1


async def test_line_of_the_schedule_leaves_a_message_for_every_namespace() -> None:
    env, isolate, context = everything_bound(), Isolate(), Context()
    await ask(isolate, env, capture("吃荔枝"))
    env.JOBS.batches.clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("worker._ISOLATE", isolate)
        await Default(context, env).scheduled(SimpleNamespace(cron="0 */4 * * *"), env, context)
    await context.settle()
    assert [[one.body.kind for one in batch] for batch in env.JOBS.batches] == [["extract"]]


async def test_failing_schedule_is_told_without_the_databases_words() -> None:
    def fail(_: int) -> None:
        raise JsException("D1_ERROR: near 'secret words': overloaded")

    env, isolate = everything_bound(DB=D1(fail=fail)), Isolate()
    PRINTED.clear()
    with pytest.raises(RemembrancerError) as caught:
        await isolate.scheduled(env, Context(), "0 */4 * * *")
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None
    assert [json.loads(line)["event"] for _, line in PRINTED] == ["defect"]
    assert "secret words" not in PRINTED[0][1]


async def test_spent_quota_of_models_keeps_the_vectors_waiting_and_nothing_fails() -> None:
    env, isolate = everything_bound(), Isolate()
    env.AI.answer = Answer(429, {}, Body([b'{"errors":[{"code":3036,"message":"quota"}]}']))
    assert (await ask(isolate, env, capture("吃荔枝"))).status == 201
    [[sent]] = env.JOBS.batches
    context, message = Context(), Delivered(sent.body)
    await isolate.queue(env, context, SimpleNamespace(messages=[message]))
    await context.settle()
    assert (message.fate, env.VECTORS.calls) == ("ack", [])
    search = Request(url="https://memory.example/v1/items?q=荔枝", given=OWNER)
    assert (await ask(isolate, env, search)).status == 200


async def test_worker_without_the_newer_bindings_still_keeps_and_finds() -> None:
    env, isolate = bindings(), Isolate()
    assert (await ask(isolate, env, capture("吃荔枝"))).status == 201
    context = Context()
    await isolate.scheduled(env, context, "*/15 * * * *")
    await context.settle()


def test_worker_imports_neither_local_nor_command_line_nor_fakes(root: Path) -> None:
    code = (
        "import sys; from tests.edge.standins import install; install(); import worker;"
        "print(*sorted(m for m in sys.modules if m.startswith('remembrancer.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    rings = {name.split(".")[1] for name in done.stdout.split()}
    assert rings == {"app", "core", "edge", "http", "mcp", "ports", "store"}


def test_configuration_binds_what_the_wire_asks_for_and_names_nobodys_resources(root: Path) -> None:
    text = (root / "wrangler.toml").read_text(encoding="utf-8")
    config = tomllib.loads(text)
    assert (root / config["main"]).is_file()
    assert config["compatibility_date"] == "2026-11-01"
    assert set(config["compatibility_flags"]) == {"python_workers", "enable_request_signal"}
    assert config["keep_vars"] is True
    assert config["observability"]["logs"]["invocation_logs"] is False
    assert [each["binding"] for each in config["d1_databases"]] == [names.DATABASE]
    assert [each["binding"] for each in config["kv_namespaces"]] == [names.CACHE]
    assert [each["binding"] for each in config["vectorize"]] == [names.INDEX]
    assert config["ai"]["binding"] == names.MODELS
    panel = {"binding": names.PANEL, "run_worker_first": True, "html_handling": "none"}
    assert panel.items() <= config["assets"].items()
    assert f'binding = "{names.BUCKET}"' in text and "r2_buckets" not in config
    assert [each["binding"] for each in config["queues"]["producers"]] == [names.QUEUE]
    [consumer] = config["queues"]["consumers"]
    assert consumer["queue"] == config["queues"]["producers"][0]["queue"]
    assert consumer["dead_letter_queue"]
    crons = config["triggers"]["crons"]
    assert len(set(crons)) == len(crons)
    assert set(crons) == {job.cron for job in JOBS.values() if job.cron is not None}
    assert (root / config["d1_databases"][0]["migrations_dir"]).is_dir()
    assert "vars" not in config and "account_id" not in config
    assert not re.search(r"\b(?:id|database_id|preview_id)\s*=", text)


async def test_long_text_moves_into_the_bucket_with_the_sweep_and_is_read_from_there() -> None:
    bucket = Bucket()
    env, isolate = everything_bound(ARTIFACTS=bucket), Isolate()
    text = "很长的内容。" * 2_000
    request = capture("长文", kind="memory", content=text)
    made = json_of(await ask(isolate, env, request))["item"]
    env.JOBS.batches.clear()
    context = Context()
    await isolate.scheduled(env, context, "*/15 * * * *")
    await context.settle()
    for sent in [one for batch in env.JOBS.batches for one in batch]:
        context, message = Context(), Delivered(sent.body)
        await isolate.queue(env, context, SimpleNamespace(messages=[message]))
        await context.settle()
        assert message.fate == "ack"
    assert [value.decode() for value in bucket.held.values()] == [text]
    url = f"https://memory.example/v1/artifacts/{made['artifact_id']}"
    found = await ask(isolate, env, Request(url=url, given=OWNER))
    assert json_of(found)["artifact"]["text"] == text
