"""Bodies that nobody should send are answered or refused, never a fault of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.protocol.chat.test_anthropic_door import claude
from tests.protocol.chat.test_transparency import FIELDS, TEXT, VALUE
from tests.protocol.chat.upstreams import chats, echo_upstream
from tests.protocol.rest.doors import OWNER

from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import ScriptedAnswer

KINDS = "text image tool_use tool_result thinking redacted_thinking document image_url file odd"
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS.split()) | VALUE},
    optional={
        "text": TEXT | VALUE,
        "source": VALUE,
        "content": VALUE,
        "input": VALUE,
        "id": VALUE,
        "name": VALUE,
        "tool_use_id": VALUE,
        "thinking": VALUE,
        "signature": VALUE,
        "image_url": VALUE,
        "cache_control": VALUE,
    },
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "tool", "odd"]) | VALUE,
        "content": TEXT | st.lists(BLOCK | VALUE, max_size=4) | VALUE,
    },
    optional={"tool_calls": VALUE | st.lists(VALUE, max_size=2), "tool_call_id": VALUE},
)
BODY = st.builds(
    lambda messages, fields, more: {**fields, **more, "messages": messages},
    st.lists(MESSAGE, max_size=5) | VALUE,
    FIELDS,
    st.fixed_dictionaries(
        {},
        optional={
            "system": VALUE | st.lists(BLOCK, max_size=2),
            "tools": VALUE | st.lists(VALUE | BLOCK, max_size=2),
            "metadata": VALUE,
            "max_tokens": VALUE,
            "stream": VALUE,
            "thinking": VALUE,
            "stop_sequences": VALUE,
            "output_config": VALUE,
        },
    ),
)
MODELS = ["companion", "anthropic/claude-sonnet-5", "workers-ai/@cf/meta/l"]


def upstream(request: OutboundRequest) -> ScriptedAnswer:
    """Each form's own answer."""
    json.loads(request.body)
    if "anthropic" in request.url:
        return claude(request)
    answer = echo_upstream()(request)
    assert isinstance(answer, ScriptedAnswer)
    return answer


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
@examples(150)
@given(body=BODY, model=st.sampled_from(MODELS))
async def test_odd_body_is_answered_or_refused(path: str, body: dict[str, Any], model: str) -> None:
    async with chats(upstream) as one:
        response = await one.client.post(
            path,
            content=json.dumps({**body, "model": model}),
            headers={**OWNER, "content-type": "application/json"},
        )
        await one.served.runtime.drain()
    assert response.status_code in (200, 400), response.text
