"""Bad input over HTTP, wherever the server is: the same documented code, and nothing is written."""

from __future__ import annotations

import pytest
from tests.e2e.doors import OK, FarDoors, Rest, Tool, furnish
from tests.e2e.serving import Server
from tests.e2e.test_doors_alike import CASES

FAR = {name: case for name, case in CASES.items() if case.key != "expired"}
"""Those that can be asked of any server: no request makes a key's years pass."""


@pytest.fixture(scope="module")
def doors(server: Server) -> FarDoors:
    """A store with what the cases are about."""
    opened = FarDoors(server)
    furnish(opened)
    return opened


@pytest.mark.parametrize("name", FAR)
def test_bad_input_has_the_same_code_everywhere(server: Server, doors: FarDoors, name: str) -> None:
    case = FAR[name]
    tool = Tool(case.tool.name, doors.filled(case.tool.arguments), case.tool.meta, case.tool.line)
    asked = case.rest
    request = Rest(
        asked.method, doors.filled(asked.url), doors.filled(asked.body), asked.text, asked.headers
    )
    before = doors.newest_event()
    assert doors.mcp_http(tool, case.key, case.namespace) == case.code
    assert doors.rest(request, case.key, case.namespace) == case.code
    assert doors.newest_event() == before


def test_good_input_is_written(server: Server, doors: FarDoors) -> None:
    before = doors.newest_event()
    body = {"title": "好的 and good"}
    assert doors.mcp_http(Tool("create_item", body), "writer", None) == OK
    between = doors.newest_event()
    assert doors.rest(Rest("POST", "/v1/items", body), "owner", None) == OK
    assert len({str(one) for one in (before, between, doors.newest_event())}) == 3
