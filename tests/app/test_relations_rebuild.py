"""What projects, topics, relations and objectives wrote is the same after a rebuild."""

from __future__ import annotations

from tests.builders import Bench, id_of

from remembrancer.app.app_settings import update_app_settings
from remembrancer.app.items.states import update_task_state
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import create_project, delete_project, upsert_project
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import add_relation, remove_relation, supersede_items
from remembrancer.app.topics import delete_topic, set_canonical_item, upsert_topic
from remembrancer.app.undo import undo
from remembrancer.app.verify import verify


async def test_a_rebuild_gives_the_same_projects_topics_relations_and_settings() -> None:
    bench = Bench()
    app = bench.app
    await create_project(app, bench.caller(), name="花园", description="d")
    await create_project(app, bench.caller(), name="Gone")
    await delete_project(app, bench.caller(), "gone")
    await create_project(app, bench.caller(), name="Gone")
    goals = [
        id_of(await set_active_objective(app, bench.caller(), project="花园", title=title))
        for title in ("一", "二")
    ]
    await set_active_objective(app, bench.caller(), project="花园", item_id=goals[0])
    bench.runtime.advance(1_000)
    await upsert_project(app, bench.caller(), slug="花园", name="Garden")
    await upsert_topic(app, bench.caller(), name="T", retrieval_priority=4)
    await upsert_topic(app, bench.caller(), name="U")
    await delete_topic(app, bench.caller(), "u")
    memory = id_of(await create_item(app, bench.caller(), {"title": "m", "kind": "memory"}))
    await set_canonical_item(app, bench.caller(), "profile", memory)
    for type_ in ("supports", "blocks"):
        await add_relation(
            app, bench.caller(), source_id=memory, type=type_, target_id=goals[0], reason="原因"
        )
    await remove_relation(app, bench.caller(), source_id=memory, type="blocks", target_id=goals[0])
    await supersede_items(app, bench.caller(), source_item_id=memory, target_item_ids=goals)
    back = bench.caller()
    await update_task_state(app, back, goals[0], "reactivate")
    await set_active_objective(app, bench.caller(), project="garden", item_id=goals[0])
    await update_item(app, bench.caller(), goals[0], {"project": "gone"})
    last = bench.caller()
    await update_app_settings(app, last, {"time_zone": "UTC", "default_snooze_hours": 3})
    await undo(app, bench.caller(), cause=last.cause)
    before = await bench.tables()
    await rebuild(app, progress=None)
    assert await bench.tables() == before
    assert (await verify(app))["ok"] is True
