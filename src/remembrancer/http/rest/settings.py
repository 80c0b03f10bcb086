"""REST of the namespace's settings, of the server's, and of dates in words. Only parsing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from remembrancer.app import app_settings
from remembrancer.app.settings import Origin, describe_settings
from remembrancer.core import limits
from remembrancer.core.items.fields import Kind
from remembrancer.core.settings.decide import SNOOZE_HOURS_MAX, UPCOMING_DAYS_MAX
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Shape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

PriorityWord = Literal["low", "medium", "high"]
Source = Literal["namespace", "default"]


class SettingsShape(Shape):
    """The namespace's settings."""

    default_quick_add_priority: PriorityWord
    default_capture_kind: Kind
    default_upcoming_days: int
    default_snooze_hours: int
    time_zone: str


class SettingsSources(Shape):
    """Where each value came from."""

    default_quick_add_priority: Source
    default_capture_kind: Source
    default_upcoming_days: Source
    default_snooze_hours: Source
    time_zone: Source


class SettingsAnswer(Shape):
    """The settings, where each value came from, and what it is by default."""

    settings: SettingsShape
    sources: SettingsSources
    defaults: SettingsShape


class ShownSettings(SettingsAnswer):
    """The settings of the namespace that the key belongs to, or that was named."""

    namespace: str


class ChangedSettings(SettingsAnswer):
    """The settings after a change; `changed` is false when they were so already."""

    changed: bool


class SettingsChange(Named):
    """Settings to change; null sets the default again."""

    default_quick_add_priority: PriorityWord | None = optional()
    default_capture_kind: Kind | None = optional()
    default_upcoming_days: Annotated[int, Field(ge=1, le=UPCOMING_DAYS_MAX)] | None = optional()
    default_snooze_hours: Annotated[int, Field(ge=1, le=SNOOZE_HOURS_MAX)] | None = optional()
    time_zone: str | None = optional(description="An IANA name, such as Asia/Shanghai.")


class ServerSetting(Shape):
    """A variable of the server's environment; a secret's value is `***` when it is set."""

    variable: str
    type: str
    accepts: str
    description: str
    value: str | None
    default: str
    source: Origin
    secret: bool


class ServerSettings(Shape):
    """What the server was started with, in the order of the reference."""

    settings: list[ServerSetting]


class DateText(Named):
    """A date in words."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"input": "text"}

    text: str = Field(
        description="In English, Chinese or ISO 8601.",
        json_schema_extra={"minLength": 1, "maxLength": limits.TITLE_CHARS_MAX},
    )


class DateAnswer(Shape):
    """How a date was understood, in the namespace's zone."""

    matched: bool
    due_at: str
    normalized: str
    has_time: bool
    local: str
    time_zone: str


async def _get(call: Call[None, None]) -> Answer:
    shown = await app_settings.get_app_settings(call.app, call.caller)
    return Answer({"namespace": call.caller.namespace, **shown})


async def _server(call: Call[None, None]) -> Answer:
    shown = [asdict(one) for one in describe_settings(call.app.settings)]
    return Answer({"settings": shown})


async def _update(call: Call[None, SettingsChange]) -> Answer:
    given = call.body.given()
    return Answer(await app_settings.update_app_settings(call.app, call.caller, given))


async def _parse(call: Call[None, DateText]) -> Answer:
    return Answer(await app_settings.parse_due_date(call.app, call.caller, call.body.text))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/settings",
        name="get_settings",
        area="settings",
        summary="Show the namespace's settings",
        scope="memory:read",
        response=ShownSettings,
        handler=_get,
    ),
    Route(
        method="PATCH",
        path="/v1/settings",
        name="update_settings",
        area="settings",
        summary="Change the namespace's settings",
        scope="memory:write",
        body=SettingsChange,
        response=ChangedSettings,
        handler=_update,
    ),
    Route(
        method="GET",
        path="/v1/settings/server",
        name="server_settings",
        area="settings",
        summary="Show what the server was started with, and where each value came from",
        description="Variables of the environment, which need a restart to change. Secrets are "
        "never shown, only whether they are set.",
        scope="debug:read",
        response=ServerSettings,
        handler=_server,
    ),
    Route(
        method="POST",
        path="/v1/dates/parse",
        name="parse_date",
        area="settings",
        summary="Tell how a date in words is understood",
        scope="memory:read",
        body=DateText,
        response=DateAnswer,
        errors=("invalid_date",),
        handler=_parse,
    ),
)
"""The routes of settings and dates."""
