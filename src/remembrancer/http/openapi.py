"""OpenAPI 3.1, made from the route table; and the route that serves it.

*Promise:* the same table gives the same bytes. Nothing is described here that the table does not
say.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from remembrancer.core.errors import CODES
from remembrancer.core.limits import IDEMPOTENCY_KEY_CHARS_MAX
from remembrancer.core.product import NAME, VERSION
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.conditions import BOOKMARK_CHARS_MAX
from remembrancer.http.route_table import AnyRoute, Route, RouteTable, path_params
from remembrancer.http.shape_models import model_of

# Any: a document is JSON, and so are pydantic's schemas.
Document = dict[str, Any]
"""A part of an OpenAPI document."""

_REF: Final = "#/components/schemas/"

_ERROR_SCHEMA: Final[Document] = {
    "title": "Error",
    "description": "The one shape of every error. Routes of Anthropic's form add `type` and "
    "`request_id` around it, as that form's clients read it.",
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "error"},
        "request_id": {"type": "string"},
        "error": {
            "type": "object",
            "required": ["code", "message", "type", "hint", "request_id"],
            "additionalProperties": False,
            "properties": {
                "code": {"type": "string", "enum": list(CODES)},
                "message": {"type": "string"},
                "type": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "request_id": {"type": "string"},
                "details": {"type": "object"},
            },
        },
    },
}

_PARAMETERS: Final[Document] = {
    "Namespace": {
        "name": "namespace",
        "in": "query",
        "description": "A namespace other than the key's own; needs the scope admin.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes a repetition of this request answer the first result.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": IDEMPOTENCY_KEY_CHARS_MAX,
            "pattern": "^[!-~]+$",
        },
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "The etag of the version that this change is meant for; 409 otherwise.",
        "schema": {"type": "string", "pattern": '^(\\*|"[0-9]{1,16}")$'},
    },
    "Bookmark": {
        "name": "x-remembrancer-bookmark",
        "in": "header",
        "description": "Reads are at least as new as the write that returned this.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": BOOKMARK_CHARS_MAX,
            "pattern": "^[!-~]+$",
        },
    },
    "Token": {
        "name": "token",
        "in": "query",
        "description": "The key, for clients that cannot send headers; may be switched off.",
        "schema": {"type": "string"},
    },
}


def build_document(table: RouteTable) -> Document:
    """Return the whole document for a table."""
    schemas = _schemas(table)
    paths: dict[str, Document] = defaultdict(dict)
    for route in table.routes:
        if route.is_listed:
            for number, path in enumerate((route.path, *route.aliases)):
                paths[_plain(path)][route.method.lower()] = _operation(route, path, number, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": NAME,
            "version": VERSION,
            "description": "Long-term memory for AI agents and chat clients, owned by its user.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": area} for area in sorted({r.area for r in table.routes if r.is_listed})],
        "paths": dict(paths),
        "components": {
            "schemas": {**schemas.definitions, "Error": _ERROR_SCHEMA},
            "parameters": _PARAMETERS,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def render_document(table: RouteTable) -> bytes:
    """Return the document's bytes: keys sorted, UTF-8."""
    text = json.dumps(build_document(table), ensure_ascii=False, indent=1, sort_keys=True)
    return text.encode() + b"\n"


class _Schemas:
    """The models' schemas: shared definitions, and a reference for each model."""

    def __init__(self, models: list[tuple[type[BaseModel], JsonSchemaMode]]) -> None:
        references, document = models_json_schema(models, ref_template=_REF + "{model}")
        self.definitions: Document = document.get("$defs", {})
        self._references = references

    def reference(self, model: type[BaseModel], mode: JsonSchemaMode) -> Document:
        """Return the reference to a model's schema."""
        return dict(self._references[(model, mode)])

    def properties(self, model: type[BaseModel]) -> tuple[Document, list[str]]:
        """Return the properties of a query model and the names of the required ones."""
        reference: str = self.reference(model, "validation")["$ref"]
        schema = self.definitions[reference.removeprefix(_REF)]
        return schema.get("properties", {}), schema.get("required", [])


def _schemas(table: RouteTable) -> _Schemas:
    models: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {}
    for route in table.routes:
        for model in (route.query, route.body):
            if model is not None:
                models[(model, "validation")] = None
        if isinstance(route.response, type):
            models[(model_of(route.response), "serialization")] = None
    return _Schemas(list(models))


