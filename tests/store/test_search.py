"""The index is asked with the namespace's word only where its answer could differ without it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.builders import Bench

from remembrancer.app.items.write import create_item
from remembrancer.core.ids import Namespace
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.items.record import brief_view
from remembrancer.store import search
from remembrancer.store.item_filters import Asked

MINE, THEIRS = Namespace("mine"), Namespace("theirs")
TITLES = (
    "买 tomatoes 番茄 for the balcony",
    "番茄 soup with tomatoes and tomatoes",
    "阳台 balcony plan: 番茄 first",
    "the tomatoes need water",
)
TERMS = ("番茄", "tomatoes", "阳台")


async def planted(*namespaces: Namespace, times: int = 1) -> Bench:
    bench = Bench()
    for _ in range(times):
        for namespace in namespaces:
            for title in TITLES:
                caller = bench.caller(namespace=namespace)
                await create_item(bench.app, caller, {"title": title, "content": "正文 body"})
    return bench


async def frequencies(bench: Bench) -> tuple[dict[str, int], int]:
    statement = search.frequencies_statement(MINE, [*TERMS, "nowhere"])
    [outcome] = await bench.app.sql.read([statement])
    return search.frequencies(outcome.rows), search.foreign_rows(outcome.rows, TERMS)


async def matches(
    bench: Bench, foreign: int | None, tier: search.Tier = "asked", terms: Sequence[str] = TERMS
) -> list[search.Match]:
    asked = Asked(MINE, ItemQuery(current_only=True), bench.runtime.now_ms())
    statement = search.matches_statement(asked, TERMS, terms, limit=60, tier=tier, foreign=foreign)
    assert ("scope" in str(statement.params)) == (foreign is None or foreign > 500)
    [outcome] = await bench.app.sql.read([statement])
    return search.matches_of(outcome.rows, terms)[0]


async def test_frequencies_tell_whether_others_have_items() -> None:
    alone = await planted(MINE)
    assert await frequencies(alone) == ({"番茄": 3, "tomatoes": 3, "阳台": 1}, 0)
    shared = await planted(MINE, THEIRS)
    assert await frequencies(shared) == ({"番茄": 6, "tomatoes": 6, "阳台": 2}, 14)
    statement = search.frequencies_statement(MINE, ["番茄"])
    [outcome] = await shared.app.sql.read([statement])
    assert search.foreign_rows(outcome.rows, TERMS, {"tomatoes": 6, "阳台": 2}) == 14
    [outcome] = await alone.app.sql.read([statement])
    assert search.foreign_rows(outcome.rows, TERMS, {"tomatoes": 3, "阳台": 1}) == 0
    before = await planted(Namespace("aaa"), MINE)
    assert (await frequencies(before))[1] == 14


@pytest.mark.parametrize("namespaces", [(MINE,), (MINE, THEIRS)])
async def test_matches_are_the_same_with_and_without_the_namespaces_word(
    namespaces: Sequence[Namespace],
) -> None:
    bench = await planted(*namespaces, times=3)
    _, foreign = await frequencies(bench)
    found = await matches(bench, foreign)
    assert len(found) == 12
    assert found == await matches(bench, None)


async def test_others_matches_never_use_up_what_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MATCHES_READ_MAX", 4)
    bench = await planted(MINE, THEIRS)
    asked = Asked(MINE, ItemQuery(), bench.runtime.now_ms())
    _, foreign = await frequencies(bench)
    statement = search.matches_statement(asked, TERMS, TERMS, limit=60, foreign=foreign)
    [outcome] = await bench.app.sql.read([statement])
    assert len(outcome.rows) == 4


async def test_match_says_which_of_many_terms_it_holds() -> None:
    bench = await planted(MINE)
    many = [f"word{number}" for number in range(90)]
    found = await matches(bench, 0, terms=[*many, *TERMS])
    asked = Asked(MINE, ItemQuery(), bench.runtime.now_ms())
    ids = [match.record.id for match in found]
    named = search.named_statement(asked, ids, [*many, *TERMS])
    [outcome] = await bench.app.sql.read([named])
    again, _ = search.matches_of(outcome.rows, [*many, *TERMS])
    held = {match.id: match.held for match in again}
    assert held == {match.id: match.held for match in found}
    assert sorted(map(sorted, held.values())) == [
        ["tomatoes"],
        ["tomatoes", "番茄"],
        ["tomatoes", "番茄"],
        ["番茄", "阳台"],
    ]


async def test_match_of_a_long_text_says_which_terms_it_holds() -> None:
    bench = Bench()
    filling = "一些别的话 and other words " * 200
    content = f"{filling}番茄 tomatoes"
    await create_item(bench.app, bench.caller(), {"title": "阳台", "content": content})
    asked = Asked(bench.caller().namespace, ItemQuery(), bench.runtime.now_ms())
    terms = ["番茄", "tomatoes", "阳台", "番", "omatoe", "茄子"]
    statement = search.newest_statement(asked, limit=1)
    [outcome] = await bench.app.sql.read([statement])
    [newest] = search.matches_of(outcome.rows)[0]
    named = search.named_statement(asked, [newest.id], terms)
    [outcome] = await bench.app.sql.read([named])
    assert str(outcome.rows[0]["held"]) == " 番茄 tomatoes 阳台 番 "
    [match] = search.matches_of(outcome.rows, terms)[0]
    assert match.held == {"番茄", "tomatoes", "阳台", "番"}


async def test_match_read_with_terms_shows_the_same_in_brief_as_the_whole_item() -> None:
    bench = Bench()
    await create_item(
        bench.app,
        bench.caller(),
        {
            "title": "阳台 watering 浇水",
            "content": "每天一次",
            "type": "recurring_system",
            "priority": 3,
            "startup_priority": 9,
            "pinned": True,
            "tags": ["Garden", "阳台"],
            "due": "in 3 days",
            "recurrence_kind": "daily",
            "project_name": "家 Home",
            "topic_name": "Plants",
        },
    )
    asked = Asked(bench.caller().namespace, ItemQuery(), bench.runtime.now_ms())
    statements = [
        search.newest_statement(asked, limit=1),
        search.matches_statement(asked, ["浇水"], ["浇水"], limit=1),
    ]
    newest, matched = await bench.app.sql.read(statements)
    [whole], references = search.matches_of(newest.rows)
    [match], known = search.matches_of(matched.rows, ["浇水"])
    assert match.row.keys() < whole.row.keys()
    shown = brief_view(match.record, known)
    assert shown == brief_view(whole.record, references)
    assert {"project", "topic", "due_at", "recurrence_kind", "pinned", "tags"} <= shown.keys()
    assert (match.id, match.seq, match.tags) == (whole.id, whole.seq, ("Garden", "阳台"))
    assert match.record.fields == {
        name: value for name, value in whole.record.fields.items() if name in match.row
    }
