"""How large a chat may be: pictures in base64 are, and one of a phone has to pass."""

from __future__ import annotations

import pytest
from tests.protocol.chat.test_anthropic_door import PATH
from tests.protocol.chat.test_injection import user
from tests.protocol.chat.upstreams import chats
from tests.protocol.rest.doors import error_of, serve

from remembrancer.core import limits
from remembrancer.http.rest.chat import ROUTES

POSTED = [route for route in ROUTES if route.method == "POST"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", PATH])
async def test_picture_above_the_usual_limit_passes(path: str) -> None:
    picture = "data:image/png;base64," + "A" * (limits.BODY_BYTES_MAX + 1)
    body = {"max_tokens": 5, "messages": [user(f"看图 {picture}")]}
    async with chats() as one:
        response = await one.post(body, path=path)
    assert response.status_code == 200


async def test_chat_above_its_limit_is_refused_with_the_settings_name() -> None:
    body = {"messages": [user("字" * 40_000)]}
    sizes = {"BODY_BYTES_MAX": "65536", "CHAT_BODY_BYTES_MAX": "65536"}
    async with chats(environ=sizes) as one:
        response = await one.post(body)
    error = error_of(response, status=413, code="payload_too_large")
    assert "CHAT_BODY_BYTES_MAX" in error["hint"]


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, limits.CHAT_BODY_BYTES_MAX),
        ({"CHAT_BODY_BYTES_MAX": "9000000"}, 9_000_000),
        ({"CHAT_BODY_BYTES_MAX": "70000"}, limits.BODY_BYTES_MAX),
        ({"BODY_BYTES_MAX": "50000000"}, 50_000_000),
    ],
)
def test_limit_of_a_chat_is_its_own_and_never_below_the_usual(
    environ: dict[str, str], wanted: int
) -> None:
    app = serve(environ).app
    assert {route.body_bytes_max(app) for route in POSTED} == {wanted}
