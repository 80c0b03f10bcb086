"""The pydantic models of shapes, made once a document asks for them.

Only what describes the routes imports this.
"""

from __future__ import annotations

from inspect import get_annotations
from types import new_class
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, RootModel

from remembrancer.http.shapes import AnyOf, Shape


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_MODELS: Final[dict[type[Shape], type[BaseModel]]] = {}


def model_of(shape: type[Shape]) -> type[BaseModel]:
    """Return the model of a shape, made once."""
    if shape not in _MODELS:
        _MODELS[shape] = _made(shape)
    return _MODELS[shape]


def _made(shape: type[Shape]) -> type[BaseModel]:
    fields = get_annotations(shape)
    given = {name: value for name, value in vars(shape).items() if name in fields}
    namespace = {
        "__module__": shape.__module__,
        "__qualname__": shape.__qualname__,
        "__doc__": shape.__doc__,
        "__annotations__": fields,
        **given,
    }
    if AnyOf in shape.__bases__:
        parents: tuple[type[BaseModel], ...] = (RootModel[Any],)
    else:
        parents = tuple(
            _Model if parent is Shape else model_of(parent) for parent in shape.__bases__
        )
    made = new_class(shape.__name__, parents, exec_body=lambda filled: filled.update(namespace))
    return cast("type[BaseModel]", made)  # new_class says only `type`
