"""One batch of many events leaves what a batch for each would, in as many statements as for one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import NAMESPACE, Bench
from tests.examples import examples

from remembrancer.app.rebuild import rebuild
from remembrancer.core.ids import Stream
from remembrancer.core.items.fields import DEFAULTS
from remembrancer.core.ledger.changes import Fields, changes_between
from remembrancer.core.ledger.events import PURGED, SALT_BYTES, Draft, Head, Sealed
from remembrancer.core.projects.decide import DEFAULTS as PROJECT
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import ledger
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.marks import PORTION_BYTES, portions
from remembrancer.store.record_table import Placed

CANDIDATE: Fields = {"kind": "new", "status": "pending", "type": "fact", "content": "住在里斯本"}
CANDIDATE |= {"confidence": 0.5, "importance": 0.6, "source": "s", "fact": "f", "text_hash": "h"}
PAGE: Fields = {"kind": "week", "path": "logs/2026-W49.md", "starts_on": "2026-11-30"}
PAGE |= {"title": "周", "summary": "短", "content": "长"}

AREAS: dict[str, tuple[Fields, list[Fields]]] = {
    "item": (
        {**DEFAULTS, "title": "写周报", "tags": ["工作", "home"], "pinned": True},
        [
            {"title": "改周报"},
            {"title": "report", "tags": ["Home", "C++"]},
            {"tags": None, "pinned": None},
            {"content": "记得带医保卡 " * 40, "importance": 0.5},
            {"state": "completed", "progress": "done", "state_since": 7},
            {"notes": [{"text": "一行", "at": 1}], "due_at": 1_800_000_000_000},
            {"importance": None, "state": "active", "progress": None},
        ],
    ),
    "project": (
        {**PROJECT, "name": "记忆系统", "slug": "记忆系统"},
        [{"name": "Memory"}, {"description": "说明"}, {"state": "deleted"}, {"state": "active"}],
    ),
    "candidate": (
        CANDIDATE,
        [
            {"status": "approved", "decided_at": 9},
            {"status": "pending", "tags": ["一"]},
            dict.fromkeys(CANDIDATE),
            CANDIDATE,
        ],
    ),
    "page": (PAGE, [{"content": "新"}, dict.fromkeys(PAGE), PAGE]),
}
"""Area → what a record begins with, and what may be changed of it."""


class Writer:
    """Drafts events one after the other, each at a moment of its own."""

    def __init__(self) -> None:
        self.sealed: list[Sealed] = []
        self.placed: list[Placed] = []
        self._heads: dict[str, tuple[Head, Fields]] = {}

    def add(self, stream: Stream, after: Fields, kind: str = "Changed") -> None:
        head, fields = self._heads.get(stream, (Head(), {}))
        changes = changes_between(fields, after)
        caller = Caller(NAMESPACE, "user", f"req_{len(self.sealed)}")
        [sealed], [placed] = ledger.place(
            [StreamEdit(stream, head, fields, (Draft(kind, changes),))],
            caller=caller,
            at_ms=1_700_000_000_000 + 1_000 * len(self.sealed),
            salts=[bytes(SALT_BYTES)],
        )
        self.sealed.append(sealed)
        self.placed.append(placed)
        self._heads[stream] = (Head(placed.event.version, sealed.chain), placed.after)

    def batches(self, sizes: Sequence[int]) -> list[list[Statement]]:
        """The statements of batches of so many events each; the last takes the rest."""
        result: list[list[Statement]] = []
        first = 0
        for size in [*sizes, len(self.sealed)]:
            last = first + size
            if first < len(self.sealed):
                result.append(ledger.append(self.sealed[first:last], self.placed[first:last]))
            first = last
        return result


def sliced(events: Sequence[tuple[str, int, int]]) -> Writer:
    writer = Writer()
    seen: set[str] = set()
    for area, record, number in events:
        stream = Stream(f"{area}/{area}_{record}")
        first, edits = AREAS[area]
        own: Fields = {name: f"{value}{record}" for name, value in first.items() if name in
                       ("slug", "fact")}  # fmt: skip
        given = first if stream not in seen else edits[number % len(edits)]
        seen.add(stream)
        writer.add(stream, given | {name: own[name] for name in own if given.get(name)})
    return writer


async def left_by(batches: Sequence[Sequence[Statement]]) -> dict[str, list[tuple[object, ...]]]:
    bench = Bench()
    for statements in batches:
        await bench.sql.write(statements)
    tables = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == tables
    del tables["counters"]  # those that are back at nothing are rows or none
    return tables


@given(
    st.lists(
        st.tuples(st.sampled_from([*AREAS]), st.integers(0, 2), st.integers(0, 6)),
        min_size=2,
        max_size=40,
    ),
    st.lists(st.integers(1, 12), max_size=3),
)
@examples(45)
def test_any_batches_of_the_same_events_leave_the_same_tables(
    events: list[tuple[str, int, int]], sizes: list[int]
) -> None:
    async def run() -> None:
        writer = sliced(events)
        singly = await left_by(writer.batches([1] * len(events)))
        assert await left_by(writer.batches(sizes)) == singly

    asyncio.run(run())


async def test_what_ends_a_record_in_the_batch_that_made_it_leaves_nothing() -> None:
    writer = sliced([("item", 0, 0), ("item", 1, 0), ("item", 0, 1), ("item", 0, 3)])
    writer.add(Stream("item/item_0"), {}, PURGED)
    tables = await left_by(writer.batches([]))
    for table in ("items", "item_versions", "item_tags", "search"):
        assert {"item_0" in row for row in tables[table]} <= {False}, table
    assert len(tables["search"]) == len(tables["items"]) == 1


async def test_key_passes_from_one_item_to_the_next_within_one_batch() -> None:
    writer = Writer()
    for number in range(4):
        fields = {**DEFAULTS, "title": f"住址 {number}", "fact_key": "user:家", "kind": "memory"}
        if number:
            writer.add(Stream(f"item/item_{number - 1}"), {"state": "superseded"})
        writer.add(Stream(f"item/item_{number}"), {**fields, "type": "fact"})
    assert await left_by(writer.batches([])) == await left_by(writer.batches([1] * 7))


def test_batch_of_many_events_has_the_statements_of_few() -> None:
    edits = [(area, record, n) for n in range(1, 50) for area in AREAS for record in range(3)]
    many = sliced([(area, record, 0) for area in AREAS for record in range(3)] + edits)
    [statements] = many.batches([])
    assert len(statements) <= 25


async def test_records_of_which_no_two_change_alike_are_one_statement() -> None:
    names = ["priority", "summary", "source", "importance", "confidence", "due_text"]
    values: list[JSON] = [1, "短", "chat", 0.25, 0.75, "明天"]
    writer = Writer()
    for record in range(64):
        writer.add(Stream(f"item/item_{record}"), {**DEFAULTS, "title": "一", "summary": "旧"})
    for record in range(64):
        chosen = {name: values[n] for n, name in enumerate(names) if record >> n & 1}
        cleared: Fields = {} if record % 3 else {"summary": None, "pinned": True}
        writer.add(Stream(f"item/item_{record}"), {**chosen, **cleared, "tags": [f"t{record}"]})
    first, second = writer.batches([64])
    assert len(second) <= len(first) + 3
    assert await left_by([first, second]) == await left_by(writer.batches([1] * 128))


async def test_long_texts_of_one_batch_travel_in_several_values() -> None:
    text = "字" * 10_000
    writer = Writer()
    for record in range(80):
        writer.add(Stream(f"item/item_{record}"), {**DEFAULTS, "title": "长", "content": text})
    for number in range(60):
        writer.add(
            Stream("item/item_0"), {"title": f"第 {number} 版", "content": f"{number}{text}"}
        )
    [statements] = writer.batches([])
    assert len(statements) > 15
    tables = await left_by([statements])
    assert [len(tables[table]) for table in ("items", "item_versions")] == [80, 140]


async def test_short_edits_of_a_long_text_do_not_carry_it() -> None:
    writer = Writer()
    writer.add(Stream("item/item_0"), {**DEFAULTS, "title": "长", "content": "字" * 10_000})
    for number in range(600):
        writer.add(Stream("item/item_0"), {"title": f"第 {number} 版"})
    [statements] = writer.batches([])
    assert len(statements) <= 12
    assert len((await left_by([statements]))["item_versions"]) == 601


def test_portions_keep_every_row_in_its_order() -> None:
    rows = [[n, "字" * (n * 4_000)] for n in range(60)]
    given = [*portions(rows)]
    assert [row for portion in given for row in portion] == rows
    assert len(given) > 10 and all(given)
    big = [["字" * PORTION_BYTES], ["a"], ["字" * PORTION_BYTES]]
    assert [*portions(big)] == [big[:1], big[1:2], big[2:]]
    assert [*portions([])] == []
