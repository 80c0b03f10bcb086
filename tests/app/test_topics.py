"""Topics: make, edit, delete, get, list, and the canonical item."""

from __future__ import annotations

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.commit import Answer
from remembrancer.app.items.read import get_item, list_items
from remembrancer.app.items.states import set_item_state
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.topics import (
    create_topic,
    delete_topic,
    get_topic,
    list_topics,
    set_canonical_item,
    update_topic_metadata,
    upsert_topic,
)
from remembrancer.app.undo import undo
from remembrancer.core.errors import Conflict, InvalidInput, NotFound
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.values import JSON
from remembrancer.testing.stores import CountingStore, memory_store


def topic_of(answer: Answer) -> dict[str, JSON]:
    topic = answer["topic"]
    assert isinstance(topic, dict)
    return topic


async def make(bench: Bench, name: str, **given: object) -> dict[str, JSON]:
    answer = await upsert_topic(bench.app, bench.caller(), name=name, **given)  # type: ignore[arg-type]
    assert answer["outcome"] == "created"
    return topic_of(answer)


async def memory(bench: Bench, topic: str | None, **given: object) -> str:
    fields = {"title": "m", "kind": "memory", "topic": topic, **given}
    return id_of(await create_item(bench.app, bench.caller(), fields))  # type: ignore[arg-type]


async def slugs(bench: Bench, **given: object) -> list[JSON]:
    answer = await list_topics(bench.app, bench.caller(), **given)  # type: ignore[arg-type]
    topics = answer["topics"]
    assert isinstance(topics, list) and answer["count"] == len(topics)
    return [topic["slug"] for topic in topics if isinstance(topic, dict)]


async def test_a_topic_has_its_defaults_and_comes_back() -> None:
    bench = Bench()
    topic = await make(bench, "健康")
    assert topic == {
        "id": topic["id"],
        "slug": "健康",
        "name": "健康",
        "description": None,
        "kind": "topic",
        "retrieval_priority": 0,
        "summary_mode": "auto",
        "canonical_item": None,
        "counts": {},
        "version": 1,
        "created_at": "2026-03-01T12:00:00Z",
        "updated_at": "2026-03-01T12:00:00Z",
    }
    for word in ("健康", " 健康 "):
        assert topic_of(await get_topic(bench.app, bench.caller(), word)) == topic


async def test_upsert_edits_what_is_given_only() -> None:
    bench = Bench()
    await make(bench, "T", kind="project", retrieval_priority=7, description="d")
    app = bench.app
    answer = await upsert_topic(app, bench.caller(), name="T", summary_mode="manual")
    topic = topic_of(answer)
    assert answer["outcome"] == "updated"
    assert (topic["kind"], topic["retrieval_priority"], topic["description"]) == ("project", 7, "d")
    assert topic["summary_mode"] == "manual"
    again = await upsert_topic(app, bench.caller(), slug="t", kind="project")
    assert (again["outcome"], topic_of(again)) == ("unchanged", topic)
    cleared = await upsert_topic(app, bench.caller(), slug="t", description=None)
    assert topic_of(cleared)["description"] is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "bucket"}, "kind"),
        ({"summary_mode": "never"}, "summary_mode"),
        ({"retrieval_priority": -1}, "retrieval_priority"),
        ({"retrieval_priority": 101}, "retrieval_priority"),
        ({"retrieval_priority": True}, "retrieval_priority"),
        ({"retrieval_priority": "5"}, "retrieval_priority"),
        ({"name": " "}, "name"),
        ({"colour": "red"}, "colour"),
    ],
    ids=str,
)
async def test_an_unsound_field_is_refused_and_named(given: dict[str, object], field: str) -> None:
    bench = Bench()
    await make(bench, "T")
    with pytest.raises(InvalidInput) as caught:
        await update_topic_metadata(bench.app, bench.caller(), "t", given)  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("priority", [0, 100])
async def test_a_retrieval_priority_is_taken_at_its_ends(priority: int) -> None:
    bench = Bench()
    assert (await make(bench, "T", retrieval_priority=priority))["retrieval_priority"] == priority


async def test_metadata_of_what_is_not_there_is_not_found() -> None:
    bench = Bench()
    app = bench.app
    for call in (
        update_topic_metadata(app, bench.caller(), "t", {"kind": "topic"}),
        upsert_topic(app, bench.caller(), slug="t"),
        get_topic(app, bench.caller(), "t"),
        delete_topic(app, bench.caller(), "t"),
        set_canonical_item(app, bench.caller(), "t", None),
    ):
        with pytest.raises(NotFound, match="no topic 't'"):
            await call
    with pytest.raises(InvalidInput):
        await upsert_topic(app, bench.caller(), kind="topic")


