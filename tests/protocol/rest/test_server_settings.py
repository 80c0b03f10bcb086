"""REST of the variables that a server was started with."""

from __future__ import annotations

from tests.protocol.rest.doors import KEYS
from tests.protocol.rest.talk import talk

from remembrancer.app.settings import FIELDS


async def test_server_tells_its_variables_and_never_a_secret() -> None:
    async with talk() as one:
        answer = await one.send("GET", "/v1/settings/server")
        shown = answer.json()["settings"]
    assert [row["variable"] for row in shown] == [name.upper() for name in FIELDS]
    by_name = {row["variable"]: row for row in shown}
    owner = by_name["CHATBOX_API_KEY"]
    assert (owner["value"], owner["secret"], owner["source"]) == ("***", True, "environment")
    unset = by_name["CLOUDFLARE_API_TOKEN"]
    assert (unset["value"], unset["secret"], unset["source"]) == (None, True, "default")
    rate = by_name["RATE_LIMIT_PER_MINUTE"]
    assert (rate["value"], rate["default"]) == ("600", "600")
    assert "no limit" in rate["accepts"]
    assert not any(key in answer.text for key in KEYS.values())
