"""The settings of models, recall, distilling and retention: fields alone, in groups.

`app.settings` joins the groups, reads and describes them. Names and defaults are the predecessor's
where it had the variable. What a number accepts is told from its bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.functional_validators import AfterValidator, BeforeValidator

_PRINTABLE: Final = re.compile(r"[!-~]{1,4096}")
_MODEL: Final = re.compile(r"[!-~]{1,200}")
_PRICE: Final = re.compile(r"[!-<>-~]{1,200}=\d{1,6}(\.\d{1,9})?(/\d{1,6}(\.\d{1,9})?){1,3}")
_ACCOUNT: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class About:
    """What a person must know of a setting: what it accepts, and whether it is a secret."""

    accepts: str
    secret: bool = False


def _parse_secret(value: SecretStr | None) -> SecretStr | None:
    if value is not None and _PRINTABLE.fullmatch(value.get_secret_value()) is None:
        raise ValueError("not a token")
    return value


CHAT_PATH: Final = "/chat/completions"
"""The end of a chat's address. A base may have it: then it is the very address, also of a server
whose addresses have no version."""


def _parse_base_url(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError("not an address")
    if parts.query or parts.fragment:
        raise ValueError("not an address")
    return value.rstrip("/")


def _parse_model(value: str | None) -> str | None:
    if value is not None and _MODEL.fullmatch(value) is None:
        raise ValueError("not a model's name")
    return value


def _parse_account(value: str | None) -> str | None:
    if value is not None and _ACCOUNT.fullmatch(value) is None:
        raise ValueError("not an account")
    return value


def _parse_path(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9._~/-]{1,200}", value) is None or ".." in value:
        raise ValueError("not a path")
    return value.strip("/")


def _split_prices(value: object) -> object:
    return (
        tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
    )


def _parse_prices(value: tuple[str, ...]) -> tuple[str, ...]:
    for price in value:
        if _PRICE.fullmatch(price) is None:
            raise ValueError("not a price")
    return value


def _none_or_off(value: object) -> object:
    return None if value in ("none", "off") else value


Token = Annotated[
    SecretStr | None,
    AfterValidator(_parse_secret),
    About("1 to 4096 printable ASCII characters without spaces", secret=True),
]
"""A secret of an upstream; None when it is not set."""

Model = Annotated[
    str,
    AfterValidator(_parse_model),
    About("a model's name such as deepseek/deepseek-chat, 1 to 200 printable characters"),
]
"""The name of a model, with its provider in front where a gateway wants it."""

OptionalModel = Annotated[
    str | None,
    BeforeValidator(_none_or_off),
    AfterValidator(_parse_model),
    About("a model's name, or off"),
]
"""The name of a model that may do without."""


class UpstreamSettings(BaseModel):
    """Where models are, and which one does what."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    cloudflare_account_id: Annotated[
        str | None, AfterValidator(_parse_account), About("32 hexadecimal digits")
    ] = Field(None, description="The Cloudflare account whose Workers AI is used from elsewhere.")
    cloudflare_api_token: Token = Field(
        None, description="A token for that account's Workers AI; the Worker itself needs none."
    )
    ai_gateway_base_url: Annotated[
        str | None,
        AfterValidator(_parse_base_url),
        About(
            "an http or https address, with or without /v1, /compat or /chat/completions at its end"
        ),
    ] = Field(
        None, description="The AI Gateway, or any OpenAI-compatible server, that chats are sent to."
    )
    cf_aig_token: Token = Field(
        None, description="The token for that gateway or server; it is sent as a bearer."
    )
    chat_model: Model = Field(
        "deepseek/deepseek-v4-pro", description="The model behind the public name."
    )
    vision_model: Model = Field(
        "google-ai-studio/gemini-3-flash-preview", description="The model for chats with pictures."
    )
    extract_model: OptionalModel = Field(
        "deepseek/deepseek-v4-flash",
        description="The model that extracts facts from messages; off for rules alone.",
    )
    dream_model: OptionalModel = Field(
        "deepseek/deepseek-v4-pro",
        description="The model that tidies memories at night; off for rules alone.",
    )
    public_model_name: Model = Field(
        "companion", description="The model's name that chat clients see."
    )
    embedding_model: Annotated[
        str | None, AfterValidator(_parse_model), About("a model's name, or off")
    ] = Field(
        None,
        description="The model that embeds: workers-ai/… or one of the gateway's. Unset: on one "
        "machine the encoder that comes along, on the edge workers-ai/@cf/google/"
        "embeddinggemma-300m. `off`: search by words alone.",
    )
    embedding_dimensions: Annotated[int | None, About("a whole number from 32 to 1536")] = Field(
        None, ge=32, le=1536, description="Numbers in one embedding; unset: the model's own."
    )
    embedding_model_next: OptionalModel = Field(
        None,
        description="On the edge: the model of the index that is bound as VECTORS_NEXT, to be "
        "filled beside the old one.",
    )
    embedding_dimensions_next: Annotated[int | None, About("a whole number from 32 to 1536")] = (
        Field(None, ge=32, le=1536, description="Numbers in one embedding of that model.")
    )
    vectors_serve: Annotated[Literal["current", "next"], About("current or next")] = Field(
        "current",
        description="On the edge: which index answers: VECTORS or, once filled, VECTORS_NEXT.",
    )
    enable_memory_reranker: bool = Field(
        True,
        description="Whether what was recalled is ranked again by a model, where there is one.",
    )
    memory_reranker_model: Model = Field(
        "workers-ai/@cf/baai/bge-reranker-base", description="The model that ranks again."
    )
    memory_filter_model: OptionalModel = Field(
        None,
        description="A model that condenses what is recalled; unset: spans are picked by rule.",
    )
    model_prices: Annotated[
        tuple[str, ...],
        BeforeValidator(_split_prices),
        AfterValidator(_parse_prices),
        About("model=input/output[/cached[/written]], separated by commas; * in a model's name"),
    ] = Field((), description="Prices of a million tokens, by which the cost of chats is told.")
    force_anthropic_native: bool = Field(
        False, description="Whether every chat is sent in Anthropic's own format."
    )
    custom_anthropic_messages_path: Annotated[
        str, AfterValidator(_parse_path), About("a path such as messages or v1/messages")
    ] = Field("messages", description="The path of Anthropic's format at a custom provider.")


