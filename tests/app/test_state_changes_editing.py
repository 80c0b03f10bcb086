"""Creating, editing and capturing: the defects of the predecessor stay away."""

from __future__ import annotations

from typing import cast

import pytest
from tests.app.test_relations_races import Interleaved
from tests.app.test_state_changes import item, make
from tests.builders import Bench, id_of, item_of

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import get_artifact
from remembrancer.app.items.states import set_item_state, update_task_state
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, DomainError, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.values import DAY_MS, JSON, Idempotency
from remembrancer.testing.stores import CountingStore, memory_store


async def edit(bench: Bench, item_id: str, **given: object) -> dict[str, JSON]:
    answer = await update_item(bench.app, bench.caller(), item_id, cast(ItemInput, given))
    return {"changed": answer["changed"], **item_of(answer)}


REFUSED: dict[str, tuple[dict[str, object], type[DomainError], str | None]] = {
    "white space title": ({"title": "   "}, InvalidInput, "title"),
    "long title": ({"title": "字" * 201}, LimitExceeded, "title"),
    "unknown kind": ({"kind": "idea"}, InvalidInput, "item_kind"),
    "foreign type": ({"type": "fact"}, InvalidInput, "entity_type"),
    "unknown state": ({"state": "done"}, InvalidInput, "lifecycle_state"),
    "priority": ({"priority": 4}, InvalidInput, "priority"),
    "startup priority": ({"startup_priority": 11}, InvalidInput, "startup_priority"),
    "vague due": ({"due": "whenever"}, InvalidInput, "due"),
    "impossible due": ({"due": "2026-02-30"}, InvalidInput, "due"),
    "number as due": ({"due": "5"}, InvalidInput, "due"),
    "vague expiry": ({"expires_at": "改天"}, InvalidInput, "expires_at"),
    "unknown project": ({"project": "nobody"}, NotFound, None),
    "unknown topic": ({"topic": "nobody"}, NotFound, None),
    "unknown objective": ({"objective_id": "itm_nobody"}, NotFound, None),
    "name without letters": ({"project_name": "!!!"}, InvalidInput, "name"),
    "memory that recurs": (
        {"kind": "memory", "recurrence_kind": "daily"},
        InvalidInput,
        "kind",
    ),
    "empty step": ({"steps": ["a", " "]}, LimitExceeded, "steps"),
    "tag of nothing": ({"tags": ["#"]}, InvalidInput, "tags"),
}


@pytest.mark.parametrize(("given", "error", "field"), list(REFUSED.values()), ids=list(REFUSED))
async def test_unsound_input_is_refused_on_making_and_on_editing(
    given: dict[str, object], error: type[DomainError], field: str | None
) -> None:
    bench = Bench()
    item_id = await make(bench, due="2026-05-01")
    before = await item(bench, item_id)
    for call in (
        create_item(bench.app, bench.caller(), cast(ItemInput, {"title": "t", **given})),
        update_item(bench.app, bench.caller(), item_id, cast(ItemInput, given)),
    ):
        with pytest.raises(error) as caught:
            await call
        assert caught.value.field == field
    assert await item(bench, item_id) == before
    assert await bench.rows("SELECT count(*) AS n FROM items") == [{"n": 1}]
    assert await bench.rows("SELECT * FROM projects") == []


async def test_a_date_that_is_not_understood_never_clears_a_deadline() -> None:
    bench = Bench()
    item_id = await make(bench, due="next friday")
    for words in ("some day", "改天再说", "", "5"):
        with pytest.raises(InvalidInput) as caught:
            await edit(bench, item_id, due=words)
        assert caught.value.code == "invalid_date"
    shown = await item(bench, item_id)
    assert (shown["due_at"], shown["due_text"]) == ("2026-03-06T01:00:00Z", "next friday")
    cleared = await edit(bench, item_id, due=None)
    assert cleared["due_at"] is None and "due_text" not in cleared


