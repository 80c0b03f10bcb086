"""Context: the four levels, their cache and their budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.context.load import get_context_summary, load_context
from remembrancer.app.context.startup import get_startup_context
from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import delete_items, set_item_state, update_task_state
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import delete_project, upsert_project
from remembrancer.app.topics import set_canonical_item, upsert_topic
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.errors import InvalidInput, NotFound, StoreUnavailable
from remembrancer.core.text.tokens import estimate_tokens
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON, canonical_json
from remembrancer.local.migrate import migrate
from remembrancer.local.sqlite import SqliteStore
from remembrancer.testing.stores import CountingStore

MARKS = ("source", "generated_at")


def without_marks(bundle: dict[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in bundle.items() if name not in MARKS}


async def furnished() -> Bench:
    bench = Bench()
    app = bench.app
    await create_item(
        app,
        bench.caller(),
        {"title": "我是小林，住在上海", "kind": "memory", "topic_name": "profile"},
    )
    await quick_capture(app, bench.caller(), "写周报 #工作 +记忆项目 @工作 due:明天", {})
    await quick_capture(app, bench.caller(), "Ship v1.2 #release +launch @engineering", {})
    await upsert_topic(app, bench.caller(), slug="工作", name="工作", retrieval_priority=8)
    await set_active_objective(app, bench.caller(), project="记忆项目", title="上线新版记忆系统")
    await create_item(
        app,
        bench.caller(),
        {"title": "永远用中文回答", "kind": "memory", "type": "rule", "startup_priority": 10},
    )
    await create_item(
        app,
        bench.caller(),
        {
            "title": "每周备份",
            "project": "记忆项目",
            "recurrence_kind": "weekly",
            "due": "下周五",
        },
    )
    return bench


async def startup(bench: Bench, **options: object) -> dict[str, JSON]:
    return await get_startup_context(bench.app, bench.caller(), **options)  # type: ignore[arg-type]


def titles(entries: JSON) -> list[str]:
    assert isinstance(entries, list)
    return [str(entry["title"]) for entry in entries if isinstance(entry, dict)]


async def test_startup_bundle_answers_who_what_and_what_matters() -> None:
    bench = await furnished()
    bundle = await startup(bench)
    assert bundle["level"] == "startup" and bundle["source"] == "d1"
    profile = bundle["profile"]
    assert isinstance(profile, dict) and profile["title"] == "我是小林，住在上海"
    assert titles(bundle["active_goals"]) == ["上线新版记忆系统"]
    assert titles(bundle["always_load"]) == ["永远用中文回答"]
    projects = bundle["active_projects"]
    assert isinstance(projects, list)
    assert [project["slug"] for project in projects if isinstance(project, dict)] == [
        "记忆项目",
        "launch",
    ]
    first = projects[0]
    assert isinstance(first, dict)
    assert isinstance(first["active_objective"], dict)
    assert first["active_objective"]["title"] == "上线新版记忆系统"
    [topic] = bundle["topic_summaries"] if isinstance(bundle["topic_summaries"], list) else []
    assert isinstance(topic, dict) and topic["scope"] == "工作"
    assert isinstance(topic["summary"], dict) and topic["summary"]["total"] == 1
    assert isinstance(bundle["context_version"], int)
    assert bundle["current_focus"] is not None


async def test_cached_bundle_equals_a_fresh_one_but_for_its_mark() -> None:
    bench = await furnished()
    for request in (
        ContextRequest(level="startup"),
        ContextRequest(level="topic_summary", topic="工作"),
        ContextRequest(level="topic_summary", topic="release"),
        ContextRequest(level="project", project="记忆项目"),
        ContextRequest(level="project", project="记忆项目", include_history=True),
    ):
        fresh = await load_context(bench.app, bench.caller(), request)
        cached = await load_context(bench.app, bench.caller(), request)
        assert (fresh["source"], cached["source"]) == ("d1", "kv_cache")
        assert without_marks(cached) == without_marks(fresh)


async def test_cached_bundle_from_another_process_is_used_too() -> None:
    bench = await furnished()
    fresh = await startup(bench)
    other = Bench(runtime=bench.runtime, sql=bench.sql, shared=bench.kv)
    cached = await startup(other)
    assert cached["source"] == "kv_cache"
    assert without_marks(cached) == without_marks(fresh)


async def test_reads_of_all_levels_write_nothing_to_the_store() -> None:
    bench = await furnished()
    store = CountingStore(bench.sql)
    bench.sql = store
    for use_cache in (False, True, True):
        for request in (
            ContextRequest(level="startup", use_cache=use_cache),
            ContextRequest(level="topic_summary", topic="工作", use_cache=use_cache),
            ContextRequest(level="project", project="launch", use_cache=use_cache),
            ContextRequest(level="raw_memories", use_cache=use_cache),
        ):
            await load_context(bench.app, bench.caller(), request)
    assert store.counts.writes == 0


async def test_startup_costs_one_round_trip_cached_and_at_most_eight_fresh() -> None:
    bench = await furnished()
    store = CountingStore(bench.sql)
    bench.sql = store
    await startup(bench)
    assert store.counts.round_trips <= 8
    store.counts.reset()
    assert (await startup(bench))["source"] == "kv_cache"
    assert store.counts.round_trips == 1


@pytest.mark.parametrize("lag_ms", [0, HOUR_MS])
async def test_every_write_shows_in_the_very_next_read(lag_ms: int) -> None:
    bench = await furnished()
    bench.kv.lag_ms = lag_ms
    item = id_of(await quick_capture(bench.app, bench.caller(), "临时事项 +记忆项目 @工作", {}))

    async def read() -> list[dict[str, JSON]]:
        other = Bench(runtime=bench.runtime, sql=bench.sql, shared=bench.kv)
        return [
            await load_context(reader.app, bench.caller(), request)
            for reader in (bench, other)
            for request in (
                ContextRequest(level="startup"),
                ContextRequest(level="topic_summary", topic="工作"),
                ContextRequest(level="project", project="记忆项目"),
            )
        ]

    async def as_text() -> str:
        return repr([without_marks(bundle) for bundle in await read()])

    await read()
    await update_item(bench.app, bench.caller(), item, {"title": "改了名字"})
    assert "改了名字" in await as_text() and "临时事项" not in await as_text()
    await upsert_project(bench.app, bench.caller(), slug="记忆项目", name="Memory 项目")
    text = await as_text()
    assert "Memory 项目" in text and "'name': '记忆项目'" not in text
    await update_item(bench.app, bench.caller(), item, {"project": "launch"})
    assert "改了名字" not in repr(
        await load_context(
            bench.app, bench.caller(), ContextRequest(level="project", project="记忆项目")
        )
    )
    await delete_items(bench.app, bench.caller(), [item])
    assert "改了名字" not in await as_text()


async def test_bundle_changes_by_time_alone_without_a_write() -> None:
    bench = await furnished()
    item = id_of(
        await create_item(
            bench.app,
            bench.caller(),
            {
                "title": "限时提醒",
                "kind": "memory",
                "startup_priority": 10,
                "expires_at": "in 3 hours",
            },
        )
    )
    assert "限时提醒" in titles((await startup(bench))["always_load"])
    bench.runtime.advance(2 * HOUR_MS)
    assert (await startup(bench))["source"] == "kv_cache"
    bench.runtime.advance(2 * HOUR_MS)
    bundle = await startup(bench)
    assert "限时提醒" not in titles(bundle["always_load"]) and bundle["source"] == "d1"
    assert item


async def test_snooze_that_ends_brings_the_task_back_into_the_focus() -> None:
    bench = Bench()
    item = id_of(
        await quick_capture(bench.app, bench.caller(), "交房租 due:明天", {"kind": "task"})
    )
    assert item in repr((await startup(bench))["current_focus"])
    await update_task_state(bench.app, bench.caller(), item, "snooze", until="in 2 hours")
    assert item not in repr((await startup(bench))["current_focus"])
    bench.runtime.advance(3 * HOUR_MS)
    assert item in repr((await startup(bench))["current_focus"])


async def test_startup_priority_zero_is_never_loaded_and_ten_always() -> None:
    bench = Bench()
    for priority in (0, 5, 8, 10):
        await create_item(
            bench.app,
            bench.caller(),
            {"title": f"记忆 {priority}", "kind": "memory", "startup_priority": priority},
        )
    assert titles((await startup(bench))["always_load"]) == ["记忆 10"]


async def test_broken_cache_costs_time_and_never_an_answer() -> None:
    bench = await furnished()
    bench.kv.fail_every = 1
    assert (await startup(bench))["source"] == "d1"
    other = Bench(runtime=bench.runtime, sql=bench.sql, shared=bench.kv)
    assert (await startup(other))["source"] == "d1"


async def test_garbage_in_the_cache_is_passed_over() -> None:
    bench = await furnished()
    fresh = await startup(bench)
    for key in list(bench.kv._versions):  # the store's own keys, to spoil them
        await bench.kv.put(key, "{not json", ttl_s=60)
    other = Bench(runtime=bench.runtime, sql=bench.sql, shared=bench.kv)
    again = await startup(other)
    assert again["source"] == "d1" and without_marks(again) == without_marks(fresh)


async def test_forgotten_item_is_in_no_cached_bundle() -> None:
    bench = await furnished()
    item = id_of(
        await quick_capture(bench.app, bench.caller(), "绝密4711 #秘密 +记忆项目 @工作", {})
    )
    for request in (
        ContextRequest(level="startup"),
        ContextRequest(level="topic_summary", topic="工作"),
        ContextRequest(level="topic_summary", topic="秘密"),
        ContextRequest(level="project", project="记忆项目"),
    ):
        await load_context(bench.app, bench.caller(), request)
    await forget_item(bench.app, bench.caller(), item)
    for key in list(bench.kv._versions):  # what the store still answers
        assert "4711" not in (await bench.kv.get(key) or "")


async def test_cache_that_fails_keeps_no_forgotten_byte_in_the_database(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db")
    try:
        await migrate(store)
        bench = Bench(sql=store)
        made = await quick_capture(bench.app, bench.caller(), "绝密4711 +项目", {})
        bench.kv.fail_every = 1
        with pytest.raises(StoreUnavailable):
            await forget_item(bench.app, bench.caller(), id_of(made))
        for path in tmp_path.iterdir():
            assert b"4711" not in path.read_bytes(), path.name
    finally:
        store.close()


async def test_topic_summary_names_its_canonical_item_and_falls_back_when_it_is_gone() -> None:
    bench = await furnished()
    chosen = id_of(await quick_capture(bench.app, bench.caller(), "本季度策略 @工作", {}))
    await set_canonical_item(bench.app, bench.caller(), "工作", chosen)
    bundle = await get_context_summary(bench.app, bench.caller(), scope="工作")
    assert isinstance(bundle["canonical_item"], dict)
    assert bundle["canonical_item"]["id"] == chosen
    await set_item_state(bench.app, bench.caller(), chosen, "archived")
    bundle = await get_context_summary(bench.app, bench.caller(), scope="工作")
    assert isinstance(bundle["canonical_item"], dict)
    assert bundle["canonical_item"]["title"] == "写周报"


@pytest.mark.parametrize("is_named", [False, True], ids=["first", "canonical"])
@pytest.mark.parametrize(
    "period",
    [{"expires_at": "in 3 hours"}, {"valid_to": "in 3 hours"}, {"valid_from": "in 3 days"}],
    ids=["expired", "past", "to come"],
)
async def test_what_does_not_hold_now_stands_for_no_topic(
    period: dict[str, Any], is_named: bool
) -> None:
    bench = Bench()
    await upsert_topic(bench.app, bench.caller(), name="住处", retrieval_priority=5)
    made: dict[str, Any] = {"kind": "memory", "topic": "住处"}
    then: Any = {"title": "那时住上海", "startup_priority": 9, **made, **period}
    present: Any = {"title": "现住东京", **made}
    answer = await create_item(bench.app, bench.caller(), then)
    await create_item(bench.app, bench.caller(), present)
    if is_named:
        await set_canonical_item(bench.app, bench.caller(), "住处", id_of(answer))
    first = await _standing_for_topics(bench)
    assert first == (["现住东京"] * 2 if "valid_from" in period else ["那时住上海"] * 2)
    bench.runtime.advance(4 * HOUR_MS)
    assert await _standing_for_topics(bench) == ["现住东京"] * 2


async def _standing_for_topics(bench: Bench) -> list[str]:
    """Return what stands for the only topic in its own bundle and in the startup bundle."""
    bundle: Any = await get_context_summary(bench.app, bench.caller(), scope="住处")
    summaries: Any = (await startup(bench))["topic_summaries"]
    return [one["canonical_item"]["title"] for one in (bundle, *summaries)]


async def test_what_does_not_hold_now_is_no_profile_and_no_recurring_system() -> None:
    bench = Bench()
    past: dict[str, Any] = {"title": "旧", "expires_at": "in 3 hours"}
    profile: Any = {**past, "kind": "memory", "topic_name": "profile"}
    answer = await create_item(bench.app, bench.caller(), profile)
    await set_canonical_item(bench.app, bench.caller(), "profile", id_of(answer))
    series: Any = {**past, "project_name": "家", "due": "明天", "recurrence_kind": "daily"}
    await create_item(bench.app, bench.caller(), series)
    request = ContextRequest("project", project="家")
    bundle = await load_context(bench.app, bench.caller(), request)
    assert titles(bundle["recurring_systems"]) == ["旧"]
    assert (await startup(bench))["profile"] is not None
    bench.runtime.advance(4 * HOUR_MS)
    bundle = await load_context(bench.app, bench.caller(), request)
    assert bundle["recurring_systems"] == []
    assert (await startup(bench))["profile"] is None


@pytest.mark.parametrize("tag", ["🚀", "%", "★★"])
async def test_tag_of_signs_alone_has_a_summary(tag: str) -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"title": "发射", "tags": [tag]})
    for source in ("d1", "kv_cache"):
        bundle: Any = await get_context_summary(bench.app, bench.caller(), scope=tag)
        assert (bundle["tag"], bundle["summary"]["total"]) == (tag, 1)
        assert (bundle["canonical_item"]["title"], bundle["source"]) == ("发射", source)
    with pytest.raises(NotFound):
        await get_context_summary(bench.app, bench.caller(), scope="☆")
    with pytest.raises(InvalidInput):
        await get_context_summary(bench.app, bench.caller(), scope="#-_")


async def test_topic_totals_are_true_beyond_a_page() -> None:
    bench = Bench()
    for number in range(60):
        await quick_capture(bench.app, bench.caller(), f"事项 {number} @大话题", {})
    bundle = await load_context(
        bench.app, bench.caller(), ContextRequest(level="topic_summary", topic="大话题", limit=5)
    )
    summary = bundle["summary"]
    assert isinstance(summary, dict) and summary["total"] == 60
    assert isinstance(bundle["items"], list) and len(bundle["items"]) <= 5


async def test_project_bundle_shows_each_item_once_and_history_on_request() -> None:
    bench = await furnished()
    done = id_of(await quick_capture(bench.app, bench.caller(), "已完成的事 +记忆项目", {}))
    await update_task_state(bench.app, bench.caller(), done, "complete")
    request = ContextRequest(level="project", project="记忆项目")
    bundle = await load_context(bench.app, bench.caller(), request)
    assert isinstance(bundle["active_objective"], dict)
    assert titles(bundle["recurring_systems"]) == ["每周备份"]
    assert titles(bundle["active_items"]) == ["写周报"]
    assert "history" not in bundle
    with_history = ContextRequest(level="project", project="记忆项目", include_history=True)
    bundle = await load_context(bench.app, bench.caller(), with_history)
    assert titles(bundle["history"]) == ["已完成的事"]


async def test_budget_trims_from_the_bottom_and_says_what_was_left_out() -> None:
    bench = await furnished()
    for number in range(10):
        await create_item(
            bench.app,
            bench.caller(),
            {
                "title": f"长期规则 {number}",
                "content": "这是一条很长的规则，" * 80,
                "kind": "memory",
                "startup_priority": 10,
            },
        )
    whole = await startup(bench)
    small = await startup(bench, max_tokens=1_500)
    assert isinstance(small["tokens"], int) and small["tokens"] <= 1_500
    assert small["left_out"] and small["profile"] is not None
    assert "left_out" not in whole
    assert isinstance(whole["always_load"], list) and isinstance(small["always_load"], list)
    kept = titles(small["always_load"])
    assert kept == titles(whole["always_load"])[: len(kept)]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (ContextRequest(level="topic_summary"), InvalidInput),
        (ContextRequest(level="topic_summary", topic="没有的话题"), NotFound),
        (ContextRequest(level="project"), InvalidInput),
        (ContextRequest(level="project", project="nope"), NotFound),
        (ContextRequest(level="project", project="launch", limit=0), InvalidInput),
        (ContextRequest(level="startup", max_tokens=3), InvalidInput),
    ],
    ids=["no-topic", "unknown-topic", "no-project", "unknown-project", "limit", "budget"],
)
async def test_context_request_that_cannot_be_served_is_refused(
    request_: ContextRequest, error: type[Exception]
) -> None:
    bench = await furnished()
    with pytest.raises(error):
        await load_context(bench.app, bench.caller(), request_)


async def test_context_version_changes_only_with_the_store() -> None:
    bench = await furnished()
    first = (await startup(bench, use_cache=False))["context_version"]
    bench.runtime.advance(DAY_MS)
    assert (await startup(bench, use_cache=False))["context_version"] == first
    await upsert_project(bench.app, bench.caller(), slug="launch", name="Launch 发布")
    assert (await startup(bench, use_cache=False))["context_version"] != first


async def test_bundle_of_a_deleted_project_is_not_served_for_the_next_of_its_name() -> None:
    # Both count their versions from the start: the sums meet while the old bundle is kept.
    bench = Bench()
    app = bench.app
    request = ContextRequest(level="project", project="atlas")
    made = await create_item(
        app, bench.caller(), {"title": "of the old one", "project_name": "Atlas"}
    )
    item_id = id_of(made)
    for number in range(6):
        await update_item(app, bench.caller(), item_id, {"title": f"of the old one {number}"})
    before = await load_context(app, bench.caller(), request)
    await delete_project(app, bench.caller(), "atlas")
    await create_item(app, bench.caller(), {"title": "first", "project_name": "Atlas"})
    versions = [before["context_version"]]
    for number in range(8):
        bundle = await load_context(app, bench.caller(), request)
        assert "of the old one" not in str(bundle)
        versions.append(bundle["context_version"])
        await create_item(app, bench.caller(), {"title": f"more {number}", "project": "atlas"})
    assert before["context_version"] in versions[1:]


async def test_brief_view_keeps_a_startup_priority_of_zero() -> None:
    bench = Bench()
    await create_item(
        bench.app,
        bench.caller(),
        {"title": "从不加载", "project_name": "甲", "startup_priority": 0},
    )
    bundle = await load_context(
        bench.app, bench.caller(), ContextRequest(level="project", project="甲")
    )
    [item] = bundle["active_items"] if isinstance(bundle["active_items"], list) else []
    assert isinstance(item, dict) and item["startup_priority"] == 0


@pytest.mark.parametrize("max_tokens", [200, 300, 500, 900])
@pytest.mark.parametrize(
    "request_",
    [
        ContextRequest(level="startup"),
        ContextRequest(level="topic_summary", topic="工作"),
        ContextRequest(level="project", project="记忆项目", include_history=True),
        ContextRequest(level="raw_memories"),
    ],
    ids=lambda request: request.level,
)
async def test_budget_holds_at_every_level_and_names_what_it_left_out(
    request_: ContextRequest, max_tokens: int
) -> None:
    bench = await furnished()
    long = "长" * 200
    await upsert_topic(bench.app, bench.caller(), slug="工作", name="工作", description=long * 10)
    await upsert_project(bench.app, bench.caller(), slug="记忆项目", description=long * 10)
    await set_active_objective(bench.app, bench.caller(), project="记忆项目", title=long)
    for number in range(8):
        text = f"{number}{long[:150]} +记忆项目 @工作 due:明天"
        await quick_capture(bench.app, bench.caller(), text, {"content": long * 20})
    whole = await load_context(bench.app, bench.caller(), request_)
    bundle = await load_context(bench.app, bench.caller(), replace(request_, max_tokens=max_tokens))
    assert estimate_tokens(canonical_json(bundle)) <= max_tokens
    assert bundle["left_out"]
    assert bundle.keys() >= whole.keys() - {"tokens", "left_out"}


async def test_paging_raw_memories_within_a_budget_skips_nothing() -> None:
    bench = Bench()
    made = {
        id_of(await quick_capture(bench.app, bench.caller(), f"事项 {number} " + "长" * 60, {}))
        for number in range(25)
    }
    seen: list[str] = []
    request = ContextRequest(level="raw_memories", limit=10, max_tokens=700)
    for _ in range(40):
        bundle = await load_context(bench.app, bench.caller(), request)
        items = bundle["items"]
        assert isinstance(items, list) and items
        seen += [str(item["id"]) for item in items if isinstance(item, dict)]
        if bundle["next_cursor"] is None:
            break
        request = replace(request, cursor=str(bundle["next_cursor"]))
    assert len(seen) == len(made) and set(seen) == made


async def test_focus_of_a_bundle_changes_when_a_task_is_no_longer_touched_lately() -> None:
    bench = Bench()
    bench.runtime.advance(-27 * HOUR_MS)
    await create_item(bench.app, bench.caller(), {"title": "touched first", "due": "in 6 days"})
    bench.runtime.advance(20 * HOUR_MS)
    await create_item(bench.app, bench.caller(), {"title": "touched last", "due": "in 6 days"})
    bench.runtime.advance(47 * HOUR_MS)
    assert await _next_step(bench) == "touched last"
    bench.runtime.advance(2 * HOUR_MS)
    assert await _next_step(bench) == "touched first"


async def test_bundle_that_was_built_when_a_task_fell_due_says_overdue_in_the_next_moment() -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"title": "call", "due": "in 2 hours"})
    bench.runtime.advance(2 * HOUR_MS)
    await get_startup_context(bench.app, bench.caller())
    bench.runtime.advance(1)
    bundle: Any = await get_startup_context(bench.app, bench.caller())
    assert bundle["current_focus"]["reason"].startswith("overdue since")


async def _next_step(bench: Bench) -> str:
    bundle: Any = await get_startup_context(bench.app, bench.caller())
    return str(bundle["current_focus"]["tactical_next_step"]["title"])


@pytest.mark.parametrize("spelling", ["my-topic", "My Topic", "MY_TOPIC", " my  topic! "])
async def test_forgetting_deletes_bundles_however_their_topic_was_spelled(spelling: str) -> None:
    bench = Bench()
    item = id_of(
        await create_item(bench.app, bench.caller(), {"title": "SECRET", "topic_name": "My Topic"})
    )
    request = ContextRequest(level="topic_summary", topic=spelling)
    bundle = await load_context(bench.app, bench.caller(), request)
    assert "SECRET" in canonical_json(bundle)
    await forget_item(bench.app, bench.caller(), item)
    assert bench.kv._versions
    assert [key for key in bench.kv._versions if "SECRET" in (await bench.kv.get(key) or "")] == []
