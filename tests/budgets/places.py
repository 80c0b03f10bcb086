"""A seeded database with a counter around it, and what one operation cost there.

`scripts/bench d1` prints the same measurements that the tests of this tier hold.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Protocol

from tests.builders import Bench
from tests.seeding import Seeded, seed

from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.ports.sql import SqlStore
from remembrancer.testing.stores import CountingStore, Counts


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation sent and what the platform counted for it."""

    trips: int
    statements: int
    read: int
    written: int


class Place:
    """One App over one seeded database; `take` gives items that no other operation has used."""

    def __init__(self, bench: Bench, seeded: Seeded, counts: Counts) -> None:
        self.bench = bench
        self.app: App = bench.app
        self.seeded = seeded
        self.counts = counts
        self._unused = iter(seeded.items[-len(seeded.items) // 2 :])

    @property
    def caller(self) -> Caller:
        """A fresh cause for each command."""
        return self.bench.caller()

    @property
    def projects(self) -> list[str]:
        """Slugs of projects."""
        return list(self.seeded.projects)

    @property
    def topics(self) -> list[str]:
        """Slugs of topics, the profile first."""
        return list(self.seeded.topics)

    def take(self, count: int) -> list[str]:
        """Ids of items that nothing was done with yet."""
        return [next(self._unused) for _ in range(count)]

    def start(self) -> None:
        """Count from here: what came before was preparation."""
        self.counts.reset()


class Operation(Protocol):
    """Something a client asks for; it may prepare, then call `start`."""

    async def __call__(self, place: Place, /) -> object: ...


async def make_place(sql: SqlStore, count: int) -> Place:
    """Seed a migrated, empty database."""
    seeded = await seed(sql, count)
    counts = Counts()
    # Causes of its own: undoing a command takes back all that has its cause, the seeds' included.
    bench = Bench(sql=CountingStore(sql, counts), causes=itertools.count(1_000_000))
    return Place(bench, seeded, counts)


async def measure(place: Place, operation: Operation) -> Cost:
    """Run an operation and return what it cost."""
    place.start()
    await operation(place)
    counts = place.counts
    return Cost(counts.round_trips, counts.statements, counts.rows_read, counts.rows_written)
