"""Shapes: what answers look like, for the documents that describe them.

Nothing is parsed or rendered through a shape, so it is a plain class until a document is made
(`shape_models.py`); a pydantic model costs a start as much as a module of code does. No models of
requests here (`parsing.py`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Shape:
    """Base of answers: fields are declared as a pydantic model's are."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Let a shape stand in the fields of another one."""
        model_of = import_module("remembrancer.http.shape_models").model_of
        return handler(model_of(cls))


class AnyOf(Shape):
    """Base of answers that have one of several forms: their one field is `root`."""
