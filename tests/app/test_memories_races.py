"""Writers of one key that meet: one active holder, and every text in the history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_memories import KEY, holders, save
from tests.app.test_relations_races import Interleaved
from tests.builders import Bench

from remembrancer.app.commit import Answer
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.core.errors import Conflict
from remembrancer.testing.stores import memory_store


async def texts(bench: Bench) -> list[str]:
    rows = await bench.rows("SELECT title FROM items ORDER BY seq")
    return [str(row["title"]) for row in rows]


async def save_at_once(bench: Bench, contents: Sequence[str], key: str | None) -> list[Answer]:
    """One app, as one process has: its turnstile is what they share."""
    app = bench.app
    new = [NewMemory(content, given={"fact_key": key}) for content in contents]
    return await asyncio.gather(*(save_memory(app, bench.caller(), one) for one in new))


@pytest.mark.parametrize("is_held", [False, True], ids=["new key", "held key"])
async def test_two_writers_in_two_processes_leave_one_holder_and_both_texts(is_held: bool) -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    quick.runtime = slow.runtime
    if is_held:
        await save(quick, "port 1", fact_key=KEY)
    store.meanwhile.append(lambda: save(quick, "port 2222", fact_key=KEY))
    answer = await save(slow, "port 2223", fact_key=KEY)
    assert (answer["outcome"], store.clashes) == ("superseded", 1)
    assert await holders(slow) == ["port 2223"]
    assert await texts(slow) == [*(["port 1"] if is_held else []), "port 2222", "port 2223"]


async def test_writer_who_meets_its_own_text_sees_it_again() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    quick.runtime = slow.runtime
    store.meanwhile.append(lambda: save(quick, "port 2222", fact_key=KEY))
    assert (await save(slow, "port 2222", fact_key=KEY))["outcome"] == "seen"
    assert await texts(slow) == ["port 2222"]


async def test_writer_who_is_never_first_gives_up_with_a_conflict() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    quick.runtime = slow.runtime
    for content in ("port 1", "port 2", "port 3"):
        store.meanwhile.append(partial(save, quick, content, fact_key=KEY))
    with pytest.raises(Conflict):
        await save(slow, "port 9", fact_key=KEY)
    assert len(await holders(slow)) == 1
    assert "port 9" not in await texts(slow)


async def test_many_writers_in_one_process_all_succeed() -> None:
    bench = Bench(sql=Interleaved(memory_store()))
    contents = [f"port {number}" for number in range(12)]
    answers = await save_at_once(bench, contents, KEY)
    assert [one["outcome"] for one in answers] == ["created"] + ["superseded"] * 11
    assert await holders(bench) == ["port 11"]
    assert await texts(bench) == contents


async def test_same_statement_without_a_key_is_kept_once() -> None:
    bench = Bench(sql=Interleaved(memory_store()))
    answers = await save_at_once(bench, ["喜欢喝茶"] * 6, None)
    assert [one["outcome"] for one in answers] == ["created"] + ["seen"] * 5


@given(
    st.lists(st.tuples(st.sampled_from(["k:1", "k:2", None]), st.sampled_from("abcd")), max_size=14)
)
async def test_there_is_never_more_than_one_holder_and_nothing_is_lost(
    saved: list[tuple[str | None, str]],
) -> None:
    bench = Bench()
    last: dict[str | None, str] = {}
    for key, letter in saved:
        content = f"value {letter}{letter} {key}"
        await save(bench, content, fact_key=key)
        if key is not None:
            last[key] = content
    for key in ("k:1", "k:2"):
        assert await holders(bench, key) == ([last[key]] if key in last else [])
    assert set(await texts(bench)) == {f"value {one}{one} {key}" for key, one in saved}
