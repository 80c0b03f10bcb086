"""The namespace's settings: names, defaults, checks. Not the process's environment settings.

Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.core.dates import load_zone
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import KINDS, PRIORITIES
from remembrancer.core.ledger.changes import changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import JSON

DEFAULTS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        "default_quick_add_priority": "medium",
        "default_capture_kind": "task",
        "default_upcoming_days": 7,
        "default_snooze_hours": 24,
        "time_zone": None,
    }
)
"""Setting → its default. Source: the predecessor's four; `time_zone` None means DREAM_TIME_ZONE."""

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "default_quick_add_priority": "priority of a quickly added task: low, medium or high",
        "default_capture_kind": "kind of a quick capture that does not say: task or memory",
        "default_upcoming_days": "days ahead that count as upcoming: 1 to 365",
        "default_snooze_hours": "hours that a snooze without a time lasts: 1 to 720",
        "time_zone": "IANA name of the zone in which dates are read; unset means DREAM_TIME_ZONE",
    }
)
"""Setting → what it does and takes, for the reference."""

UPCOMING_DAYS_MAX: Final = 365
"""Largest window of the focus in days. Source: the predecessor's schema."""

SNOOZE_HOURS_MAX: Final = 720
"""Longest default snooze in hours. Source: the predecessor's schema."""


def update_settings(present: Mapping[str, JSON], given: Mapping[str, JSON]) -> Draft | None:
    """Draft a change of settings; None sets a default again. None when nothing changes.

    *Raises:* InvalidInput naming the setting and what it takes.
    """
    after: dict[str, JSON] = {}
    for name, value in given.items():
        if name not in DEFAULTS:
            raise InvalidInput(
                f"{name!r} is not a setting", hint=f"one of {', '.join(DEFAULTS)}", field=name
            )
        after[name] = None if value is None else _check(name, value)
    changes = changes_between(present, after)
    return Draft("SettingsChanged", changes) if changes else None


def _check(name: str, value: JSON) -> JSON:
    if name == "time_zone":
        return _check_zone(name, value)
    if name in ("default_quick_add_priority", "default_capture_kind"):
        allowed = tuple(PRIORITIES) if name == "default_quick_add_priority" else KINDS
        if value not in allowed:
            raise InvalidInput(
                f"{value!r} is not a {name}", hint=f"one of {', '.join(allowed)}", field=name
            )
        return value
    maximum = UPCOMING_DAYS_MAX if name == "default_upcoming_days" else SNOOZE_HOURS_MAX
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= maximum:
        raise InvalidInput(f"{name} {value!r} is out of range", hint=f"1 to {maximum}", field=name)
    return value


def _check_zone(name: str, value: JSON) -> JSON:
    try:
        load_zone(str(value))
    except InvalidInput as error:
        raise InvalidInput(error.message, hint=error.hint, field=name) from error
    return value
