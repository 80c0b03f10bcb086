"""Jobs' questions over the upstreams of chats: form, answers, refusals."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from remembrancer.app.models.chat import GatewayModel
from remembrancer.app.settings import load_settings
from remembrancer.core.errors import InvalidInput, LimitExceeded, ModelRefused, UpstreamFailed
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import Handler, ScriptedAnswer, ScriptedOutbound, json_answer

PROMPT = Prompt("deepseek/d", "Answer in JSON. 用 JSON 回答", "我喜欢茶", 99)
REPLY = {
    "choices": [{"message": {"content": '{"a": "茶"}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 3},
}


def model_over(handler: Handler, **environ: str) -> tuple[GatewayModel, ScriptedOutbound]:
    outbound = ScriptedOutbound(handler)
    given = {"AI_GATEWAY_BASE_URL": "http://upstream.example", "CF_AIG_TOKEN": "t", **environ}
    return GatewayModel(outbound, load_settings(given)), outbound


async def test_prompt_is_asked_and_answered() -> None:
    model, outbound = model_over(lambda _: json_answer(REPLY))
    assert await model.complete(PROMPT) == Completion('{"a": "茶"}', False, 20, 3)
    [sent] = outbound.sent
    assert json.loads(sent.body) == {
        "model": "deepseek/d",
        "messages": [
            {"role": "system", "content": PROMPT.system},
            {"role": "user", "content": "我喜欢茶"},
        ],
        "max_tokens": 99,
    }


async def test_answer_that_ends_at_the_limit_is_cut() -> None:
    reply = {"choices": [{"message": {"content": "half"}, "finish_reason": "length"}]}
    model, _ = model_over(lambda _: json_answer(reply))
    assert (await model.complete(PROMPT)).is_cut


async def test_server_that_takes_no_form_is_asked_without_it() -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        if "response_format" in json.loads(request.body):
            return json_answer({"error": {"message": "response_format?"}}, status=400)
        return json_answer(REPLY)

    model, outbound = model_over(answer)
    assert (await model.complete(replace(PROMPT, schema={"type": "object"}))).text == '{"a": "茶"}'
    assert len(outbound.sent) == 2


async def test_claude_is_asked_in_its_own_form() -> None:
    reply = {
        "type": "message",
        "content": [{"type": "text", "text": "茶"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    model, outbound = model_over(lambda _: json_answer(reply))
    prompt = replace(PROMPT, model="anthropic/claude-haiku-4-5")
    assert await model.complete(prompt) == Completion("茶", False, 5, 2)
    assert outbound.sent[0].url == "http://upstream.example/anthropic/v1/messages"


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, UpstreamFailed), (429, LimitExceeded), (402, LimitExceeded), (500, UpstreamFailed)],
)
async def test_refusal_names_its_status_and_never_the_prompt(
    status: int, error: type[Exception]
) -> None:
    body = {"error": {"message": "you said 我喜欢茶", "type": "some_error"}}
    model, _ = model_over(lambda _: json_answer(body, status=status))
    with pytest.raises(error, match=rf"status {status} \(some_error\)") as caught:
        await model.complete(PROMPT)
    assert "茶" not in str(caught.value)


async def test_no_server_is_a_refusal() -> None:
    model, _ = model_over(lambda _: json_answer(REPLY), AI_GATEWAY_BASE_URL="")
    with pytest.raises(InvalidInput, match="no model server"):
        await model.complete(PROMPT)


async def test_openais_own_models_are_limited_by_their_newer_field() -> None:
    model, outbound = model_over(lambda _: json_answer(REPLY))
    await model.complete(replace(PROMPT, model="openai/gpt-9"))
    assert json.loads(outbound.sent[0].body)["max_completion_tokens"] == 99


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (400, {"code": "context_length_exceeded", "message": "x"}, "too_long"),
        (
            400,
            {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"},
            "too_long",
        ),
        (413, {"type": "request_too_large"}, "too_long"),
        (413, {}, "too_long"),
        (400, {"code": "content_filter", "message": "x"}, "filtered"),
        (400, {"code": "data_inspection_failed", "message": "x"}, "filtered"),
        (400, {"message": "Input may contain inappropriate content"}, "filtered"),
        (400, {"message": "输入包含敏感内容"}, "filtered"),
        (403, {"code": "content_policy_violation"}, "filtered"),
        (451, {}, "filtered"),
    ],
)
async def test_refusal_of_this_very_prompt_is_told_from_others(
    status: int, error: dict[str, str], reason: str
) -> None:
    model, _ = model_over(lambda _: json_answer({"error": error}, status=status))
    with pytest.raises(ModelRefused) as refused:
        await model.complete(PROMPT)
    assert refused.value.reason == reason
    assert "茶" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "model_not_found", "message": "no such model"}),
        (400, {"message": "unknown field"}),
        (401, {"message": "content filter"}),
        (403, {"message": "this key may not use the model"}),
        (404, {"message": "not found"}),
        (500, {"message": "context length"}),
        (503, {"message": "moderation is down"}),
    ],
)
async def test_what_is_not_about_the_prompt_is_no_refusal_of_it(
    status: int, error: dict[str, str]
) -> None:
    model, _ = model_over(lambda _: json_answer({"error": error}, status=status))
    with pytest.raises(UpstreamFailed) as failed:
        await model.complete(PROMPT)
    assert not isinstance(failed.value, ModelRefused)


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": "I"}, "finish_reason": "content_filter"},
        {"message": {"content": None, "refusal": "I cannot"}, "finish_reason": "stop"},
    ],
)
async def test_answer_that_is_a_refusal_counts_as_one(choice: dict[str, object]) -> None:
    model, _ = model_over(lambda _: json_answer({"choices": [choice]}))
    with pytest.raises(ModelRefused):
        await model.complete(PROMPT)


async def test_claude_that_refuses_counts_as_refusing() -> None:
    reply = {"type": "message", "content": [], "stop_reason": "refusal", "usage": {}}
    model, _ = model_over(lambda _: json_answer(reply))
    with pytest.raises(ModelRefused):
        await model.complete(replace(PROMPT, model="anthropic/claude-haiku-4-5"))
