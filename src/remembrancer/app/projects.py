"""Use cases of projects: make, edit, delete, get, list, and a project's timeline.

The active objective is set by `app.objectives`. Deleting a project leaves its items, which then
show none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.past import moment_of, moment_view, read_moment
from remembrancer.app.owners import UNSET, Unset, free_slug, missing, pick
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.ids import project_stream
from remembrancer.core.items.record import brief_view
from remembrancer.core.ledger.events import Head
from remembrancer.core.moments import PastMoment
from remembrancer.core.projects import decide as rules
from remembrancer.core.projects import record as form
from remembrancer.core.projects.timeline import timeline_entry
from remembrancer.core.text.fold import fold
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome
from remembrancer.store import projects as store
from remembrancer.store import timeline
from remembrancer.store.item_lists import moment_statement
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.projections import PROJECTS
from remembrancer.store.projects import Seen

_CURSOR: Final = "projects"
_TIMELINE_CURSOR: Final = "timeline"


def project_view(seen: Seen) -> dict[str, JSON]:
    """Return a project's answer form."""
    chief = seen.chief
    objective = None if chief is None else brief_view(chief, seen.references)
    return form.project_view(seen.owner, objective=objective, counts=seen.counts)


async def read_named(
    app: App, caller: Caller, slug: str | None, name: str | None
) -> dict[str, Seen]:
    """Return slug → project of those that a slug or a name could mean. *Promise:* one round trip.

    *Raises:* InvalidInput when neither is given, or there is no letter or digit in it.
    """
    choice = named_choice(caller, slug, name)
    outcomes = await app.sql.read(store.view_statements(choice))
    return {one.slug: one for one in store.seen(outcomes, choice)}


def named_choice(caller: Caller, slug: str | None, name: str | None) -> store.Choice:
    """Return the choice of the projects that a slug or a name could mean."""
    if slug is None and name is None:
        raise InvalidInput("no project was named", hint="give a slug or a name", field="slug")
    return store.named(PROJECTS, caller.namespace, slug=slug, name=name)


def names_of(present: Mapping[str, Seen]) -> dict[str, str]:
    """Return slug → name."""
    return {slug: str(one.owner.fields["name"]) for slug, one in present.items()}


async def find_project(app: App, caller: Caller, slug: str) -> Seen:
    """Return the project of a slug (or of a name). *Raises:* NotFound."""
    return require_project(await read_named(app, caller, slug, None), slug)


def require_project(present: Mapping[str, Seen], slug: str) -> Seen:
    """Return the project that is meant among those read. *Raises:* NotFound."""
    found = pick(names_of(present), slug, None)
    if found is None:
        raise missing("projects", slug)
    return present[found]


def refuse_taken_name(
    present: Mapping[str, Seen], name: str, *, but_id: str | None, what: str = "project"
) -> None:
    """Refuse a name that another project or topic has. *Raises:* Conflict naming its slug."""
    for slug, one in present.items():
        if one.owner.id != but_id and fold(str(one.owner.fields["name"])) == fold(name):
            raise Conflict(
                f"the {what} {slug!r} has the name {name[:60]!r}",
                hint=f"use that {what}, or choose another name",
                details={"slug": slug},
            )


async def create_project(
    app: App, caller: Caller, *, name: str, slug: str | None = None, description: str | None = None
) -> Answer:
    """Make a project; another name with the same slug gets a slug of its own.

    *Shape:* answers `{"project", "outcome": "created"}`. *Raises:* InvalidInput, LimitExceeded,
    Conflict when the name, or a slug that is given, exists. *Promise:* two round trips.
    """

    async def decide() -> Plan:
        present = await read_named(app, caller, slug, name)
        taken = None if slug is None else slugify(slug)
        if taken in present:
            raise Conflict(
                f"the project {taken!r} exists already",
                hint="upsert_project edits it",
                details={"slug": taken},
            )
        return _made(app, present, slug=slug, name=name, description=description)

    return await write(app, caller, decide)


