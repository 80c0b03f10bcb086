"""Forgetting reaches candidates, the diary, the digest and what is kept of a day in between."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.app.distill.nightly import Distiller, echoing, fact, facts, lines_of
from tests.app.distill.test_dream import dreaming, remember
from tests.builders import NAMESPACE, Bench, id_of

from remembrancer.app.candidates.decide import decide_candidate
from remembrancer.app.forget import forget_item
from remembrancer.app.items.write import create_item
from remembrancer.app.library.digest import set_digest
from remembrancer.app.rebuild import rebuild
from remembrancer.app.verify import verify
from remembrancer.core.ledger.passages import Forgotten
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Statement
from remembrancer.store.distilled_copies import quoting_statements
from remembrancer.testing.stores import CountingStore

SECRET = "小美怀孕了这件事还没说"
QUOTED = f'她说："{SECRET}"'


async def everything(bench: Bench) -> str:
    """Every text of every table."""
    tables = await bench.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%'"
        " AND name NOT LIKE 'sqlite_%'"
    )
    found = [await bench.rows(f"SELECT * FROM {row['name']!s}") for row in tables]
    return json.dumps(found, ensure_ascii=False, default=str)


async def test_candidates_that_say_it_go_and_others_stay() -> None:
    bench = Bench()
    [item] = await remember(bench, SECRET)
    decided = await waiting(bench, SECRET)
    answer: Any = await decide_candidate(bench.app, bench.caller(), decided, "approve")
    assert answer["outcome"] == "seen"
    await waiting(bench, f"用户说{SECRET}")
    await waiting(bench, "小美怀孕了，这件事还没说。")
    await waiting(bench, "x", kind="retire", target_ids=(item,))
    await waiting(bench, "用户喜欢茶")
    await forget_item(bench.app, bench.caller(), item)
    rows = await bench.rows("SELECT content FROM candidates")
    assert [row["content"] for row in rows] == ["用户喜欢茶"]
    assert SECRET not in await everything(bench)
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


@pytest.mark.parametrize("is_over", [True, False], ids=["page", "page and parts"])
async def test_diary_digest_and_parts_lose_the_quote(is_over: bool) -> None:
    bench = Distiller(script=dreaming(quotes=[SECRET]))
    [item] = await remember(bench, SECRET)
    await bench.say(f"今天跑步了。{QUOTED}", "然后喝了茶。")
    if is_over:
        bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=not is_over)
    assert SECRET in await everything(bench)
    await set_digest(bench.app, bench.caller(), f"喜欢安静。{QUOTED}")
    await forget_item(bench.app, bench.caller(), item)
    left = await everything(bench)
    # The quote is a memory of its own, and is forgotten by itself.
    for row in await bench.memories():
        await forget_item(bench.app, bench.caller(), str(row["id"]))
    left = await everything(bench)
    assert SECRET not in left
    assert "喜欢安静" in left
    assert "跑步" in left
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_forgotten_quote_is_not_kept_again() -> None:
    bench = Distiller(script=dreaming(quotes=[SECRET]))
    await bench.say(f"今天跑步了。{QUOTED}")
    await bench.run("dream")
    [row] = await bench.memories()
    await forget_item(bench.app, bench.caller(), str(row["id"]))
    await bench.sql.write([Statement("DELETE FROM job_cursors"), Statement("DELETE FROM messages")])
    await bench.say(f"还是那句。{QUOTED}")
    await bench.run("dream")
    assert await bench.texts() == []


async def contents(bench: Bench) -> list[str]:
    rows = await bench.rows("SELECT content FROM messages ORDER BY created_at, id")
    return [str(row["content"]) for row in rows]


FACTS = {
    "zh": (
        "用户对花生过敏",
        ["早上好。我对花生过敏，下午去游泳。", "花生糖三块钱。", "所以你对花生过敏，我换成杏仁。"],
        ["早上好。[forgotten]，下午去游泳。", "花生糖三块钱。", "[forgotten]，我换成杏仁。"],
    ),
    "en": (
        "User is allergic to peanuts",
        [
            "Good morning. Peanuts make me ALLERGIC! We swim later.",
            "Peanuts cost three dollars.",
            "You are allergic to peanuts, so I took almonds.",
        ],
        [
            "Good morning. [forgotten]! We swim later.",
            "Peanuts cost three dollars.",
            "[forgotten], so I took almonds.",
        ],
    ),
}


@pytest.mark.parametrize("language", FACTS)
async def test_messages_lose_what_states_it_and_it_is_not_learned_again(language: str) -> None:
    text, said, left = FACTS[language]
    bench = Distiller(actor="agent:claude")
    [source, _] = await bench.say(*said[:2])
    await bench.say(said[2], role="assistant")
    bench.teach(facts(fact(text, source)))
    await bench.run()
    [row] = await bench.memories()
    answer = await forget_item(bench.app, bench.caller(), str(row["id"]))
    assert answer["messages_redacted"] == 2
    assert await contents(bench) == left
    # A model that repeats every line, and one that insists, learn it no more.
    for script in (echoing, lambda _: facts(fact(text, source))):
        await bench.sql.write([Statement("UPDATE job_cursors SET at_ms = 0, id = ''")])
        bench.teach(script)
        await bench.run()
    kept = " ".join([*await bench.texts(), *(str(c["content"]) for c in await bench.candidates())])
    assert ("过敏" if language == "zh" else "llergic") not in kept
    assert "[forgotten]" not in kept
    assert (await verify(bench.app))["ok"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("用户养了一只猫", "我養了一隻貓，明天去看牙。"),
        ("用戶養了一隻貓", "我养了一只猫，明天去看牙。"),
    ],
)
async def test_other_script_of_chinese_is_no_place_to_hide(text: str, said: str) -> None:
    bench = Distiller(script=dreaming(), actor="agent:claude")
    await bench.say(said)
    bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=False)
    await set_digest(bench.app, bench.caller(), said)
    await waiting(bench, said[:6])
    [item] = await remember(bench, text)
    await forget_item(bench.app, bench.caller(), item)
    left = await everything(bench)
    assert not {"猫", "貓"} & set(left)
    assert "看牙" in left
    assert (await verify(bench.app))["ok"]


async def test_message_that_is_not_read_yet_shows_no_mark_to_the_model() -> None:
    bench = Distiller(actor="agent:claude")
    [item] = await remember(bench, "用户住在上海浦东")
    await bench.say("我住在上海浦东。", "我住在上海浦东，养了一只猫。")
    await forget_item(bench.app, bench.caller(), item)
    bench.teach(echoing)
    await bench.run()
    assert bench.model is not None
    [prompt] = bench.model.asked
    assert [text for _, _, text in lines_of(prompt)] == ["，养了一只猫。"]
    assert "forgotten" not in prompt.user


async def test_page_digest_and_parts_lose_a_sentence_that_only_states_it() -> None:
    bench = Distiller(script=dreaming(), actor="agent:claude")
    await bench.say("我对花生过敏。今天跑步了。")
    bench.runtime.advance(DAY_MS)
    await bench.run("dream")
    assert "我对花生过敏" in await everything(bench)
    [item] = await remember(bench, "用户对花生过敏")
    await forget_item(bench.app, bench.caller(), item)
    left = await everything(bench)
    assert "花生" not in left
    assert "跑步" in left
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_other_namespaces_and_other_messages_stay_as_they_are() -> None:
    bench = Distiller(actor="agent:claude")
    [item] = await remember(bench, "用户对花生过敏")
    plain = [f"第{n}句话，没有什么要紧的" for n in range(50)]
    await bench.say(*plain)
    foreign = (
        "INSERT INTO messages (namespace, id, conversation_id, role, content, client_hash,"
        " created_at) VALUES ('other', 'msg_1', 'c', 'user', '我对花生过敏', 'h', 1)"
    )
    await bench.sql.write([Statement(foreign)])
    answer = await forget_item(bench.app, bench.caller(), item)
    assert answer["messages_redacted"] == 0
    assert sorted(await contents(bench)) == sorted([*plain, "我对花生过敏"])


async def test_long_memory_is_forgotten_sentence_by_sentence() -> None:
    sentences = [f"第{n}号抽屉里放着{n * 37}枚邮票。" for n in range(30)]
    bench = Distiller(actor="agent:claude")
    [item] = await remember(bench, "".join(sentences))
    await bench.say(*sentences, "抽屉是空的。")
    counting = CountingStore(bench.sql)
    app = replace(bench.app, sql=counting)
    answer = await forget_item(app, bench.caller(), item)
    assert answer["messages_redacted"] == 30
    # As many as a request of the platform may send, however long the memory is.
    assert counting.counts.statements <= 45
    assert all(
        len(one.params) <= 100
        for one in quoting_statements(
            NAMESPACE, item, Forgotten(["".join(sentences) * 3]).words, hashes=["h"], sources=["m"]
        )
    )
    assert (await contents(bench))[-1] == "抽屉是空的。"


async def test_chat_keeps_neither_thoughts_nor_questions_that_say_it() -> None:
    bench = Distiller(actor="agent:claude")
    [item] = await remember(bench, "用户对花生过敏")
    await bench.sql.write(
        [
            Statement(
                "INSERT INTO turn_blocks (namespace, conversation_id, turn, block, memory_ids,"
                " thinking, created_at) VALUES (?, 'c', ?, '', '[]', ?, 1)",
                (NAMESPACE, turn, thinking),
            )
            for turn, thinking in (("a", '{"t": "他对花生过敏，要小心"}'), ("b", '{"t": "天气好"}'))
        ]
    )
    await forget_item(bench.app, bench.caller(), item)
    assert await bench.rows("SELECT turn FROM turn_blocks") == [{"turn": "b"}]


async def test_statement_of_two_characters_goes_and_a_step_of_two_is_anybodys() -> None:
    bench = Bench()
    answer = await create_item(
        bench.app, bench.caller(), {"title": "属兔", "kind": "memory", "steps": ["好的"]}
    )
    await set_digest(bench.app, bench.caller(), "用户屬兔。喜欢茶。")
    await waiting(bench, "用户喜欢茶，好的")
    await forget_item(bench.app, bench.caller(), id_of(answer))
    [row] = await bench.rows("SELECT content FROM digests")
    assert row["content"] == "[forgotten]。喜欢茶。"
    [row] = await bench.rows("SELECT content FROM candidates")
    assert row["content"] == "用户喜欢茶，好的"
    assert (await verify(bench.app))["ok"]
