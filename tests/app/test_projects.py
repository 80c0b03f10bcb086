"""Projects: make, edit, delete, get and list."""

from __future__ import annotations

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.commit import Answer
from remembrancer.app.items.read import get_item
from remembrancer.app.items.states import delete_items, set_item_state, update_task_state
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import (
    create_project,
    delete_project,
    get_active_projects,
    get_project,
    list_projects,
    update_project,
    upsert_project,
)
from remembrancer.app.undo import undo
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.limits import DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX
from remembrancer.core.text.slugs import SLUG_CHARS_MAX
from remembrancer.core.values import JSON
from remembrancer.testing.stores import CountingStore, memory_store


def project_of(answer: Answer) -> dict[str, JSON]:
    project = answer["project"]
    assert isinstance(project, dict)
    return project


async def make(bench: Bench, name: str, **given: str) -> str:
    answer = await create_project(bench.app, bench.caller(), name=name, **given)
    assert answer["outcome"] == "created"
    return str(project_of(answer)["slug"])


async def names(bench: Bench, **given: object) -> list[JSON]:
    answer = await list_projects(bench.app, bench.caller(), **given)  # type: ignore[arg-type]
    projects = answer["projects"]
    assert isinstance(projects, list) and answer["count"] == len(projects)
    return [project["name"] for project in projects if isinstance(project, dict)]


SLUGS = {
    "Latin": ("Home & Garden", "home-garden"),
    "Chinese": ("家庭计划", "家庭计划"),
    "mixed": ("项目 Alpha", "项目-alpha"),
    "full width": ("ＡＢＣ", "abc"),
    "accents": ("Café Été", "café-été"),
    "Japanese": ("ひみつ／けいかく", "ひみつ-けいかく"),
    "emoji beside a word": ("🚀 Launch", "launch"),
}


