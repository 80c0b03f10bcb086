"""Tools of the namespace's settings, and reading a due date aloud."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from remembrancer.app import app_settings
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.items.fields import Kind
from remembrancer.core.settings.decide import SNOOZE_HOURS_MAX, UPCOMING_DAYS_MAX
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments, NoArguments
from remembrancer.mcp.models import Priority, as_list, given_of, named
from remembrancer.mcp.registry import Tool

SettingName = Literal[
    "default_quick_add_priority",
    "default_capture_kind",
    "default_upcoming_days",
    "default_snooze_hours",
    "time_zone",
]

_SETTINGS: Final = results.record({"settings": results.OBJECT, "changed": results.FLAG})


class UpdateSettings(Arguments):
    default_quick_add_priority: Priority | None = None
    default_capture_kind: Kind | None = None
    default_upcoming_days: Annotated[int, Field(ge=1, le=UPCOMING_DAYS_MAX)] | None = None
    default_snooze_hours: Annotated[int, Field(ge=1, le=SNOOZE_HOURS_MAX)] | None = None
    time_zone: str | None = Field(None, description="IANA name, as Asia/Shanghai")
    reset: Annotated[tuple[SettingName, ...], BeforeValidator(as_list)] = Field(
        (), description="Settings that get their default again"
    )


class ParseDueDate(Arguments):
    text: str = named("input", "text", "due", default=...)


async def _get(app: App, caller: Caller, _: NoArguments) -> Answer:
    return await app_settings.get_app_settings(app, caller)


async def _update(app: App, caller: Caller, arguments: UpdateSettings) -> Answer:
    given: dict[str, JSON] = dict.fromkeys(arguments.reset)
    given |= {name: value for name, value in given_of(arguments).items() if name != "reset"}
    return await app_settings.update_app_settings(app, caller, given)


async def _parse(app: App, caller: Caller, arguments: ParseDueDate) -> Answer:
    return await app_settings.parse_due_date(app, caller, arguments.text)


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="get_app_settings",
        title="Show settings",
        description="Defaults for capture and snooze, and the time zone that dates are read in.",
        handler=_get,
        arguments=NoArguments,
        result=_SETTINGS,
        scope="memory:read",
        toolsets=frozenset({"tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="update_app_settings",
        title="Change settings",
        description="Change the given settings; the others stay.",
        handler=_update,
        arguments=UpdateSettings,
        result=_SETTINGS,
        scope="memory:write",
        toolsets=frozenset({"tasks"}),
        idempotent=True,
    ),
    Tool(
        name="parse_due_date",
        title="Read a date",
        description="How a date in words (English, Chinese, ISO) is understood; nothing is saved.",
        handler=_parse,
        arguments=ParseDueDate,
        result=results.record({"due_at": results.TEXT, "matched": results.FLAG}),
        scope="memory:read",
        toolsets=frozenset({"tasks"}),
        read_only=True,
    ),
)
"""The tools of this area."""
