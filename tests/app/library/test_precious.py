"""Precious quotes: byte for byte, once, removed with a reason, undone, rebuilt."""

from __future__ import annotations

import asyncio

import pytest
from tests.builders import Bench

from remembrancer.app.library.precious import add_precious, list_precious, remove_precious
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.values import JSON
from remembrancer.testing.stores import CountingStore, memory_store

VERBATIM = {
    "spaces around": "  请记住：我的测试暗号是苹果星星-0428。 \n",
    "windows line ends": "one\r\ntwo\r",
    "full width": "ＡＢＣ　１２３",
    "joined emoji": "👩‍👩‍👧‍👦 und ❤️",
    "decomposed": "Zu\u0308rich",
    "bidi": "a\u202eb\u200f",
    "zero width": "零\u200b宽\ufeff",
    "nul and controls": "a\x00b\x1b[0m\x7f",
    "quotes": "他说：“\"'`\\” -- '); DROP TABLE precious;",
    "unassigned": "\U000e0001\ufffe",
}


def quotes_of(answer: dict[str, JSON]) -> list[dict[str, JSON]]:
    listed = answer["precious"]
    assert isinstance(listed, list)
    return [one for one in listed if isinstance(one, dict)]


def id_in(answer: dict[str, JSON]) -> str:
    quote = answer["precious"]
    assert isinstance(quote, dict)
    return str(quote["id"])


@pytest.mark.parametrize("text", VERBATIM.values(), ids=list(VERBATIM))
async def test_quote_keeps_every_byte_live_rebuilt_and_undone(text: str) -> None:
    bench = Bench()
    made = await add_precious(bench.app, bench.caller(), text)
    assert made["outcome"] == "created"

    async def kept() -> list[JSON]:
        return [one["content"] for one in quotes_of(await list_precious(bench.app, bench.caller()))]

    assert await kept() == [text]
    removal = bench.caller()
    await remove_precious(bench.app, removal, id_in(made), reason="试试")
    assert await kept() == []
    await undo(bench.app, bench.caller(), cause=removal.cause)
    assert await kept() == [text]
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_same_bytes_are_kept_once_and_others_beside_them() -> None:
    bench = Bench()
    first = await add_precious(bench.app, bench.caller(), "永远记得", context_message_ids=["msg_1"])
    again = await add_precious(bench.app, bench.caller(), "永远记得")
    other = await add_precious(bench.app, bench.caller(), "永远记得 ")
    assert (again["outcome"], again["precious"]) == ("unchanged", first["precious"])
    assert other["outcome"] == "created"
    assert len(await bench.rows("SELECT * FROM events")) == 2


@pytest.mark.parametrize(("actor", "source"), [("user", "human"), ("agent:claude", "secretary")])
async def test_source_follows_the_caller(actor: str, source: str) -> None:
    bench = Bench(actor=actor)
    await add_precious(bench.app, bench.caller(), "话")
    [quote] = quotes_of(await list_precious(bench.app, bench.caller()))
    assert quote["source"] == source
    assert quote["created_at"] == "2026-03-01T12:00:00Z"
    assert quote["context_message_ids"] == []


