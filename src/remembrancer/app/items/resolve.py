"""From words to ids: dates in the namespace's zone, projects and topics, steps, fact keys.

One read round trip brings the items to be edited together with everything that their input
refers to. No rule of the item itself is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast
from zoneinfo import ZoneInfo

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.owners import Found, Wanted, settle
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.artifacts import pointer_text
from remembrancer.core.dates import day_bounds, load_zone, parse_date
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.record import Owner, References
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import items as store
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit

_DATES: Final = ("valid_from", "valid_to", "expires_at", "recurrence_until")
_UNRESOLVED: Final = frozenset(
    {*_DATES, "due", "project", "project_name", "topic", "topic_name", "steps"}
    | {"completed", "archived", "content", "objective_id"}
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one read brought: the items asked for and all that the input refers to."""

    at: Moment
    settings: Mapping[str, JSON]
    items: dict[str, LoadedItem]
    references: References
    found: dict[str, Found] = field(default_factory=dict)
    objective: LoadedItem | None = None
    key_holder: str | None = None
    more: Sequence[Outcome] = ()

    def with_found(self) -> References:
        """Return the references with the projects and topics that were found or made."""
        return References(
            {**self.references.projects, **_by_id(self.found.get("project"))},
            {**self.references.topics, **_by_id(self.found.get("topic"))},
        )

    def edits(self) -> list[StreamEdit]:
        """Return the edits that make new projects and topics."""
        return [found.edit for found in self.found.values() if found.edit is not None]


def _by_id(found: Found | None) -> dict[str, Owner]:
    return {} if found is None else {found.owner.id: found.owner}


def zone_of(app: App, settings: Mapping[str, JSON]) -> ZoneInfo:
    """Return the namespace's time zone: its setting, else the process's default."""
    return load_zone(str(settings.get("time_zone") or app.settings.dream_time_zone))


def wanted_owners(given: ItemInput, *, is_lenient: bool = False) -> dict[str, Wanted]:
    """Return which project and topic the input names."""
    result: dict[str, Wanted] = {}
    names = (("project", "projects", "project_name"), ("topic", "topics", "topic_name"))
    values = cast(Mapping[str, object], given)
    for key, area, name_key in names:
        slug, name = values.get(key), values.get(name_key)
        if slug is not None or name is not None:
            result[key] = Wanted(
                "projects" if area == "projects" else "topics",
                None if slug is None else str(slug),
                None if name is None else str(name),
                is_lenient=is_lenient,
            )
    return result


async def look_around(
    app: App,
    namespace: Namespace,
    ids: Sequence[str],
    given: ItemInput,
    *,
    is_lenient: bool = False,
    more: Sequence[Statement] = (),
) -> Surroundings:
    """Read items and everything the input refers to. *Promise:* one round trip.

    *Shape:* `more` statements of the use case go along; their outcomes are in `more`. *Raises:*
    NotFound for a project, topic or objective that does not exist, Conflict when another active
    item holds the fact key.
    """
    wanted = wanted_owners(given, is_lenient=is_lenient)
    objective_id = given.get("objective_id")
    all_ids = [*ids, *([objective_id] if objective_id else [])]
    statements = [store.setting_statement(namespace)]
    statements += [store.load_statement(namespace, all_ids)] if all_ids else []
    first = len(statements)
    statements += [one.statement(namespace) for one in wanted.values()]
    fact_key = given.get("fact_key")
    if fact_key:
        statements.append(store.holder_statement(namespace, fact_key.strip()))
    read = await app.sql.read([*statements, *more])
    outcomes = read[: len(statements)]
    settings = {**SETTINGS, **store.settings_of(outcomes[0].rows)}
    items, references = store.loaded(outcomes[1] if all_ids else Outcome())
    found = {
        key: settle(app, one, outcome.rows)
        for (key, one), outcome in zip(wanted.items(), outcomes[first:], strict=False)
    }
    objective = _objective(items, objective_id)
    holder = outcomes[-1].rows if fact_key else []
    return Surroundings(
        at=Moment(app.runtime.now_ms(), zone_of(app, settings)),
        settings=settings,
        items={id_: item for id_, item in items.items() if id_ in ids},
        references=references,
        found=found,
        objective=objective,
        key_holder=str(holder[0]["id"]) if holder else None,
        more=read[len(statements) :],
    )


def _objective(items: dict[str, LoadedItem], id_: str | None) -> LoadedItem | None:
    if not id_:
        return None
    if id_ not in items:
        raise NotFound(f"there is no item {id_[:60]!r} to serve as objective")
    return items[id_]


