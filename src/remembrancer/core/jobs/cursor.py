"""How far a job is: a place in an order by time and id. Pure; every ring may import it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """Everything up to this time, and of this time up to this id, is done. *Units:* ms, UTC."""

    at_ms: int
    id: str = ""
