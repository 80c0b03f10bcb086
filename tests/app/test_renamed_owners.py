"""A renamed project or topic is found by its new name at every place that takes a name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.builders import Bench

from remembrancer.app.context.load import load_context
from remembrancer.app.focus import get_focus_context, get_focus_task
from remembrancer.app.items.read import list_items
from remembrancer.app.items.write import quick_capture
from remembrancer.app.projects import upsert_project
from remembrancer.app.search import search_items
from remembrancer.app.topics import upsert_topic
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.errors import NotFound
from remembrancer.core.items.query import ItemQuery


async def renamed() -> Bench:
    """A store whose project 星火 is now called 星火 2.0 版 and whose topic 工作 is 上班."""
    bench = Bench()
    await quick_capture(bench.app, bench.caller(), "写周报 +星火 @工作", {})
    await quick_capture(bench.app, bench.caller(), "写周报 +别的 @别处", {})
    await upsert_project(bench.app, bench.caller(), slug="星火", name="Spark 第二版")
    await upsert_topic(bench.app, bench.caller(), slug="工作", name="上班")
    return bench


# Any: tests look into answers by key.
async def _listed(bench: Bench, **query: Any) -> int:
    return int((await list_items(bench.app, bench.caller(), ItemQuery(**query)))["count"])  # type: ignore[arg-type]


async def _found(bench: Bench, **filters: Any) -> int:
    return int((await search_items(bench.app, bench.caller(), "周报", **filters))["count"])  # type: ignore[arg-type]


async def _bundle(bench: Bench, **request: Any) -> int:
    bundle = await load_context(bench.app, bench.caller(), ContextRequest(**request))
    if request["level"] == "topic_summary":
        return int(bundle["summary"]["total"])  # type: ignore[index,call-overload,arg-type]
    return len(bundle["active_items" if request["level"] == "project" else "items"])  # type: ignore[arg-type]


async def _focus(bench: Bench, project: str) -> int:
    return int(
        (await get_focus_task(bench.app, bench.caller(), project=project))["item"] is not None
    )


async def _focus_context(bench: Bench, project: str) -> int:
    focus = await get_focus_context(bench.app, bench.caller(), project=project)
    return int(focus["project"] is not None)


PLACES: dict[str, Callable[[Bench, str, str], Awaitable[int]]] = {
    "list by project": lambda bench, project, _: _listed(bench, projects=[project]),
    "list by topic": lambda bench, _, topic: _listed(bench, topics=[topic]),
    "list in the past": lambda bench, project, _: _listed(bench, projects=[project], as_of="99"),
    "search by project": lambda bench, project, _: _found(bench, project=project),
    "search by topic": lambda bench, _, topic: _found(bench, topic=topic),
    "project bundle": lambda bench, project, _: _bundle(bench, level="project", project=project),
    "topic bundle": lambda bench, _, topic: _bundle(bench, level="topic_summary", topic=topic),
    "raw bundle": lambda bench, project, _: _bundle(
        bench, level="raw_memories", projects=(project,)
    ),
    "focus": lambda bench, project, _: _focus(bench, project),
    "focus context": lambda bench, project, _: _focus_context(bench, project),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("project", "topic"),
    [("星火", "工作"), ("Spark 第二版", "上班"), ("spark 第二版", " 上班 ")],
    ids=["slug", "name", "name in other case"],
)
async def test_renamed_project_or_topic_is_found_by_slug_and_by_name(
    place: str, project: str, topic: str
) -> None:
    bench = await renamed()
    assert await PLACES[place](bench, project, topic) == 1


async def test_slug_of_one_project_wins_over_the_name_of_another() -> None:
    bench = await renamed()
    await upsert_project(bench.app, bench.caller(), slug="别的", name="其他")
    await upsert_project(bench.app, bench.caller(), slug="星火", name="别的")
    bundle = await load_context(
        bench.app, bench.caller(), ContextRequest(level="project", project="别的")
    )
    assert bundle["project"]["name"] == "其他"  # type: ignore[index,call-overload]
    listed = await list_items(bench.app, bench.caller(), ItemQuery(projects=["别的"]))
    assert [item["project"]["name"] for item in listed["items"]] == ["其他"]  # type: ignore[index,call-overload,union-attr]


async def test_name_of_a_deleted_namesake_or_of_nothing_is_not_found() -> None:
    bench = await renamed()
    with pytest.raises(NotFound, match="no project '第二版'"):
        await _listed(bench, projects=["第二版"])
    with pytest.raises(NotFound, match="no topic '上'"):
        await _listed(bench, topics=["上"])
