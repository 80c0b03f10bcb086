"""Whatever a client sends reaches the upstream but for `messages` and the model's name."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.protocol.chat.upstreams import chats, completion
from tests.protocol.rest.doors import OWNER

from remembrancer.testing.outbound import ScriptedAnswer

TEXT = st.text(max_size=40) | st.sampled_from(["你好 🙂", "\ud83d", "a\u2028b", "", "<b>&amp;"])
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image_url", "input_audio", "file", "新"])},
    optional={"text": TEXT, "image_url": st.fixed_dictionaries({"url": TEXT}), "x": VALUE},
)
CALL = st.fixed_dictionaries(
    {
        "id": TEXT,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT}),
    }
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "developer", "tool", "critic"]),
        "content": st.none() | TEXT | st.lists(PART, max_size=3),
    },
    optional={
        "name": TEXT,
        "tool_calls": st.lists(CALL, max_size=3),
        "tool_call_id": TEXT,
        "reasoning_content": TEXT,
        "unknown": VALUE,
    },
)
FIELDS = st.dictionaries(
    st.sampled_from(
        "seed stop tools tool_choice response_format metadata user prediction store logit_bias"
        " prompt_cache_key reasoning_effort 未知 top_p service_tier".split()
    ),
    VALUE,
    max_size=6,
).map(lambda fields: {k: v for k, v in fields.items() if k != "tools" or isinstance(v, list)})


def without_blocks(messages: list[Any]) -> list[Any]:
    return [{key: one[key] for key in one if key != "content"} for one in messages]


@examples(200)
@given(st.lists(MESSAGE, min_size=1, max_size=6), FIELDS, st.booleans(), VALUE)
async def test_request_and_reply_pass_unchanged(
    messages: list[Any], fields: dict[str, Any], stream: bool, reply: Any
) -> None:
    body = {"model": "gpt-odd", "messages": messages, "stream": stream, **fields}
    raw = json.dumps({**completion(), "more": reply}).encode()

    async with chats(lambda _: ScriptedAnswer(pieces=[raw[:50], raw[50:]])) as one:
        response = await one.client.post(
            "/v1/chat/completions",
            content=json.dumps(body),
            headers={**OWNER, "content-type": "application/json"},
        )
        await one.served.runtime.drain()
    assert response.status_code == 200, response.text
    assert response.content == raw
    sent = one.last
    assert {key: sent[key] for key in sent if key != "messages"} == {
        key: body[key] for key in body if key != "messages"
    }
    assert list(sent) == list(body)
    assert without_blocks(sent["messages"]) == without_blocks(messages)


async def test_body_of_a_megabyte_passes() -> None:
    text = "长 long. " * 120_000
    async with chats() as one:
        response = await one.say(text)
    assert response.status_code == 200
    assert one.last["messages"] == [{"role": "user", "content": text}]


async def test_body_over_the_cap_is_refused() -> None:
    sizes = {"BODY_BYTES_MAX": "100000", "CHAT_BODY_BYTES_MAX": "100000"}
    async with chats(environ=sizes) as one:
        response = await one.say("x" * 100_001)
    assert response.status_code == 413
    assert one.outbound.sent == []
