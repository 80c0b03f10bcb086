"""A JSON schema for the answer, in the form that Claude's structured outputs take.

Objects are closed, and limits that the sampler cannot keep become part of the description. It
does not validate answers. Any ring may import it.
*Source:* Anthropic, structured outputs (JSON schema limitations).
"""

from __future__ import annotations

from typing import Final

from remembrancer.core.chat.shapes import Body, object_of, string_of, write_json

_REFUSED: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)
"""Keywords that are refused; they are told to the model in words."""

_DEPTH_MAX: Final = 64
"""Levels that are looked at; a schema that is deeper is passed on as it is from there."""


def closed_schema(schema: Body, depth: int = 0) -> Body:
    """Return `schema` with closed objects and without refused limits; key order stays."""
    if depth > _DEPTH_MAX:
        return schema
    told: Body = {key: schema[key] for key in _REFUSED if key in schema}
    if isinstance(least := schema.get("minItems"), int) and least > 1:
        told["minItems"] = least
    result: Body = {}
    for key, value in schema.items():
        if key in told:
            continue
        if key in ("properties", "$defs", "definitions"):
            result[key] = {
                name: closed_schema(inner, depth + 1) if isinstance(inner, dict) else inner
                for name, inner in object_of(value).items()
            }
        elif isinstance(value, dict) and key in ("items", "additionalProperties"):
            result[key] = closed_schema(value, depth + 1)
        elif isinstance(value, list) and key in ("anyOf", "oneOf", "allOf"):
            name = "anyOf" if key == "oneOf" else key
            result[name] = [
                closed_schema(inner, depth + 1) if isinstance(inner, dict) else inner
                for inner in value
            ]
        else:
            result[key] = value
    if schema.get("type") == "object" or "properties" in schema:
        result["additionalProperties"] = False
    if told:
        words = ", ".join(f"{key}: {write_json(value)}" for key, value in told.items())
        result["description"] = f"{string_of(schema.get('description'))} ({words})".strip()
    return result
