"""The operations whose cost is promised, and the promises: counted, so that no machine matters.

The first rows are the budgets of the design; the others are what we promise ourselves: a little
over what was measured, so that a lost index shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from tests.budgets.chats import chat_turn, chat_turn_that_saves
from tests.budgets.extractions import finding_facts, finding_none
from tests.budgets.places import Operation, Place
from tests.builders import NAMESPACE

from remembrancer.app.context.load import get_context_summary, load_context
from remembrancer.app.context.startup import get_startup_context
from remembrancer.app.focus import get_focus_context, get_focus_task, get_stale_tasks
from remembrancer.app.history import history, item_history
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import get_item, list_items
from remembrancer.app.items.states import delete_items, update_task_state
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.app.projects import get_project, get_project_timeline
from remembrancer.app.recall.recall import PRECIOUS_COMPARED, recall
from remembrancer.app.relations import add_relation, supersede_items
from remembrancer.app.search import search_items
from remembrancer.app.state import App
from remembrancer.app.undo import undo
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.limits import GLOSSARY_ENTRIES_MAX
from remembrancer.core.values import Idempotency
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.ports.models import Vector
from remembrancer.ports.sql import Statement
from remembrancer.ports.vectors import IndexState, VectorMatch, VectorRow, VectorScope
from remembrancer.testing.models import HashingEmbedder


@dataclass(frozen=True, slots=True)
class Budget:
    """An operation and the most it may cost.

    *Shape:* `is_steady` when it must not grow with the number of items; the others read what
    their filter or words match, up to a limit.
    """

    run: Operation
    trips: int
    read: int
    written: int = 0
    is_steady: bool = True


async def startup_cached(place: Place) -> object:
    await get_startup_context(place.app, place.caller)
    place.start()
    return await get_startup_context(place.app, place.caller)


async def startup_fresh(place: Place) -> object:
    return await get_startup_context(place.app, place.caller, use_cache=False)


def captured(place: Place) -> ItemInput:
    return {
        "title": "预约 dentist appointment",
        "content": "Call before ten. 记得带医保卡。",
        "tags": ["电话", "health"],
        "project": place.projects[3],
        "topic": place.topics[4],
        "due": "tomorrow",
    }


async def capture(place: Place) -> object:
    return await create_item(place.app, place.caller, captured(place))


async def capture_with_key(place: Place) -> object:
    caller = place.bench.caller(idempotency=Idempotency("once", "hash"))
    return await create_item(place.app, caller, captured(place))


async def capture_new_owners(place: Place) -> object:
    given: ItemInput = {
        "title": "Order the shelf 订书架",
        "tags": ["home", "购物"],
        "project_name": "Study 书房",
        "topic_name": "Shelves 书架",
    }
    return await create_item(place.app, place.caller, given)


async def capture_line(place: Place) -> object:
    text = "买牛奶 #购物 #家 +food @kitchen due:明天"
    return await quick_capture(place.app, place.caller, text, {})


async def update(place: Place) -> object:
    made = await create_item(place.app, place.caller, captured(place))
    item = made["item"]
    assert isinstance(item, dict)
    place.start()
    given: ItemInput = {
        "title": "改约 dentist",
        "tags": ["follow-up", "复诊"],
        "project": place.projects[5],
        "topic": place.topics[6],
    }
    return await update_item(place.app, place.caller, str(item["id"]), given)


async def update_title(place: Place) -> object:
    [item_id] = place.take(1)
    return await update_item(place.app, place.caller, item_id, {"title": "Renamed 改名"})


async def update_new_owners(place: Place) -> object:
    made = await create_item(place.app, place.caller, captured(place))
    item = made["item"]
    assert isinstance(item, dict)
    place.start()
    given: ItemInput = {
        "tags": ["moved", "搬走"],
        "project_name": "Attic 阁楼",
        "topic_name": "Boxes 箱子",
    }
    return await update_item(place.app, place.caller, str(item["id"]), given)


async def list_past_position(place: Place) -> object:
    query = ItemQuery(limit=50, as_of=str(len(place.seeded.items) // 2))
    return await list_items(place.app, place.caller, query)


async def list_past_time(place: Place) -> object:
    return await list_items(place.app, place.caller, ItemQuery(limit=50, as_of="2025-06-01"))


async def list_newest(place: Place) -> object:
    return await list_items(place.app, place.caller, ItemQuery(limit=50))


async def list_project(place: Place) -> object:
    query = ItemQuery(limit=50, projects=(place.projects[2],), states=("completed",))
    return await list_items(place.app, place.caller, query)


async def list_tag(place: Place) -> object:
    return await list_items(place.app, place.caller, ItemQuery(limit=50, tags=("跑步",)))


async def read_item(place: Place) -> object:
    return await get_item(place.app, place.caller, place.seeded.related[5])


async def search_rare(place: Place) -> object:
    return await search_items(place.app, place.caller, "阳台的番茄架")


async def search_common(place: Place) -> object:
    return await search_items(place.app, place.caller, "user")


class Neighbours:
    """A vector index to which some items are always near."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = [vector_id(NAMESPACE, id_) for id_ in ids]

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        del rows

    async def delete(self, ids: Sequence[str]) -> None:
        del ids

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        del scope, values
        return [VectorMatch(id_, 0.9 - place / 1_000) for place, id_ in enumerate(self._ids[:top])]

    async def held(self, ids: Sequence[str]) -> set[str]:
        return set(ids)

    async def describe(self) -> IndexState:
        return IndexState(HashingEmbedder().model, len(self._ids))


