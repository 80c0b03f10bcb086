"""The settings of the environment: one model, with where each value came from.

A field's variable is its name in upper case. Nothing is read at import or by itself: a wire module
hands in the environment. Settings that a person changes at run time (a namespace's zone, limits of
a budget) live in the ledger, not here; host, port and the like are options of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, TypeAdapter, ValidationError
from pydantic.functional_validators import AfterValidator, BeforeValidator

from remembrancer.app.setting_groups import (
    About,
    DistillSettings,
    PromptCacheSettings,
    RecallSettings,
    UpstreamSettings,
)
from remembrancer.core import limits
from remembrancer.core.access.tokens import equal_secrets
from remembrancer.core.dates.zones import load_zone
from remembrancer.core.errors import InvalidInput

Origin = Literal["default", "environment", "command line", "data folder"]
"""Where a value came from."""

BODY_BYTES_FLOOR: Final = 65_536
"""Smallest body limit in bytes: below it an ordinary item with 10,000 characters does not fit."""

BODY_BYTES_CEILING: Final = 100 * 1024 * 1024
"""Largest body limit in bytes. Source: the platform's request limit on the free plan."""

RATE_CEILING: Final = 1_000_000
"""Largest rate in requests a minute; more than any machine here answers. Our choice."""

_SHOWN_CHARS: Final = 60
"""Characters of a wrong value that a message repeats. Our choice."""

_PRINTABLE: Final = re.compile(r"[!-~]{1,512}")


def _parse_key(value: SecretStr | None) -> SecretStr | None:
    if value is not None and _PRINTABLE.fullmatch(value.get_secret_value()) is None:
        raise ValueError("not a key")
    return value


def _parse_zone(value: str) -> str:
    try:
        load_zone(value)
    except InvalidInput as error:
        raise ValueError("not a time zone") from error
    return value


def _split_origins(value: str) -> tuple[str, ...]:
    return tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())


def _parse_origins(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part if part == "*" else _parse_origin(part) for part in value)


def _parse_origin(text: str) -> str:
    parts = urlsplit(text)
    bare = parts.scheme in ("http", "https") and parts.netloc and not parts.path
    if not bare or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("not an origin")
    return f"{parts.scheme}://{parts.netloc.lower()}"


_KEY = About("1 to 512 printable ASCII characters without spaces", secret=True)

Key = Annotated[SecretStr | None, AfterValidator(_parse_key), _KEY]
"""An access key of the environment; None when it is not set."""


class Settings(UpstreamSettings, PromptCacheSettings, RecallSettings, DistillSettings):
    """Every environment setting that has an effect, typed and checked.

    *Promise:* immutable; `repr` and `str` never show a secret.
    """

    # Deferred for ever where `load_settings` makes it: only the variables that are set are parsed.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    chatbox_api_key: Key = Field(
        None, description="The owner's key: every scope in the namespace `default`."
    )
    im_api_key: Key = Field(
        None, description="A second key for a messenger bot: as a chat client, cache only to read."
    )
    debug_api_key: Key = Field(
        None, description="A key that may do everything and name any namespace."
    )
    memory_mcp_api_key: Key = Field(
        None, description="A key for MCP clients: reads, writes and exports memories."
    )
    guide_dog_api_key: Key = Field(
        None, description="A key that may only chat, without any memory."
    )
    dream_time_zone: Annotated[
        str,
        AfterValidator(_parse_zone),
        About("a name of the IANA time zone database, such as Asia/Singapore or Europe/Zurich"),
    ] = Field(
        "Asia/Singapore", description="The time zone of a namespace that has not set its own."
    )
    rate_limit_per_minute: Annotated[
        int, About(f"a whole number from 0 (no limit) to {RATE_CEILING}")
    ] = Field(
        limits.RATE_PER_MINUTE,
        ge=0,
        le=RATE_CEILING,
        description="Requests a minute that one key may send; 0 means no limit.",
    )
    body_bytes_max: Annotated[
        int, About(f"a whole number of bytes from {BODY_BYTES_FLOOR} to {BODY_BYTES_CEILING}")
    ] = Field(
        limits.BODY_BYTES_MAX,
        ge=BODY_BYTES_FLOOR,
        le=BODY_BYTES_CEILING,
        description="Bytes of the largest request body.",
    )
    chat_body_bytes_max: Annotated[
        int | None,
        About(f"a whole number of bytes from {BODY_BYTES_FLOOR} to {BODY_BYTES_CEILING}"),
    ] = Field(
        None,
        ge=BODY_BYTES_FLOOR,
        le=BODY_BYTES_CEILING,
        description="Bytes of the largest chat, its pictures included; unless set "
        f"{limits.CHAT_BODY_BYTES_MAX}, and {limits.EDGE_CHAT_BODY_BYTES_MAX} on Cloudflare, but "
        "never less than BODY_BYTES_MAX.",
    )
    allowed_origins: Annotated[
        tuple[str, ...],
        BeforeValidator(_split_origins),
        AfterValidator(_parse_origins),
        About("origins such as https://chat.example.org, separated by commas, or *"),
    ] = Field(
        (),
        description="Web pages that may call from a browser, beside its own and local ones; "
        "chats may be called from any.",
    )
    mcp_query_token_enabled: Annotated[bool, About("true or false")] = Field(
        True,
        description="Whether /mcp takes its key as ?token=, for clients that cannot send headers.",
    )
    remembrancer_data: Annotated[str | None, About("the path of a folder")] = Field(
        None, description="The data folder of a local server; the command line picks one if unset."
    )

    sources: Mapping[str, Origin] = Field(default_factory=dict, exclude=True, repr=False)
    """Variable → where its value came from; what is missing is a default. Not a variable."""

    def source_of(self, variable: str) -> Origin:
        """Tell where the value of a variable came from."""
        return self.sources.get(variable, "default")

    @property
    def workers_ai(self) -> tuple[str, str] | None:
        """The Cloudflare account of Workers AI and its token, a secret; None without both."""
        account, token = self.cloudflare_account_id, self.cloudflare_api_token
        return (account, token.get_secret_value()) if account and token else None

    def environment_keys(self) -> Mapping[str, str]:
        """Return the access keys that are set: variable → key. Secrets: compare, never print."""
        keys = {}
        for name in KEY_FIELDS:
            value: SecretStr | None = self.__dict__[name]
            if value is not None:
                keys[name.upper()] = value.get_secret_value()
        return keys


