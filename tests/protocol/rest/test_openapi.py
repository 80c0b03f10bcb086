"""The description: valid, complete, stable, and one page to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Literal

import jsonschema_rs
import pytest
from pydantic import Field
from tests.protocol.rest.doors import serve

from remembrancer.core.errors import CODES
from remembrancer.http.docs import POLICY, render_page
from remembrancer.http.openapi import build_document, render_document
from remembrancer.http.parsing import Limit, Query
from remembrancer.http.route_table import Route, RouteTable
from remembrancer.http.routes import AREAS, every_route

LISTED = [route for route in every_route() if route.is_listed]


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)


def test_document_is_the_same_bytes_each_time() -> None:
    assert render_document(RouteTable(AREAS)) == render_document(RouteTable(AREAS))


def test_document_describes_every_listed_route_once() -> None:
    document = build_document(RouteTable(AREAS))
    operations = [
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    ]
    expected = [
        (route.method, re.sub(r":path}", "}", path))
        for route in LISTED
        for path in (route.path, *route.aliases)
    ]
    assert sorted(operations) == sorted(expected)
    ids = [node["operationId"] for node in _walk(document) if "operationId" in node]
    assert len(set(ids)) == len(ids) == len(expected)


def test_document_references_resolve_and_schemas_are_valid() -> None:
    document = build_document(RouteTable(AREAS))
    for node in _walk(document):
        reference = node.get("$ref")
        if isinstance(reference, str):
            target: Any = document
            for part in reference.removeprefix("#/").split("/"):
                target = target[part]
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(schema)


def test_document_tells_every_status_that_a_code_of_the_route_has() -> None:
    document = build_document(RouteTable(AREAS))
    for route in LISTED:
        responses = document["paths"][re.sub(r":path}", "}", route.path)][route.method.lower()][
            "responses"
        ]
        statuses = {CODES[code].http for code in route.error_codes} | set(route.statuses)
        assert set(responses) == {str(status) for status in statuses}


async def test_document_is_served_and_answers_are_as_it_says() -> None:
    async with serve().client() as client:
        served = await client.get("/openapi.json")
        document = served.json()
        assert served.headers["content-type"] == "application/json"
        for path in ("/", "/health", "/openapi.json"):
            answer = (await client.get(path)).json()
            content = document["paths"][path]["get"]["responses"]["200"]["content"]
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            jsonschema_rs.validate(schema, answer)


class _Filter(Query):
    q: str = Field(description="What to look for.")
    kind: Literal["task", "memory"] | None = None
    at: int | str | None = None
    limit: Limit = 50


def test_document_describes_every_feature_of_a_route() -> None:
    routes = [
        _route(
            method="PUT",
            path="/files/{name:path}",
            name="put_file",
            params={"name": "A name."},
            aliases=("/file/{name}",),
            description="Keeps a file.",
            scope="memory:write",
            query=_Filter,
            raw_body=("text/markdown",),
            response={"type": "object"},
            media_type="text/markdown",
            statuses=(200, 201),
            if_match=True,
            query_token=True,
        ),
        _route(path="/hidden", name="hidden", is_listed=False),
        _route(path="/plain", name="plain", media_type="text/plain"),
        _route(path="/strict", name="strict", response={"type": "object"}, statuses=(200, 500)),
    ]
    document = build_document(RouteTable(routes))
    assert set(document["paths"]) == {"/files/{name}", "/file/{name}", "/plain", "/strict"}
    put = document["paths"]["/files/{name}"]["put"]
    assert document["paths"]["/file/{name}"]["put"]["operationId"] == "put_file_2"
    assert put["description"] == "Keeps a file."
    assert put["requestBody"] == {"content": {"text/markdown": {}}}
    named = {p["name"]: p for p in put["parameters"] if "name" in p}
    assert named["q"] == {
        "name": "q",
        "in": "query",
        "required": True,
        "description": "What to look for.",
        "schema": {"type": "string"},
    }
    assert named["kind"]["schema"] == {"type": "string", "enum": ["task", "memory"]}
    assert named["at"]["schema"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert named["limit"]["schema"]["default"] == 50
    shared = [p["$ref"].rpartition("/")[2] for p in put["parameters"] if "$ref" in p]
    assert shared == ["Namespace", "Bookmark", "IdempotencyKey", "IfMatch", "Token"]
    assert put["responses"]["201"]["content"] == {"text/markdown": {"schema": {"type": "object"}}}
    both = document["paths"]["/strict"]["get"]["responses"]["500"]["content"]
    assert len(both["application/json"]["schema"]["anyOf"]) == 2
    assert document["paths"]["/plain"]["get"]["responses"]["200"]["content"] == {"text/plain": {}}
    assert "Keeps a file." in render_page(RouteTable(routes))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


async def test_docs_page_loads_nothing_and_runs_no_script() -> None:
    async with serve().client() as client:
        response = await client.get("/docs")
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["content-security-policy"] == POLICY
    assert "'unsafe" not in POLICY
    page = _Page()
    page.feed(response.text)
    assert {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe"} == set()
    assert all(not name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert not any("style" in attrs or "src" in attrs for _, attrs in page.tags)


def test_docs_page_names_every_route_and_every_code() -> None:
    page = render_page(RouteTable(AREAS))
    for route in LISTED:
        assert f"id={route.name}" in page
        assert route.path in page
    for code in CODES:
        assert code in page


async def _nothing(_: Any) -> Any:
    raise NotImplementedError


def _route(**fields: Any) -> Route[Any, Any]:
    defaults: dict[str, Any] = {
        "method": "GET",
        "path": "/a",
        "name": "a",
        "area": "test",
        "summary": "Does it",
        "scope": None,
        "handler": _nothing,
    }
    return Route(**(defaults | fields))


@pytest.mark.parametrize(
    "routes",
    [
        [_route(), _route(path="/b")],
        [_route(), _route(name="b")],
        [_route(), _route(name="b", path="/b", aliases=("/a",))],
        [_route(path="/a/{id}")],
        [_route(params={"id": "An id."})],
        [_route(raw_body=("*/*",))],
        [_route(errors=("no_such_code",))],
        [_route(summary="")],
    ],
    ids=["name", "path", "alias", "param", "extra-param", "get-body", "code", "summary"],
)
def test_table_with_a_fault_is_refused(routes: list[Route[Any, Any]]) -> None:
    with pytest.raises(AssertionError):
        RouteTable(routes)


def test_table_prefers_literal_segments_to_parameters() -> None:
    table = RouteTable(
        [
            _route(path="/v1/{kind}/{id}", name="any", params={"kind": "K.", "id": "I."}),
            _route(path="/v1/items/{id}", name="one", params={"id": "I."}),
            _route(path="/v1/items/search", name="search"),
            _route(path="/files/{name:path}", name="file", params={"name": "N."}),
        ]
    )

    def found(path: str) -> str | None:
        match = table.find(path)
        return None if match is None else match.by_method["GET"].name

    assert found("/v1/items/search") == "search"
    assert found("/v1/items/itm_1") == "one"
    assert found("/v1/tags/x/") == "any"
    assert found("/files/a/b/c.md") == "file"
    assert found("/v1/items/a/b") is None
