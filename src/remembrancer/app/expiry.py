"""Until when an access key works, as a door is told: a moment, or a day to its end.

Making keys is `app.access`; the dates of items are `app.items.resolve`.
"""

from __future__ import annotations

from remembrancer.app.items.past import read_zone
from remembrancer.app.state import App
from remembrancer.core.dates import day_bounds, parse_date
from remembrancer.core.ids import Namespace


async def read_expiry(app: App, namespace: Namespace, text: str) -> int:
    """Return the moment in ms that `text` names, in the namespace's zone.

    *Shape:* a day without a time of day lasts until its midnight. *Raises:* InvalidInput.
    *Promise:* one round trip.
    """
    zone = await read_zone(app, namespace)
    now_ms = app.runtime.now_ms()
    parsed = parse_date(text, now_ms=now_ms, zone=zone, field="expires_at")
    return parsed.at_ms if parsed.has_time else day_bounds(parsed.at_ms, zone)[1] - 1
