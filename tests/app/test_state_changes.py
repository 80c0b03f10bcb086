"""Changes of an item's state by verb and by name: every state is reached and read back."""

from __future__ import annotations

import itertools
from typing import cast

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import get_item
from remembrancer.app.items.states import (
    ACTIONS,
    Action,
    delete_items,
    restore_item,
    set_item_state,
    update_task_state,
)
from remembrancer.app.items.write import create_item, update_item
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.items.fields import STATES
from remembrancer.core.items.states import TRANSITIONS
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON
from remembrancer.testing.stores import CountingStore, memory_store

START = "2026-03-01T12:00:00Z"
DERIVED = ("completed_at", "archived_at", "superseded_at", "deleted_at")


async def make(bench: Bench, **given: object) -> str:
    fields = cast(ItemInput, {"title": "浇花", **given})
    return id_of(await create_item(bench.app, bench.caller(), fields))


async def item(bench: Bench, item_id: str) -> dict[str, JSON]:
    return item_of(await get_item(bench.app, bench.caller(), item_id))


async def act(bench: Bench, item_id: str, action: str, **given: str) -> dict[str, JSON]:
    answer = await update_task_state(
        bench.app,
        bench.caller(),
        item_id,
        cast(Action, action),
        until=given.get("until"),
        occurrence_due_at=given.get("occurrence_due_at"),
    )
    return {"changed": answer["changed"], **item_of(answer)}


async def reached(bench: Bench, state: str, **given: object) -> str:
    """A new item, brought to a state by its name."""
    item_id = await make(bench, **given)
    if state != "active":
        await set_item_state(bench.app, bench.caller(), item_id, state)
    return item_id


@pytest.mark.parametrize("state", STATES)
async def test_each_state_is_set_and_read_back_everywhere(state: str) -> None:
    bench = Bench()
    item_id = await reached(bench, state)
    shown = await item(bench, item_id)
    assert shown["state"] == shown["lifecycle_state"] == state
    assert shown["completed"] == (state == "completed")
    assert shown["progress"] == ("done" if state == "completed" else "pending")
    assert [name for name in DERIVED if name in shown] == (
        [f"{state}_at"] if f"{state}_at" in DERIVED else []
    )
    [row] = await bench.rows("SELECT name FROM counters WHERE name LIKE 'items/%' AND value = 1")
    assert row["name"] == f"items/task/{state}"


@pytest.mark.parametrize(
    ("present", "wanted"), list(itertools.product(STATES, [s for s in STATES if s != "deleted"]))
)
async def test_a_state_follows_another_by_name_or_by_edit_as_the_table_says(
    present: str, wanted: str
) -> None:
    bench = Bench()
    for by_edit in (False, True):
        item_id = await reached(bench, present)
        before = await item(bench, item_id)
        call = (
            update_item(bench.app, bench.caller(), item_id, {"state": wanted})
            if by_edit
            else set_item_state(bench.app, bench.caller(), item_id, wanted)
        )
        if present == "deleted":
            with pytest.raises(Conflict, match="deleted"):
                await call
        elif present != wanted and wanted not in TRANSITIONS[present]:
            with pytest.raises(InvalidInput) as caught:
                await call
            assert caught.value.code == "invalid_transition"
        else:
            answer = await call
            assert answer["changed"] == (present != wanted)
            assert item_of(answer)["state"] == wanted
            assert item_of(answer) == await item(bench, item_id)
            continue
        assert await item(bench, item_id) == before


@pytest.mark.parametrize("action", ACTIONS[:-1])
@pytest.mark.parametrize("state", STATES)
async def test_a_verb_either_works_or_says_why_and_changes_nothing(state: str, action: str) -> None:
    bench = Bench()
    item_id = await reached(bench, state)
    before = await item(bench, item_id)
    is_open = state in ("active", "dormant", "stale")
    works = {
        "complete": is_open or state == "completed",
        "snooze": is_open,
        "ignore": is_open,
        "reactivate": state != "deleted",
        "archive": state not in ("deleted",),
    }[action]
    bench.runtime.advance(HOUR_MS)
    if works:
        assert await act(bench, item_id, action) == {
            "changed": (await item(bench, item_id)) != before,
            **await item(bench, item_id),
        }
        return
    with pytest.raises((InvalidInput, Conflict)) as caught:
        await act(bench, item_id, action)
    assert caught.value.hint
    assert await item(bench, item_id) == before


