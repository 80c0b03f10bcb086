"""A scenario for every job of the catalogue, and for what is rare: a refusing model, a retry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.app.distill.nightly import fact, facts, lines_of, visible
from tests.app.distill.test_dream import dreaming, remember
from tests.app.jobs.matrix import Scenario, World
from tests.builders import NAMESPACE, id_of

from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.narrowing import PROBES, REFUSALS_MAX
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.relations import add_relation
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.core.errors import ModelRefused
from remembrancer.core.values import DAY_MS, HOUR_MS, MINUTE_MS
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.sql import Row, Statement
from remembrancer.testing.models import ScriptedModel

SAID = [
    "I moved to Lisbon in March",
    "我对花生过敏",
    "I might switch to tea",
    "I prefer dark mode at night",
    "我最喜欢的颜色是蓝色",
]
REFUSED = "我喜欢紫色"


def mixed(prompt: Prompt) -> str:
    """Facts under keys and without, one that waits, one that takes an older one's place."""
    entries = []
    for id_, role, text in lines_of(prompt):
        if role == "user":
            key = "profile:city" if "Lisbon" in text else None
            unsure = {"confidence": 0.4} if "might" in text else {}
            entries.append(fact(text, id_, fact_key=key, **unsure))
    return facts(*entries)


def refusing(prompt: Prompt) -> str | Completion:
    if REFUSED in prompt.user:
        raise ModelRefused("not that", reason="filtered")
    return mixed(prompt)


async def said(world: World, *texts: str) -> list[str]:
    bench = world.bench
    old = NewMemory("Lives in Porto", {"fact_key": "profile:city"})
    await save_memory(world.app, bench.caller(), old)
    ids = await bench.say(*texts)
    bench.runtime.advance(1_000)
    return ids


async def talk(world: World) -> None:
    await said(world, *SAID)


async def long_talk(world: World) -> None:
    """Two messages of several slices each around a short one: nearly every batch ends in one."""
    tale = "".join(f"那一年的夏天下了第{n}场雨，街上的人都撑着伞走得很慢。" for n in range(60))
    pasted = "The meeting notes go on and on about nothing in particular here.\n\n" * 30
    await said(world, f"{SAID[1]}。{tale}{SAID[4]}。", SAID[2], f"{pasted}{SAID[0]}.")


def sentence_by_sentence(prompt: Prompt) -> str:
    """A model that learns the sentences of `SAID`, wherever they stand."""
    known = [(id_, one) for id_, _, text in lines_of(prompt) for one in SAID if one in text]
    keys = {SAID[0]: "profile:city"}
    unsure = {SAID[2]: {"confidence": 0.4}}
    return facts(
        *(fact(one, id_, fact_key=keys.get(one), **unsure.get(one, {})) for id_, one in known)
    )


async def refused_talk(world: World) -> None:
    await said(world, SAID[0], REFUSED, SAID[2])
    await refuse(world, REFUSALS_MAX)


async def refuse(world: World, runs: int) -> None:
    """Let the batch be refused: as often as it is tried whole, and once more to be narrowed."""
    app = replace(world.app, chat=ScriptedModel(refusing))
    for _ in range(runs):
        world.bench.runtime.advance(4 * HOUR_MS)
        assert await EXTRACT_REFUSED.visit(world, app)


async def set_aside(world: World) -> None:
    await said(world, SAID[0], REFUSED, SAID[2])
    await refuse(world, REFUSALS_MAX + 1)
    assert await skipped(world)


async def skipped(world: World) -> list[str]:
    rows = await world.bench.rows("SELECT message_id FROM skipped_messages ORDER BY message_id")
    return [str(row["message_id"]) for row in rows]


async def retrying(world: World) -> Asked:
    """The refused messages, as they were when the world was made."""
    rows = await world.bench.rows("SELECT id FROM messages WHERE content = ?", REFUSED)
    return Asked(messages=tuple(str(row["id"]) for row in rows))


async def learned(world: World) -> dict[str, object]:
    """What extraction leaves: memories, what waits, the cursor, what was set aside."""
    bench = world.bench
    return {
        "active": sorted(await bench.texts()),
        "superseded": sorted(await bench.texts("superseded")),
        "waiting": [str(row["content"]) for row in await bench.candidates()],
        "cursor": await bench.rows("SELECT name, at_ms, id FROM job_cursors"),
        "narrowed": await bench.rows("SELECT * FROM refused_batches"),
        "skipped": await skipped(world),
        "relations": await bench.rows("SELECT type FROM relations"),
    }


