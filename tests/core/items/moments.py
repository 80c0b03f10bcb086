"""A fixed moment and short ways to make and change items in core tests."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from remembrancer.core.dates import parse_iso
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.decide import create_item, edit_item
from remembrancer.core.ledger.changes import Fields, apply_changes
from remembrancer.core.ledger.events import Draft

ZONE = ZoneInfo("Asia/Shanghai")


def ms(text: str) -> int:
    """Milliseconds of an ISO time in the fixed zone."""
    return parse_iso(text, zone=ZONE)


NOW = Moment(ms("2026-03-02T10:00"), ZONE)
"""A Monday morning in Shanghai."""


def at(text: str) -> Moment:
    return Moment(ms(text), ZONE)


def made(edit: ItemEdit, *, when: Moment = NOW) -> Fields:
    """The fields of a new item; the title may be left out."""
    return apply_changes({}, create_item({"title": "x", **edit}, at=when).changes)


def edited(fields: Fields, edit: ItemEdit, *, when: Moment = NOW) -> Fields:
    return applied(fields, edit_item(fields, edit, at=when))


def applied(fields: Fields, draft: Draft | None) -> Fields:
    return fields if draft is None else apply_changes(fields, draft.changes)