@pytest.mark.parametrize(("name", "slug"), list(SLUGS.values()), ids=list(SLUGS))
async def test_a_name_of_any_script_has_its_slug_and_comes_back(name: str, slug: str) -> None:
    bench = Bench()
    answer = await create_project(bench.app, bench.caller(), name=name, description="说明")
    project = project_of(answer)
    assert (project["name"], project["slug"], project["description"]) == (name, slug, "说明")
    assert (project["version"], project["counts"], project["active_objective"]) == (1, {}, None)
    assert project["created_at"] == project["updated_at"] == "2026-03-01T12:00:00Z"
    for word in (slug, name, f" {name} ", name.upper()):
        assert project_of(await get_project(bench.app, bench.caller(), word)) == project
    assert await names(bench) == [name]


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "!!!", "🚀"])
async def test_a_name_without_a_letter_or_digit_is_refused(name: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await make(bench, name)
    assert caught.value.field == "name"
    assert await names(bench) == []


async def test_different_names_with_one_slug_get_different_slugs() -> None:
    bench = Bench()
    slugs = [await make(bench, name) for name in ("A/B", "A B", "a-b!", "A.B")]
    assert slugs == ["a-b", "a-b-2", "a-b-3", "a-b-4"]
    for name, slug in zip(("A/B", "A B", "a-b!", "A.B"), slugs, strict=True):
        assert project_of(await get_project(bench.app, bench.caller(), name))["slug"] == slug
    item = item_of(
        await create_item(bench.app, bench.caller(), {"title": "t", "project_name": "a b"})
    )
    assert item["project"] == {"slug": "a-b-2", "name": "A B"}
    fresh = item_of(
        await create_item(bench.app, bench.caller(), {"title": "t", "project_name": "A+B"})
    )
    assert fresh["project"] == {"slug": "a-b-5", "name": "A+B"}


async def test_long_names_with_one_slug_stay_within_the_limit() -> None:
    bench = Bench()
    stem = "字" * SLUG_CHARS_MAX
    slugs = [await make(bench, stem + end) for end in ("甲", "乙", "丙")]
    assert slugs[0] == stem
    assert all(len(slug) <= SLUG_CHARS_MAX for slug in slugs) and len(set(slugs)) == 3


async def test_names_beyond_counting_are_refused_not_merged() -> None:
    bench = Bench()
    for number in range(49):
        await make(bench, "a" + "!" * number)
    with pytest.raises(Conflict, match="too many names share the slug 'a'"):
        await make(bench, "a" + "?" * 60)


@pytest.mark.parametrize("name", ["家庭", "  家庭 "])
async def test_a_name_that_exists_is_a_conflict(name: str) -> None:
    bench = Bench()
    await make(bench, "家庭")
    with pytest.raises(Conflict) as caught:
        await make(bench, name)
    assert caught.value.details == {"slug": "家庭"}


async def test_a_slug_that_exists_is_a_conflict_and_a_new_one_is_taken() -> None:
    bench = Bench()
    assert await make(bench, "Alpha", slug="My Slug") == "my-slug"
    with pytest.raises(Conflict, match="my-slug"):
        await make(bench, "Beta", slug="my-slug")
    assert await make(bench, "My Slug?") == "my-slug-2"


async def test_names_and_descriptions_are_taken_at_their_limits() -> None:
    bench = Bench()
    await make(bench, "字" * NAME_CHARS_MAX, description="d" * DESCRIPTION_CHARS_MAX)
    with pytest.raises(LimitExceeded):
        await make(bench, "词" * (NAME_CHARS_MAX + 1))
    with pytest.raises(LimitExceeded):
        await make(bench, "x", description="d" * (DESCRIPTION_CHARS_MAX + 1))


async def upsert(bench: Bench, **given: str | None) -> tuple[str, dict[str, JSON]]:
    answer = await upsert_project(bench.app, bench.caller(), **given)  # type: ignore[arg-type]
    return str(answer["outcome"]), project_of(answer)


async def test_upsert_makes_then_edits_then_leaves_alone() -> None:
    bench = Bench()
    outcome, made = await upsert(bench, name="家庭", description="旧")
    assert (outcome, made["slug"], made["version"]) == ("created", "家庭", 1)
    bench.runtime.advance(1_000)
    outcome, edited = await upsert(bench, name="家庭", description="新")
    assert (outcome, edited["description"], edited["version"]) == ("updated", "新", 2)
    assert (edited["id"], edited["updated_at"]) == (made["id"], "2026-03-01T12:00:01Z")
    assert await upsert(bench, name="家庭", description="新") == ("unchanged", edited)
    assert await upsert(bench, name="家庭") == ("unchanged", edited)
    assert await upsert(bench, slug="家庭") == ("unchanged", edited)
    outcome, cleared = await upsert(bench, slug="家庭", description=None)
    assert (outcome, cleared["description"]) == ("updated", None)
    assert project_of(await get_project(bench.app, bench.caller(), "家庭")) == cleared


async def test_a_rename_keeps_the_slug_and_is_found_by_the_new_name() -> None:
    bench = Bench()
    await make(bench, "Alpha")
    outcome, renamed = await upsert(bench, slug="alpha", name="Beta")
    assert (outcome, renamed["slug"], renamed["name"]) == ("updated", "alpha", "Beta")
    assert await upsert(bench, name="beta", slug=None) == (
        "updated",
        {**renamed, "name": "beta", "version": 3},
    )
    for word in ("alpha", "Beta", "BETA"):
        assert project_of(await get_project(bench.app, bench.caller(), word))["id"] == renamed["id"]
    caller = bench.caller()
    one = item_of(await create_item(bench.app, caller, {"title": "t", "project_name": "Beta"}))
    two = item_of(await quick_capture(bench.app, bench.caller(), "t +beta", {}))
    three = item_of(await create_item(bench.app, bench.caller(), {"title": "t", "project": "Beta"}))
    for item in (one, two, three):
        assert item["project"] == {"slug": "alpha", "name": "beta"}
    assert await names(bench) == ["beta"]


async def test_the_old_name_of_a_renamed_project_is_free() -> None:
    bench = Bench()
    await make(bench, "Alpha")
    await upsert(bench, slug="alpha", name="Beta")
    assert await make(bench, "Alpha") == "alpha-2"
    assert project_of(await get_project(bench.app, bench.caller(), "alpha"))["name"] == "Beta"


async def test_a_rename_to_the_name_of_another_is_a_conflict() -> None:
    bench = Bench()
    await make(bench, "Alpha")
    await make(bench, "Beta")
    with pytest.raises(Conflict) as caught:
        await upsert(bench, slug="alpha", name="BETA")
    assert caught.value.details == {"slug": "beta"}
    with pytest.raises(Conflict):
        await upsert(bench, slug="gamma", name="Beta")
    outcome, _ = await upsert(bench, slug="alpha", name="ALPHA")
    assert outcome == "updated"


async def test_upsert_needs_a_name_for_what_is_new() -> None:
    bench = Bench()
    with pytest.raises(NotFound, match="'nothing'"):
        await upsert(bench, slug="nothing", description="d")
    with pytest.raises(InvalidInput):
        await upsert(bench, description="d")
    await make(bench, "A")
    with pytest.raises(InvalidInput) as caught:
        await upsert(bench, slug="a", name=" ")
    assert caught.value.field == "name"
    outcome, project = await upsert(bench, slug="Neu Hier", name="Something")
    assert (outcome, project["slug"]) == ("created", "neu-hier")


async def test_an_edit_of_an_expected_version_notices_who_was_faster() -> None:
    bench = Bench()
    await make(bench, "家庭")
    app = bench.app
    answer = await update_project(
        app, bench.caller(), "家庭", {"description": "一"}, expected_version=1
    )
    assert project_of(answer)["version"] == 2
    for call in (
        update_project(app, bench.caller(), "家庭", {"description": "二"}, expected_version=1),
        upsert_project(app, bench.caller(), slug="家庭", description="二", expected_version=1),
        upsert_project(app, bench.caller(), name="新", expected_version=1),
    ):
        with pytest.raises(Conflict) as caught:
            await call
        assert caught.value.code == "version_conflict"
    await upsert_project(app, bench.caller(), name="新", expected_version=0)
    assert await names(bench) == ["家庭", "新"]


async def test_updating_a_project_edits_only_what_exists_and_keeps_names_apart() -> None:
    bench = Bench()
    await make(bench, "A")
    await make(bench, "B")
    app = bench.app
    with pytest.raises(NotFound):
        await update_project(app, bench.caller(), "c", {"name": "C"})
    with pytest.raises(Conflict):
        await update_project(app, bench.caller(), "a", {"name": "b"})
    answer = await update_project(app, bench.caller(), "a", {"name": "Ω", "description": "d"})
    assert (project_of(answer)["slug"], project_of(answer)["name"]) == ("a", "Ω")


async def test_a_deleted_project_frees_its_names_and_leaves_its_items() -> None:
    bench = Bench()
    await make(bench, "家庭")
    item_id = id_of(await create_item(bench.app, bench.caller(), {"title": "t", "project": "家庭"}))
    answer = await delete_project(bench.app, bench.caller(), "家庭")
    assert answer["deleted"] is True
    assert project_of(answer)["counts"] == {"active": 1}
    for call in (get_project, delete_project):
        with pytest.raises(NotFound):
            await call(bench.app, bench.caller(), "家庭")
    assert await names(bench) == []
    item = item_of(await get_item(bench.app, bench.caller(), item_id))
    assert (item["state"], item["project"]) == ("active", None)
    with pytest.raises(NotFound):
        await create_item(bench.app, bench.caller(), {"title": "t", "project": "家庭"})
    assert await make(bench, "家庭") == "家庭"
    assert item_of(await get_item(bench.app, bench.caller(), item_id))["project"] is None
    assert project_of(await get_project(bench.app, bench.caller(), "家庭"))["counts"] == {}


async def test_undoing_a_deletion_brings_project_and_items_back_together() -> None:
    bench = Bench()
    await make(bench, "家庭")
    item_id = id_of(await create_item(bench.app, bench.caller(), {"title": "t", "project": "家庭"}))
    deletion = bench.caller()
    await delete_project(bench.app, deletion, "家庭")
    await undo(bench.app, bench.caller(), cause=deletion.cause)
    project = project_of(await get_project(bench.app, bench.caller(), "家庭"))
    assert project["counts"] == {"active": 1}
    item = item_of(await get_item(bench.app, bench.caller(), item_id))
    assert item["project"] == {"slug": "家庭", "name": "家庭"}


async def test_undoing_a_deletion_whose_slug_was_taken_is_a_conflict() -> None:
    bench = Bench()
    await make(bench, "Alpha")
    deletion = bench.caller()
    await delete_project(bench.app, deletion, "alpha")
    await make(bench, "Alpha")
    with pytest.raises(Conflict):
        await undo(bench.app, bench.caller(), cause=deletion.cause)


async def test_counts_follow_every_change_of_an_item() -> None:
    bench = Bench()
    await make(bench, "P")
    app = bench.app

    async def counts() -> JSON:
        return project_of(await get_project(app, bench.caller(), "p"))["counts"]

    ids = [
        id_of(await create_item(app, bench.caller(), {"title": str(n), "project": "p"}))
        for n in range(4)
    ]
    assert await counts() == {"active": 4}
    await update_task_state(app, bench.caller(), ids[0], "complete")
    await set_item_state(app, bench.caller(), ids[1], "dormant")
    await update_item(app, bench.caller(), ids[2], {"pinned": True})
    await delete_items(app, bench.caller(), [ids[3]])
    assert await counts() == {"active": 1, "completed": 1, "dormant": 1}
    await update_item(app, bench.caller(), ids[2], {"project": None})
    await update_item(app, bench.caller(), ids[0], {"project_name": "Q"})
    assert await counts() == {"dormant": 1}
    q = project_of(await get_project(app, bench.caller(), "q"))
    assert q["counts"] == {"completed": 1}


async def test_lists_page_by_slug_in_any_script() -> None:
    bench = Bench()
    made = ["Alpha", "beta", "Gamma", "家庭", "工作", "Δέλτα"]
    for name in made:
        await make(bench, name)
    expected = ["Alpha", "beta", "Gamma", "Δέλτα", "家庭", "工作"]
    assert await names(bench) == expected
    found: list[JSON] = []
    cursor: str | None = None
    for _ in range(3):
        answer = await list_projects(bench.app, bench.caller(), limit=2, cursor=cursor)
        assert answer["total"] == 6 and answer["total_is_minimum"] is False
        projects = answer["projects"]
        assert isinstance(projects, list)
        found += [project["name"] for project in projects if isinstance(project, dict)]
        following = answer["next_cursor"]
        cursor = None if following is None else str(following)
    assert found == expected and cursor is None
    assert await names(bench, limit=6) == expected


async def test_lists_show_counts_and_objectives_of_each() -> None:
    bench = Bench()
    for name in ("A", "B"):
        await make(bench, name)
        await set_active_objective(bench.app, bench.caller(), project=name, title=f"goal {name}")
    await create_item(bench.app, bench.caller(), {"title": "t", "project": "b"})
    answer = await list_projects(bench.app, bench.caller())
    projects = answer["projects"]
    assert isinstance(projects, list)
    single = [project_of(await get_project(bench.app, bench.caller(), slug)) for slug in ("a", "b")]
    assert projects == single
    assert [one["counts"] for one in single] == [{"active": 1}, {"active": 2}]
    assert [one["active_objective"]["title"] for one in single] == ["goal A", "goal B"]  # type: ignore[index,call-overload]


@pytest.mark.parametrize("limit", [0, 101, -1])
async def test_a_page_has_one_to_a_hundred(limit: int) -> None:
    bench = Bench()
    for call in (list_projects, get_active_projects):
        with pytest.raises(InvalidInput) as caught:
            await call(bench.app, bench.caller(), limit=limit)
        assert caught.value.field == "limit"


@pytest.mark.parametrize("cursor", ["x", "W10", "", "WyJ0b3BpY3MiLCJhIl0"])
async def test_a_cursor_of_something_else_is_refused(cursor: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await list_projects(bench.app, bench.caller(), cursor=cursor)
    assert caught.value.field == "cursor"


async def test_the_past_shows_names_and_objectives_as_they_were() -> None:
    bench = Bench()
    await make(bench, "Alpha")
    first = await set_active_objective(bench.app, bench.caller(), project="alpha", title="一")
    [row] = await bench.rows("SELECT max(position) AS p FROM events")
    bench.runtime.advance(60_000)
    await upsert(bench, slug="alpha", name="Beta", description="d")
    await set_active_objective(bench.app, bench.caller(), project="alpha", title="二")
    await make(bench, "Gamma")
    await delete_project(bench.app, bench.caller(), "alpha")
    assert await names(bench) == ["Gamma"]
    for moment in (str(row["p"]), "2026-03-01T12:00:30Z"):
        answer = await list_projects(bench.app, bench.caller(), as_of=moment)
        projects = answer["projects"]
        assert isinstance(projects, list) and answer["total"] == 1
        [project] = projects
        assert isinstance(project, dict)
        assert (project["name"], project["description"]) == ("Alpha", None)
        assert "counts" not in project
        objective = project["active_objective"]
        assert isinstance(objective, dict)
        assert (objective["id"], objective["state"]) == (id_of(first), "active")
        # Named as it was called then, though it is renamed and deleted by now.
        assert objective["project"] == {"slug": "alpha", "name": "Alpha"}
        assert isinstance(answer["as_of"], dict) and answer["as_of"]["position"] == row["p"]
    assert await names(bench, as_of="0") == []
    with pytest.raises(InvalidInput) as caught:
        await names(bench, as_of="gibberish")
    assert caught.value.code == "invalid_date"


async def test_active_projects_are_those_with_current_items_newest_focus_first() -> None:
    bench = Bench()
    for name in ("idle", "done", "old", "new", "dormant"):
        await make(bench, name)
    ids = {
        name: id_of(await create_item(bench.app, bench.caller(), {"title": "t", "project": name}))
        for name in ("done", "old", "new", "dormant")
    }
    await update_task_state(bench.app, bench.caller(), ids["done"], "complete")
    await set_item_state(bench.app, bench.caller(), ids["dormant"], "dormant")
    for name in ("old", "new"):
        bench.runtime.advance(1_000)
        await set_active_objective(bench.app, bench.caller(), project=name, title="g")
    answer = await get_active_projects(bench.app, bench.caller())
    projects = answer["projects"]
    assert isinstance(projects, list) and answer["count"] == 3
    shown = [project["slug"] for project in projects if isinstance(project, dict)]
    assert shown == ["new", "old", "dormant"]
    few = await get_active_projects(bench.app, bench.caller(), limit=1)
    assert few["count"] == 1


async def test_reads_are_one_round_trip_and_writes_two() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await make(bench, "P")
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    for call in (
        get_project(bench.app, bench.caller(), "p"),
        list_projects(bench.app, bench.caller()),
        get_active_projects(bench.app, bench.caller()),
    ):
        store.counts.reset()
        await call
        assert (store.counts.reads, store.counts.writes) == (1, 0)


async def test_projects_of_another_namespace_do_not_exist() -> None:
    bench = Bench()
    await make(bench, "P")
    stranger = bench.caller(namespace="other")
    with pytest.raises(NotFound):
        await get_project(bench.app, stranger, "p")
    assert (await list_projects(bench.app, stranger))["count"] == 0
    await create_project(bench.app, stranger, name="P")
    assert await names(bench) == ["P"]