async def test_validity_and_expiry_are_read_in_words_and_cleared() -> None:
    bench = Bench()
    item_id = await make(bench, valid_from="2026-01-01", valid_to="月底", expires_at="in 3 days")
    shown = await item(bench, item_id)
    # Whole days of Singapore, the first one from its beginning, the last ones to their end.
    assert (shown["valid_from"], shown["valid_to"], shown["expires_at"]) == (
        "2025-12-31T16:00:00Z",
        "2026-03-31T15:59:59.999Z",
        "2026-03-04T15:59:59.999Z",
    )
    timed = await edit(bench, item_id, valid_to="2026-04-01 15:00")
    assert timed["valid_to"] == "2026-04-01T07:00:00Z"
    cleared = await edit(bench, item_id, valid_to=None, expires_at=None)
    assert "valid_to" not in cleared and "expires_at" not in cleared


async def test_series_has_the_whole_of_its_last_day() -> None:
    bench = Bench()
    series = {"recurrence_kind": "daily", "recurrence_until": "2026-03-03"}
    item_id = await make(bench, due="2026-03-02T21:00", **series)
    for due, state in (("2026-03-03T13:00:00Z", "active"), ("2026-03-03T13:00:00Z", "completed")):
        bench.runtime.advance(DAY_MS)
        answer = await update_task_state(bench.app, bench.caller(), item_id, "complete")
        shown = item_of(answer)
        assert (shown["due_at"], shown["state"]) == (due, state)


async def test_only_given_fields_change_and_tags_are_replaced_as_a_whole() -> None:
    bench = Bench()
    item_id = await make(
        bench,
        content="内容",
        tags=["家", "Work"],
        due="2026-05-01",
        priority=3,
        startup_priority=0,
        pinned=True,
        project_name="P",
        topic_name="T",
    )
    before = await item(bench, item_id)
    bench.runtime.advance(1_000)
    after = await edit(bench, item_id, tags=["C++"])
    differing = {name for name, value in after.items() if before.get(name) != value}
    assert differing == {"changed", "tags", "version", "updated_at"}
    assert after["tags"] == ["C++"]
    assert after["startup_priority"] == 0
    assert (await edit(bench, item_id, tags=["C++"]))["changed"] is False


FLAGS: list[tuple[str, dict[str, object], str]] = [
    ("active", {"completed": True}, "completed"),
    ("active", {"archived": True}, "archived"),
    ("active", {"completed": False}, "active"),
    ("active", {"archived": False}, "active"),
    ("completed", {"completed": False}, "active"),
    ("completed", {"archived": False}, "completed"),
    ("completed", {"archived": True}, "archived"),
    ("archived", {"archived": False}, "active"),
    ("archived", {"completed": False}, "archived"),
    ("dormant", {"archived": False, "completed": False}, "dormant"),
    ("stale", {"archived": False, "title": "x"}, "stale"),
    ("superseded", {"archived": False}, "superseded"),
    ("active", {"archived": False, "state": "dormant"}, "dormant"),
    ("archived", {"archived": False, "state": "dormant"}, "dormant"),
    ("active", {"completed": True, "state": "completed"}, "completed"),
    ("active", {"completed": True, "archived": False}, "completed"),
]


@pytest.mark.parametrize(("present", "given", "expected"), FLAGS, ids=str)
async def test_the_predecessors_flags_set_and_take_back_their_own_state_only(
    present: str, given: dict[str, object], expected: str
) -> None:
    bench = Bench()
    item_id = await make(bench)
    if present != "active":
        await set_item_state(bench.app, bench.caller(), item_id, present)
    after = await edit(bench, item_id, **given)
    assert after["state"] == after["lifecycle_state"] == expected
    assert after["completed"] == (expected == "completed")
    assert after["changed"] == (expected != present or "title" in given)


@pytest.mark.parametrize(
    "given",
    [
        {"completed": True, "archived": True},
        {"completed": True, "state": "archived"},
        {"archived": False, "state": "archived"},
        {"completed": True, "state": "active"},
    ],
    ids=str,
)
async def test_flags_and_a_state_that_disagree_are_refused(given: dict[str, object]) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await edit(bench, await make(bench), **given)
    assert caught.value.field == "lifecycle_state"


async def test_an_edit_at_an_expected_version_notices_who_was_faster() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    item_id = await make(quick)
    store.meanwhile = [lambda: edit(quick, item_id, priority=3)]
    with pytest.raises(Conflict) as caught:
        await update_item(
            slow.app, slow.caller(), item_id, {"title": "langsam"}, expected_version=1
        )
    assert (caught.value.code, caught.value.details) == ("version_conflict", {"version": 2})
    shown = await item(quick, item_id)
    assert (shown["title"], shown["priority"]) == ("浇花", 3)


