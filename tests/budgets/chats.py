"""What one chat turn costs, its work after the answer included: in the middle of a conversation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.budgets.places import Place

from remembrancer.app.gateway.chat import relay
from remembrancer.app.gateway.openai_speech import OpenAISpeech
from remembrancer.app.gateway.speech import Question
from remembrancer.core.values import Caller
from remembrancer.testing.outbound import ScriptedOutbound, json_answer

SCOPES = frozenset({"chat:proxy", "memory:read", "memory:write"})
REPLY = {
    "choices": [{"index": 0, "message": {"content": "好的 ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 9},
}


async def _turn(place: Place, messages: list[dict[str, Any]]) -> None:
    settings = place.app.settings.model_copy(
        update={"ai_gateway_base_url": "http://upstream.example"}
    )
    outbound = ScriptedOutbound(lambda _: json_answer(REPLY))
    app = replace(place.app, outbound=outbound, settings=settings)
    caller: Caller = place.bench.caller(scopes=SCOPES)
    raw = json.dumps({"model": "companion", "messages": messages}).encode()
    question = Question(raw=raw, headers={}, request_id=caller.cause)
    relayed = await relay(app, caller, question, OpenAISpeech(raw, {}))
    assert relayed.status == 200 and relayed.end is not None
    await relayed.end()  # as the door does, when the client has had its answer
    await place.bench.runtime.drain()


async def _after_ten_turns(place: Place, text: str) -> None:
    history: list[dict[str, Any]] = []
    for number in range(10):
        history.append({"role": "user", "content": f"turn {number}: what about milk 牛奶?"})
        await _turn(place, history)
        history.append({"role": "assistant", "content": "好的 ok"})
    place.start()
    await _turn(place, [*history, {"role": "user", "content": text}])


async def chat_turn(place: Place) -> None:
    await _after_ten_turns(place, "Which dentist did I book, and what does the user prefer? 牛奶")


async def chat_turn_that_saves(place: Place) -> None:
    await _after_ten_turns(place, "Remember that my locker at the gym is 4711 and opens at six.")
