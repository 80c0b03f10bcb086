"""Files that are not as an export wrote them: refused before anything is written, with the line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
from tests.app.transfers import export, load, sealed, settle
from tests.builders import Bench

from remembrancer.app.importing import import_ledger
from remembrancer.core.errors import CorruptData, InvalidInput, RemembrancerError
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import GENESIS, Event, chain_after, hash_body
from remembrancer.core.ledger.transfer import LINE_BYTES_MAX

Lines = list[bytes]


def _changed(number: int, **members: object) -> Callable[[Lines], Lines]:
    """A change of one line, written as the line was."""

    def change(lines: Lines) -> Lines:
        held = json.loads(lines[number - 1]) | members
        text = json.dumps(held, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return sealed([*lines[: number - 1], text.encode() + b"\n", *lines[number:]])

    return change


def _line_of(lines: Lines, kind: str) -> int:
    return next(n for n, line in enumerate(lines) if json.loads(line)["line"] == kind)


def _chunk_changed(lines: Lines) -> Lines:
    number = _line_of(lines, "chunk")
    fresh = lines[number].replace("很长".encode(), "很短".encode(), 1)
    return sealed([*lines[:number], fresh, *lines[number + 1 :]])


def _chunks_swapped(lines: Lines) -> Lines:
    number = _line_of(lines, "chunk")
    return sealed([*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]])


def _body_byte_flipped(lines: Lines) -> Lines:
    return sealed(
        [lines[0], *(line.replace("写周报".encode(), "写月报".encode()) for line in lines[1:])]
    )


def _event_line(stream: str, kind: str, body: str) -> bytes:
    """An event that is whole by its hashes: another program, or a forger, wrote it."""
    event = Event(Namespace("default"), Stream(stream), 1, kind, "user", 5, "req_1", {}, {})
    digest = hash_body("00", body)
    members = {
        "line": "event",
        "position": 1,
        "namespace": "default",
        "stream": stream,
        "version": 1,
        "kind": kind,
        "actor": "user",
        "at_ms": 5,
        "cause": "req_1",
        "body": body,
        "salt": "00",
        "body_hash": digest,
        "chain": chain_after(GENESIS, event, digest),
    }
    return json.dumps(members).encode() + b"\n"


CASES: list[tuple[str, Callable[[Lines], Lines], type[RemembrancerError], str]] = [
    ("empty", lambda _: [], CorruptData, "ends after line 0"),
    ("other-file", lambda _: [b"hello\n"], InvalidInput, "line 1 is not JSON"),
    ("other-json", lambda _: [b'{"a":1}\n'], InvalidInput, "line 1 is not a line"),
    ("no-header", lambda lines: lines[1:], InvalidInput, "not the first line"),
    ("newer-lines", _changed(1, schema=3), InvalidInput, "schema 3"),
    ("other-format", _changed(1, format="x"), InvalidInput, "not the first line"),
    ("two-headers", lambda lines: [lines[0], *lines], CorruptData, "line 2 .*wrong place"),
    ("truncated", lambda lines: lines[:-1], CorruptData, "without its last line"),
    ("cut-in-a-line", lambda lines: [*lines[:3], lines[3][:40]], CorruptData, "line 4 is cut"),
    ("too-long", lambda lines: [lines[0], b"x" * LINE_BYTES_MAX], CorruptData, "2 is too long"),
    ("after-the-end", lambda lines: [*lines, lines[-1]], CorruptData, "wrong place"),
    ("line-left-out", lambda lines: [*lines[:2], *lines[3:]], CorruptData, "line"),
    ("flipped-byte", _body_byte_flipped, CorruptData, r"line \d+ breaks 'item/.*the body"),
    ("actor-changed", _changed(3, actor="x"), CorruptData, "line 3 breaks.*the chain value"),
    (
        "swapped",
        lambda lines: sealed([lines[0], lines[2], lines[1], *lines[3:]]),
        CorruptData,
        "line 3 has position 1 after 2",
    ),
    (
        "foreign-namespace",
        _changed(2, namespace="other"),
        CorruptData,
        "line 2 is of the namespace",
    ),
    ("unknown-kind", _changed(2, line="future"), CorruptData, "line 2 is of an unknown kind"),
    ("unknown-member", _changed(2, extra=1), CorruptData, "line 2 does not have the members"),
    ("other-type", _changed(2, position=True), CorruptData, "line 2 has a 'position'"),
    ("chunk-changed", _chunk_changed, CorruptData, "begins an artifact"),
    ("chunks-swapped", _chunks_swapped, CorruptData, "a chunk of another artifact"),
    (
        "counter-changed-unsealed",
        lambda lines: [line.replace(b'"recall_count":3', b'"recall_count":9') for line in lines],
        CorruptData,
        "does not confirm",
    ),
]


@pytest.fixture(scope="module")
def written() -> Lines:
    """The lines of a settled store; writing its large text takes longest here."""

    async def write() -> Lines:
        bench = Bench()
        await settle(bench)
        return await export(bench)

    return asyncio.run(write())


@pytest.mark.parametrize(
    ("change", "kind", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
async def test_file_that_is_not_as_it_was_written_is_refused_and_nothing_is_written(
    change: Callable[[Lines], Lines], kind: type[RemembrancerError], words: str, written: Lines
) -> None:
    twin = Bench()
    before = await twin.tables()
    with pytest.raises(kind, match=words) as caught:
        await load(change(list(written)), twin)
    assert caught.value.hint
    assert "写" not in caught.value.message
    assert await twin.tables() == before
    assert await twin.rows("SELECT * FROM events") == []


@pytest.mark.parametrize(
    ("stream", "words"),
    [("novel/1", "unknown kind of stream"), ("item/1", "is not an event body|schema 2")],
    ids=["stream", "body"],
)
@pytest.mark.parametrize("body", ['{"changes":{},"schema":2}', '{"changes":5,"schema":1}'])
async def test_event_of_a_newer_program_is_refused_with_its_line(
    stream: str, words: str, body: str
) -> None:
    header = (await export(Bench()))[0]
    lines = sealed([header, _event_line(stream, "Future", body), b""])
    with pytest.raises((InvalidInput, CorruptData), match=f"line 2.*({words})"):
        await load(lines)


@pytest.mark.parametrize(
    ("stream", "changes", "words"),
    [
        ("item/itm_1", {"title": 5}, "'title' that is not a text"),
        ("item/itm_1", {"due_at": "明天"}, "'due_at' that is not a moment"),
        ("item/itm_1", {"title": "写周报"}, "has no 'kind'"),
        ("relations", {"a|b": {}}, "the relation 'a|b'"),
        ("glossary", {"gls_1": {"term": "词"}}, "'aliases' that is not a list"),
        ("settings", {"time_zone": "Mars/Base"}, "a setting that cannot be"),
        ("candidate/cnd_1", {"confidence": "高"}, "'confidence' that is not a number"),
    ],
    ids=["text", "moment", "missing", "relation", "glossary", "setting", "candidate"],
)
async def test_event_whose_values_no_table_takes_is_refused_with_its_line(
    stream: str, changes: dict[str, object], words: str
) -> None:
    twin = Bench()
    pairs = {name: [None, value] for name, value in changes.items()}
    body = json.dumps({"changes": pairs, "schema": 1}, ensure_ascii=False)
    good = (await export(Bench()))[0]
    with pytest.raises(CorruptData, match=rf"line 2: the event of '{stream}' .*{words}") as caught:
        await load(sealed([good, _event_line(stream, "Future", body), b""]), twin)
    assert caught.value.hint
    assert "写" not in caught.value.message
    assert await twin.rows("SELECT * FROM events") == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("at_ms", 10**15, "'at_ms' that cannot be"),
        ("at_ms", -(10**15), "'at_ms' that cannot be"),
        ("position", 2**53, "'position' that cannot be"),
        ("version", 10**30, "'version' that cannot be"),
        ("actor", "user\ud800", "surrogate pair in its 'actor'"),
    ],
)
async def test_line_with_a_value_that_no_store_holds_is_refused(
    name: str, value: object, words: str, written: Lines
) -> None:
    event = json.loads(written[1]) | {name: value}
    lines = [written[0], json.dumps(event).encode() + b"\n", *written[2:]]
    with pytest.raises(CorruptData, match=f"line 2 has .*{words}"):
        await load(lines)


async def test_import_for_another_namespace_than_the_files_is_refused() -> None:
    bench = Bench()
    await settle(bench)
    lines = await export(bench)
    with pytest.raises(InvalidInput, match="'default', not 'other'"):
        await import_ledger(Bench().app, lambda: lines, namespace="other")
    report = await import_ledger(Bench().app, lambda: lines, namespace="default")
    assert report["namespaces"] == ["default"]
