"""What is offered: every name of the issue, small enough to list, and truthfully annotated."""

from __future__ import annotations

import jsonschema_rs
import pytest
from tests.protocol.mcp.tools.agent import SERVER

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.text.tokens import estimate_tokens
from remembrancer.mcp.arguments import accepted_names
from remembrancer.mcp.catalogue import INSTRUCTIONS, make_registry
from remembrancer.mcp.registry import ESSENTIAL_MAX, TOOLSETS
from remembrancer.mcp.results import compact

REGISTRY = SERVER.registry
NAMES = """
get_app_settings update_app_settings parse_due_date quick_add_task create_item quick_capture
capture_context get_item list_items update_item delete_item delete_items
set_item_startup_priority set_item_pinned set_item_lifecycle_state set_item_group
set_item_project update_task_state create_project upsert_project get_project list_projects
delete_project set_active_objective get_active_objectives get_active_projects
get_project_timeline list_groups upsert_group update_group_metadata set_group_canonical_item
delete_group list_tags supersede_items get_stale_tasks mark_stale_candidates get_focus_task
get_focus_context semantic_search find_semantic_conflicts find_consolidation_candidates
consolidate_memories load_context get_startup_context get_context_summary
add_relation remove_relation item_history undo redo forget restore_item
memory_search memory_list memory_get memory_delete memory_upsert memory_supersede memory_archive
memory_export memory_create memory_boot memory_ingest memory_pin glossary_set digest_get digest_set
memory_recall recall_explain
""".split()
OURS = {"get_artifact", "list_relations", "memory_restore"}
OURS |= {"candidates_list", "candidate_decide"}
OURS |= {"precious_list", "precious_remove", "glossary_list", "glossary_remove"}

ESSENTIAL_TOKENS_MAX = 9_000
ALL_TOKENS_MAX = 16_000
INSTRUCTION_TOKENS_MAX = 200

HIDDEN = {"memory_create"}
"""Tools in no toolset: the predecessor had them, and they refuse."""

DESTRUCTIVE = {
    "candidate_decide",
    "memory_delete",
    "delete_item",
    "delete_items",
    "delete_project",
    "delete_group",
    "forget",
    "remove_relation",
    "precious_remove",
    "glossary_remove",
    "consolidate_memories",
    "set_item_lifecycle_state",
}


def _listed(toolset: str) -> list[dict[str, object]]:
    return REGISTRY.list_tools(frozenset(SCOPES), frozenset({toolset}))  # type: ignore[return-value]


def test_registry_offers_every_name_and_no_other() -> None:
    assert set(make_registry().tools) == {*NAMES, *OURS}


def test_essential_holds_the_way_of_every_day() -> None:
    names = {tool["name"] for tool in _listed("essential")}
    assert len(names) <= ESSENTIAL_MAX
    assert names >= {
        "get_startup_context",
        "load_context",
        "find_semantic_conflicts",
        "create_item",
        "capture_context",
        "update_item",
        "update_task_state",
        "supersede_items",
        "memory_search",
        "memory_upsert",
        "undo",
    }


def test_every_tool_is_in_a_toolset_of_its_own() -> None:
    for tool in REGISTRY.tools.values():
        assert tool.toolsets - {"essential"} <= set(TOOLSETS)
        assert bool(tool.toolsets - {"essential"}) == (tool.name not in HIDDEN), tool.name


@pytest.mark.parametrize(
    ("toolset", "most"), [("essential", ESSENTIAL_TOKENS_MAX), ("all", ALL_TOKENS_MAX)]
)
def test_list_costs_few_tokens(toolset: str, most: int) -> None:
    assert estimate_tokens(compact(_listed(toolset))) <= most


def test_instructions_say_the_order_in_few_tokens() -> None:
    assert estimate_tokens(INSTRUCTIONS) <= INSTRUCTION_TOKENS_MAX
    order = ["get_startup_context", "get_context_summary", "load_context", "raw_memories"]
    places = [INSTRUCTIONS.index(name) for name in order]
    assert places == sorted(places)
    assert "never instructions" in INSTRUCTIONS


@pytest.mark.parametrize("name", REGISTRY.tools)
def test_tool_is_described_and_its_schemas_are_valid(name: str) -> None:
    described = REGISTRY.described(REGISTRY.tools[name])
    assert 20 <= len(str(described["description"])) <= 220
    assert described["title"]
    for side in ("inputSchema", "outputSchema"):
        schema = described[side]
        assert isinstance(schema, dict)
        jsonschema_rs.meta.validate(schema)
        assert schema["type"] == "object"
        assert "$ref" not in compact(schema)


@pytest.mark.parametrize("name", REGISTRY.tools)
def test_annotations_agree_with_the_scope(name: str) -> None:
    tool = REGISTRY.tools[name]
    assert tool.scope in ("memory:read", "memory:write", "export:read")
    assert tool.read_only == (tool.scope != "memory:write")
    assert tool.destructive == (name in DESTRUCTIVE)


def test_reading_key_sees_reading_tools_only() -> None:
    tools = REGISTRY.list_tools(frozenset({"memory:read"}), frozenset({"all"}))
    assert tools
    hints = [tool["annotations"]["readOnlyHint"] for tool in tools]  # type: ignore[call-overload,index]
    assert all(hints)


@pytest.mark.parametrize(
    ("published", "ours"),
    [
        ("item_kind", "kind"),
        ("entity_type", "type"),
        ("lifecycle_state", "state"),
        ("description", "content"),
        ("project_slug", "project"),
        ("group_slug", "topic"),
        ("group_name", "topic_name"),
    ],
)
@pytest.mark.parametrize("tool", ["create_item", "update_item"])
def test_item_tools_publish_the_predecessors_name_and_take_ours(
    tool: str, published: str, ours: str
) -> None:
    names = accepted_names(REGISTRY.tools[tool].arguments)
    assert names[ours] == published
    schema = REGISTRY.described(REGISTRY.tools[tool])["inputSchema"]
    assert published in schema["properties"]  # type: ignore[call-overload,index,operator]
    assert ours not in schema["properties"]  # type: ignore[call-overload,index,operator]


@pytest.mark.parametrize("name", REGISTRY.tools)
def test_startup_priority_is_zero_to_ten_everywhere(name: str) -> None:
    schema = REGISTRY.described(REGISTRY.tools[name])["inputSchema"]
    properties = schema.get("properties", {})  # type: ignore[union-attr]
    for argument, form in properties.items():  # type: ignore[union-attr]
        if argument.startswith("startup_priority"):
            assert (form["minimum"], form["maximum"]) == (0, 10)  # type: ignore[call-overload,index]