@pytest.mark.parametrize("action", ["complete", "snooze", "ignore"])
async def test_verbs_of_tasks_are_refused_for_memories(action: str) -> None:
    bench = Bench()
    item_id = await make(bench, kind="memory")
    with pytest.raises(InvalidInput, match="only a task") as caught:
        await act(bench, item_id, action)
    assert caught.value.hint == "archive a memory instead"


@pytest.mark.parametrize("kind", ["task", "memory"])
async def test_archiving_and_taking_back_works_for_both_kinds(kind: str) -> None:
    bench = Bench()
    item_id = await make(bench, kind=kind)
    archived = await act(bench, item_id, "archive")
    assert (archived["state"], archived["archived_at"]) == ("archived", START)
    assert (await act(bench, item_id, "archive"))["changed"] is False
    back = await act(bench, item_id, "reactivate")
    assert back["state"] == "active" and "archived_at" not in back
    assert (await act(bench, item_id, "reactivate"))["changed"] is False


async def test_a_task_can_be_completed_and_taken_back_again_and_again() -> None:
    bench = Bench()
    item_id = await make(bench)
    for _ in range(2):
        done = await act(bench, item_id, "complete")
        assert (done["changed"], done["completed"], done["progress"]) == (True, True, "done")
        assert (await act(bench, item_id, "complete"))["changed"] is False
        back = await act(bench, item_id, "reactivate")
        assert (back["completed"], back["progress"], back["state"]) == (False, "pending", "active")


async def test_completing_a_recurring_task_late_moves_it_past_now() -> None:
    bench = Bench()
    item_id = await make(bench, due="2026-02-06T18:00", recurrence_kind="weekly")
    done = await act(bench, item_id, "complete")
    assert (done["due_at"], done["state"]) == ("2026-03-06T10:00:00Z", "active")
    assert (await act(bench, item_id, "complete"))["changed"] is False
    named = await act(bench, item_id, "complete", occurrence_due_at="2026-02-06T18:00")
    assert named["changed"] is False
    with pytest.raises(InvalidInput) as caught:
        await act(bench, item_id, "complete", occurrence_due_at="2027-01-01")
    assert caught.value.field == "occurrence_due_at"


async def test_a_month_end_clamps_in_the_zone_of_the_namespace() -> None:
    bench = Bench()
    item_id = await make(bench, due="2026-03-31T09:00", recurrence_kind="monthly")
    bench.runtime.advance(31 * DAY_MS)
    assert (await act(bench, item_id, "complete"))["due_at"] == "2026-04-30T01:00:00Z"
    bench.runtime.advance(30 * DAY_MS)
    assert (await act(bench, item_id, "complete"))["due_at"] == "2026-05-31T01:00:00Z"


async def test_a_snooze_lasts_by_default_by_words_and_is_not_renewed_by_chance() -> None:
    bench = Bench()
    item_id = await make(bench)
    first = await act(bench, item_id, "snooze")
    assert first["snoozed_until"] == "2026-03-02T12:00:00Z"
    bench.runtime.advance(HOUR_MS)
    assert (await act(bench, item_id, "snooze"))["changed"] is False
    named = await act(bench, item_id, "snooze", until="明天下午三点")
    assert (named["changed"], named["snoozed_until"]) == (True, "2026-03-02T07:00:00Z")
    bench.runtime.advance(2 * DAY_MS)
    assert (await act(bench, item_id, "snooze"))["snoozed_until"] == "2026-03-04T13:00:00Z"


@pytest.mark.parametrize(
    ("until", "code"), [("yesterday", "invalid_input"), ("whenever", "invalid_date")]
)
async def test_a_snooze_into_the_past_or_into_nothing_is_refused(until: str, code: str) -> None:
    bench = Bench()
    item_id = await make(bench)
    with pytest.raises(InvalidInput) as caught:
        await act(bench, item_id, "snooze", until=until)
    assert (caught.value.code, caught.value.field) == (code, "until")


async def test_snooze_and_ignore_take_each_other_back() -> None:
    bench = Bench()
    item_id = await make(bench)
    await act(bench, item_id, "snooze")
    ignored = await act(bench, item_id, "ignore")
    assert ignored["ignored_until"] == "2026-03-03T12:00:00Z" and "snoozed_until" not in ignored
    snoozed = await act(bench, item_id, "snooze")
    assert "ignored_until" not in snoozed and "snoozed_until" in snoozed
    back = await act(bench, item_id, "reactivate")
    assert back["changed"] is True and "snoozed_until" not in back


