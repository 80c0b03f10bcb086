"""REST of the general cache, at the predecessor's path. Only parsing and form."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, JsonValue

from remembrancer.app import cache
from remembrancer.core.cache import NAME_BYTES_MAX, TAGS_MAX, TTL_S, TTL_S_MAX, check_entry
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Body, Shape
from remembrancer.http.route_table import Route

_PATH: Final = "/v1/cache/{bucket}/{key:path}"
_PARAMS: Final = {
    "bucket": "Any name; a part of the key's own namespace.",
    "key": "The entry's name.",
}


class CacheBody(Body):
    """What to keep."""

    value: JsonValue = Field(description="Any JSON value, at most 262,144 bytes.")
    content_type: Annotated[str | None, Field(max_length=NAME_BYTES_MAX)] = None
    tags: list[str] = Field(default_factory=list, json_schema_extra={"maxItems": TAGS_MAX})
    ttl_seconds: float | None = Field(
        TTL_S,
        description="Seconds until it is over; null for ever.",
        json_schema_extra={"minimum": 0, "maximum": TTL_S_MAX},
    )


class KeptShape(Shape):
    """An entry without its value."""

    namespace: str
    key: str
    content_type: str
    tags: list[str]
    size_bytes: int
    created_at: str
    updated_at: str
    expires_at: str | None


class EntryShape(KeptShape):
    """An entry."""

    value: JsonValue


class DeletedShape(Shape):
    """Whether there was one."""

    deleted: bool
    existed: bool


async def _get(call: Call[None, None]) -> Answer:
    path = call.path
    return Answer(await cache.get_entry(call.app, call.caller, path["bucket"], path["key"]))


async def _put(call: Call[None, CacheBody]) -> Answer:
    path, body = call.path, call.body
    entry = check_entry(
        body.value, content_type=body.content_type, tags=body.tags, ttl_s=body.ttl_seconds
    )
    kept = await cache.put_entry(call.app, call.caller, path["bucket"], path["key"], entry)
    return Answer(kept)


async def _delete(call: Call[None, None]) -> Answer:
    path = call.path
    return Answer(await cache.delete_entry(call.app, call.caller, path["bucket"], path["key"]))


ROUTES: Final = (
    Route(
        method="GET",
        path=_PATH,
        name="get_cache_entry",
        area="cache",
        summary="Read an entry of the general cache",
        scope="cache:read",
        params=_PARAMS,
        response=EntryShape,
        handler=_get,
    ),
    Route(
        method="PUT",
        path=_PATH,
        name="put_cache_entry",
        area="cache",
        summary="Keep an entry in the general cache",
        description="It is kept as it is, for a day unless `ttl_seconds` says otherwise, and is "
        "neither searched nor remembered.",
        scope="cache:write",
        params=_PARAMS,
        body=CacheBody,
        response=KeptShape,
        handler=_put,
    ),
    Route(
        method="DELETE",
        path=_PATH,
        name="delete_cache_entry",
        area="cache",
        summary="Remove an entry of the general cache",
        scope="cache:write",
        params=_PARAMS,
        response=DeletedShape,
        handler=_delete,
    ),
)
"""The routes of the general cache."""
