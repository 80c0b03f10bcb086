"""Use cases of the general cache: a client's own things under a bucket and a name.

What is kept here is the client's business: not redacted, not searched, not in the ledger, and gone
when its time is over. A bucket is a part of the caller's namespace, never another's.
"""

from __future__ import annotations

import json

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.state import App
from remembrancer.core import cache as rules
from remembrancer.core.dates.iso import format_iso
from remembrancer.core.errors import NotFound
from remembrancer.core.values import Caller
from remembrancer.store import cache as store


async def get_entry(app: App, caller: Caller, bucket: str, name: str) -> Answer:
    """Return an entry.

    *Shape:* `{"namespace", "key", "value", "content_type", "tags", "size_bytes", "created_at",
    "updated_at", "expires_at"}`, `namespace` the bucket as it was asked for. *Raises:* NotFound
    when it is not there or has expired. *Promise:* one round trip.
    """
    _check(app, bucket, name)
    now_ms = app.runtime.now_ms()
    [outcome] = await app.sql.read(
        [store.entry_statement(caller.namespace, bucket, name, now_ms=now_ms)]
    )
    if not outcome.rows:
        raise NotFound(
            f"there is no entry {name[:60]!r} in {bucket[:60]!r}",
            hint="it was never kept, or its time is over",
        )
    [row] = outcome.rows
    return {
        "namespace": bucket,
        "key": name,
        "value": json.loads(str(row["value"])),
        "content_type": str(row["content_type"]),
        "tags": json.loads(str(row["tags"])),
        "size_bytes": int(str(row["bytes"])),
        "created_at": _moment(row["created_at"]),
        "updated_at": _moment(row["updated_at"]),
        "expires_at": _moment(row["expires_at"]),
    }


async def put_entry(
    app: App, caller: Caller, bucket: str, name: str, entry: rules.CacheEntry
) -> Answer:
    """Keep an entry in the place of whatever was there; the last writer wins.

    *Shape:* answers as `get_entry`, without the value. *Raises:* InvalidInput, LimitExceeded (the
    names), NotFound (the cache is off). *Promise:* two round trips; clears a few expired ones away.
    """
    _check(app, bucket, name)

    async def decide() -> Plan:
        now_ms = app.runtime.now_ms()
        [there] = await app.sql.read(
            [store.entry_statement(caller.namespace, bucket, name, now_ms=now_ms)]
        )
        expires_at = None if entry.ttl_s is None else now_ms + entry.ttl_s * 1_000
        answer: Answer = {
            "namespace": bucket,
            "key": name,
            "content_type": entry.content_type,
            "tags": [*entry.tags],
            "size_bytes": entry.size,
            "created_at": _moment(there.rows[0]["created_at"] if there.rows else now_ms),
            "updated_at": _moment(now_ms),
            "expires_at": _moment(expires_at),
        }
        statements = [
            store.sweep_statement(caller.namespace, now_ms=now_ms),
            store.put_statement(caller.namespace, bucket, name, entry, now_ms=now_ms),
        ]
        return Plan(answer, now_ms, extra=statements)

    return await write(app, caller, decide)


async def delete_entry(app: App, caller: Caller, bucket: str, name: str) -> Answer:
    """Remove an entry. *Shape:* `{"deleted": true, "existed"}`; a missing one is no error."""
    _check(app, bucket, name)

    async def decide() -> Plan:
        now_ms = app.runtime.now_ms()
        [there] = await app.sql.read(
            [store.entry_statement(caller.namespace, bucket, name, now_ms=now_ms)]
        )
        answer: Answer = {"deleted": True, "existed": bool(there.rows)}
        return Plan(answer, now_ms, extra=[store.delete_statement(caller.namespace, bucket, name)])

    return await write(app, caller, decide)


def _check(app: App, bucket: str, name: str) -> None:
    if not app.settings.enable_cache_api:
        raise NotFound("the cache is switched off", hint="set ENABLE_CACHE_API to true")
    rules.check_name(bucket, field="namespace")
    rules.check_name(name, field="key")


def _moment(value: object) -> str | None:
    return None if value is None else format_iso(int(str(value)))