def resolve(app: App, given: ItemInput, around: Surroundings, *, item_id: str) -> ItemEdit:
    """Return the edit with ids and milliseconds instead of names and words.

    *Raises:* InvalidInput (`invalid_date` for a date that is not understood, which never clears
    a deadline), LimitExceeded, Conflict when another item holds the fact key.
    """
    values = cast(Mapping[str, JSON], given)
    edit: dict[str, object] = {
        name: value for name, value in values.items() if name not in _UNRESOLVED
    }
    for name in _DATES:
        if name in values:
            edit[name] = _moment(name, values[name], around.at)
    if "due" in values:
        text = values["due"]
        parsed = (
            None
            if text is None
            else parse_date(str(text), now_ms=around.at.now_ms, zone=around.at.zone)
        )
        edit["due_at"] = None if parsed is None else parsed.at_ms
        edit["due_text"] = None if parsed is None else str(text).strip()
    for key, column in (("project", "project_id"), ("topic", "topic_id")):
        if key in around.found:
            edit[column] = around.found[key].owner.id
        elif key in values:
            edit[column] = None
    if "objective_id" in values:
        edit["objective_id"] = around.objective.record.id if around.objective else None
    if "steps" in values:
        edit["steps"] = _steps(app, values["steps"], around.at.now_ms)
    if "content" in values:
        _set_content(app, values["content"], edit)
    item = around.items.get(item_id)
    present = "active" if item is None else str(item.record.fields["state"])
    _set_state_flags(values, present, edit)
    if around.key_holder is not None and around.key_holder != item_id:
        raise Conflict(
            f"the active item {around.key_holder} holds the fact key {given.get('fact_key')!r}",
            hint="update or supersede that item",
            details={"item_id": around.key_holder},
        )
    return cast(ItemEdit, edit)


def _set_content(app: App, content: JSON, edit: dict[str, object]) -> None:
    text = None if content is None else clean(str(content))
    edit["content"], edit["artifact_id"] = text, None
    if text is not None and len(text) > limits.CONTENT_CHARS_MAX:
        artifact_id = app.runtime.new_id("art")
        edit["content"], edit["artifact_id"] = pointer_text(artifact_id, text), artifact_id


def _moment(name: str, value: JSON, at: Moment) -> int | None:
    if value is None:
        return None
    parsed = parse_date(str(value), now_ms=at.now_ms, zone=at.zone, field=name)
    if parsed.has_time:
        return parsed.at_ms
    # A day without a time of day is meant whole: from its first moment, or up to its last.
    start_ms, end_ms = day_bounds(parsed.at_ms, at.zone)
    return start_ms if name == "valid_from" else end_ms - 1


def _set_state_flags(values: Mapping[str, JSON], present: str, edit: dict[str, object]) -> None:
    # The predecessor's flags. False only takes back the state of its name: an agent that sends
    # `archived: false` beside other fields must not wake a dormant item.
    flags = (("completed", "completed"), ("archived", "archived"))
    asked = [state for flag, state in flags if values.get(flag) is True]
    refused = [state for flag, state in flags if values.get(flag) is False]
    given = edit.get("state")
    if len(asked) > 1 or given in refused or (asked and given not in (None, asked[0])):
        raise InvalidInput(
            f"lifecycle_state {given!r} and the flags ask for different states",
            hint="give only one of lifecycle_state, completed and archived",
            field="lifecycle_state",
        )
    if asked:
        edit["state"] = asked[0]
    elif present in refused and given is None:
        edit["state"] = "active"


def _steps(app: App, steps: JSON, now_ms: int) -> list[JSON] | None:
    if steps is None:
        return None
    result: list[JSON] = []
    for step in steps if isinstance(steps, list | tuple) else []:
        parts: Mapping[str, JSON] = step if isinstance(step, dict) else {"text": str(step)}
        text = clean(str(parts.get("text", ""))).strip()
        if not text or len(text) > limits.LINE_CHARS_MAX:
            raise LimitExceeded(
                f"a step has {len(text)} characters",
                hint=f"1 to {limits.LINE_CHARS_MAX}",
                field="steps",
            )
        entry: dict[str, JSON] = {
            "id": str(parts.get("id") or app.runtime.new_id("stp")),
            "text": text,
            "done_at": now_ms if parts.get("done") else None,
        }
        children = _steps(app, parts.get("steps"), now_ms)
        if children:
            entry["steps"] = children
        result.append(entry)
    return result