DREAM_SAID = ["今天去了西湖边跑步，跑了10公里。", "My port is 2223 now.", "晚上和小美吃了火锅。"]
KNOWN = ["My port is 2222", "用户喜欢喝咖啡", "用户不喜欢喝咖啡", "likes tea", "owns a boat"]


def tidying(prompt: Prompt) -> str:
    """One of everything: a replacement, a retirement, a candidate, a quote, page and digest."""
    lines = lines_of(prompt)
    by_text = {text.split(") ")[-1]: id_ for id_, role, text in lines if role == "memory"}
    given: dict[str, Any] = {"quotes": ["和小美吃了火锅"], "retire": []}
    for id_, role, text in lines:
        if role == "user" and "2223" in text and KNOWN[0] in by_text:
            change = {"id": by_text[KNOWN[0]], "content": "Port is 2223 now"}
            given["replace"] = [{**change, "source_message_ids": [id_]}]
    if KNOWN[1] in by_text and KNOWN[2] in by_text:
        given["retire"] = [{"id": by_text[KNOWN[1]], "by": by_text[KNOWN[2]]}]
    if KNOWN[4] in by_text:
        given["retire"] += [{"id": by_text[KNOWN[4]]}]
    return dreaming(**given)(prompt)


def refusing_night(prompt: Prompt) -> str | Completion:
    if DREAM_SAID[0] in prompt.user and "2223" not in DREAM_SAID[0]:
        raise ModelRefused("not that", reason="filtered")
    if any(probe in prompt.user for probe in PROBES.values()):
        return mixed(prompt)
    return tidying(prompt)


async def day(world: World) -> None:
    await remember(world.bench, *KNOWN)
    await world.bench.say(*DREAM_SAID)
    world.bench.runtime.advance(DAY_MS)


async def refused_day(world: World) -> None:
    await day(world)
    for _ in range(REFUSALS_MAX):
        world.bench.runtime.advance(HOUR_MS)
        assert await DREAM_REFUSED.visit(world, world.app)


async def dreamt(world: World) -> dict[str, list[Row]]:
    """What a night leaves: what a person sees, and where the job stands."""
    bench = world.bench
    return {
        **await visible(bench),
        "cursors": await bench.rows("SELECT name, at_ms, id FROM job_cursors ORDER BY name"),
        "narrowed": await bench.rows("SELECT * FROM refused_batches"),
    }


async def aged(world: World) -> None:
    """A store with everything that retention takes, and what it must leave."""
    bench = world.bench

    async def memory(name: str, **given: object) -> str:
        whole = {"title": f"{name} 的事", "kind": "memory", "tags": ["茶"], **given}
        return id_of(await create_item(world.app, bench.caller(), whole))  # type: ignore[arg-type]  # names of ItemInput

    for number in range(3):
        await memory(f"unused{number}")
    pinned = await memory("pinned", pinned=True)
    gone = [await memory(f"gone{number}") for number in range(3)]
    await add_relation(
        world.app, bench.caller(), source_id=gone[0], type="supports", target_id=pinned
    )
    await delete_items(world.app, bench.caller(), gone)
    ids = await bench.say(*(f"第{n}句" for n in range(5)), step_ms=0)
    now_ms = bench.runtime.now_ms()
    cursor = "INSERT INTO job_cursors VALUES (?, 'extract', ?, ?, 1)"
    skip = "INSERT INTO skipped_messages VALUES (?, ?, ?, ?, 'run_1', 'filtered', 1)"
    bench.runtime.advance(200 * DAY_MS)
    await bench.sql.write(
        [
            Statement(cursor, (NAMESPACE, now_ms, ids[3])),
            Statement(skip, (NAMESPACE, ids[0], now_ms, bench.runtime.now_ms())),
            Statement(skip, (NAMESPACE, ids[1], now_ms, now_ms)),
        ]
    )


