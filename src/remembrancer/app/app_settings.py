"""Use cases of the namespace's own settings, and reading a due date aloud.

The process's environment settings are `app.settings`; the zone there is the default of a
namespace's zone.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso, format_local, parse_date
from remembrancer.core.ids import SETTINGS
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Head
from remembrancer.core.settings.decide import DEFAULTS, update_settings
from remembrancer.core.values import JSON, Caller
from remembrancer.store import items as store
from remembrancer.store import ledger
from remembrancer.store.ledger import StreamEdit


def settings_view(app: App, present: Mapping[str, JSON]) -> Answer:
    """Return all settings with their values, and which of them are set here.

    *Shape:* `{"settings": {name: value}, "sources": {name: "namespace" | "default"}, "defaults":
    {name: value}}`.
    """
    defaults = {**DEFAULTS, "time_zone": app.settings.dream_time_zone}
    values: dict[str, JSON] = {
        name: default if present.get(name) is None else present[name]
        for name, default in defaults.items()
    }
    sources: dict[str, JSON] = {
        name: "namespace" if name in present else "default" for name in DEFAULTS
    }
    return {"settings": values, "sources": sources, "defaults": defaults}


async def get_app_settings(app: App, caller: Caller) -> Answer:
    """Show the namespace's settings. *Promise:* one round trip."""
    [outcome] = await app.sql.read([store.setting_statement(caller.namespace)])
    return settings_view(app, store.settings_of(outcome.rows))


async def update_app_settings(app: App, caller: Caller, given: Mapping[str, JSON]) -> Answer:
    """Change settings; None sets a default again.

    *Shape:* answers as `get_app_settings`, and `changed`. *Raises:* InvalidInput naming the
    setting and what it takes. *Promise:* two round trips; all or none.
    """

    async def decide() -> Plan:
        rows, heads = await app.sql.read(
            [
                store.setting_statement(caller.namespace),
                ledger.heads_statement(caller.namespace, [SETTINGS]),
            ]
        )
        present = store.settings_of(rows.rows)
        draft = update_settings(present, given)
        now_ms = app.runtime.now_ms()
        if draft is None:
            return Plan({**settings_view(app, present), "changed": False}, now_ms)
        head = ledger.heads(heads.rows).get(SETTINGS, Head())
        after = apply_changes(present, draft.changes)
        return Plan(
            answer={**settings_view(app, after), "changed": True},
            at_ms=now_ms,
            edits=[StreamEdit(SETTINGS, head, present, (draft,))],
        )

    return await write(app, caller, decide)


async def parse_due_date(app: App, caller: Caller, text: str) -> Answer:
    """Tell how a due date in words is understood, in the namespace's zone.

    *Shape:* `due_at` ISO 8601 UTC, `normalized` the phrase in plain form, `local` the wall clock
    there. *Raises:* InvalidInput (`invalid_date`) with a hint when it is not understood.
    *Promise:* one round trip.
    """
    [outcome] = await app.sql.read([store.setting_statement(caller.namespace)])
    zone = zone_of(app, {**DEFAULTS, **store.settings_of(outcome.rows)})
    parsed = parse_date(text, now_ms=app.runtime.now_ms(), zone=zone)
    return {
        "matched": True,
        "due_at": format_iso(parsed.at_ms),
        "normalized": parsed.wording,
        "has_time": parsed.has_time,
        "local": format_local(parsed.at_ms, zone),
        "time_zone": zone.key,
    }