def _made(
    app: App,
    present: Mapping[str, Seen],
    *,
    slug: str | None,
    name: str,
    description: str | None,
) -> Plan:
    refuse_taken_name(present, name, but_id=None)
    draft = rules.create_project(
        name=name, slug=free_slug(slug, name, present), description=description
    )
    id_, now_ms = app.runtime.new_id("prj"), app.runtime.now_ms()
    record = form.made_by_draft(id_, draft, now_ms)
    return Plan(
        answer={
            "project": form.project_view(record, objective=None, counts={}),
            "outcome": "created",
        },
        at_ms=now_ms,
        edits=[StreamEdit(project_stream(id_), Head(), {}, (draft,))],
    )


async def upsert_project(
    app: App,
    caller: Caller,
    *,
    name: str | None = None,
    slug: str | None = None,
    description: str | Unset | None = UNSET,
    expected_version: int | None = None,
) -> Answer:
    """Edit the project of a slug or a name, or make it; a rename keeps the slug.

    *Shape:* answers `{"project", "outcome": "created" | "updated" | "unchanged"}`; a description
    that is not given stays, None clears it. *Raises:* NotFound (an unknown slug without a name),
    InvalidInput, LimitExceeded, Conflict when another project has the name, or it is not at
    `expected_version` (`version_conflict`; what does not exist is at 0).
    *Promise:* two round trips.
    """

    async def decide() -> Plan:
        present = await read_named(app, caller, slug, name)
        found = pick(names_of(present), slug, name)
        text = None if isinstance(description, Unset) else description
        if found is None:
            if name is None:
                raise missing("projects", slug or "")
            check_version(slug or name, 0, expected_version)
            return _made(app, present, slug=slug, name=name, description=text)
        check_version(found, present[found].owner.version, expected_version)
        given: dict[str, JSON] = {}
        if name is not None:
            given["name"] = name
            refuse_taken_name(present, name, but_id=present[found].owner.id)
        if not isinstance(description, Unset):
            given["description"] = text
        return _edited(app, present[found], given)

    return await write(app, caller, decide)


def check_version(slug: str, version: int, expected: int | None) -> None:
    """Refuse an edit of what has moved on. *Raises:* Conflict (`version_conflict`)."""
    if expected is not None and version != expected:
        raise Conflict(
            f"{slug[:60]!r} is at version {version}, not {expected}",
            hint="read it again and repeat the edit",
            code="version_conflict",
            details={"version": version},
        )


async def update_project(
    app: App,
    caller: Caller,
    slug: str,
    given: Mapping[str, JSON],
    *,
    expected_version: int | None = None,
) -> Answer:
    """Edit an existing project.

    *Shape:* `given` name and description, of which what is missing stays; answers as
    `upsert_project`. *Raises:* as `upsert_project`, and NotFound. *Promise:* two round trips, a
    third for a new name.
    """

    async def decide() -> Plan:
        seen = await find_project(app, caller, slug)
        check_version(seen.slug, seen.owner.version, expected_version)
        if "name" in given:
            name = str(given["name"])
            namesakes = await read_named(app, caller, None, name)
            refuse_taken_name(namesakes, name, but_id=seen.owner.id)
        return _edited(app, seen, given)

    return await write(app, caller, decide)


def _edited(app: App, seen: Seen, given: Mapping[str, JSON]) -> Plan:
    now_ms = app.runtime.now_ms()
    draft = rules.edit_project(seen.owner.fields, given)
    if draft is None:
        return Plan({"project": project_view(seen), "outcome": "unchanged"}, now_ms)
    after = replace(seen, owner=form.after_draft(seen.owner, draft, now_ms))
    return Plan(
        answer={"project": project_view(after), "outcome": "updated"},
        at_ms=now_ms,
        edits=[seen.edit(draft)],
    )


async def get_project(app: App, caller: Caller, slug: str) -> Answer:
    """Show one project with its objective and counts per state.

    *Shape:* answers `{"project"}`. *Raises:* NotFound. *Promise:* one round trip.
    """
    return {"project": project_view(await find_project(app, caller, slug))}


