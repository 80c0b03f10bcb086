"""What every use case is held to, whatever its test is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from remembrancer.core.ledger.body_types import find_type_fault
from remembrancer.core.ledger.events import Sealed
from remembrancer.ports.sql import Statement
from remembrancer.store import ledger
from remembrancer.store.projections import PROJECTORS
from remembrancer.store.record_table import Placed


@pytest.fixture(autouse=True, scope="session")
def importable() -> Iterator[None]:
    """An import takes whatever a use case writes: its own export must never be refused."""
    append = ledger.append

    def checked(sealed: Sequence[Sealed], placed: Sequence[Placed]) -> list[Statement]:
        for event in (one.event for one in sealed):
            area = event.stream.partition("/")[0]
            if area in PROJECTORS:
                fault = find_type_fault(area, event.version, event.kind, event.changes, event.note)
                assert fault is None, f"an import would refuse {event.stream}: it {fault}"
        return append(sealed, placed)

    patch = pytest.MonkeyPatch()
    patch.setattr(ledger, "append", checked)
    yield
    patch.undo()