async def test_names_are_unique_and_slugs_stay() -> None:
    bench = Bench()
    app = bench.app
    await make(bench, "A/B")
    second = await make(bench, "A B")
    assert second["slug"] == "a-b-2"
    for call in (
        upsert_topic(app, bench.caller(), slug="a-b", name="a b"),
        upsert_topic(app, bench.caller(), slug="new", name="A B"),
        update_topic_metadata(app, bench.caller(), "a-b", {"name": "A B"}),
        create_topic(app, bench.caller(), name="a b"),
        create_topic(app, bench.caller(), slug="a-b", name="C"),
    ):
        with pytest.raises(Conflict):
            await call
    with pytest.raises(InvalidInput):
        await create_topic(app, bench.caller(), slug="x")
    renamed = await update_topic_metadata(app, bench.caller(), "a-b", {"name": "Ω"})
    assert (topic_of(renamed)["slug"], topic_of(renamed)["name"]) == ("a-b", "Ω")
    item = item_of(await create_item(app, bench.caller(), {"title": "t", "topic_name": "ω"}))
    assert item["topic"] == {"slug": "a-b", "name": "Ω"}
    made = await create_topic(app, bench.caller(), name="A-B", retrieval_priority=3)
    assert topic_of(made)["slug"] == "a-b-3"


async def test_an_edit_of_an_expected_version_notices_who_was_faster() -> None:
    bench = Bench()
    app = bench.app
    await make(bench, "T")
    await update_topic_metadata(app, bench.caller(), "t", {"kind": "system"}, expected_version=1)
    for call in (
        update_topic_metadata(app, bench.caller(), "t", {"kind": "topic"}, expected_version=1),
        upsert_topic(app, bench.caller(), slug="t", kind="topic", expected_version=1),
        upsert_topic(app, bench.caller(), name="new", expected_version=1),
        update_topic_metadata(app, bench.caller(), "profile", {}, expected_version=1),
    ):
        with pytest.raises(Conflict) as caught:
            await call
        assert caught.value.code == "version_conflict"


async def test_a_deleted_topic_frees_its_names_and_leaves_its_items() -> None:
    bench = Bench()
    await make(bench, "健康", retrieval_priority=5)
    item_id = await memory(bench, "健康")
    deletion = bench.caller()
    answer = await delete_topic(bench.app, deletion, "健康")
    assert (answer["deleted"], topic_of(answer)["counts"]) == (True, {"active": 1})
    assert await slugs(bench) == ["profile"]
    assert item_of(await get_item(bench.app, bench.caller(), item_id))["topic"] is None
    await undo(bench.app, bench.caller(), cause=deletion.cause)
    assert topic_of(await get_topic(bench.app, bench.caller(), "健康"))["counts"] == {"active": 1}
    await delete_topic(bench.app, bench.caller(), "健康")
    fresh = await make(bench, "健康")
    assert (fresh["slug"], fresh["counts"], fresh["retrieval_priority"]) == ("健康", {}, 0)


# --- the profile --------------------------------------------------------------------------------


async def test_the_profile_is_there_from_the_start_without_a_write() -> None:
    bench = Bench()
    profile = topic_of(await get_topic(bench.app, bench.caller(), "profile"))
    assert (profile["kind"], profile["retrieval_priority"], profile["version"]) == (
        "profile",
        10,
        0,
    )
    assert (profile["id"], profile["name"], profile["counts"]) == (None, "Profile", {})
    answer = await list_topics(bench.app, bench.caller())
    assert answer["topics"] == [profile] and answer["total"] == 1
    assert await bench.rows("SELECT * FROM events") == []


async def test_a_list_of_the_unwritten_profile_is_empty_not_missing() -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"title": "t"})
    for topics in (["profile"], ["Profile"]):
        answer = await list_items(bench.app, bench.caller(), ItemQuery(topics=topics))
        assert (answer["items"], answer["total"]) == ([], 0)
    with pytest.raises(NotFound, match="'nobody'"):
        await list_items(bench.app, bench.caller(), ItemQuery(topics=["profile", "nobody"]))
    item_id = await memory(bench, "profile")
    answer = await list_items(bench.app, bench.caller(), ItemQuery(topics=["profile"]))
    items = answer["items"]
    assert isinstance(items, list) and isinstance(items[0], dict)
    assert (items[0]["id"], answer["total"]) == (item_id, 1)


