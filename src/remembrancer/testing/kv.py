"""A key-value store in memory that can be as weak as Workers KV: stale, failing.

For tests; every ring's tests import it.
"""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.kvcheck import check_entry, check_key
from remembrancer.ports.runtime import Runtime


@dataclass(frozen=True, slots=True)
class _Version:
    written_ms: int
    expires_ms: int
    value: str | None


class MemoryKeyValue:
    """The key-value port with switches that a test may turn at any time.

    *Shape:* `lag_ms` is how old a write must be before `get` sees it, by the runtime's clock;
    `fail_every` n makes each n-th call raise StoreUnavailable; 0 turns either off. `calls` counts.
    """

    def __init__(self, runtime: Runtime, *, lag_ms: int = 0, fail_every: int = 0) -> None:
        self._runtime = runtime
        self._versions: dict[str, list[_Version]] = {}
        self.lag_ms = lag_ms
        self.fail_every = fail_every
        self.calls = 0

    async def get(self, key: str) -> str | None:
        """Return the newest value that is old enough to be visible."""
        self._count()
        check_key(key)
        now_ms = self._runtime.now_ms()
        for version in reversed(self._versions.get(key, [])):
            if version.written_ms <= now_ms - self.lag_ms:
                return version.value if version.expires_ms > now_ms else None
        return None

    async def put(self, key: str, value: str, *, ttl_s: int) -> None:
        """Add a version; it becomes visible when the lag has passed."""
        self._count()
        check_entry(key, value, ttl_s)
        self._add(key, value, ttl_s * 1_000)

    async def delete(self, key: str) -> None:
        """Add a version without a value; the old one stays visible for the lag."""
        self._count()
        check_key(key)
        if key in self._versions:
            self._add(key, None, 0)

    def _add(self, key: str, value: str | None, lives_ms: int) -> None:
        now_ms = self._runtime.now_ms()
        self._versions.setdefault(key, []).append(_Version(now_ms, now_ms + lives_ms, value))

    def _count(self) -> None:
        self.calls += 1
        if self.fail_every and self.calls % self.fail_every == 0:
            raise StoreUnavailable("the key-value store fails on purpose")
