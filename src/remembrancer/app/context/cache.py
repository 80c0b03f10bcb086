"""The version-checked cache of bundles: a key-value store, and a small first level in memory.

A read fetches the version from the database and the bundle from the cache together, and uses the
bundle only when both agree and its time has not run out; so a write shows in the very next read,
however stale the key-value store is. A broken cache costs time, never an answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from remembrancer.core.errors import RemembrancerError
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.kv import KeyValue
from remembrancer.ports.sql import Outcome, SqlStore, Statement

BUNDLE_TTL_S: Final = 3_600
"""Seconds a bundle stays in the key-value store: how long a forgotten text may rest there."""

FIRST_LEVEL_ENTRIES_MAX: Final = 64
"""Bundles kept in memory. At some 20 kB each they stay under 2 MB of an isolate's 128."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A bundle with what makes it valid. *Units:* `valid_until` milliseconds UTC, or None.

    *Shape:* `about` is the id of the project or topic, `tag:<key>`, or empty for startup: another
    one may have the same slug by now, and count its versions from the start.
    """

    about: str
    version: int
    valid_until: int | None
    bundle: dict[str, JSON]

    def holds(self, about: str, version: int, now_ms: int) -> bool:
        """Tell whether the bundle is what a fresh read would give."""
        in_time = self.valid_until is None or now_ms < self.valid_until
        return self.about == about and self.version == version and in_time


class FirstLevel:
    """Bundles in this process or isolate, the least recently used dropped first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, Kept] = OrderedDict()

    def get(self, key: str) -> Kept | None:
        """Return the entry, or None."""
        kept = self._entries.get(key)
        if kept is not None:
            self._entries.move_to_end(key)
        return kept

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()

    def put(self, key: str, kept: Kept) -> None:
        """Keep an entry."""
        self._entries[key] = kept
        self._entries.move_to_end(key)
        while len(self._entries) > FIRST_LEVEL_ENTRIES_MAX:
            self._entries.popitem(last=False)


def cache_key(namespace: Namespace, scope: str, arguments: str = "") -> str:
    """Return the key of a bundle: what was asked is hashed, so that any name fits."""
    digest = hashlib.sha256(canonical_json([namespace, scope, arguments]).encode()).hexdigest()
    return f"context:{digest}"


async def look_up(
    sql: SqlStore, kv: KeyValue, memory: FirstLevel, key: str, versions: Sequence[Statement]
) -> tuple[list[Outcome], Kept | None]:
    """Read the versions and the kept bundle together.

    *Promise:* one round trip to the database; the key-value store is asked at the same time, and
    only when the first level has nothing.
    """
    held = memory.get(key)
    if held is not None:
        return await sql.read(versions), held
    outcomes, text = await asyncio.gather(sql.read(versions), _get(kv, key))
    return outcomes, _parse(text)


async def _get(kv: KeyValue, key: str) -> str | None:
    try:
        return await kv.get(key)
    except RemembrancerError:
        return None


def _parse(text: str | None) -> Kept | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
        bundle = dict(value["bundle"])
        return Kept(value["about"], value["version"], value["valid_until"], bundle)
    except (ValueError, TypeError, KeyError):
        return None


async def keep(kv: KeyValue, memory: FirstLevel, key: str, kept: Kept, *, is_shared: bool) -> None:
    """Keep a freshly built bundle, at both levels when it is shared; a failing store is no error.

    Only what is asked for with the usual arguments is shared: those keys are few and known, so
    that forgetting can delete them.
    """
    memory.put(key, kept)
    if not is_shared:
        return
    text = canonical_json(asdict(kept))
    try:
        await kv.put(key, text, ttl_s=BUNDLE_TTL_S)
    except RemembrancerError:
        return


async def drop(
    kv: KeyValue, memory: FirstLevel, namespace: Namespace, scopes: Iterable[str]
) -> None:
    """Delete the shared bundles of these scopes, and everything in memory.

    *Raises:* StoreUnavailable when the key-value store fails: the caller must not believe that
    the text is gone.
    """
    memory.clear()
    for scope in sorted(set(scopes)):
        await kv.delete(cache_key(namespace, scope))
