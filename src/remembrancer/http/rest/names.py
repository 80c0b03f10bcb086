"""Names of fields: what was not sent is told from null, and the predecessor's names are taken.

The base of every body of this folder. Which fields there are is each area's own part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from remembrancer.http.parsing import Body


def optional(**more: Any) -> Any:  # Any: as pydantic's own Field
    """Return a field that may be left out; null is taken only where its type says so."""
    return Field(default=None, **more)


class Named(Body):
    """A body that knows what was sent.

    *Shape:* `OTHER_NAMES` other name → name; both may be sent when they say the same. Of
    `EXACTLY_ONE` the description says that one must be sent; the use cases say so too.
    """

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {}
    EXACTLY_ONE: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _take_other_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        taken = {name: _whole(part) for name, part in value.items()}
        for other, name in cls.OTHER_NAMES.items():
            if other not in taken:
                continue
            given = taken.pop(other)
            if name in taken and taken[name] != given:
                raise ValueError(f"{other!r} and {name!r} say different things")
            taken[name] = given
        return taken

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent, by their own names."""
        return self.model_dump(exclude_unset=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the other names too; an optional field has no default that one could send."""
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        properties = schema.get("properties", {})
        for field in properties.values():
            if field.get("default", 0) is None:
                del field["default"]
        for other, name in cls.OTHER_NAMES.items():
            kept = {key: part for key, part in properties[name].items() if key != "title"}
            properties[other] = kept | {"description": f"Means `{name}`.", "deprecated": True}
        if cls.EXACTLY_ONE:
            schema["oneOf"] = [_sent(name, cls.OTHER_NAMES) for name in cls.EXACTLY_ONE]
        _accept_either(schema, cls.OTHER_NAMES)
        return reference


def _whole(value: object) -> object:
    # 17.0 is an integer in JSON Schema, and some clients know no other way to write one.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sent(name: str, other_names: Mapping[str, str]) -> JsonSchemaValue:
    """Return the schema of objects that have a field, under whatever name."""
    names = [name, *(other for other, own in other_names.items() if own == name)]
    return {"anyOf": [{"required": [one]} for one in names]}


def _accept_either(schema: JsonSchemaValue, other_names: Mapping[str, str]) -> None:
    """Let a required field come under its other names."""
    required = schema.get("required", [])
    for name in [name for name in required if name in other_names.values()]:
        schema.setdefault("allOf", []).append(_sent(name, other_names))
        required.remove(name)
    if not required:
        schema.pop("required", None)