def with_vectors(place: Place) -> App:
    near = Neighbours(place.seeded.items[:: max(1, len(place.seeded.items) // 100)])
    return replace(place.app, embedder=HashingEmbedder(), vectors=near)


async def recalled(place: Place, message: str) -> object:
    place.bench.runtime.discard()
    place.start()
    found = await recall(with_vectors(place), place.caller, message)
    await place.bench.runtime.drain()
    return found


async def recall_common(place: Place) -> object:
    return await recalled(place, "user 对花生过敏吗，喜欢什么时候开会")


async def recall_rare(place: Place) -> object:
    return await recalled(place, "阳台的番茄架是哪天买的？")


_COUNTED = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)"

FULL_LIBRARY = (
    (
        (
            f"{_COUNTED} INSERT OR IGNORE INTO glossary (namespace, id, name, term, aliases,"
            " definition, examples, created_at, updated_at)"
            " SELECT ?1, 'glo_' || i, 'term' || i, 'Term' || i, '[]', 'x', '[]', 0, 0 FROM n"
        ),
        GLOSSARY_ENTRIES_MAX,
    ),
    (
        (
            f"{_COUNTED} INSERT OR IGNORE INTO precious (namespace, id, content, sha256,"
            " context_message_ids, source, created_at)"
            " SELECT ?1, 'pcz_' || i, 'quote ' || i, CAST(i AS TEXT), '[]', 'human', 0 FROM n"
        ),
        2 * PRECIOUS_COMPARED,
    ),
)
"""A glossary as large as may be, and more quotes than are looked at."""


async def recall_by_full_library(place: Place) -> object:
    statements = [Statement(sql, (NAMESPACE, count)) for sql, count in FULL_LIBRARY]
    await place.app.sql.write(statements)
    return await recalled(place, "What does the user prefer, and is there a peanut allergy?")


async def project_cached(place: Place) -> object:
    request = ContextRequest(level="project", project=place.projects[0])
    await load_context(place.app, place.caller, request)
    place.start()
    return await load_context(place.app, place.caller, request)


async def project_fresh(place: Place) -> object:
    request = ContextRequest(
        level="project", project=place.projects[0], include_history=True, use_cache=False
    )
    return await load_context(place.app, place.caller, request)


async def topic_cached(place: Place) -> object:
    await get_context_summary(place.app, place.caller, scope=place.topics[3])
    place.start()
    return await get_context_summary(place.app, place.caller, scope=place.topics[3])


async def topic_fresh(place: Place) -> object:
    request = ContextRequest(level="topic_summary", topic=place.topics[3], use_cache=False)
    return await load_context(place.app, place.caller, request)


async def focus_task(place: Place) -> object:
    return await get_focus_task(place.app, place.caller)


async def focus_context(place: Place) -> object:
    return await get_focus_context(place.app, place.caller)


async def stale_tasks(place: Place) -> object:
    return await get_stale_tasks(place.app, place.caller)


async def read_project(place: Place) -> object:
    return await get_project(place.app, place.caller, place.projects[1])


async def read_timeline(place: Place) -> object:
    return await get_project_timeline(place.app, place.caller, place.projects[1])


async def read_history(place: Place) -> object:
    return await item_history(place.app, place.caller, place.seeded.items[10])


async def read_feed(place: Place) -> object:
    return await history(place.app, place.caller)


async def complete(place: Place) -> object:
    made = await create_item(place.app, place.caller, captured(place))
    item = made["item"]
    assert isinstance(item, dict)
    place.start()
    return await update_task_state(place.app, place.caller, str(item["id"]), "complete")


async def relate(place: Place) -> object:
    source_id, target_id = place.take(2)
    return await add_relation(
        place.app, place.caller, source_id=source_id, type="blocks", target_id=target_id
    )


async def supersede(place: Place) -> object:
    source_id, target_id = place.take(2)
    return await supersede_items(
        place.app, place.caller, source_item_id=source_id, target_item_ids=[target_id]
    )


async def supersede_hundred(place: Place) -> object:
    source_id, *target_ids = place.take(101)
    return await supersede_items(
        place.app, place.caller, source_item_id=source_id, target_item_ids=target_ids
    )


async def delete_hundred(place: Place) -> object:
    return await delete_items(place.app, place.caller, place.take(100))


async def undo_edit(place: Place) -> object:
    [item_id] = place.take(1)
    await update_item(place.app, place.caller, item_id, {"title": "A slip 手滑"})
    place.start()
    return await undo(place.app, place.caller, item_id=item_id)


DESIGNED: Final[Mapping[str, Budget]] = MappingProxyType(
    {
        "startup bundle, cached": Budget(startup_cached, trips=1, read=3),
        "startup bundle, fresh": Budget(startup_fresh, trips=8, read=300),
        "capture: two tags, project, topic": Budget(capture, trips=3, read=30, written=40),
        "capture with an idempotency key": Budget(capture_with_key, trips=3, read=30, written=40),
        "update: two tags, project, topic": Budget(update, trips=3, read=30, written=40),
        "list as of a position, 50": Budget(list_past_position, trips=2, read=500),
        "list as of a time, 50": Budget(list_past_time, trips=2, read=500),
        "recall, words of most items": Budget(
            recall_common, trips=4, read=2_000, written=8, is_steady=False
        ),
        "chat turn that saves nothing": Budget(
            chat_turn, trips=10, read=2_500, written=30, is_steady=False
        ),
        "chat turn with remember-now": Budget(
            chat_turn_that_saves, trips=12, read=2_500, written=70, is_steady=False
        ),
        "recall, rare words": Budget(recall_rare, trips=4, read=2_000, written=8, is_steady=False),
    }
)
"""Operation → budget of the design."""

OWN: Final[Mapping[str, Budget]] = MappingProxyType(
    {
        "capture that makes project and topic": Budget(
            capture_new_owners, trips=2, read=20, written=41
        ),
        "quick capture that makes both, with a due date": Budget(
            capture_line, trips=2, read=20, written=43
        ),
        "update of the title": Budget(update_title, trips=2, read=20, written=20),
        "update that makes project and topic": Budget(
            update_new_owners, trips=2, read=32, written=50
        ),
        "complete": Budget(complete, trips=2, read=20, written=24),
        "list of the newest, 50": Budget(list_newest, trips=1, read=300),
        "list of what is completed in a project, 50": Budget(
            list_project, trips=1, read=600, is_steady=False
        ),
        "list of a rare tag, 50": Budget(list_tag, trips=1, read=1_500, is_steady=False),
        "one item with its relations": Budget(read_item, trips=1, read=15),
        "recall beside a full glossary": Budget(
            recall_by_full_library, trips=4, read=2_000, written=8, is_steady=False
        ),
        "search for rare words": Budget(search_rare, trips=2, read=1_200, is_steady=False),
        "search for a word of most items": Budget(
            search_common, trips=2, read=1_200, is_steady=False
        ),
        "project bundle, cached": Budget(project_cached, trips=1, read=4),
        "project bundle with history, fresh": Budget(project_fresh, trips=4, read=250),
        "topic bundle, cached": Budget(topic_cached, trips=1, read=6),
        "topic bundle, fresh": Budget(topic_fresh, trips=4, read=150),
        "next task": Budget(focus_task, trips=3, read=250),
        "focus": Budget(focus_context, trips=3, read=250),
        "stale tasks": Budget(stale_tasks, trips=2, read=500),
        "one project": Budget(read_project, trips=1, read=80),
        "project's timeline": Budget(read_timeline, trips=2, read=250),
        "history of an item": Budget(read_history, trips=1, read=10),
        "history of all, 50": Budget(read_feed, trips=1, read=60),
        "relation added": Budget(relate, trips=2, read=20, written=10),
        "item superseded": Budget(supersede, trips=2, read=35, written=30),
        "100 items superseded": Budget(supersede_hundred, trips=2, read=2_800, written=1_700),
        "100 items deleted": Budget(delete_hundred, trips=2, read=2_400, written=1_450),
        "undo of an edit": Budget(undo_edit, trips=6, read=50, written=20),
        # Last: they let a day pass.
        "extraction of 40 messages that finds 40 facts": Budget(
            finding_facts, trips=14, read=1_300, written=600, is_steady=False
        ),
        "extraction of 40 messages that finds none": Budget(
            finding_none, trips=13, read=290, written=20, is_steady=False
        ),
    }
)
"""Operation → what we promise ourselves."""
