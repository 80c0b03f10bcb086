"""Registry: who sees which tools, pages of lists, and URIs of templates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.protocol.mcp.sample import TOOLS, SampleApp, caller, sample_registry

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON
from remembrancer.mcp.registry import ESSENTIAL_MAX, Registry, Tool, parse_toolsets
from remembrancer.mcp.uri_templates import parse_uri_template

ALL = caller().scopes


def _names(registry: Registry[SampleApp], scopes: frozenset[str], tools: str | None) -> list[JSON]:
    return [tool["name"] for tool in registry.list_tools(scopes, parse_toolsets(tools))]


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        pytest.param(None, ["add", "look"], id="default"),
        pytest.param("", ["add", "look"], id="empty"),
        pytest.param("essential", ["add", "look"], id="essential"),
        pytest.param("memory", ["clash"], id="memory"),
        pytest.param(" journal , tasks ", ["break", "clash", "wait", "talk"], id="joined"),
        pytest.param("context", [], id="none"),
        pytest.param("all", ["add", "look", "break", "clash", "wait", "talk", "confirm"], id="all"),
    ],
)
def test_toolsets_choose_what_is_listed_in_declared_order(
    tools: str | None, names: list[str]
) -> None:
    assert _names(sample_registry(), ALL, tools) == names


def test_toolsets_unknown_name_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_toolsets("tasks,memery")
    assert refusal.value.message == "Unknown toolset 'memery'. Did you mean 'memory'?"
    assert "files, all" in str(refusal.value.hint)


def test_list_hides_what_the_scopes_do_not_permit() -> None:
    registry = sample_registry()
    reader = frozenset({"memory:read"})
    assert _names(registry, reader, "all") == ["look", "break", "clash", "wait", "talk"]
    assert [each["uri"] for each in registry.list_resources(reader)] == ["memo://today"]
    assert [each["name"] for each in registry.list_prompts(frozenset())] == ["greeting"]
    assert len(registry.list_templates(frozenset())) == 1


def test_tool_is_described_with_hints_and_schemas() -> None:
    add, look, *_ = sample_registry().list_tools(ALL, frozenset({"essential"}))
    assert add["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert look["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert "outputSchema" in add
    assert "outputSchema" not in look


def test_lookup_of_an_unknown_name_says_the_close_ones() -> None:
    registry = sample_registry()
    with pytest.raises(InvalidInput, match=r"Unknown tool 'lock'\. Did you mean 'look'\?"):
        registry.tool("lock")
    with pytest.raises(InvalidInput, match="The prompt's name must be a string, not null"):
        registry.prompt(None)


def test_pages_cover_the_list_once_each() -> None:
    registry = sample_registry(page_size=3)
    entries = registry.list_tools(ALL, frozenset({"all"}))
    seen: list[JSON] = []
    params: dict[str, JSON] = {}
    sizes = []
    while True:
        page, following = registry.page(entries, params)
        seen += page
        sizes.append(len(page))
        if following is None:
            break
        params = {"cursor": following}
    assert seen == entries
    assert sizes == [3, 3, 1]


@pytest.mark.parametrize("cursor", ["", "abc", None, 3, [], "ZnJvbTowCg=="], ids=repr)
def test_pages_refuse_a_cursor_that_none_gave(cursor: JSON) -> None:
    registry = sample_registry(page_size=3)
    entries = registry.list_tools(ALL, frozenset({"all"}))
    with pytest.raises(InvalidInput, match="Unknown cursor"):
        registry.page(entries, {"cursor": cursor})


def test_registry_refuses_a_name_declared_twice() -> None:
    with pytest.raises(AssertionError, match="declared twice"):
        Registry((*TOOLS, TOOLS[0]))


def test_essential_toolset_is_limited() -> None:
    many = [_named(f"tool{number}") for number in range(ESSENTIAL_MAX)]
    assert len(Registry(many).tools) == ESSENTIAL_MAX
    with pytest.raises(AssertionError, match="33 essential tools"):
        Registry([*many, _named("more")])


@pytest.mark.parametrize("name", ["", "a b", "名", "x" * 65], ids=["empty", "space", "han", "long"])
def test_registry_refuses_a_name_that_clients_cannot_take(name: str) -> None:
    with pytest.raises(AssertionError):
        Registry([_named(name)])


def _named(name: str) -> Tool[SampleApp, Any]:
    return replace(TOOLS[1], name=name)


@pytest.mark.parametrize(
    ("template", "uri", "parameters"),
    [
        pytest.param("a://{id}/data", "a://7/data", {"id": "7"}, id="segment"),
        pytest.param("a://{id}/data", "a://7/8/data", None, id="no-slash"),
        pytest.param("a://{id}/data", "a://7/data?x=1", None, id="no-query"),
        pytest.param("a://{id}", "a://%E4%B8%AD%2Fb", {"id": "中/b"}, id="decoded"),
        pytest.param("a://{+path}", "a://b/c.md", {"path": "b/c.md"}, id="rest"),
        pytest.param("a://{x}/{y}", "a://1/2", {"x": "1", "y": "2"}, id="two"),
        pytest.param("a://c{?f,g}", "a://c", {}, id="optional-query"),
        pytest.param("a://c{?f,g}", "a://c?g=%E4%B8%AD&f=", {"f": "", "g": "中"}, id="query"),
        pytest.param("a://c{?f}", "a://c?h=1", None, id="unknown-query"),
        pytest.param("a://c.d", "a://cxd", None, id="literal-dot"),
    ],
)
def test_uri_template_matches_what_it_made(
    template: str, uri: str, parameters: dict[str, str] | None
) -> None:
    assert parse_uri_template(template).match(uri) == parameters


@pytest.mark.parametrize("template", ["a://{?q}/x", "a://{x,y}"], ids=["query-first", "two-names"])
def test_uri_template_of_another_form_is_refused(template: str) -> None:
    with pytest.raises(AssertionError):
        parse_uri_template(template)
