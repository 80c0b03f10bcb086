"""Schemathesis over the description: for every route, what it allows and what it forbids.

Nothing may fail with a 5xx, answer a status that is not described, or a body of another form.
Ids and names are often replaced by ones that exist, so that requests reach what they are about.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, SerializationContext
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.examples import IS_NEAR
from tests.protocol.rest.doors import OWNER, Served, serve
from tests.protocol.rest.talk import Talk, World, check_described, document, settle

from remembrancer.ports.assets import Asset

Operation = APIOperation[Any, Any, Any, Any]
AnyCase = Case[Any]

REQUESTS_PER_ROUTE: Final = 8 if IS_NEAR else 16
"""Requests for each route, half of them against its description: all in about half a minute."""

CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

SLUGS: Final = {"slug": ("家", "厨房", "profile"), "name": ("厨房", "家务", "Fun")}
ID_FIELDS: Final = frozenset(
    {"item_id", "source_id", "target_id", "superseded_by", "objective_id"}
    | {"source_item_id", "target_item_id", "by_item_id", "id"}
)
ID_LISTS: Final = frozenset({"ids", "target_ids", "target_item_ids"})
OWNER_FIELDS: Final = frozenset({"project", "topic", "project_slug", "group_slug", "group"})

SCHEMA: Final = schemathesis.openapi.from_dict(document())
OPERATIONS: Final = [
    result.ok() for result in SCHEMA.get_all_operations() if isinstance(result, Ok)
]


def _label(operation: Operation) -> str:
    return str(operation.label)


def _cases(operation: Operation) -> st.SearchStrategy[AnyCase]:
    allowed = operation.as_strategy(GenerationMode.POSITIVE)
    forbidden = operation.as_strategy(GenerationMode.NEGATIVE)
    return st.one_of(allowed, forbidden)


def _settle_into(case: AnyCase, world: World, choice: int) -> None:
    """Let a case speak of things that exist, in its path, its query and its body."""
    ids = (world.milk, world.bread, world.gone, world.goal)
    existing = ids[choice % len(ids)]
    for name in case.path_parameters or {}:
        chosen = SLUGS.get(name, (existing,))
        case.path_parameters[name] = quote(chosen[choice % len(chosen)])
    for part in (case.query, case.body):
        if isinstance(part, dict):
            for name in part:
                if name in ID_FIELDS:
                    part[name] = ids[(choice + len(name)) % len(ids)]
                elif name in ID_LISTS:
                    part[name] = list(ids[: choice % len(ids) + 1])
                elif name in OWNER_FIELDS:
                    part[name] = "家"


def _request(case: AnyCase) -> httpx.Request:
    """What the case's own transport would send, with the owner's key for the one it made up."""
    prepared = requests.Request(**case.as_transport_kwargs(base_url="http://h.example")).prepare()
    kept = {name.lower(): str(text) for name, text in prepared.headers.items()}
    for name in ("content-length", "x-api-key"):
        kept.pop(name, None)
    body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
    assert body is None or isinstance(body, bytes)
    headers = {**kept, **OWNER, "host": "h.example"}
    return httpx.Request(prepared.method or "", prepared.url or "", headers=headers, content=body)


class Panel:
    """A build of the panel that has every file."""

    async def read(self, path: str) -> Asset | None:
        return Asset("text/html; charset=utf-8", f"<!doctype html><title>{path}</title>".encode())


@schemathesis.serializer("application/x-ndjson")
def _lines(_: SerializationContext, value: object) -> bytes:
    """What an import takes: any value, as lines."""
    lines = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(line, default=str).encode() + b"\n" for line in lines)


async def _fresh() -> tuple[Served, World]:
    served = serve(assets=Panel())
    async with served.client() as client:
        return served, await settle(Talk(served, client))


async def _answer(served: Served, request: httpx.Request) -> httpx.Response:
    async with served.client() as client:
        response = await client.send(request)
        await response.aread()
        return response


@pytest.mark.parametrize("operation", OPERATIONS, ids=_label)
def test_route_holds_what_its_description_says(operation: Operation) -> None:
    with asyncio.Runner() as runner:
        served, world = runner.run(_fresh())

        @settings(
            max_examples=REQUESTS_PER_ROUTE,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=_cases(operation), choice=st.integers(-4, 7))
        def hold(case: AnyCase, choice: int) -> None:
            if choice >= 0:
                _settle_into(case, world, choice)
            request = _request(case)
            response = runner.run(_answer(served, request))
            case.validate_response(response, checks=CHECKS)
            if response.is_error:
                check_described(operation.method.upper(), str(request.url), response)

        hold()


def test_description_has_a_route_for_every_area() -> None:
    assert len(OPERATIONS) == len({_label(operation) for operation in OPERATIONS}) >= 50