async def kept(world: World) -> list[object]:
    """What retention left, without times."""
    return [
        await world.bench.rows(sql)
        for sql in (
            "SELECT id, state FROM items ORDER BY id",
            "SELECT * FROM relations",
            "SELECT id FROM messages ORDER BY id",
            "SELECT message_id FROM skipped_messages",
            "SELECT tag, item_id FROM item_tags ORDER BY 1, 2",
            "SELECT name, value FROM counters WHERE value <> 0 ORDER BY 1",
            "SELECT stream, kind, count(*) AS n FROM events GROUP BY 1, 2 ORDER BY 1, 2",
            "SELECT stream, version FROM events WHERE body IS NULL ORDER BY 1, 2",
        )
    ]


async def changed(world: World) -> None:
    """Vectors to be written, written anew, and removed."""
    ids = [
        id_of(
            await create_item(
                world.app, world.bench.caller(), {"title": f"第{n}只猫", "kind": "memory"}
            )
        )
        for n in range(4)
    ]
    await drain_outbox(world.app)
    await delete_items(world.app, world.bench.caller(), ids[:2])
    for n in range(3):
        given = {"title": f"cat number {n}", "kind": "memory"}
        await create_item(world.app, world.bench.caller(), given)  # type: ignore[arg-type]  # names of ItemInput


async def indexed(world: World) -> list[object]:
    """What the index, its books and the outbox hold."""
    books = "SELECT item_id, version, model FROM vector_rows ORDER BY item_id"
    outbox = "SELECT item_id FROM vector_outbox"
    return [
        sorted(world.vectors.rows),
        (await world.vectors.inner.describe()).count,
        await world.bench.rows(books),
        await world.bench.rows(outbox),
    ]


async def long_texts(world: World) -> None:
    """Texts to be moved out, and one that is forgotten behind its move."""
    ids = []
    for number in range(3):
        content = f"第{number}篇很长的文章，a long text. " * 700
        given = {"title": f"长文{number}", "kind": "memory", "content": content}
        made = await create_item(world.app, world.bench.caller(), given)  # type: ignore[arg-type]  # names of ItemInput
        ids.append(id_of(made))
        if number == 0:
            world.bench.runtime.advance(HOUR_MS)
            await ARTIFACTS.visit(world, world.app)
    assert world.blobs.held
    # Forgotten while the blob store is away: its removal waits.
    await forget_item(replace(world.app, blobs=None), world.bench.caller(), ids[0])


async def moved(world: World) -> list[object]:
    """What is in the blob store, and what the rows say of it."""
    held = {key: json.dumps(data.decode()[:20]) for key, data in world.blobs.held.items()}
    return [
        held,
        await world.bench.rows("SELECT id, stage FROM artifacts ORDER BY id"),
        await world.bench.rows("SELECT artifact_id FROM artifact_chunks ORDER BY 1"),
    ]


_FEW = {"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "9"}
_MANY = {"EXTRACT_MAX_MESSAGES": "40", "EXTRACT_MAX_RUNS": "9"}

EXTRACT_REFUSED = Scenario("extract", refused_talk, learned, refusing, _MANY, wait_ms=4 * HOUR_MS)
DREAM_REFUSED = Scenario("dream", refused_day, dreamt, refusing_night, wait_ms=HOUR_MS)
ARTIFACTS = Scenario("artifacts", long_texts, moved, uses=("blobs",), wait_ms=30 * MINUTE_MS)

SCENARIOS: dict[str, Scenario] = {
    "extract": Scenario("extract", talk, learned, mixed, _FEW, ("embedder",), wait_ms=4 * HOUR_MS),
    "extract by rules": Scenario("extract", talk, learned, None, _FEW, wait_ms=4 * HOUR_MS),
    "extract in slices": Scenario(
        "extract", long_talk, learned, sentence_by_sentence, _FEW, wait_ms=4 * HOUR_MS
    ),
    "extract refused": EXTRACT_REFUSED,
    "extract again": Scenario(
        "extract", set_aside, learned, mixed, _MANY, asked=retrying, wait_ms=4 * HOUR_MS
    ),
    "dream": Scenario("dream", day, dreamt, tidying, {"DREAM_MAX_MESSAGES": "2"}, wait_ms=HOUR_MS),
    "dream by rules": Scenario("dream", day, dreamt, None, wait_ms=HOUR_MS),
    "dream refused": DREAM_REFUSED,
    "retention": Scenario("retention", aged, kept),
    "index": Scenario("index", changed, indexed, uses=("vectors", "embedder"), wait_ms=HOUR_MS),
    "artifacts": ARTIFACTS,
}
"""Name → scenario; every job of the catalogue has one."""
