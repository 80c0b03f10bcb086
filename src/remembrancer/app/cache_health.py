"""Whether the cache keeps what it is given: a canary is written, read and removed."""

from __future__ import annotations

from typing import Final

from remembrancer.app.state import App
from remembrancer.core.errors import LimitExceeded, PlatformError
from remembrancer.core.values import JSON, Caller

CANARY_TTL_S: Final = 60
"""Seconds that the canary may live. Source: the key-value port's least."""


async def cache_health(app: App, caller: Caller) -> dict[str, JSON]:
    """Send a canary through the cache.

    *Shape:* `{"status": "ok"|"degraded", "reasons", "canary": {"written", "found", "deleted",
    "ms"}}`. What the cache fails with is a reason. *Promise:* a key of its own for each look, as
    the platform takes one write a second and key; nothing is left for over a minute.
    """
    begun = app.runtime.now_ms()
    mark = app.runtime.random_bytes(8).hex()
    key = f"health/canary/{caller.namespace}/{mark}"
    reasons: list[str] = []
    told: dict[str, JSON] = {"written": False, "found": False, "deleted": False}
    try:
        await app.kv.put(key, mark, ttl_s=CANARY_TTL_S)
        told["written"] = True
        told["found"] = await app.kv.get(key) == mark
        await app.kv.delete(key)
        told["deleted"] = await app.kv.get(key) is None
    except (PlatformError, LimitExceeded) as error:
        reasons.append(f"the cache does not answer ({error.code})")
    else:
        if not told["found"]:
            reasons.append("the cache did not show what was just written")
        if not told["deleted"]:
            reasons.append("the cache still shows what was just removed")
    return {
        "status": "degraded" if reasons else "ok",
        "reasons": [*reasons],
        "canary": {**told, "ms": app.runtime.now_ms() - begun},
    }
