"""A day's session of one agent: the calls it makes, in two languages, and what must come of them.

The calls are plain data, so that clients in any language play the same day. A text `$name/a/0/b`
stands for what an earlier call of that name answered there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import jsonschema_rs

Json = Any
"""Whatever JSON came back."""
Answers = Mapping[str, Json]
"""Name of a call → the structured content of its result."""


@dataclass(frozen=True, slots=True)
class Words:
    """One language's words."""

    project: str
    topic: str
    goal: str
    capture: str
    capture_title: str
    task: str
    step: str
    habit: str
    due: str
    fact: str
    newer_fact: str
    question: str
    note: str
    tag: str
    secret: str


LANGUAGES = {
    "english": Words(
        project="Kitchen",
        topic="Health",
        goal="Kitchen finished by May",
        capture="buy tiles #shop +Kitchen due:tomorrow 3pm",
        capture_title="buy tiles",
        task="call the plumber !high",
        step="measure the wall",
        habit="water the plants",
        due="2030-05-06 9am",
        fact="Allergic to penicillin",
        newer_fact="Not allergic to penicillin, tested in 2026",
        question="penicillin allergy",
        note="He comes on Friday",
        tag="shop",
        secret="The safe's code is 4711",
    ),
    "chinese": Words(
        project="厨房",
        topic="健康",
        goal="五月前装好厨房",
        capture="买瓷砖 #购物 +厨房 due:明天下午三点",
        capture_title="买瓷砖",
        task="打电话给水管工 !high",
        step="量墙面",
        habit="浇花",
        due="2030年5月6日上午九点",
        fact="对青霉素过敏",
        newer_fact="对青霉素不过敏，2026年测过",
        question="青霉素过敏",
        note="他周五来",
        tag="购物",
        secret="保险箱密码是四七一一",
    ),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the day, and the name under which its answer is kept."""

    name: str
    tool: str
    arguments: Mapping[str, Json]


def steps(words: Words) -> list[Step]:
    """The day in order."""
    return [
        *_morning(words),
        *_work(words),
        *_levels(words),
        *_change_of_mind(words),
        *_evening(words),
    ]


def as_json(day: list[Step]) -> list[Json]:
    """The day as a client in another language reads it."""
    return [asdict(step) for step in day]


def _morning(words: Words) -> list[Step]:
    slug = "$project/project/slug"
    return [
        Step("empty", "get_startup_context", {}),
        Step("zone", "update_app_settings", {"time_zone": "Asia/Shanghai"}),
        Step("project", "create_project", {"name": words.project}),
        Step("topic", "upsert_group", {"name": words.topic, "retrieval_priority": 5}),
        Step("goal", "set_active_objective", {"project_slug": slug, "title": words.goal}),
        Step("captured", "quick_capture", {"input": words.capture}),
        Step("task", "quick_add_task", {"title": words.task, "project_slug": slug}),
        Step(
            "habit",
            "create_item",
            {"title": words.habit, "due": words.due, "recurrence_kind": "daily"},
        ),
        Step("conflicts", "find_semantic_conflicts", {"query": words.fact}),
        Step("fact", "capture_context", {"input": words.fact, "group_name": words.topic}),
    ]


def _work(words: Words) -> list[Step]:
    edit = {
        "id": "$task/item/id",
        "steps": [words.step],
        "objective_id": "$goal/item/id",
        "add_note": words.note,
        "due": words.due,
    }
    return [
        Step("listed", "list_items", {"tags": [words.tag]}),
        Step("edited", "update_item", edit),
        Step("focus", "get_focus_task", {"project_slug": "$project/project/slug"}),
        Step("repeated", "update_task_state", {"id": "$habit/item/id", "action": "complete"}),
        Step("finished", "update_task_state", {"id": "$task/item/id", "action": "complete"}),
    ]


def _levels(words: Words) -> list[Step]:
    project = {"level": "project", "project_slug": "$project/project/slug"}
    return [
        Step("level1", "load_context", {"level": "startup"}),
        Step("level2", "load_context", {"level": "topic_summary", "topic": words.topic}),
        Step("level3", "load_context", project),
        Step("level4", "load_context", {"level": "raw_memories", "kinds": ["memory"]}),
    ]


def _change_of_mind(words: Words) -> list[Step]:
    fact, newer = "$fact/item/id", "$newer/item/id"
    then = "$before/events/0/position"
    supersede = {"source_item_id": newer, "target_item_ids": [fact], "reason": words.note}
    return [
        Step("before", "item_history", {"id": fact}),
        Step("newer", "capture_context", {"input": words.newer_fact, "group_name": words.topic}),
        Step("superseded", "supersede_items", supersede),
        Step("found", "semantic_search", {"query": words.question}),
        Step("all", "semantic_search", {"query": words.question, "include_obsolete": True}),
        Step("then", "list_items", {"kinds": ["memory"], "as_of": then}),
        Step("was", "get_item", {"id": fact, "as_of": then}),
        Step("now", "list_items", {"kinds": ["memory"], "current_only": True}),
        Step("undone", "undo", {"id": fact}),
        Step("redone", "redo", {"id": fact}),
        Step("history", "item_history", {"id": fact}),
    ]


def _evening(words: Words) -> list[Step]:
    secret = "$secret/item/id"
    return [
        Step("secret", "capture_context", {"input": words.secret, "startup_priority": 10}),
        Step("shown", "get_startup_context", {}),
        Step("forgotten", "forget", {"id": secret}),
        Step("gone", "get_item", {"id": secret}),
        Step("last", "get_startup_context", {}),
    ]


def resolve(value: Json, answers: Answers) -> Json:
    """A call's arguments with what earlier calls answered."""
    if isinstance(value, Mapping):
        return {name: resolve(part, answers) for name, part in value.items()}
    if isinstance(value, list):
        return [resolve(part, answers) for part in value]
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    name, *path = value[1:].split("/")
    found = answers[name]
    for key in path:
        found = found[int(key)] if isinstance(found, list) else found[key]
    return str(found)


def check_schemas(tools: list[Json], day: list[Step], answers: Answers) -> None:
    """Hold every answer against the output schema of its tool, as it was listed."""
    schemas = {tool["name"]: tool["outputSchema"] for tool in tools}
    for step in day:
        jsonschema_rs.validate(schemas[step.tool], answers[step.name])


def check_day(words: Words, answers: Answers) -> None:
    """Hold the whole day against what it must come to."""
    _check_morning(words, answers)
    _check_work(answers)
    _check_levels(answers)
    _check_change_of_mind(answers)
    assert _ids(answers["shown"]["always_load"]) == [_id(answers, "secret")]
    assert answers["gone"]["error"]["code"] == "not_found"
    assert answers["last"]["always_load"] == []
    assert words.secret not in str(answers["last"])
    failed = [name for name, answer in answers.items() if "error" in answer]
    assert failed == ["gone"]


def _check_morning(words: Words, answers: Answers) -> None:
    assert answers["empty"]["active_goals"] == [] and answers["empty"]["profile"] is None
    captured = answers["captured"]["item"]
    assert captured["title"] == words.capture_title
    assert captured["due_at"].endswith("T07:00:00Z")
    assert captured["tags"] == [words.tag]
    assert captured["project"]["slug"] == answers["project"]["project"]["slug"]
    assert answers["task"]["item"]["priority"] == 3
    assert answers["habit"]["item"]["due_at"] == "2030-05-06T01:00:00Z"
    assert answers["conflicts"]["matches"] == []


def _check_work(answers: Answers) -> None:
    assert _ids(answers["listed"]["items"]) == [_id(answers, "captured")]
    assert answers["edited"]["item"]["due_at"] == "2030-05-06T01:00:00Z"
    assert answers["focus"]["item"]["id"] == _id(answers, "task")
    repeated = answers["repeated"]["item"]
    assert (repeated["state"], repeated["due_at"]) == ("active", "2030-05-07T01:00:00Z")
    assert answers["finished"]["item"]["state"] == "completed"


def _check_levels(answers: Answers) -> None:
    startup = answers["level1"]
    assert _ids(startup["active_goals"]) == [_id(answers, "goal")]
    slugs = [project["slug"] for project in startup["active_projects"]]
    assert slugs == [answers["project"]["project"]["slug"]]
    assert answers["level2"]["canonical_item"]["id"] == _id(answers, "fact")
    assert answers["level3"]["active_objective"]["id"] == _id(answers, "goal")
    assert _id(answers, "captured") in _ids(answers["level3"]["active_items"])
    assert _ids(answers["level4"]["items"]) == [_id(answers, "fact")]


def _check_change_of_mind(answers: Answers) -> None:
    fact, newer = _id(answers, "fact"), _id(answers, "newer")
    # Others that are near in meaning may follow: a search shows what may answer, the surest first.
    found = [match["item"]["id"] for match in answers["found"]["matches"]]
    assert found[0] == newer and fact not in found
    assert {fact, newer} <= {match["item"]["id"] for match in answers["all"]["matches"]}
    then = [(item["id"], item["state"]) for item in answers["then"]["items"]]
    assert then == [(fact, "active")]
    assert answers["was"]["item"]["state"] == "active"
    assert _ids(answers["now"]["items"]) == [newer]
    assert answers["undone"]["item"]["state"] == "active"
    assert answers["redone"]["item"]["state"] == "superseded"
    kinds = [event["kind"] for event in answers["history"]["events"]]
    assert len(kinds) == 4 and kinds[-1] == "ItemCreated"


def _id(answers: Answers, name: str) -> str:
    found: str = answers[name]["item"]["id"]
    return found


def _ids(items: Json) -> list[str]:
    return [item["id"] for item in items]