async def test_unknown_items_and_states_are_named() -> None:
    bench = Bench()
    for call in (
        update_task_state(bench.app, bench.caller(), "itm_nobody", "complete"),
        set_item_state(bench.app, bench.caller(), "itm_nobody", "active"),
        restore_item(bench.app, bench.caller(), "itm_nobody"),
        update_item(bench.app, bench.caller(), "itm_nobody", {"title": "t"}),
        delete_items(bench.app, bench.caller(), [await make(bench), "itm_nobody"]),
    ):
        with pytest.raises(NotFound, match="itm_nobody"):
            await call
    with pytest.raises(InvalidInput, match="'done' is not a state"):
        await set_item_state(bench.app, bench.caller(), await make(bench), "done")


async def test_deleting_many_is_all_or_none_and_says_what_was_gone() -> None:
    bench = Bench()
    ids = [await make(bench) for _ in range(3)]
    await delete_items(bench.app, bench.caller(), ids[:1])
    with pytest.raises(NotFound):
        await delete_items(bench.app, bench.caller(), [ids[1], "itm_nobody"])
    assert (await item(bench, ids[1]))["state"] == "active"
    answer = await delete_items(bench.app, bench.caller(), [*ids, ids[1]])
    assert answer == {"deleted": ids[1:], "already_deleted": ids[:1], "restorable_days": 30}


async def test_deleting_takes_one_to_a_hundred_items() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    ids = [
        await make(bench, **({"tags": ["a"]} if n % 2 else {"kind": "memory"}))
        for n in range(limits.BULK_ITEMS_MAX)
    ]
    with pytest.raises(InvalidInput):
        await delete_items(bench.app, bench.caller(), [])
    with pytest.raises(LimitExceeded):
        await delete_items(bench.app, bench.caller(), [*ids, "itm_more"])
    store.counts.reset()
    answer = await delete_items(bench.app, bench.caller(), ids)
    assert answer["deleted"] == ids
    assert store.counts.round_trips == 2
    assert store.counts.statements < limits.SQL_BATCH_STATEMENTS_MAX


@pytest.mark.parametrize("state", [state for state in STATES if state != "deleted"])
async def test_a_restored_item_has_the_state_it_had(state: str) -> None:
    bench = Bench()
    item_id = await reached(bench, state)
    before = await item(bench, item_id)
    for _ in range(2):
        await delete_items(bench.app, bench.caller(), [item_id])
        answer = await restore_item(bench.app, bench.caller(), item_id)
        assert answer["changed"] is True
        assert item_of(answer) == await item(bench, item_id)
    after = await item(bench, item_id)
    moving = ("version", "updated_at")
    assert {k: v for k, v in after.items() if k not in moving} == {
        k: v for k, v in before.items() if k not in moving
    }
    assert (await restore_item(bench.app, bench.caller(), item_id))["changed"] is False


@pytest.mark.parametrize(("days", "works"), [(30, True), (30.001, False)])
async def test_a_deleted_item_is_restorable_for_thirty_days(days: float, works: bool) -> None:
    bench = Bench()
    item_id = await make(bench)
    await delete_items(bench.app, bench.caller(), [item_id])
    bench.runtime.advance(int(days * DAY_MS))
    if works:
        assert item_of(await restore_item(bench.app, bench.caller(), item_id))["state"] == "active"
    else:
        with pytest.raises(Conflict, match="more than 30 days ago"):
            await restore_item(bench.app, bench.caller(), item_id)


async def test_a_restored_item_whose_key_was_taken_is_a_conflict() -> None:
    bench = Bench()
    item_id = await make(bench, kind="memory", fact_key="profile:city")
    await delete_items(bench.app, bench.caller(), [item_id])
    await make(bench, kind="memory", fact_key="profile:city")
    with pytest.raises(Conflict, match="fact key"):
        await restore_item(bench.app, bench.caller(), item_id)
    assert (await item(bench, item_id))["state"] == "deleted"


async def test_an_item_made_as_deleted_comes_back_active() -> None:
    bench = Bench()
    item_id = await make(bench, state="deleted")
    assert item_of(await restore_item(bench.app, bench.caller(), item_id))["state"] == "active"


async def test_a_change_of_state_takes_two_round_trips() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    item_id = await make(bench, tags=["a", "b"], project_name="P", topic_name="T")
    for action in ("snooze", "ignore", "complete", "reactivate", "archive"):
        store.counts.reset()
        await act(bench, item_id, action)
        assert (store.counts.reads, store.counts.writes) == (1, 1)