async def test_edits_without_a_version_join_when_they_meet() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    item_id = await make(quick)
    store.meanwhile = [lambda: edit(quick, item_id, priority=3)]
    await edit(slow, item_id, title="neu")
    shown = await item(quick, item_id)
    assert (shown["title"], shown["priority"], shown["version"]) == ("neu", 3, 3)


async def test_a_project_made_by_two_at_once_is_one() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow = Bench(sql=store)
    quick = Bench(sql=inner, runtime=slow.runtime)
    store.meanwhile = [lambda: make(quick, project_name="家庭")]
    item_id = await make(slow, project_name="家庭")
    assert (await item(quick, item_id))["project"] == {"slug": "家庭", "name": "家庭"}
    assert await quick.rows("SELECT count(*) AS n FROM projects") == [{"n": 1}]
    assert await quick.rows("SELECT count(*) AS n FROM items") == [{"n": 2}]


async def test_a_slug_alone_must_exist_and_with_a_name_is_made() -> None:
    bench = Bench()
    item_id = await make(bench, project="garten", project_name="Der Garten")
    assert (await item(bench, item_id))["project"] == {"slug": "garten", "name": "Der Garten"}
    again = await make(bench, project="garten", project_name="Another name")
    assert (await item(bench, again))["project"] == {"slug": "garten", "name": "Der Garten"}
    with pytest.raises(NotFound) as caught:
        await make(bench, project="gardn")
    assert caught.value.hint is not None and "project_name" in caught.value.hint


async def test_a_fact_key_has_one_active_holder() -> None:
    bench = Bench()
    first = await make(bench, kind="memory", fact_key="profile:city")
    with pytest.raises(Conflict) as caught:
        await make(bench, kind="memory", fact_key="profile:city")
    assert caught.value.details == {"item_id": first}
    assert (await edit(bench, first, fact_key="profile:city", title="x"))["title"] == "x"
    await update_task_state(bench.app, bench.caller(), first, "archive")
    second = await make(bench, kind="memory", fact_key="profile:city")
    with pytest.raises(Conflict, match="fact key"):
        await update_task_state(bench.app, bench.caller(), first, "reactivate")
    assert (await item(bench, second))["state"] == "active"


async def test_a_long_content_becomes_an_artifact_and_comes_back_whole() -> None:
    bench = Bench()
    text = "长" * (limits.CONTENT_CHARS_MAX + 1)
    item_id = await make(bench, content=text)
    shown = await item(bench, item_id)
    assert len(str(shown["content"])) <= limits.CONTENT_CHARS_MAX
    answer = await get_artifact(bench.app, bench.caller(), str(shown["artifact_id"]))
    assert isinstance(answer["artifact"], dict) and answer["artifact"]["text"] == text
    short = await edit(bench, item_id, content="短")
    assert short["content"] == "短" and "artifact_id" not in short
    exact = await edit(bench, item_id, content="字" * limits.CONTENT_CHARS_MAX)
    assert "artifact_id" not in exact
    again = await edit(bench, item_id, content=text + "!")
    answer = await get_artifact(bench.app, bench.caller(), str(again["artifact_id"]))
    assert isinstance(answer["artifact"], dict) and answer["artifact"]["text"] == text + "!"


async def test_steps_get_ids_and_are_ticked_by_them() -> None:
    bench = Bench()
    item_id = await make(bench, steps=["一", {"text": "二", "steps": ["内"], "done": True}])
    shown = await item(bench, item_id)
    steps = cast(list[dict[str, JSON]], shown["steps"])
    assert [(step["text"], step["done"]) for step in steps] == [("一", False), ("二", True)]
    [inner] = cast(list[dict[str, JSON]], steps[1]["steps"])
    after = await edit(bench, item_id, step_done={str(inner["id"]): True})
    steps = cast(list[dict[str, JSON]], after["steps"])
    assert cast(list[dict[str, JSON]], steps[1]["steps"])[0]["done"] is True


