"""JSON Schema 2020-12 from pydantic models, as small as it can be said.

A tool list is paid for in tokens on every conversation, so titles, nulls of optional arguments
and references are taken out, and the result is the same bytes each time. It does not validate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from remembrancer.core.values import JSON

Schema = dict[str, JSON]
"""One JSON Schema object."""

NO_ARGUMENTS: Final[Mapping[str, JSON]] = {"type": "object", "additionalProperties": False}
"""The schema of a tool without arguments. Source: MCP 2025-11-25, server/tools."""

_ORDER: Final = (
    "type",
    "description",
    "enum",
    "const",
    "default",
    "items",
    "anyOf",
    "properties",
    "required",
)
_DROPPED: Final = frozenset({"title", "discriminator"})


def input_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a tool's arguments.

    An argument that may be null is published without the null: leaving it out says the same.
    """
    if not model.model_fields:
        return dict(NO_ARGUMENTS)
    return _compacted(model.model_json_schema(mode="validation"), keep_null=False)


def output_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a tool's structured result.

    It requires nothing at the top: a failing tool answers `{"error": …}`, and some clients hold
    that against the schema too (the TypeScript SDK 1.x does).
    """
    return open_top(_compacted(model.model_json_schema(mode="serialization"), keep_null=True))


def open_top(schema: Mapping[str, JSON]) -> Schema:
    """Return the schema without what its top level requires or forbids."""
    return {
        key: value
        for key, value in schema.items()
        if key not in ("required", "additionalProperties")
    }


def _compacted(root: Schema, *, keep_null: bool) -> Schema:
    found = root.pop("$defs", {})
    definitions = {
        name: _undocumented(schema)
        for name, schema in (found.items() if isinstance(found, dict) else ())
        if isinstance(schema, dict)
    }
    return _Compactor(definitions, keep_null=keep_null).node(_undocumented(root))


def _undocumented(schema: Schema) -> Schema:
    # The docstring of a model speaks to its reader, not to a model that calls the tool.
    return {key: value for key, value in schema.items() if key != "description"}


class _Compactor:
    """Walks one schema; knows the definitions that its references point to."""

    def __init__(self, definitions: Mapping[str, Schema], *, keep_null: bool) -> None:
        self._definitions = definitions
        self._keep_null = keep_null
        self._open: list[str] = []

    def node(self, schema: Schema) -> Schema:
        schema = self._without_null(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._inlined(reference.removeprefix("#/$defs/"), schema)
        kept = {key: self._value(key, value) for key, value in schema.items()}
        for key in _DROPPED:
            kept.pop(key, None)
        if kept.get("default", ...) in (None, [], {}):
            kept.pop("default", None)
        if not kept.get("properties", True):
            del kept["properties"]
        return dict(sorted(kept.items(), key=_rank))

    def _value(self, key: str, value: JSON) -> JSON:
        if key == "properties" and isinstance(value, dict):
            return {
                name: self.node(inner) if isinstance(inner, dict) else inner
                for name, inner in value.items()
            }
        if key in ("items", "additionalProperties") and isinstance(value, dict):
            return self.node(value)
        if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            return [self.node(inner) if isinstance(inner, dict) else inner for inner in value]
        return value

    def _inlined(self, name: str, schema: Schema) -> Schema:
        definition = self._definitions.get(name)
        if name in self._open or definition is None:
            # A thing that holds its own kind ends here: what comes below has the same form.
            return {"type": "object"}
        self._open.append(name)
        merged = self.node({**definition, **{k: v for k, v in schema.items() if k != "$ref"}})
        self._open.pop()
        return merged

    def _without_null(self, schema: Schema) -> Schema:
        branches = schema.get("anyOf")
        if not isinstance(branches, list) or {"type": "null"} not in branches:
            return schema
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        others = [branch for branch in branches if branch != {"type": "null"}]
        if len(others) != 1 or not isinstance(others[0], dict):
            return schema if self._keep_null else {**rest, "anyOf": others}
        only = {**others[0], **rest}
        if not self._keep_null:
            return only
        kind = only.get("type")
        if isinstance(kind, str) and not {"enum", "const"} & only.keys():
            return {**only, "type": [kind, "null"]}
        return schema


def _rank(pair: tuple[str, JSON]) -> tuple[int, str]:
    key = pair[0]
    return (_ORDER.index(key) if key in _ORDER else len(_ORDER), key)
