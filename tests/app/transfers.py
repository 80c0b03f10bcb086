"""What tests of exports share: a bench's lines, a bench made from lines, and a file sealed anew."""

from __future__ import annotations

from tests.builders import NAMESPACE, Bench, id_of

from remembrancer.app.export import export_lines
from remembrancer.app.forget import forget_item
from remembrancer.app.importing import import_ledger
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.core.ledger.transfer import Tally, parse_line
from remembrancer.ports.sql import Statement
from remembrancer.store.export import Scope

OWN = Scope(NAMESPACE)
WHOLE = Scope(None)
LARGE = "很长的内容，a long text. " * 15_000


async def export(bench: Bench, scope: Scope = OWN) -> list[bytes]:
    """The lines of a bench's export."""
    return [line async for line in export_lines(bench.app, scope)]


async def load(lines: list[bytes], bench: Bench | None = None) -> Bench:
    """A bench, empty unless given, with these lines imported."""
    bench = bench or Bench()
    await import_ledger(bench.app, lambda: lines)
    return bench


async def settle(bench: Bench) -> str:
    """Tasks and a large memory, one forgotten, counters of use; returns the memory's id."""
    first = id_of(await quick_capture(bench.app, bench.caller(), "写周报 #工作 +甲 @乙", {}))
    gone = id_of(await quick_capture(bench.app, bench.caller(), "绝密 4711 #秘密", {}))
    given: ItemInput = {"title": "长文", "kind": "memory", "content": LARGE, "fact_key": "doc:长"}
    memory = id_of(await create_item(bench.app, bench.caller(), given))
    await update_item(bench.app, bench.caller(), first, {"title": 'a "quoted" title\n\x01'})
    await forget_item(bench.app, bench.caller(), gone)
    await bench.sql.write(
        [
            Statement("INSERT INTO item_use VALUES (?, ?, 3, 1000, 4, NULL)", (NAMESPACE, first)),
            Statement("INSERT INTO item_use VALUES (?, ?, 0, NULL, 1, 7)", (NAMESPACE, memory)),
        ]
    )
    return memory


def sealed(lines: list[bytes]) -> list[bytes]:
    """The lines with a last line that fits them, as a careful forger would write it."""
    tally = Tally()
    for raw in lines[:-1]:
        tally.add(parse_line(raw, 2).kind if raw is not lines[0] else "header", raw)
    return [*lines[:-1], tally.end_line()]
