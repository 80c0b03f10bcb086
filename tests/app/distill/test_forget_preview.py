"""What would go with an item: shown before, without writing, and just that is what goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.app.distill.nightly import Distiller, fact, facts
from tests.app.distill.test_dream import dreaming, remember
from tests.builders import NAMESPACE, Bench

from remembrancer.app.forget import PASSAGES_SHOWN_MAX, forget_item, preview_forgetting
from remembrancer.app.library.digest import set_digest
from remembrancer.app.relations import add_relation
from remembrancer.core.errors import NotFound
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Statement
from remembrancer.testing.stores import CountingStore

LANGUAGES = {
    "zh": ("用户对花生过敏", "早上好。我对花生过敏，下午去游泳。", "我对花生过敏", "今天跑步了"),
    "en": (
        "User is allergic to peanuts",
        "Good morning. I am allergic to peanuts, so I took almonds.",
        "I am allergic to peanuts",
        "We went swimming",
    ),
}
SEEN = {
    "message": ("messages", "id", ("content",)),
    "page": ("pages", "label", ("title", "summary", "content")),
    "candidate": ("candidates", "id", ("content",)),
    "question": ("recalls", "id", ("query",)),
    "notes": ("dream_parts", "date", ("body",)),
}
"""Place → its table, what names a row of it, and its texts."""


async def texts_of(bench: Bench) -> dict[tuple[str, str], str]:
    """Every text that a preview may name, by place and id."""
    found: dict[tuple[str, str], str] = {}
    for place, (table, key, columns) in SEEN.items():
        for row in await bench.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3"):
            at = place, str(row[key])
            found[at] = found.get(at, "") + " ".join(str(row[name]) for name in columns)
    for row in await bench.rows("SELECT content FROM digests"):
        found["digest", "digest"] = str(row["content"])
    return found


async def talked(language: str) -> tuple[Distiller, str]:
    """A store in which one fact stands everywhere; return its item."""
    text, said, plain, other = LANGUAGES[language]
    bench = Distiller(actor="agent:claude", script=dreaming())
    [source] = await bench.say(said)
    await bench.say(f"{other}。" if language == "zh" else f"{other}.", plain)
    bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=False)
    await bench.say(f"{plain}。" if language == "zh" else f"{plain}.")
    await bench.run("dream")
    bench.teach(facts(fact(text, source)))
    await bench.run()
    [item] = [str(row["id"]) for row in await bench.memories() if text in str(row["title"])]
    [second] = await remember(bench, "likes tea")
    await add_relation(
        bench.app,
        bench.caller(),
        source_id=item,
        type="supports",
        target_id=second,
        reason=text,
    )
    await waiting(bench, text)
    await waiting(bench, "用户喜欢茶")
    await set_digest(bench.app, bench.caller(), f"{other}。{plain}。")
    await bench.sql.write(
        [
            Statement(
                "INSERT INTO turn_blocks (namespace, conversation_id, turn, block, memory_ids,"
                " thinking, created_at) VALUES (?, 'c', 'a', '', '[]', ?, 1)",
                (NAMESPACE, plain),
            )
        ]
    )
    return bench, item


@pytest.mark.parametrize("language", LANGUAGES)
async def test_preview_writes_nothing_and_just_what_it_says_goes(language: str) -> None:
    bench, item = await talked(language)
    tables, before = await bench.tables(), await texts_of(bench)
    counting = CountingStore(bench.sql)
    preview: Any = await preview_forgetting(replace(bench.app, sql=counting), bench.caller(), item)
    assert {call.kind for call in counting.counts.calls} == {"read"}
    assert counting.counts.statements <= 15
    assert await bench.tables() == tables
    assert (preview["would_forget"], preview["more"]) == (item, 0)
    answer = await forget_item(bench.app, bench.caller(), item)
    assert answer == {"forgotten": item, **preview["counts"]}
    after = await texts_of(bench)
    changed = {at for at, text in before.items() if after.get(at) != text}
    assert {(one["place"], one["id"]) for one in preview["passages"]} == changed
    places = [one["place"] for one in preview["passages"]]
    counts = preview["counts"]
    for place, name in (
        ("message", "messages_redacted"),
        ("page", "pages_redacted"),
        ("digest", "digest_redacted"),
        ("notes", "notes_redacted"),
        ("candidate", "candidates_removed"),
        ("question", "questions_redacted"),
    ):
        assert counts[name] == places.count(place)
    assert set(places) >= {"message", "page", "digest", "notes", "candidate"}
    assert (counts["relations_removed"], counts["turns_dropped"]) == (1, 1)
    for one in preview["passages"]:
        at = one["place"], one["id"]
        for text in one["texts"]:
            assert text in before[at]
            assert text not in after.get(at, "")
    with pytest.raises(NotFound):
        await preview_forgetting(bench.app, bench.caller(), item)


async def test_preview_of_a_source_in_other_words_shows_what_goes_of_it() -> None:
    bench = Distiller(actor="agent:claude")
    [source] = await bench.say("Peanuts make me swell up. We swim later.")
    [item] = await remember(bench, "User is allergic to peanuts", source_message_ids=[source])
    preview: Any = await preview_forgetting(bench.app, bench.caller(), item)
    assert preview["passages"] == [
        {"place": "message", "id": source, "texts": ["Peanuts make me swell up"]}
    ]


async def test_preview_of_much_shows_a_part_and_counts_all() -> None:
    bench = Distiller(actor="agent:claude")
    [item] = await remember(bench, "用户对花生过敏")
    await bench.say(*("我对花生过敏。" for _ in range(PASSAGES_SHOWN_MAX + 30)))
    counting = CountingStore(bench.sql)
    preview: Any = await preview_forgetting(replace(bench.app, sql=counting), bench.caller(), item)
    assert (len(preview["passages"]), preview["more"]) == (PASSAGES_SHOWN_MAX, 30)
    assert preview["counts"]["messages_redacted"] == PASSAGES_SHOWN_MAX + 30
    assert counting.counts.statements <= 15


async def test_item_that_stands_nowhere_else_has_a_plain_preview() -> None:
    bench = Bench()
    [item] = await remember(bench, "喜欢绿茶")
    preview: Any = await preview_forgetting(bench.app, bench.caller(), item)
    assert (preview["title"], preview["kind"], preview["state"]) == ("喜欢绿茶", "memory", "active")
    assert preview["passages"] == []
    assert [name for name, count in preview["counts"].items() if count] == ["events_emptied"]
