"""Who a call is written for: an agent, unless a person makes it by hand with the user's own key."""

from __future__ import annotations

import pytest
from tests.protocol.mcp.sample import SampleApp, call_by, legacy, sample_server

from remembrancer.core.values import JSON
from remembrancer.mcp.call import BY_HAND_KEY


@pytest.mark.parametrize(
    ("meta", "actor", "written"),
    [
        pytest.param({BY_HAND_KEY: True}, "user", "user", id="by-hand"),
        pytest.param({BY_HAND_KEY: True}, "agent:key", "agent:key", id="an-agent's-key"),
        pytest.param({BY_HAND_KEY: "true"}, "user", "agent:mcp", id="not-true"),
        pytest.param({}, "user", "agent:mcp", id="nothing-said"),
    ],
)
async def test_call_is_the_user_s_only_by_hand_and_with_the_user_s_key(
    meta: dict[str, JSON], actor: str, written: str
) -> None:
    app = SampleApp()
    request = legacy("tools/call", name="look", arguments={}, _meta=meta)
    await sample_server().handle(request, call_by(app=app, actor=actor))
    [(who, _)] = app.calls
    assert who.actor == written
