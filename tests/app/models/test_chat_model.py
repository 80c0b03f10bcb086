"""Jobs' questions over the upstreams of chats: form, answers, refusals."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from remembrancer.app.models.chat import GatewayModel
from remembrancer.app.settings import load_settings
from remembrancer.core.errors import InvalidInput, LimitExceeded, UpstreamFailed
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