FIELDS: Final = tuple(name for name in Settings.model_fields if name != "sources")
"""The fields that are variables, in the order in which they are shown."""

KEY_FIELDS: Final = tuple(name for name in FIELDS if name.endswith("_api_key"))
"""The fields that hold access keys, the owner's first."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting for a person's eyes: `value` is None when unset and `***` for a secret."""

    variable: str
    type: str
    default: str
    description: str
    accepts: str
    secret: bool
    value: str | None
    source: Origin


def load_settings(
    environ: Mapping[str, str],
    *,
    overrides: Mapping[str, str] | None = None,
    stored: Mapping[str, str] | None = None,
) -> Settings:
    """Parse the settings from the environment.

    *Shape:* `overrides` (from the command line) win over `environ`, `environ` over `stored` (kept
    in the data folder); keys are variable names; an empty text counts as not set; variables that
    are not settings are ignored.
    *Raises:* InvalidInput, naming the variable, its value (never a secret's) and what it accepts.
    """
    given: dict[str, str] = {}
    sources: dict[str, Origin] = {}
    layers: tuple[tuple[Origin, Mapping[str, str]], ...] = (
        ("data folder", stored or {}),
        ("environment", environ),
        ("command line", overrides or {}),
    )
    for origin, layer in layers:
        for name in FIELDS:
            text = layer.get(name.upper(), "").strip()
            if text:
                given[name] = text
                sources[name.upper()] = origin
    values = {name: _parse(name, given[name]) for name in FIELDS if name in given}
    settings = Settings.model_construct(**values, sources=sources)
    _refuse_shared_keys(settings.environment_keys())
    return settings


def describe_settings(settings: Settings) -> list[SettingInfo]:
    """List every setting in declaration order, with its present value and where it came from."""
    return [_describe(settings, name) for name in FIELDS]


def _about(name: str) -> About:
    """Return what is known of a field; what a number accepts follows from its bounds."""
    field = Settings.model_fields[name]
    for mark in field.metadata:
        if isinstance(mark, About):
            return mark
    if isinstance(field.default, bool):
        return About("true or false")
    bounds: dict[str, float] = {}
    for mark in field.metadata:
        bounds |= {side: getattr(mark, side) for side in ("ge", "le") if hasattr(mark, side)}
    kind = "a whole number" if isinstance(field.default, int) else "a number"
    return About(f"{kind} from {bounds['ge']} to {bounds['le']}")


def _describe(settings: Settings, name: str) -> SettingInfo:
    field = Settings.model_fields[name]
    about = _about(name)
    value = settings.__dict__[name]
    return SettingInfo(
        variable=name.upper(),
        type=_type_word(field.default, about),
        default=_show(field.default) or "",
        description=field.description or "",
        accepts=about.accepts,
        secret=about.secret,
        value="***" if about.secret and value is not None else _show(value),
        source=settings.source_of(name.upper()),
    )


def _type_word(default: object, about: About) -> str:
    if about.secret:
        return "secret"
    words: dict[type, str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        tuple: "list",
    }
    return words.get(type(default), "text")


def _show(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    return str(value)


def _parse(name: str, text: str) -> Any:  # Any: each field has its own type
    """Return a variable's value by its own field alone.

    A validator of all the fields costs the edge a tenth of its start, and few variables are set.
    """
    field = Settings.model_fields[name]
    kind: Any = field.annotation
    try:
        # At least one mark, which the adapter does not know, since `Annotated` wants one.
        return TypeAdapter(Annotated[(kind, *field.metadata, name)]).validate_python(text)
    except ValidationError:
        # The cause would carry the value into a traceback, secrets included.
        raise _refused(name, text) from None


def _refused(name: str, text: str) -> InvalidInput:
    about = _about(name)
    variable = name.upper()
    shown = "" if about.secret else f" is {text[:_SHOWN_CHARS]!r}, which"
    verb = " holds a value that" if about.secret else ""
    return InvalidInput(
        f"{variable}{shown}{verb} cannot be taken; it accepts {about.accepts}",
        hint=f"correct or unset {variable} and start again",
        field=variable,
    )


def _refuse_shared_keys(keys: Mapping[str, str]) -> None:
    names = list(keys)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            if equal_secrets(keys[first], keys[second]):
                raise InvalidInput(
                    f"{first} and {second} have the same value, so a request could not be told "
                    "from the other's",
                    hint=f"give {second} a value of its own",
                    field=second,
                )
