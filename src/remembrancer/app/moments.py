"""Looking at a past moment: from the words of `as_of` to a position in the ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso, parse_date
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.store import items as item_store
from remembrancer.store import ledger

_DIGITS: Final = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class AsOf:
    """A past moment. *Shape:* `position` 0 is before the first event; `at_ms` when it was given."""

    position: int
    at_ms: int | None = None


async def read_position(app: App, caller: Caller, text: str | None) -> AsOf | None:
    """Return the moment that a text names: a position in digits, else a date or time.

    *Shape:* None for now. *Raises:* InvalidInput (`invalid_date`). *Promise:* no round trip for
    a position, two for a time.
    """
    if text is None:
        return None
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return AsOf(int(text))
    [rows] = await app.sql.read([item_store.setting_statement(caller.namespace)])
    zone = zone_of(app, {**SETTINGS, **item_store.settings_of(rows.rows)})
    at_ms = parse_date(text, now_ms=app.runtime.now_ms(), zone=zone, field="as_of").at_ms
    [outcome] = await app.sql.read([ledger.position_statement(caller.namespace, at_ms)])
    position = int(str(outcome.rows[0]["position"])) if outcome.rows else 0
    return AsOf(position, at_ms)


def as_of_view(moment: AsOf | None) -> JSON:
    """Return the moment's answer form, or None for now."""
    if moment is None:
        return None
    at = None if moment.at_ms is None else format_iso(moment.at_ms)
    return {"position": moment.position, "at": at}
