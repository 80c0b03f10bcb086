"""The App: the ports and settings that every use case is given. Composition is the wires' work."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.app.settings import Settings
from remembrancer.ports.kv import KeyValue
from remembrancer.ports.runtime import Runtime
from remembrancer.ports.sql import SqlStore


@dataclass(frozen=True, slots=True)
class App:
    """What the use cases stand on; made once per process or isolate.

    A request that sends a bookmark works on a copy whose `sql` is that session.
    """

    sql: SqlStore
    kv: KeyValue
    runtime: Runtime
    settings: Settings