def _operation(route: AnyRoute, path: str, number: int, schemas: _Schemas) -> Document:
    operation: Document = {
        "operationId": route.name if number == 0 else f"{route.name}_{number + 1}",
        "tags": [route.area],
        "summary": route.summary,
        "parameters": _parameters(route, path, schemas),
        "responses": _responses(route, schemas),
        "security": _security(route),
    }
    if route.description:
        operation["description"] = route.description
    if route.scope is not None:
        operation["x-scope"] = route.scope
    if route.body is not None:
        schema = schemas.reference(route.body, "validation")
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    elif route.raw_body:
        operation["requestBody"] = {"content": {kind: {} for kind in route.raw_body}}
    return operation


def _security(route: AnyRoute) -> list[Document]:
    keys: list[Document] = [{"bearer": []}, {"key": []}]
    if route.needs_key:
        return keys
    return [{}, *keys] if route.greets else []


def _parameters(route: AnyRoute, path: str, schemas: _Schemas) -> list[Document]:
    result: list[Document] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": route.params[name],
            "schema": {"type": "string", "minLength": 1},
        }
        for name in path_params(path)
    ]
    if route.query is not None:
        properties, required = schemas.properties(route.query)
        for name, schema in properties.items():
            result.append(_query_parameter(name, schema, is_required=name in required))
    names = []
    if route.needs_key:
        names += ["Namespace", "Bookmark"]
        if route.is_unsafe:
            names.append("IdempotencyKey")
    if route.if_match:
        names.append("IfMatch")
    if route.query_token:
        names.append("Token")
    return result + [{"$ref": f"#/components/parameters/{name}"} for name in names]


def _query_parameter(name: str, schema: Mapping[str, Any], *, is_required: bool) -> Document:
    """Describe one parameter; a query cannot say null, so that option is left out."""
    plain = {key: value for key, value in schema.items() if key not in ("title", "default")}
    options = [option for option in plain.pop("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        plain = {**options[0], **plain}
    elif options:
        plain["anyOf"] = options
    if schema.get("default") is not None:
        plain["default"] = schema["default"]
    parameter: Document = {"name": name, "in": "query", "schema": plain}
    description = plain.pop("description", None)
    if description:
        parameter["description"] = description
    if is_required:
        parameter["required"] = True
    return parameter


def _responses(route: AnyRoute, schemas: _Schemas) -> Document:
    responses: Document = {}
    for status in route.statuses:
        responses[str(status)] = _success(route, schemas)
    codes: dict[int, list[str]] = defaultdict(list)
    for code in route.error_codes:
        codes[CODES[code].http].append(code)
    for status, names in codes.items():
        meanings = [f"`{name}`: {CODES[name].meaning}" for name in names]
        error: Document = {"schema": {"$ref": _REF + "Error"}}
        content = {"application/json": error}
        description = "; ".join(meanings)
        if str(status) in responses:
            shared = responses[str(status)]
            own = shared["content"]["application/json"]["schema"]
            shared["content"] = {"application/json": {"schema": {"anyOf": [own, error["schema"]]}}}
            shared["description"] += f"; {description}"
        else:
            responses[str(status)] = {"description": description, "content": content}
    return responses


def _success(route: AnyRoute, schemas: _Schemas) -> Document:
    response: Document = {"description": route.summary}
    if route.response is None:
        if route.media_type != "application/json":
            response["content"] = {route.media_type: {}}
        return response
    if isinstance(route.response, type):
        schema = schemas.reference(model_of(route.response), "serialization")
    else:
        schema = dict(route.response)
    response["content"] = {route.media_type: {"schema": schema}}
    return response


def _plain(path: str) -> str:
    for name in path_params(path):
        path = path.replace(f"{{{name}:path}}", f"{{{name}}}")
    return path


async def _document(call: Call[None, None]) -> Answer:
    body = _cached(call.table)
    return Answer(body, headers={"cache-control": "no-cache"})


def _cached(table: RouteTable) -> bytes:
    document = table.documents.get("openapi")
    if document is None:
        document = table.documents["openapi"] = render_document(table)
    return document


ROUTES: Final = (
    Route(
        method="GET",
        path="/openapi.json",
        name="openapi",
        area="health",
        summary="This description, in OpenAPI 3.1",
        scope=None,
        response={"type": "object"},
        handler=_document,
    ),
)
"""The route of the document."""