class PromptCacheSettings(BaseModel):
    """What is asked of Anthropic's prompt cache and of thinking."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    anthropic_cache_enabled: bool = Field(
        True, description="Whether marks of the prompt cache are set."
    )
    anthropic_cache_ttl: Annotated[Literal["5m", "1h"], About("5m or 1h")] = Field(
        "5m", description="How long a cached prefix stays."
    )
    anthropic_auto_cache_enabled: bool = Field(
        False,
        description="Whether the last block is marked automatically; takes one of four marks.",
    )
    anthropic_rolling_cache_enabled: bool = Field(
        True, description="Whether a mark follows the last complete turn."
    )
    anthropic_rolling_cache_window_size: int = Field(
        20, ge=4, le=20, description="Blocks that a mark looks back over; a bridge is set before."
    )
    anthropic_cache_user_id: Annotated[
        str | None, AfterValidator(_parse_model), About("1 to 200 printable characters")
    ] = Field(None, description="The user id sent to Anthropic, which keeps clients' caches apart.")
    anthropic_thinking_enabled: bool = Field(
        False, description="Whether thinking is asked for where a request does not say."
    )
    anthropic_thinking_budget: int = Field(
        1024, ge=1024, le=32_000, description="Tokens of thinking, for models that take a budget."
    )


class RecallSettings(BaseModel):
    """How much is recalled, and how it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    recall_timeout_ms: int = Field(
        800, ge=50, le=30_000, description="Milliseconds after which a chat goes on without recall."
    )
    memory_top_k: int = Field(
        50, ge=1, le=100, description="Candidates that each side of the search brings."
    )
    memory_min_score: float = Field(
        0.0, ge=0.0, le=1.0, description="Lowest score that may be recalled, beside the own gates."
    )
    memory_filter_max_candidates: int = Field(
        12, ge=1, le=50, description="Candidates that are ranked again or condensed."
    )
    memory_filter_max_output: int = Field(
        5, ge=1, le=20, description="Memories that one chat turn is given at most."
    )
    memory_filter_output_chars: int = Field(
        300, ge=40, le=2_000, description="Characters of one memory after condensing."
    )
    memory_filter_max_tokens: int = Field(
        1400, ge=100, le=8_000, description="Tokens that the condensing model may answer."
    )
    memory_filter_min_score: float = Field(
        0.0, ge=0.0, le=1.0, description="Lowest score of a candidate that is ranked again."
    )
    memory_filter_max_content_chars: int = Field(
        700, ge=100, le=10_000, description="Characters of a candidate that ranking again reads."
    )
    enable_cache_api: bool = Field(True, description="Whether /v1/cache is served.")


