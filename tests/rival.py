"""A store in which somebody else is faster."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.errors import Conflict
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.testing.stores import Call, CountingStore


class Rival(CountingStore):
    """A counting store whose next `clashes` batches of events clash, and write nothing."""

    clashes = 0

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Clash while it is told to, else write."""
        has_events = any("INTO events" in each.sql for each in statements)
        if not (self.clashes and has_events):
            return await super().write(statements)
        self.clashes -= 1
        self.counts.calls.append(Call("write", tuple(each.sql for each in statements)))
        columns = "events.namespace, events.stream, events.version"
        raise Conflict("somebody was faster", details={"constraint": columns})

    def session(self, bookmark: str | None) -> Rival:
        """Return this store: one session is as good as the other here."""
        del bookmark
        return self
