"""Whatever a client sends, a tool answers or refuses with a code of the table: never a defect."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.mcp.tools.agent import SERVER, Agent

from remembrancer.core.errors import CODES
from remembrancer.mcp.arguments import accepted_names

TOOLS = SERVER.registry.tools

PLAIN = """
itm_none 家 in-3-days 2026-02-30 tomorrow 5 true [1] {"a":1} -title low task memory fact active
completed complete daily supersedes <id> profile ';-- %_* https://a.b/c?d project
""".split()
WORDS = st.sampled_from([*PLAIN, "", " ", "\u0000", "in 3 days", "x" * 5_000])
NUMBERS = st.sampled_from([0, 1, -1, 2, 10, 11, 100, 2**31, 2**53, 2**70, 0.5, 1e300, -0.0])
SCALARS = st.none() | st.booleans() | NUMBERS | WORDS | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool, and arguments of its names with values of any kind, what is required often there."""
    name = draw(st.sampled_from(sorted(TOOLS)))
    names = sorted(accepted_names(TOOLS[name].arguments))
    arguments = draw(
        st.dictionaries(st.sampled_from(names), VALUES, max_size=5) if names else st.just({})
    )
    schema = SERVER.registry.described(TOOLS[name])["inputSchema"]
    assert isinstance(schema, dict)
    required = schema.get("required", [])
    assert isinstance(required, list)
    for one in required:
        if draw(st.booleans()):
            arguments.setdefault(str(one), draw(WORDS))
    return name, arguments


def _filled(value: Any, item_id: str) -> Any:
    if isinstance(value, list):
        return [_filled(one, item_id) for one in value]
    return item_id if value == "<id>" else value


@given(st.lists(calls(), min_size=8, max_size=8))
async def test_any_arguments_are_answered_or_refused_with_a_code(
    many: list[tuple[str, dict[str, Any]]],
) -> None:
    agent = Agent()
    item_id = await agent.make("一 thing", tags=["t"])
    for name, arguments in many:
        filled = {key: _filled(value, item_id) for key, value in arguments.items()}
        result = await agent.send(name, filled)
        if result.get("isError"):
            error = result["structuredContent"]["error"]
            assert error["code"] in CODES
            assert error["code"] != "internal_error", (name, filled)
            assert error["message"]