async def list_projects(
    app: App,
    caller: Caller,
    *,
    limit: int = limits.PAGE_ITEMS_MAX,
    cursor: str | None = None,
    as_of: str | None = None,
) -> Answer:
    """List projects by slug, a page at a time.

    *Shape:* `limit` 1–100; answers `{"projects", "count", "total", "total_is_minimum",
    "next_cursor", "as_of"}`; a look into the past has no counts. *Raises:* InvalidInput.
    *Promise:* one round trip, at most two more for `as_of`.
    """
    check_limit(limit)
    after = "" if cursor is None else str(decode_cursor(cursor, kind=_CURSOR, types=[str])[0])
    moment = await read_past(app, caller, as_of)
    choice = store.page(
        PROJECTS,
        caller.namespace,
        after_slug=after,
        limit=limit + 1,
        position=None if moment is None else moment.position,
    )
    outcomes = await app.sql.read([*store.view_statements(choice), store.total_statement(choice)])
    found = store.seen(outcomes[: store.VIEW_STATEMENTS], choice)
    shown, more = found[:limit], len(found) > limit
    return {
        "projects": [project_view(one) for one in shown],
        "count": len(shown),
        **totals(outcomes[store.VIEW_STATEMENTS]),
        "next_cursor": encode_cursor(_CURSOR, [shown[-1].slug]) if more else None,
        "as_of": moment_view(moment),
    }


async def read_past(app: App, caller: Caller, as_of: str | None) -> PastMoment | None:
    """Return the moment that `as_of` names, with its position; None for now.

    *Raises:* InvalidInput. *Promise:* one round trip for a position, two for a time.
    """
    if as_of is None:
        return None
    asked = await read_moment(app, caller.namespace, as_of)
    [outcome] = await app.sql.read([moment_statement(caller.namespace, asked)])
    return moment_of(asked, outcome.rows[0])


def check_limit(limit: int) -> int:
    """Return the size of a page. *Raises:* InvalidInput outside 1–100."""
    if not 1 <= limit <= limits.PAGE_ITEMS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {limits.PAGE_ITEMS_MAX}", field="limit"
        )
    return limit


def totals(outcome: Outcome, *, added: int = 0) -> dict[str, JSON]:
    """Return `total` and `total_is_minimum` from the outcome of `total_statement`."""
    total = int(str(outcome.rows[0]["total"])) + added
    return {
        "total": min(total, limits.COUNT_MAX),
        "total_is_minimum": total > limits.COUNT_MAX,
    }


async def get_active_projects(app: App, caller: Caller, *, limit: int = 10) -> Answer:
    """Show the projects with at least one current item, newest change of objective first.

    *Shape:* answers `{"projects", "count"}`. *Promise:* one round trip.
    """
    choice = store.in_use(caller.namespace, limit=check_limit(limit))
    found = store.seen(await app.sql.read(store.view_statements(choice)), choice)
    return {"projects": [project_view(one) for one in found], "count": len(found)}


async def delete_project(app: App, caller: Caller, slug: str) -> Answer:
    """Delete a project: its slug and name are free again, its items stay and show none.

    *Shape:* answers `{"deleted": true, "project"}` as it was. *Raises:* NotFound.
    """

    async def decide() -> Plan:
        seen = await find_project(app, caller, slug)
        return Plan(
            answer={"deleted": True, "project": project_view(seen)},
            at_ms=app.runtime.now_ms(),
            edits=[seen.edit(rules.delete_project(seen.owner.fields))],
        )

    return await write(app, caller, decide)


async def get_project_timeline(
    app: App, caller: Caller, slug: str, *, limit: int = 50, cursor: str | None = None
) -> Answer:
    """Show what happened in a project, newest first: its own events and those of its items.

    *Shape:* an item's events count from the one that brought it in, for as long as it stays;
    answers `{"events": [{position, at, kind, actor, item_id, title, summary}], "next_cursor"}`.
    *Raises:* NotFound, InvalidInput. *Promise:* two round trips; rows read by the page's size.
    """
    check_limit(limit)
    before: object = limits.INTEGER_MAX
    if cursor is not None:
        [before] = decode_cursor(cursor, kind=_TIMELINE_CURSOR, types=[int])
    project = (await find_project(app, caller, slug)).owner
    statements = timeline.timeline_statements(
        caller.namespace, project.id, before=int(str(before)), limit=limit + 1
    )
    found = timeline.entries(await app.sql.read(statements))
    shown, more = found[:limit], len(found) > limit
    last = shown[-1].event.position if more else None
    return {
        "events": [
            timeline_entry(entry.event, item_id=entry.item_id, title=entry.title) for entry in shown
        ],
        "next_cursor": None if last is None else encode_cursor(_TIMELINE_CURSOR, [last]),
    }
