"""The glossary: one entry a name, changed by term or id, listed, removed, undone, rebuilt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.builders import Bench

from remembrancer.app.library.glossary import (
    list_glossary,
    remove_glossary,
    set_glossary,
    update_glossary,
)
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import undo
from remembrancer.app.verify import verify
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.values import JSON
from remembrancer.testing.stores import CountingStore, memory_store


def entry_in(answer: dict[str, JSON]) -> dict[str, JSON]:
    entry = answer["entry"]
    assert isinstance(entry, dict)
    return entry


async def put(bench: Bench, term: str, definition: str = "意思", **more: Any) -> dict[str, JSON]:
    return entry_in(
        await set_glossary(bench.app, bench.caller(), term=term, definition=definition, **more)
    )


async def terms(bench: Bench) -> list[JSON]:
    listed = (await list_glossary(bench.app, bench.caller()))["entries"]
    assert isinstance(listed, list)
    return [one["term"] for one in listed if isinstance(one, dict)]


async def test_entry_is_made_changed_by_its_term_and_said_to_be_unchanged() -> None:
    bench = Bench()
    made = await put(bench, "苹果星星", aliases=["星星", "Apple Star"], examples=["苹果星星-0428"])
    bench.runtime.advance(60_000)
    answer = await set_glossary(bench.app, bench.caller(), term=" 苹果星星 ", definition="一个暗号")
    changed = entry_in(answer)
    assert answer["outcome"] == "updated"
    assert changed["id"] == made["id"]
    assert (changed["aliases"], changed["examples"]) == (["星星", "Apple Star"], ["苹果星星-0428"])
    assert changed["definition"] == "一个暗号"
    assert changed["created_at"] == "2026-03-01T12:00:00Z"
    assert changed["updated_at"] == "2026-03-01T12:01:00Z"
    again = await set_glossary(bench.app, bench.caller(), term="苹果星星", definition="一个暗号")
    assert (again["outcome"], again["entry"]) == ("unchanged", changed)
    assert len(await bench.rows("SELECT * FROM events")) == 2


async def test_aliases_that_repeat_a_name_of_the_entry_are_left_out() -> None:
    bench = Bench()
    made = await put(bench, "OKR", aliases=["okr", "ＯＫＲ", "目标", "目标", "Goal", "goal"])
    assert made["aliases"] == ["目标", "Goal"]
    cleared = await put(bench, "OKR", aliases=[])
    assert cleared["aliases"] == []
    assert len(await bench.rows("SELECT * FROM glossary_names")) == 1


CLASHES: dict[str, dict[str, Any]] = {
    "term is an alias there": {"term": "星星"},
    "in another case and width": {"term": "ＡＰＰＬＥ star"},
    "alias is a term there": {"term": "别的", "aliases": ["苹果星星"]},
    "alias is an alias there": {"term": "other", "aliases": ["new", "apple  STAR"]},
}


@pytest.mark.parametrize("given", CLASHES.values(), ids=list(CLASHES))
async def test_name_of_another_entry_is_a_conflict_that_names_it(given: dict[str, Any]) -> None:
    bench = Bench()
    held = await put(bench, "苹果星星", aliases=["星星", "Apple Star"])
    before = await bench.tables()
    with pytest.raises(Conflict) as caught:
        await put(bench, **given)
    assert str(held["id"]) in caught.value.message
    assert (caught.value.details["entry_id"], caught.value.details["term"]) == (
        held["id"],
        "苹果星星",
    )
    assert await bench.tables() == before


async def test_change_by_id_moves_the_term_and_frees_the_old_name() -> None:
    bench = Bench()
    made = await put(bench, "老名字", aliases=["别名"])
    other = await put(bench, "其他")
    id_ = str(made["id"])
    answer = await update_glossary(bench.app, bench.caller(), id_, term="别名")
    assert (entry_in(answer)["term"], entry_in(answer)["aliases"]) == ("别名", [])
    await put(bench, "老名字")
    with pytest.raises(Conflict):
        await update_glossary(bench.app, bench.caller(), id_, aliases=["其他"])
    with pytest.raises(Conflict):
        await update_glossary(bench.app, bench.caller(), str(other["id"]), term="老名字")
    same = await update_glossary(bench.app, bench.caller(), id_, definition="意思")
    assert same["outcome"] == "unchanged"
    with pytest.raises(NotFound):
        await update_glossary(bench.app, bench.caller(), "glo_nothing", definition="x")


@pytest.mark.parametrize("by", ["id", "term", "alias"])
async def test_entry_is_removed_by_id_term_or_alias_and_undo_brings_it_back(by: str) -> None:
    bench = Bench()
    made = await put(bench, "苹果星星", aliases=["星星"])
    removal = bench.caller()
    if by == "id":
        await remove_glossary(bench.app, removal, entry_id=str(made["id"]))
    else:
        name = "苹果星星" if by == "term" else "星星"
        await remove_glossary(bench.app, removal, term=name)
    assert await terms(bench) == []
    with pytest.raises(NotFound):
        await remove_glossary(bench.app, bench.caller(), term="苹果星星")
    await undo(bench.app, bench.caller(), cause=removal.cause)
    assert await terms(bench) == ["苹果星星"]
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_undo_of_a_removal_says_that_the_name_is_taken_by_now() -> None:
    bench = Bench()
    await put(bench, "苹果星星", aliases=["星星"])
    removal = bench.caller()
    await remove_glossary(bench.app, removal, term="星星")
    await put(bench, "新的", aliases=["星星"])
    with pytest.raises(Conflict, match="glossary entry has this name"):
        await undo(bench.app, bench.caller(), cause=removal.cause)


@pytest.mark.parametrize("given", [{}, {"entry_id": "glo_x", "term": "y"}])
async def test_removal_names_exactly_one(given: dict[str, str]) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await remove_glossary(bench.app, bench.caller(), **given)


async def test_two_writers_of_one_name_leave_one_entry() -> None:
    bench = Bench()
    answers = await asyncio.gather(
        *(
            set_glossary(bench.app, bench.caller(), term="星星", definition=f"意思{n}")
            for n in range(8)
        )
    )
    assert [answer["outcome"] for answer in answers].count("created") == 1
    assert await terms(bench) == ["星星"]
    names = await bench.rows("SELECT * FROM glossary_names")
    assert len(names) == 1


LONG = limits.TERM_CHARS_MAX
REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no term": ({"term": "  "}, InvalidInput, "term"),
    "invisible term": ({"term": "\u200b"}, InvalidInput, "term"),
    "private use": ({"term": "\ue000"}, InvalidInput, "term"),
    "no definition": ({"definition": "\n"}, InvalidInput, "definition"),
    "empty alias": ({"aliases": ["ok", ""]}, InvalidInput, "aliases"),
    "empty example": ({"examples": [" "]}, InvalidInput, "examples"),
    "long term": ({"term": "字" * (LONG + 1)}, LimitExceeded, "term"),
    "term that folds long": ({"term": "\ufdfa" * LONG}, LimitExceeded, "term"),
    "long alias": ({"aliases": ["字" * (LONG + 1)]}, LimitExceeded, "aliases"),
    "long definition": (
        {"definition": "字" * (limits.DEFINITION_CHARS_MAX + 1)},
        LimitExceeded,
        "definition",
    ),
    "many aliases": (
        {"aliases": [f"a{n}" for n in range(limits.GLOSSARY_ALIASES_MAX + 1)]},
        LimitExceeded,
        "aliases",
    ),
    "many examples": (
        {"examples": ["例"] * (limits.GLOSSARY_EXAMPLES_MAX + 1)},
        LimitExceeded,
        "examples",
    ),
}


@pytest.mark.parametrize(("given", "error", "field"), REFUSED.values(), ids=list(REFUSED))
async def test_what_cannot_be_an_entry_is_refused(
    given: dict[str, Any], error: type[InvalidInput], field: str
) -> None:
    bench = Bench()
    with pytest.raises(error) as caught:
        await put(bench, **{"term": "词", **given})
    assert caught.value.field == field
    assert await bench.rows("SELECT * FROM events") == []


async def test_entry_of_the_largest_size_is_kept() -> None:
    bench = Bench()
    await put(
        bench,
        "字" * LONG,
        "义" * limits.DEFINITION_CHARS_MAX,
        aliases=[f"名{n}" for n in range(limits.GLOSSARY_ALIASES_MAX)],
        examples=["例" * limits.DEFINITION_CHARS_MAX] * limits.GLOSSARY_EXAMPLES_MAX,
    )
    assert len(await terms(bench)) == 1


async def test_glossary_is_full_at_its_limit_and_still_takes_changes() -> None:
    bench = Bench()
    for number in range(limits.GLOSSARY_ENTRIES_MAX):
        await put(bench, f"词{number}")
    with pytest.raises(LimitExceeded):
        await put(bench, "再一个")
    await put(bench, "词0", "改了")
    page = await list_glossary(bench.app, bench.caller(), limit=200)
    assert (page["total"], page["count"]) == (limits.GLOSSARY_ENTRIES_MAX, 200)


async def test_list_pages_by_term_without_doubles() -> None:
    bench = Bench()
    for term in ["b", "丙", "A", "甲", "c", "乙"]:
        await put(bench, term)
    seen: list[JSON] = []
    cursor: str | None = None
    while True:
        page = await list_glossary(bench.app, bench.caller(), limit=4, cursor=cursor)
        listed = page["entries"]
        assert isinstance(listed, list)
        seen += [one["term"] for one in listed if isinstance(one, dict)]
        if page["next_cursor"] is None:
            break
        cursor = str(page["next_cursor"])
    assert seen == ["A", "b", "c", "丙", "乙", "甲"]


async def test_terms_with_characters_newer_than_this_python_are_kept_and_paged() -> None:
    bench = Bench()
    # A Han character of Unicode 15, an emoji of 15, two that are joined, and none of any yet.
    names = ["\U00031350某", "\U0001fae8", "\U0001f468\u200d\U0001f373", "\U000323b0"]
    for name in names:
        await put(bench, name)
    found: list[JSON] = []
    cursor: str | None = None
    for _ in names:
        page: Any = await list_glossary(bench.app, bench.caller(), limit=1, cursor=cursor)
        found += [entry["term"] for entry in page["entries"]]
        cursor = page["next_cursor"]
    assert (sorted(map(str, found)), cursor) == (sorted(names), None)


async def test_glossary_of_another_namespace_is_its_own() -> None:
    bench = Bench()
    made = await put(bench, "星星")
    stranger = bench.caller(namespace="other")
    answer = await set_glossary(bench.app, stranger, term="星星", definition="别人的")
    assert answer["outcome"] == "created"
    with pytest.raises(NotFound):
        await remove_glossary(bench.app, stranger, entry_id=str(made["id"]))


async def test_setting_costs_one_read_and_one_write() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await put(bench, "星星", aliases=["a1", "b2"])
    assert (store.counts.reads, store.counts.writes) == (1, 1)


async def test_secret_is_taken_out_of_a_definition() -> None:
    bench = Bench()
    secret = "sk-" + "proj-Abc123Def456Ghi789Jkl012Mno345"
    made = await put(bench, "密钥", f"就是{secret}", examples=[f"export KEY={secret}"])
    assert secret not in repr((made, await bench.rows("SELECT * FROM events")))
