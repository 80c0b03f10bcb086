"""Areas of routes and tools: found before they are imported, imported once, and true to them."""

from __future__ import annotations

import subprocess
import sys
from typing import get_type_hints

import pytest
from pydantic import Field

from remembrancer.http.route_table import Area, RouteTable
from remembrancer.http.routes import AREAS, every_route
from remembrancer.http.shape_models import model_of
from remembrancer.http.shapes import AnyOf, Shape
from remembrancer.mcp.catalogue import AREAS as TOOL_AREAS
from remembrancer.mcp.registry import Late, Registry, ToolArea

NOTHING: tuple[object, ...] = ()
TAGS = Area("remembrancer.http.rest.tags", ("/v1/tags",))
SEARCH = ToolArea("remembrancer.mcp.tools.search", ("semantic_search", "find_semantic_conflicts"))


def _in_fresh_python(code: str) -> str:
    run = [sys.executable, "-c", code]
    return subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout


def test_table_imports_an_area_when_one_of_its_paths_is_asked_for() -> None:
    told = _in_fresh_python(
        "import sys\n"
        "from remembrancer.http.route_table import RouteTable\n"
        "from remembrancer.http.routes import AREAS\n"
        "table = RouteTable(AREAS)\n"
        "name = 'remembrancer.http.rest.items'\n"
        "print(name in sys.modules, '/v1/items/{item_id}' in table.paths, name in sys.modules)\n"
        "found = table.find('/v1/items/itm_1')\n"
        "print(name in sys.modules, found.allow, found.params)\n"
        "print('remembrancer.http.rest.admin' in sys.modules)\n"
    )
    assert told.splitlines() == [
        "False True False",
        "True ('DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH') {'item_id': 'itm_1'}",
        "False",
    ]


def test_registry_imports_an_area_when_one_of_its_tools_is_called() -> None:
    told = _in_fresh_python(
        "import sys\n"
        "from remembrancer.mcp.catalogue import make_server\n"
        "registry = make_server().registry\n"
        "names = [f'remembrancer.mcp.{n}' for n in ('tools.search', 'tools.items', 'prompts')]\n"
        "print([name in sys.modules for name in names])\n"
        "print(registry.tool('semantic_search').title)\n"
        "print([name in sys.modules for name in names])\n"
    )
    assert told.splitlines() == [str([False] * 3), "Search", str([True, False, False])]


def test_every_route_and_tool_stands_in_its_area() -> None:
    names = [name for area in TOOL_AREAS for name in area.names]
    assert list(Registry(TOOL_AREAS).tools) == names
    served = {path for route in every_route() for path in route.paths}
    assert served == {path for area in AREAS for path in area.paths}


@pytest.mark.parametrize(
    "paths", [(), ("/v1/tags", "/v1/tag"), ("/v1/tag",)], ids=["none", "too-many", "other"]
)
def test_area_that_names_other_paths_than_its_routes_is_refused(paths: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="differ in"):
        Area(TAGS.module, paths).load()


def test_two_areas_with_one_path_are_refused() -> None:
    with pytest.raises(AssertionError, match="two areas"):
        RouteTable([TAGS, Area("remembrancer.http.rest.items", ("/v1/tags",))])


def test_area_and_a_route_with_one_path_are_refused_when_it_is_loaded() -> None:
    table = RouteTable([*TAGS.load(), TAGS])
    with pytest.raises(AssertionError, match="two routes"):
        table.find("/v1/tags")


def test_area_loaded_ahead_is_the_one_that_is_found() -> None:
    table = RouteTable([TAGS])
    table.load("/v1/tags", "/nowhere")
    found = table.find("/v1/tags/")
    assert found is not None
    assert list(found.by_method.values()) == list(table.routes)
    assert table.find("/v1/tags/{x}") is None


@pytest.mark.parametrize(
    "names",
    [("semantic_search",), tuple(reversed(SEARCH.names))],
    ids=["one-missing", "other-order"],
)
def test_area_that_names_other_tools_than_its_own_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError, match="its area names"):
        ToolArea(SEARCH.module, names).load()


def test_late_entries_must_be_there() -> None:
    assert Late("remembrancer.mcp.prompts", "PROMPTS").load()
    with pytest.raises(AssertionError, match="is empty"):
        Late(__name__, "NOTHING").load()


class _Part(Shape):
    """A part."""

    name: str
    parts: list[_Part] = Field(default_factory=list)


class _Whole(_Part):
    """A whole."""

    size: int | None = None


class _Either(AnyOf):
    """One of two."""

    root: _Part | _Whole


def test_shape_becomes_a_model_once_with_its_fields_defaults_and_parents() -> None:
    model = model_of(_Whole)
    assert model_of(_Whole) is model
    assert issubclass(model, model_of(_Part))
    assert list(model.model_fields) == list(get_type_hints(_Whole)) == ["name", "parts", "size"]
    schema = model.model_json_schema()
    assert (schema["title"], schema["description"]) == ("_Whole", "A whole.")
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["parts"]["items"] == {"$ref": "#/$defs/_Part"}


def test_answer_of_several_forms_is_described_by_them() -> None:
    schema = model_of(_Either).model_json_schema()
    assert schema["anyOf"] == [{"$ref": "#/$defs/_Part"}, {"$ref": "#/$defs/_Whole"}]