CAPTURES: dict[str, tuple[str, dict[str, JSON]]] = {
    "Chinese task": (
        "买牛奶 #家庭 +采购 @生活 due:明天下午三点",
        {
            "title": "买牛奶",
            "kind": "task",
            "tags": ["家庭"],
            "project": {"slug": "采购", "name": "采购"},
            "topic": {"slug": "生活", "name": "生活"},
            "due_at": "2026-03-02T07:00:00Z",
        },
    ),
    "Chinese memory": ("记住：我属兔", {"title": "我属兔", "kind": "memory"}),
    "English memory": ("remember: I like tea", {"title": "I like tea", "kind": "memory"}),
    "priority by marks": ("deploy !!!", {"title": "deploy", "priority": 3}),
    "an address is text": (
        "write to ann@example.org about C++",
        {"title": "write to ann@example.org about C++", "topic": None, "tags": []},
    ),
}


@pytest.mark.parametrize(("text", "expected"), list(CAPTURES.values()), ids=list(CAPTURES))
async def test_a_capture_reads_its_markers_in_any_script(
    text: str, expected: dict[str, JSON]
) -> None:
    bench = Bench()
    answer = await quick_capture(bench.app, bench.caller(), text, {})
    shown = item_of(answer)
    assert {name: shown[name] for name in expected} == expected
    assert shown == await item(bench, str(shown["id"]))
    [row] = await bench.rows("SELECT raw_input FROM items")
    assert row["raw_input"] == text


async def test_what_is_given_beside_a_capture_wins_over_its_markers() -> None:
    bench = Bench()
    given: ItemInput = {
        "kind": "memory",
        "priority": 1,
        "tags": ["b"],
        "due": "2026-05-05T10:00:00Z",
        "topic_name": "T",
    }
    shown = item_of(await quick_capture(bench.app, bench.caller(), "x #a @U due:today", given))
    assert (shown["kind"], shown["priority"], shown["tags"]) == ("memory", 1, ["a", "b"])
    assert shown["due_at"] == "2026-05-05T10:00:00Z"
    assert await bench.rows("SELECT count(*) AS n FROM topics") == [{"n": 1}]


async def test_a_due_marker_that_is_no_date_is_an_error() -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await quick_capture(bench.app, bench.caller(), "x due:whenever", {})
    assert caught.value.code == "invalid_date"
    assert await bench.rows("SELECT * FROM items") == []


async def test_a_repeated_command_answers_the_first_result() -> None:
    bench = Bench()
    caller = bench.caller(idempotency=Idempotency("k1", "hash"))
    first = await create_item(bench.app, caller, {"title": "t"})
    again = await create_item(
        bench.app, bench.caller(idempotency=Idempotency("k1", "hash")), {"title": "t"}
    )
    assert again == first
    assert await bench.rows("SELECT count(*) AS n FROM items") == [{"n": 1}]
    with pytest.raises(Conflict) as caught:
        await create_item(
            bench.app, bench.caller(idempotency=Idempotency("k1", "other")), {"title": "u"}
        )
    assert caught.value.code == "idempotency_key_reused"


async def test_making_and_editing_take_two_round_trips() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    item_id = await make(bench, tags=["a", "b"], project_name="P", topic_name="T")
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    assert store.counts.statements < limits.SQL_BATCH_STATEMENTS_MAX
    store.counts.reset()
    await edit(bench, item_id, title="u", project_name="Q", tags=["c"], add_note="n")
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    store.counts.reset()
    await edit(bench, item_id, title="u")
    assert (store.counts.reads, store.counts.writes) == (1, 0)


async def test_who_made_an_item_is_kept() -> None:
    for actor, author in (("user", "human"), ("agent:claude", "agent"), ("job:dream", "job")):
        bench = Bench(actor=actor)
        item_id = await make(bench)
        assert (await item(bench, item_id))["authored_by"] == author
        other = Bench(sql=bench.sql, runtime=bench.runtime, actor="user")
        assert (await edit(other, item_id, title="u"))["authored_by"] == author


async def test_an_objective_of_an_item_is_an_item() -> None:
    bench = Bench()
    goal = await make(bench, type="strategic_goal")
    item_id = await make(bench, objective_id=goal)
    assert (await item(bench, item_id))["objective_id"] == goal
    assert "objective_id" not in await edit(bench, item_id, objective_id=None)


async def test_ids_sort_by_the_order_of_making() -> None:
    bench = Bench()
    ids = [id_of(await create_item(bench.app, bench.caller(), {"title": "t"})) for _ in range(5)]
    assert ids == sorted(ids)
