"""What model servers in use say when they refuse, and what extraction makes of it: one message is
set aside and the others are learned, or nothing is, since it is about no message at all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, fact, facts, lines_of
from tests.app.distill.test_refusals import BAD, SAID, skipped
from tests.builders import NAMESPACE

from remembrancer.app.health import check_health
from remembrancer.app.jobs.running import run_job
from remembrancer.app.models.chat import GatewayModel
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.values import HOUR_MS
from remembrancer.ports.models import Prompt
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import ScriptedAnswer, ScriptedOutbound, json_answer

AZURE = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content"
    " management policy. Please modify your prompt and retry.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
}
ZHIPU = "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语。"
RISK = {"message": "Content Exists Risk", "type": "invalid_request_error", "param": None}
INSPECTED = "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain it."
HIGH_RISK = "The request was rejected because it was considered high risk"
TPM = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 34238."
WORKERS_AI = (
    "The estimated number of input and maximum output tokens (8810) exceeded this model"
    " context window limit (8192)."
)

REFUSALS: dict[str, tuple[int, Any, str]] = {
    "openai context": (
        400,
        {"error": {"code": "context_length_exceeded", "message": "maximum context length"}},
        "too_long",
    ),
    "openai string": (400, {"error": {"code": "string_above_max_length"}}, "too_long"),
    "openai gpt-5": (
        400,
        {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens."}},
        "too_long",
    ),
    "openai tokens a minute": (
        429,
        {"error": {"message": TPM, "type": "tokens", "code": "rate_limit_exceeded"}},
        "too_long",
    ),
    "openai policy": (400, {"error": {"code": "invalid_prompt", "message": "usage"}}, "filtered"),
    "azure": (400, {"error": AZURE}, "filtered"),
    "azure behind a relay": (
        400,
        {"error": {**AZURE, "message": "BadRequestError", "code": "400"}},
        "filtered",
    ),
    "anthropic context": (
        400,
        {"type": "error", "error": {"message": "prompt is too long: 9 > 8"}},
        "too_long",
    ),
    "anthropic size": (413, {"error": {"type": "request_too_large"}}, "too_long"),
    "anthropic limit": (
        400,
        {"error": {"message": "input length and `max_tokens` exceed context limit: 9 + 8 > 10"}},
        "too_long",
    ),
    "anthropic filter": (
        400,
        {"error": {"message": "Output blocked by content filtering policy"}},
        "filtered",
    ),
    "deepseek": (400, {"error": {**RISK, "code": "invalid_request_error"}}, "filtered"),
    "deepseek detail": (400, {"detail": "Content Exists Risk"}, "filtered"),
    "qwen": (
        400,
        {"error": {"code": "data_inspection_failed", "type": "data_inspection_failed"}},
        "filtered",
    ),
    "qwen native": (400, {"code": "DataInspectionFailed", "message": INSPECTED}, "filtered"),
    "qwen length": (
        400,
        {"error": {"message": "Range of input length should be [1, 98304]"}},
        "too_long",
    ),
    "zhipu": (400, {"error": {"code": "1301", "message": ZHIPU}}, "filtered"),
    "zhipu length": (400, {"error": {"code": "1261", "message": "Prompt 超长"}}, "too_long"),
    "moonshot": (
        400,
        {"error": {"code": 400, "message": HIGH_RISK, "param": "prompt", "type": "content_filter"}},
        "filtered",
    ),
    "moonshot plain": (400, {"error": {"message": HIGH_RISK}}, "filtered"),
    "minimax": (422, {"error": {"message": "input new_sensitive (1026)"}}, "filtered"),
    "minimax as success": (
        200,
        {"choices": None, "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}},
        "filtered",
    ),
    "doubao": (400, {"error": {"code": "InputTextSensitiveContentDetected"}}, "filtered"),
    "one-api": (400, {"error": {"code": "sensitive_words_detected"}}, "filtered"),
    "openrouter as success": (
        200,
        {"error": {"code": 403, "message": "requires moderation. Your input was flagged"}},
        "filtered",
    ),
    "gemini": (
        400,
        [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum"}}],
        "too_long",
    ),
    "gemini ends": (
        200,
        {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
        "filtered",
    ),
    "zhipu ends": (
        200,
        {"choices": [{"message": {"content": "我"}, "finish_reason": "sensitive"}]},
        "filtered",
    ),
    "ollama": (400, {"error": "input exceeds the context length of the model"}, "too_long"),
    "workers ai": (413, {"errors": [{"code": 3010, "message": WORKERS_AI}]}, "too_long"),
    "workers ai without a status": (
        500,
        {"errors": [{"code": 5021, "message": f"5021: {WORKERS_AI}"}]},
        "too_long",
    ),
    "workers ai in other words": (400, {"errors": [{"code": 3010, "message": "no"}]}, "rejected"),
    "law": (451, {}, "filtered"),
    "unknown words": (400, {"error": {"message": "nope", "code": "E77"}}, "rejected"),
    "other unknown words": (422, {"errmsg": "参数校验未通过"}, "rejected"),
    "no words": (400, "", "rejected"),
    "firewall": (403, "<html>Attention Required!</html>", "failing"),
    "crash": (500, {"error": "invalid character in tokenizer"}, "failing"),
}
"""Status and body of a refusal of one prompt → why its message is set aside."""

OTHERS: dict[str, tuple[int, Any]] = {
    "wrong key": (401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key"}}),
    "key may not": (403, {"error": {"message": "this key may not use the model"}}),
    "moonshot quota": (
        403,
        {
            "error": {
                "message": "Your account is not active, organization exceeded current quota",
                "type": "exceeded_current_quota_error",
            }
        },
    ),
    "no model": (404, {"error": {"code": "model_not_found"}}),
    "no model as 400": (400, {"error": {"message": "Model Not Exist", "type": "invalid_request"}}),
    "workers ai no model": (400, {"errors": [{"code": 5007, "message": "No such model @cf/x"}]}),
    "anthropic credit": (400, {"error": {"message": "Your credit balance is too low"}}),
    "parameter": (400, {"error": {"message": "Unrecognized request argument: temperature"}}),
    "deepseek balance": (402, {"error": {"message": "Insufficient Balance"}}),
    "rate": (429, {"error": {"message": "Rate limit reached. Please try again in 9.816s."}}),
    "workers ai quota": (429, {"errors": [{"code": 3036, "message": "daily free allocation"}]}),
    "outage": (500, {"error": {"message": "internal"}}),
    "gateway": (502, "<html>bad gateway</html>"),
    "overloaded": (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}),
}
"""Status and body of what is about no message."""


def answered(status: int, body: Any) -> ScriptedAnswer:
    return json_answer(body, status=status)


def upstream(refusal: tuple[int, Any], bad: str) -> ScriptedOutbound:
    """A server that answers well, but refuses whatever shows the message."""

    def handle(request: OutboundRequest) -> ScriptedAnswer:
        content = json.loads(request.body)["messages"][-1]["content"]
        user = content if isinstance(content, str) else content[0]["text"]
        if bad in user:
            return answered(*refusal)
        lines = lines_of(Prompt("m", "", user, 9))
        text = facts(*(fact(text, id_) for id_, role, text in lines if role == "user"))
        if "/anthropic/" in request.url:
            said = [{"type": "text", "text": text}]
            return json_answer({"type": "message", "content": said, "stop_reason": "end_turn"})
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return json_answer({"choices": [choice]})

    return ScriptedOutbound(handle)


def over(bench: Distiller, refusal: tuple[int, Any], *, bad: str, model: str) -> App:
    environ = {
        "AI_GATEWAY_BASE_URL": "http://upstream.example",
        "CF_AIG_TOKEN": "t",
        "EXTRACT_MODEL": model,
    }
    settings = load_settings(environ)
    chat = GatewayModel(upstream(refusal, bad), settings)
    return replace(bench.app, chat=chat, settings=settings)


def model_of(name: str) -> str:
    """The model whose server speaks so."""
    if name.startswith("workers ai"):
        return "workers-ai/@cf/meta/llama-3.1-8b-instruct"
    return "anthropic/claude-haiku-4-5" if name.startswith("anthropic") else "deepseek/chat"


async def visits(bench: Distiller, app: App, runs: int) -> list[str]:
    ended: list[str] = []
    for _ in range(runs):
        bench.runtime.advance(4 * HOUR_MS)
        answer = await run_job(app, "extract", NAMESPACE, trigger="cron")
        ended.append(str(answer["status"]))
        if answer["status"] == "nothing":
            break
    return ended


@pytest.mark.parametrize("name", REFUSALS)
async def test_refusal_in_use_sets_its_message_aside_and_the_others_are_learned(name: str) -> None:
    status, body, reason = REFUSALS[name]
    bench = Distiller(actor="agent:claude")
    await bench.say(*SAID[:5], BAD, *SAID[5:])
    app = over(bench, (status, body), bad=BAD, model=model_of(name))
    assert (await visits(bench, app, 40))[-1] == "nothing"
    assert [text for text in await bench.texts() if text in SAID] == SAID
    [one] = await skipped(bench)
    assert (one["content"], one["reason"]) == (BAD, reason)
    health = await check_health(app)
    assert any("refused 1 message" in why for why in health.reasons)


@pytest.mark.parametrize("name", OTHERS)
async def test_what_is_about_no_message_sets_none_aside_and_is_said(name: str) -> None:
    bench = Distiller(actor="agent:claude")
    await bench.say(*SAID[:3])
    app = over(bench, OTHERS[name], bad="", model=model_of(name))
    assert set(await visits(bench, app, 30)) == {"failed"}
    assert await skipped(bench) == []
    assert await bench.rows("SELECT * FROM job_cursors") == []
    errors = {str(row["error"]) for row in await bench.rows("SELECT error FROM job_runs")}
    expected = "limit_exceeded" if OTHERS[name][0] in (402, 429) else "upstream_failed"
    assert {error.split(":")[0] for error in errors} == {expected}
    well = over(bench, (500, ""), bad="no message has this", model=model_of(name))
    assert (await visits(bench, well, 30))[-1] == "nothing"
    assert await bench.texts() == SAID[:3]
    assert await bench.rows("SELECT * FROM refused_batches") == []