@pytest.mark.parametrize(
    "given", [{"topic": "profile"}, {"topic": "Profile"}, {"topic_name": "Profile"}], ids=str
)
async def test_the_profile_is_made_when_an_item_refers_to_it(given: dict[str, str]) -> None:
    bench = Bench()
    item_id = await memory(bench, **{"topic": None, **given})
    item = item_of(await get_item(bench.app, bench.caller(), item_id))
    assert item["topic"] == {"slug": "profile", "name": "Profile"}
    await quick_capture(bench.app, bench.caller(), "住在苏黎世 @profile", {"kind": "memory"})
    profile = topic_of(await get_topic(bench.app, bench.caller(), "profile"))
    assert (profile["kind"], profile["retrieval_priority"]) == ("profile", 10)
    assert (profile["version"], profile["counts"]) == (1, {"active": 2})
    answer = await list_topics(bench.app, bench.caller())
    assert answer["topics"] == [profile] and answer["total"] == 1


async def test_the_profile_is_made_by_an_edit_and_keeps_what_is_given() -> None:
    bench = Bench()
    answer = await update_topic_metadata(
        bench.app, bench.caller(), "profile", {"description": "我是谁"}
    )
    topic = topic_of(answer)
    assert (answer["outcome"], topic["name"]) == ("created", "Profile")
    assert (topic["description"], topic["retrieval_priority"]) == ("我是谁", 10)
    renamed = await upsert_topic(bench.app, bench.caller(), slug="profile", name="我")
    assert topic_of(renamed)["slug"] == "profile"
    by_name = await upsert_topic(Bench().app, bench.caller(), name="profile", retrieval_priority=3)
    assert (topic_of(by_name)["kind"], topic_of(by_name)["retrieval_priority"]) == ("profile", 3)


async def test_an_upsert_of_the_bare_slug_makes_the_profile() -> None:
    bench = Bench()
    answer = await upsert_topic(bench.app, bench.caller(), slug="profile")
    assert (answer["outcome"], topic_of(answer)["name"]) == ("created", "Profile")


@pytest.mark.parametrize("is_written", [False, True])
async def test_the_profile_cannot_be_deleted(is_written: bool) -> None:
    bench = Bench()
    if is_written:
        await memory(bench, "profile")
    with pytest.raises(Conflict, match="'profile' cannot be deleted"):
        await delete_topic(bench.app, bench.caller(), "Profile")


async def test_the_profile_stands_at_its_place_on_every_page() -> None:
    bench = Bench()
    for name in ("alpha", "nu", "pi", "profit", "zeta", "健康"):
        await make(bench, name)
    expected = ["alpha", "nu", "pi", "profile", "profit", "zeta", "健康"]
    for limit in range(1, 9):
        found: list[JSON] = []
        cursor: str | None = None
        while True:
            answer = await list_topics(bench.app, bench.caller(), limit=limit, cursor=cursor)
            topics = answer["topics"]
            assert isinstance(topics, list) and answer["total"] == 7
            found += [topic["slug"] for topic in topics if isinstance(topic, dict)]
            if answer["next_cursor"] is None:
                break
            cursor = str(answer["next_cursor"])
        assert found == expected


async def test_the_past_shows_topics_as_they_were() -> None:
    bench = Bench()
    await make(bench, "A", retrieval_priority=3)
    await upsert_topic(bench.app, bench.caller(), slug="a", name="B", retrieval_priority=9)
    await memory(bench, "profile")
    answer = await list_topics(bench.app, bench.caller(), as_of="1")
    topics = answer["topics"]
    assert isinstance(topics, list) and answer["total"] == 2
    first, profile = topics
    assert isinstance(first, dict) and isinstance(profile, dict)
    assert (first["name"], first["retrieval_priority"]) == ("A", 3)
    assert (profile["slug"], profile["version"]) == ("profile", 0)


# --- the canonical item -------------------------------------------------------------------------


async def canonical(bench: Bench, slug: str) -> JSON:
    item = topic_of(await get_topic(bench.app, bench.caller(), slug))["canonical_item"]
    return item["id"] if isinstance(item, dict) else None