class DistillSettings(BaseModel):
    """What the jobs extract, dream and clean up."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enable_auto_memory: bool = Field(
        True, description="Whether facts are extracted from messages by themselves."
    )
    scheduler_enabled: bool = Field(
        True, description="Whether a server of one's own runs jobs by their schedule."
    )
    job_pieces_max: int = Field(
        0,
        ge=0,
        le=1_000,
        description="Pieces of one run by hand, the queue brings the rest; 0: all, and on"
        " Cloudflare 1, which the free plan's statements allow.",
    )
    extract_max_messages: int = Field(40, ge=1, le=200, description="Messages of one extraction.")
    extract_message_chars: int = Field(
        12_000,
        ge=900,
        le=100_000,
        description="Characters of a message that extraction reads, in slices of 900 that each"
        " count as a message; what lies beyond is counted as chars_left.",
    )
    extract_max_runs: int = Field(4, ge=1, le=100, description="Extractions of one run.")
    extract_max_tokens: int = Field(
        1200, ge=100, le=8_000, description="Tokens that one extraction may answer."
    )
    extract_review_confidence: float = Field(
        0.76, ge=0.0, le=1.0, description="Confidence below which a fact waits for a person."
    )
    extract_quiet_minutes: int = Field(
        0,
        ge=0,
        le=1_440,
        description="Minutes of quiet after which a conversation is extracted; 0: at the next run.",
    )
    dedup_cosine: float = Field(
        0.9, ge=0.5, le=1.0, description="Cosine from which a text without differences is the same."
    )
    memory_min_importance: float = Field(
        0.55, ge=0.0, le=1.0, description="Lowest importance of a fact that is extracted."
    )
    empty_memory_min_chars: int = Field(
        4,
        ge=0,
        le=100,
        description="Characters below which a text without letters or digits is no memory.",
    )
    dream_max_messages: int = Field(40, ge=1, le=200, description="Messages of one dream's batch.")
    dream_max_runs: int = Field(10, ge=1, le=100, description="Batches of one night.")
    dream_max_tokens: int = Field(
        8000, ge=500, le=32_000, description="Tokens that one batch of a dream may answer."
    )
    dream_memory_context_limit: int = Field(
        40, ge=0, le=200, description="Memories that a dream is shown."
    )
    dream_excerpt_limit: int = Field(8, ge=0, le=50, description="Quotes that one day keeps.")
    messages_keep_days: int = Field(
        14,
        ge=1,
        le=3_650,
        description="Days that messages are kept, and until extraction and the nights have passed.",
    )
    skipped_keep_days: int = Field(
        30,
        ge=1,
        le=3_650,
        description="Days that a message which the model refused waits for a person.",
    )
    usage_keep_days: int = Field(
        30, ge=1, le=3_650, description="Days that rows of usage and of jobs are kept."
    )
    recalls_keep_days: int = Field(
        30, ge=1, le=3_650, description="Days that explanations of recalls are kept."
    )
    idempotency_keep_days: int = Field(
        7, ge=1, le=365, description="Days that a repeated write is answered as the first."
    )
    memory_expire_days: int = Field(
        180, ge=1, le=36_500, description="Days after its last use that a memory expires."
    )
    deleted_keep_days: int = Field(
        30, ge=1, le=3_650, description="Days that what was deleted can be restored."
    )
