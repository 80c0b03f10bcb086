"""Properties of the ledger over random command sequences, on real SQLite.

Rebuilt equals incremental; what a list showed at a position is what `as_of` reads there; undo
restores; a crash between any two statements leaves nothing half-done; forgotten text is nowhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import Bench, id_of
from tests.examples import examples

from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import (
    delete_items,
    restore_item,
    set_item_state,
    update_task_state,
)
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.library.digest import set_digest
from remembrancer.app.library.glossary import (
    list_glossary,
    remove_glossary,
    set_glossary,
    update_glossary,
)
from remembrancer.app.library.precious import add_precious, list_precious, remove_precious
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import supersede_items
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import RemembrancerError, StoreUnavailable
from remembrancer.core.values import DAY_MS
from remembrancer.local.sqlite import Moment
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore

TITLES = ["写周报", "买牛奶", "Ship v1.2", "deploy 部署", "记忆系统 design"]
WORDS = ["工作", "home", "C++", "deep work"]

NAMES = ["capture", "memory", "edit", "complete", "snooze", "state", "delete", "restore"]
NAMES += ["supersede", "undo", "redo", "forget", "move"]
LIBRARY = ["pin", "unpin", "term", "rename", "unterm", "digest", "unlibrary"]
NAMES += LIBRARY

commands = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=14,
)


async def play(bench: Bench, script: list[tuple[str, int, int]]) -> list[str]:
    """Run the commands; a refusal is a fine outcome, anything else is not."""
    ids: list[str] = []
    for name, first, second in script:
        bench.runtime.advance(DAY_MS // 3)
        try:
            await STEPS[name](bench, ids, first, second)
        except RemembrancerError as error:
            assert error.code != "internal_error", error
    return ids


async def _capture(bench: Bench, ids: list[str], first: int, second: int) -> None:
    text = f"{TITLES[first % 5]} #{WORDS[second % 2]} +项目{first % 3} @topic{second % 3}"
    ids.append(id_of(await quick_capture(bench.app, bench.caller(), text, {})))


async def _memory(bench: Bench, ids: list[str], first: int, second: int) -> None:
    ids.append(
        id_of(
            await create_item(
                bench.app,
                bench.caller(),
                {
                    "title": f"独一无二的句子{first}{second}",
                    "kind": "memory",
                    "fact_key": f"profile:{first % 4}",
                    "content": TITLES[second % 5] * 3,
                },
            )
        )
    )


async def _edit(bench: Bench, ids: list[str], first: int, second: int) -> None:
    await update_item(
        bench.app,
        bench.caller(),
        ids[first % len(ids)],
        {
            "title": TITLES[second % 5],
            "tags": WORDS[: second % 4],
            "startup_priority": second,
            "recurrence_kind": "weekly" if second % 3 == 0 else None,
            "add_note": f"笔记 {second}",
        },
    )


async def _move(bench: Bench, ids: list[str], first: int, second: int) -> None:
    await update_item(
        bench.app,
        bench.caller(),
        ids[first % len(ids)],
        {"project_name": f"项目{second % 4}", "topic": None, "pinned": second % 2 == 0},
    )


async def _complete(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await update_task_state(bench.app, bench.caller(), ids[first % len(ids)], "complete")


async def _snooze(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await update_task_state(bench.app, bench.caller(), ids[first % len(ids)], "snooze")


async def _state(bench: Bench, ids: list[str], first: int, second: int) -> None:
    states = ["active", "dormant", "stale", "superseded", "archived", "completed", "expired"]
    state = states[second % len(states)]
    await set_item_state(bench.app, bench.caller(), ids[first % len(ids)], state)


async def _delete(bench: Bench, ids: list[str], first: int, second: int) -> None:
    chosen = {ids[first % len(ids)], ids[second % len(ids)]}
    await delete_items(bench.app, bench.caller(), sorted(chosen))


async def _restore(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await restore_item(bench.app, bench.caller(), ids[first % len(ids)])


async def _supersede(bench: Bench, ids: list[str], first: int, second: int) -> None:
    await supersede_items(
        bench.app,
        bench.caller(),
        source_item_id=ids[first % len(ids)],
        target_item_ids=[ids[second % len(ids)]],
        reason="更新了",
    )


async def _undo(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await undo(bench.app, bench.caller(), item_id=ids[first % len(ids)])


async def _redo(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await redo(bench.app, bench.caller(), item_id=ids[first % len(ids)])


async def _forget(bench: Bench, ids: list[str], first: int, _: int) -> None:
    await forget_item(bench.app, bench.caller(), ids[first % len(ids)])


async def _pin(bench: Bench, _: list[str], first: int, second: int) -> None:
    text = f" {TITLES[first % 5]}\x00\u202e {second}\r\n"
    await add_precious(bench.app, bench.caller(), text)


async def _unpin(bench: Bench, _: list[str], first: int, __: int) -> None:
    listed = (await list_precious(bench.app, bench.caller()))["precious"]
    assert isinstance(listed, list)
    ids = [str(one["id"]) for one in listed if isinstance(one, dict)]
    if ids:
        id_ = ids[first % len(ids)]
        await remove_precious(bench.app, bench.caller(), id_, reason="不要了")


async def _term(bench: Bench, _: list[str], first: int, second: int) -> None:
    await set_glossary(
        bench.app,
        bench.caller(),
        term=TITLES[first % 5],
        definition=f"意思 {second}",
        aliases=[f"别名{second % 4}", f"Alias{first % 3}"][: second % 3],
    )


async def _rename(bench: Bench, _: list[str], first: int, second: int) -> None:
    entry_id = await _entry(bench, first)
    if entry_id is not None:
        await update_glossary(bench.app, bench.caller(), entry_id, term=f"别名{second % 4}")


async def _unterm(bench: Bench, _: list[str], first: int, __: int) -> None:
    entry_id = await _entry(bench, first)
    if entry_id is not None:
        await remove_glossary(bench.app, bench.caller(), entry_id=entry_id)


async def _entry(bench: Bench, index: int) -> str | None:
    listed = (await list_glossary(bench.app, bench.caller()))["entries"]
    assert isinstance(listed, list)
    ids = [str(one["id"]) for one in listed if isinstance(one, dict)]
    return ids[index % len(ids)] if ids else None


async def _digest(bench: Bench, _: list[str], first: int, second: int) -> None:
    await set_digest(bench.app, bench.caller(), TITLES[first % 5] * (second % 3))


async def _unlibrary(bench: Bench, _: list[str], first: int, second: int) -> None:
    streams = "stream IN ('precious', 'glossary', 'digest')"
    rows = await bench.rows(f"SELECT DISTINCT cause FROM events WHERE {streams} ORDER BY position")
    if rows:
        cause = str(rows[-1 - first % len(rows)]["cause"])
        take = redo if second % 3 == 0 else undo
        await take(bench.app, bench.caller(), cause=cause)


def _if_any(step: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def run(bench: Bench, ids: list[str], first: int, second: int) -> None:
        if ids:
            await step(bench, ids, first, second)

    return run


STEPS: dict[str, Callable[..., Awaitable[None]]] = {
    "capture": _capture,
    "memory": _memory,
    "pin": _pin,
    "unpin": _unpin,
    "term": _term,
    "rename": _rename,
    "unterm": _unterm,
    "digest": _digest,
    "unlibrary": _unlibrary,
    **{
        name: _if_any(step)
        for name, step in {
            "edit": _edit,
            "move": _move,
            "complete": _complete,
            "snooze": _snooze,
            "state": _state,
            "delete": _delete,
            "restore": _restore,
            "supersede": _supersede,
            "undo": _undo,
            "redo": _redo,
            "forget": _forget,
        }.items()
    },
}


@given(script=commands)
async def test_rebuild_of_any_history_equals_the_incremental_tables(
    script: list[tuple[str, int, int]],
) -> None:
    bench = Bench()
    await play(bench, script)
    before = await bench.tables()
    await rebuild(bench.app)
    after = await bench.tables()
    assert after == before
    # The indexes are back: another rebuild and another write still work.
    await rebuild(bench.app)
    await quick_capture(bench.app, bench.caller(), "again #工作", {})


@given(script=commands)
async def test_ledger_of_any_history_verifies(script: list[tuple[str, int, int]]) -> None:
    bench = Bench()
    await play(bench, script)
    report = await verify(bench.app)
    assert report["ok"], report


@given(script=commands)
async def test_twin_at_every_position_equals_the_table_as_it_was(
    script: list[tuple[str, int, int]],
) -> None:
    bench = Bench()
    seen: dict[int, dict[str, list[Any]]] = {}
    forgotten: set[str] = set()
    ids: list[str] = []
    for step in script:
        bench.runtime.advance(DAY_MS // 3)
        try:
            await STEPS[step[0]](bench, ids, step[1], step[2])
            if step[0] == "forget" and ids:
                forgotten.add(ids[step[1] % len(ids)])
        except RemembrancerError:
            continue
        position = int(
            str((await bench.rows("SELECT max(position) AS p FROM events"))[0]["p"] or 0)
        )
        seen[position] = {
            table: await bench.rows(f"SELECT * FROM {table} ORDER BY id")
            for table in ("items", "projects", "topics")
        }
    for position, tables in seen.items():
        for table, rows in tables.items():
            twin = table[:-1] + "_versions"
            columns = ", ".join(rows[0]) if rows else "*"
            then = await bench.rows(
                f"SELECT {columns} FROM {twin} WHERE from_position <= ?1"
                " AND (to_position IS NULL OR to_position > ?1) ORDER BY id",
                position,
            )
            kept = [row for row in rows if str(row["id"]) not in forgotten]
            assert then == kept


@given(script=commands, last=st.integers(0, 9))
async def test_undo_of_any_command_restores_the_fields_it_changed(
    script: list[tuple[str, int, int]], last: int
) -> None:
    bench = Bench()
    ids = await play(bench, [step for step in script if step[0] != "forget"])
    if not ids:
        return
    item_id = ids[last % len(ids)]
    before = await _fields(bench, item_id)
    caller = bench.caller()
    try:
        answer = await update_item(
            bench.app, caller, item_id, {"title": "改过的标题", "tags": ["x"], "priority": 3}
        )
    except RemembrancerError:
        return
    if not answer["changed"]:
        return
    await undo(bench.app, bench.caller(), cause=caller.cause)
    assert await _fields(bench, item_id) == before
    await redo(bench.app, bench.caller(), item_id=item_id)
    assert (await _fields(bench, item_id))["title"] == "改过的标题"


async def _fields(bench: Bench, item_id: str) -> dict[str, object]:
    [row] = await bench.rows("SELECT * FROM items WHERE id = ?", item_id)
    return {
        name: value
        for name, value in row.items()
        if name not in ("version", "position", "updated_at")
    }


@pytest.mark.parametrize("statement", range(13))
@pytest.mark.parametrize("when", ["before", "after"])
async def test_crash_around_any_statement_leaves_nothing_half_done(
    statement: int, when: Moment
) -> None:
    bench = Bench()
    first = id_of(await quick_capture(bench.app, bench.caller(), "写周报 #工作 +甲 @乙", {}))
    before = await bench.tables()
    events = await bench.rows("SELECT * FROM events")
    sound = bench.sql
    bench.sql = FaultyStore(sound, Faults(crash=CrashPoint(statement, when)))
    text = "买牛奶 #购物 +新项目 @新话题 due:明天下午三点"
    crashed = False
    try:
        await quick_capture(bench.app, bench.caller(), text, {})
    except StoreUnavailable:
        crashed = True
    bench.sql = sound
    if crashed:
        assert await bench.tables() == before
        assert await bench.rows("SELECT * FROM events") == events
    assert (await verify(bench.app))["ok"]
    await update_item(bench.app, bench.caller(), first, {"title": "still works"})


@examples(25)
@given(script=commands, target=st.integers(0, 9))
async def test_forgotten_text_is_in_no_table_and_the_chain_still_verifies(
    script: list[tuple[str, int, int]], target: int
) -> None:
    bench = Bench()
    ids = await play(bench, script)
    if not ids:
        return
    item_id = ids[target % len(ids)]
    secret = "绝密句子 top-secret-phrase-4711"
    try:
        await update_item(
            bench.app,
            bench.caller(),
            item_id,
            {"title": secret, "content": secret, "tags": ["secret-tag-4711"]},
        )
        await supersede_items(
            bench.app,
            bench.caller(),
            source_item_id=id_of(await quick_capture(bench.app, bench.caller(), "new one", {})),
            target_item_ids=[item_id],
            reason=f"because {secret}",
        )
    except RemembrancerError:
        return
    await forget_item(bench.app, bench.caller(), item_id)
    for [table] in [
        (str(row["name"]),)
        for row in await bench.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]:
        dump = repr(await bench.rows(f"SELECT * FROM {table}"))
        assert "4711" not in dump, table
    assert (await verify(bench.app))["ok"]
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before


def test_play_runs_every_command() -> None:
    # Guards the properties above against a script language that only ever refuses.
    bench = Bench()
    script = [("capture", 1, 2), ("memory", 2, 3), ("capture", 3, 4), ("edit", 0, 3)]
    script += [("supersede", 0, 1), ("complete", 2, 0), ("snooze", 0, 0), ("move", 0, 2)]
    script += [("delete", 2, 2), ("restore", 2, 0), ("undo", 0, 0), ("redo", 0, 0)]
    script += [("state", 0, 4), ("forget", 1, 0)]
    script += [("pin", 0, 1), ("unpin", 0, 0), ("term", 0, 1), ("rename", 0, 2)]
    script += [("unlibrary", 0, 1), ("unterm", 0, 0), ("digest", 1, 1)]
    asyncio.run(play(bench, script))
    rows = asyncio.run(bench.rows("SELECT DISTINCT kind FROM events"))
    kinds = {str(row["kind"]) for row in rows}
    assert kinds >= {"ItemCreated", "ItemUpdated", "ItemSuperseded", "ItemCompleted"}
    assert kinds >= {"ItemSnoozed", "ItemDeleted", "ItemRestored", "ChangeUndone", "ChangeRedone"}
    assert kinds >= {"PreciousAdded", "PreciousRemoved", "GlossarySet", "GlossaryRemoved"}
    assert kinds >= {
        "DigestSet",
        "ItemArchived",
        "ItemForgotten",
        "ProjectCreated",
        "RelationsAdded",
    }


@given(script=commands, last=st.integers(0, 9))
async def test_undo_and_redo_of_any_library_command_restore_its_tables(
    script: list[tuple[str, int, int]], last: int
) -> None:
    bench = Bench()
    await play(bench, script)
    before = await _library(bench)
    name = LIBRARY[last % (len(LIBRARY) - 1)]
    count = len(await bench.rows("SELECT position FROM events"))
    try:
        await STEPS[name](bench, [], last, last + 1)
    except RemembrancerError:
        return
    rows = await bench.rows("SELECT cause FROM events ORDER BY position")
    if len(rows) == count:
        return
    after = await _library(bench)
    taking = bench.caller()
    await undo(bench.app, taking, cause=str(rows[-1]["cause"]))
    assert await _library(bench) == before
    await redo(bench.app, bench.caller(), cause=taking.cause)
    assert await _library(bench) == after


async def _library(bench: Bench) -> list[object]:
    quotes = "SELECT * FROM precious ORDER BY id"
    entries = "SELECT id, term, aliases, definition FROM glossary ORDER BY id"
    names = "SELECT * FROM glossary_names ORDER BY name"
    digests = "SELECT content FROM digests"
    return [await bench.rows(sql) for sql in (quotes, entries, names, digests)]