async def test_an_item_of_the_topic_becomes_canonical_and_can_be_taken_away() -> None:
    bench = Bench()
    await make(bench, "健康")
    item_id = await memory(bench, "健康")
    answer = await set_canonical_item(bench.app, bench.caller(), "健康", item_id)
    assert answer["outcome"] == "updated"
    assert topic_of(answer) == topic_of(await get_topic(bench.app, bench.caller(), "健康"))
    assert await canonical(bench, "健康") == item_id
    again = await set_canonical_item(bench.app, bench.caller(), "健康", item_id)
    assert (again["outcome"], topic_of(again)) == ("unchanged", topic_of(answer))
    taken = await set_canonical_item(bench.app, bench.caller(), "健康", None)
    assert topic_of(taken)["canonical_item"] is None
    assert await canonical(bench, "健康") is None


async def test_an_item_without_a_topic_joins_it() -> None:
    bench = Bench()
    await make(bench, "健康")
    item_id = await memory(bench, None)
    answer = await set_canonical_item(bench.app, bench.caller(), "健康", item_id)
    topic = topic_of(answer)
    assert topic["counts"] == {"active": 1}
    assert isinstance(topic["canonical_item"], dict)
    assert topic["canonical_item"]["topic"] == {"slug": "健康", "name": "健康"}
    assert topic == topic_of(await get_topic(bench.app, bench.caller(), "健康"))


async def test_a_canonical_item_that_left_joins_again_when_it_is_named_again() -> None:
    bench = Bench()
    await make(bench, "A")
    item_id = await memory(bench, "a")
    await set_canonical_item(bench.app, bench.caller(), "a", item_id)
    await update_item(bench.app, bench.caller(), item_id, {"topic": None})
    answer = await set_canonical_item(bench.app, bench.caller(), "a", item_id)
    assert (answer["outcome"], topic_of(answer)["counts"]) == ("updated", {"active": 1})
    assert topic_of(answer) == topic_of(await get_topic(bench.app, bench.caller(), "a"))
    assert await canonical(bench, "a") == item_id


async def test_the_unwritten_profile_takes_a_canonical_item_in_one_batch() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    item_id = await memory(bench, None)
    store.counts.reset()
    answer = await set_canonical_item(bench.app, bench.caller(), "profile", item_id)
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    assert topic_of(answer) == topic_of(await get_topic(bench.app, bench.caller(), "profile"))
    assert topic_of(answer)["version"] == 2
    none = await set_canonical_item(Bench().app, bench.caller(), "profile", None)
    assert (none["outcome"], topic_of(none)["slug"]) == ("unchanged", "profile")


async def test_an_item_of_another_topic_or_out_of_use_is_a_conflict() -> None:
    bench = Bench()
    for name in ("A", "B"):
        await make(bench, name)
    item_id = await memory(bench, "b")
    with pytest.raises(Conflict) as caught:
        await set_canonical_item(bench.app, bench.caller(), "a", item_id)
    assert caught.value.details == {"topic": "b"}
    for state in ("superseded", "archived", "deleted"):
        old = await memory(bench, "a")
        await set_item_state(bench.app, bench.caller(), old, state)
        with pytest.raises(Conflict) as caught:
            await set_canonical_item(bench.app, bench.caller(), "a", old)
        assert caught.value.details == {"state": state}
    with pytest.raises(NotFound, match="itm_nobody"):
        await set_canonical_item(bench.app, bench.caller(), "a", "itm_nobody")
    assert await canonical(bench, "a") is None


@pytest.mark.parametrize("change", ["state", "topic"])
async def test_a_canonical_item_that_ends_or_leaves_is_not_shown(change: str) -> None:
    bench = Bench()
    await make(bench, "A")
    item_id = await memory(bench, "a")
    await set_canonical_item(bench.app, bench.caller(), "a", item_id)
    if change == "state":
        await set_item_state(bench.app, bench.caller(), item_id, "archived")
    else:
        await update_item(bench.app, bench.caller(), item_id, {"topic": None})
    assert await canonical(bench, "a") is None
    listed = (await list_topics(bench.app, bench.caller()))["topics"]
    assert isinstance(listed, list) and isinstance(listed[0], dict)
    assert listed[0]["canonical_item"] is None


async def test_reads_are_one_round_trip() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await make(bench, "T")
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    for call in (
        get_topic(bench.app, bench.caller(), "t"),
        list_topics(bench.app, bench.caller()),
    ):
        store.counts.reset()
        await call
        assert (store.counts.reads, store.counts.writes) == (1, 0)


async def test_topics_of_another_namespace_do_not_exist() -> None:
    bench = Bench()
    await make(bench, "T")
    stranger = bench.caller(namespace="other")
    with pytest.raises(NotFound):
        await get_topic(bench.app, stranger, "t")
    assert (await list_topics(bench.app, stranger))["total"] == 1