@pytest.mark.parametrize("text", ["", " \n\t", "\ud83d", "ok \udc00 then"])
async def test_what_is_no_text_is_refused(text: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await add_precious(bench.app, bench.caller(), text)
    assert caught.value.field == "content"
    assert await bench.rows("SELECT * FROM events") == []


async def test_quote_of_the_longest_length_is_kept_and_a_longer_one_refused() -> None:
    bench = Bench()
    await add_precious(bench.app, bench.caller(), "字" * limits.PRECIOUS_CHARS_MAX)
    with pytest.raises(LimitExceeded):
        await add_precious(bench.app, bench.caller(), "字" * (limits.PRECIOUS_CHARS_MAX + 1))
    ids = ["m"] * limits.SOURCE_IDS_MAX
    await add_precious(bench.app, bench.caller(), "a", context_message_ids=ids)
    with pytest.raises(LimitExceeded):
        await add_precious(bench.app, bench.caller(), "b", context_message_ids=[*ids, "m"])


@pytest.mark.parametrize("reason", ["", "  ", "\u200e"])
async def test_removal_needs_a_reason_that_the_ledger_keeps(reason: str) -> None:
    bench = Bench()
    id_ = id_in(await add_precious(bench.app, bench.caller(), "话"))
    with pytest.raises(InvalidInput) as caught:
        await remove_precious(bench.app, bench.caller(), id_, reason=reason)
    assert caught.value.field == "reason"
    await remove_precious(bench.app, bench.caller(), id_, reason="说错了")
    [row] = await bench.rows("SELECT kind, body FROM events ORDER BY position DESC LIMIT 1")
    assert row["kind"] == "PreciousRemoved"
    assert "说错了" in str(row["body"])
    with pytest.raises(NotFound):
        await remove_precious(bench.app, bench.caller(), id_, reason="again")


async def test_list_pages_newest_first_without_doubles_and_counts_all() -> None:
    bench = Bench()
    for number in range(7):
        await add_precious(bench.app, bench.caller(), f"第{number}句")
    seen: list[JSON] = []
    cursor: str | None = None
    while True:
        page = await list_precious(bench.app, bench.caller(), limit=3, cursor=cursor)
        seen += [one["content"] for one in quotes_of(page)]
        assert page["total"] == 7
        if page["next_cursor"] is None:
            break
        cursor = str(page["next_cursor"])
    assert seen == [f"第{number}句" for number in reversed(range(7))]


@pytest.mark.parametrize("limit", [0, 201, True])
async def test_page_of_a_wrong_size_is_refused(limit: int) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await list_precious(bench.app, bench.caller(), limit=limit)
    await list_precious(bench.app, bench.caller(), limit=200)


async def test_undo_of_adding_removes_and_redo_brings_back() -> None:
    bench = Bench()
    adding = bench.caller()
    await add_precious(bench.app, adding, "话")
    taking = bench.caller()
    await undo(bench.app, taking, cause=adding.cause)
    assert quotes_of(await list_precious(bench.app, bench.caller())) == []
    with pytest.raises(Conflict):
        await undo(bench.app, bench.caller(), cause=adding.cause)
    await redo(bench.app, bench.caller(), cause=taking.cause)
    assert len(quotes_of(await list_precious(bench.app, bench.caller()))) == 1


async def test_undo_of_a_removal_names_the_same_words_that_were_kept_since() -> None:
    bench = Bench()
    id_ = id_in(await add_precious(bench.app, bench.caller(), "话"))
    removal = bench.caller()
    await remove_precious(bench.app, removal, id_, reason="x")
    await add_precious(bench.app, bench.caller(), "话")
    with pytest.raises(Conflict, match="same words"):
        await undo(bench.app, bench.caller(), cause=removal.cause)


async def test_many_at_once_are_all_kept() -> None:
    bench = Bench()
    app = bench.app
    await asyncio.gather(*(add_precious(app, bench.caller(), f"话{n}") for n in range(20)))
    assert (await list_precious(app, bench.caller()))["total"] == 20


async def test_quotes_of_another_namespace_are_its_own() -> None:
    bench = Bench()
    id_ = id_in(await add_precious(bench.app, bench.caller(), "话"))
    stranger = bench.caller(namespace="other")
    assert (await list_precious(bench.app, stranger))["total"] == 0
    with pytest.raises(NotFound):
        await remove_precious(bench.app, stranger, id_, reason="x")


async def test_adding_costs_one_read_and_one_write() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await add_precious(bench.app, bench.caller(), "话")
    assert (store.counts.reads, store.counts.writes) == (1, 1)


async def test_many_quotes_are_the_same_bytes_after_a_rebuild() -> None:
    bench = Bench()
    quotes = [f"{number}: 一字不改\x00🍎\r\n" for number in range(20)]
    for quote in quotes:
        await add_precious(bench.app, bench.caller(), quote)
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    rows = await bench.rows("SELECT content FROM precious ORDER BY id")
    assert [row["content"] for row in rows] == quotes
