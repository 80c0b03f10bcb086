"""Use cases of topics: make, edit, delete, get, list, and a topic's canonical item.

The profile topic is there from the start: it is shown before any event has made it, and is made
when it is first written to. Deleting a topic leaves its items, which then show none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypedDict, Unpack, cast

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.past import moment_view
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.owners import free_slug, missing, pick
from remembrancer.app.projects import (
    check_limit,
    check_version,
    names_of,
    read_past,
    refuse_taken_name,
    totals,
)
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.ids import topic_stream
from remembrancer.core.items.commands import Moment
from remembrancer.core.items.decide import edit_item
from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.items.record import ItemRecord, Owner, References, after_draft, brief_view
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.projects import record as form
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.text.slugs import slugify
from remembrancer.core.topics import decide as rules
from remembrancer.core.topics.decide import PROFILE_NAME, PROFILE_SLUG
from remembrancer.core.topics.record import topic_view as view_of
from remembrancer.core.topics.record import unwritten_profile
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome
from remembrancer.store import items as item_store
from remembrancer.store import projects as owner_store
from remembrancer.store import topics as store
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.projects import VIEW_STATEMENTS, Seen

_CURSOR: Final = "topics"


class TopicInput(TypedDict, total=False):
    """Fields of a topic; a missing key is left alone, None clears the description."""

    name: str
    description: str | None
    kind: str
    retrieval_priority: int
    summary_mode: str


def topic_view(seen: Seen) -> dict[str, JSON]:
    """Return a topic's answer form."""
    chief = seen.chief
    canonical = None if chief is None else brief_view(chief, seen.references)
    return view_of(seen.owner, canonical=canonical, counts=seen.counts)


async def _read(app: App, caller: Caller, slug: str | None, name: str | None) -> dict[str, Seen]:
    choice = _choice(caller, slug, name)
    return _present(await app.sql.read(owner_store.view_statements(choice)), choice)


def _choice(caller: Caller, slug: str | None, name: str | None) -> owner_store.Choice:
    if slug is None and name is None:
        raise InvalidInput("no topic was named", hint="give a slug or a name", field="slug")
    return store.named(caller.namespace, slug=slug, name=name)


def _present(outcomes: Sequence[Outcome], choice: owner_store.Choice) -> dict[str, Seen]:
    return {one.slug: one for one in owner_store.seen(outcomes, choice)}


def _is_profile(slug: str | None, name: str | None) -> bool:
    return slugify(slug if slug is not None else name or "") == PROFILE_SLUG


async def create_topic(
    app: App, caller: Caller, *, slug: str | None = None, **given: Unpack[TopicInput]
) -> Answer:
    """Make a topic; another name with the same slug gets a slug of its own.

    *Shape:* answers `{"topic", "outcome": "created"}`. *Raises:* InvalidInput, LimitExceeded,
    Conflict when the name, or a slug that is given, exists. *Promise:* two round trips.
    """
    if "name" not in given:
        raise InvalidInput("a topic needs a name", hint="give a name", field="name")

    async def decide() -> Plan:
        present = await _read(app, caller, slug, given["name"])
        taken = None if slug is None else slugify(slug)
        if taken in present:
            raise Conflict(
                f"the topic {taken!r} exists already",
                hint="upsert_topic edits it",
                details={"slug": taken},
            )
        return _made(app, present, slug, given)

    return await write(app, caller, decide)


async def upsert_topic(
    app: App,
    caller: Caller,
    *,
    slug: str | None = None,
    expected_version: int | None = None,
    **given: Unpack[TopicInput],
) -> Answer:
    """Edit the topic of a slug or a name, or make it; a rename keeps the slug.

    *Shape:* `name` and the fields of `TopicInput`, of which those not given stay; answers
    `{"topic", "outcome": "created" | "updated" | "unchanged"}`. *Raises:* NotFound (an unknown
    slug without a name), InvalidInput, LimitExceeded, Conflict when another topic has the name,
    or it is not at `expected_version` (`version_conflict`; what does not exist is at 0).
    *Promise:* two round trips.
    """
    name = given.get("name")

    async def decide() -> Plan:
        present = await _read(app, caller, slug, name)
        found = pick(names_of(present), slug, name)
        if found is not None:
            check_version(found, present[found].owner.version, expected_version)
            if name is not None:
                refuse_taken_name(present, name, but_id=present[found].owner.id, what="topic")
            return _edited(app, present[found], given)
        if name is None and not _is_profile(slug, name):
            raise missing("topics", slug or "")
        check_version(slug or name or PROFILE_SLUG, 0, expected_version)
        fields: TopicInput = {"name": name or PROFILE_NAME, **given}
        return _made(app, present, slug, fields)

    return await write(app, caller, decide)


def _made(app: App, present: Mapping[str, Seen], slug: str | None, given: TopicInput) -> Plan:
    refuse_taken_name(present, given["name"], but_id=None, what="topic")
    draft = _creation(present, slug, given)
    id_, now_ms = app.runtime.new_id("top"), app.runtime.now_ms()
    record = form.made_by_draft(id_, draft, now_ms)
    return Plan(
        answer={"topic": view_of(record, canonical=None, counts={}), "outcome": "created"},
        at_ms=now_ms,
        edits=[StreamEdit(topic_stream(id_), Head(), {}, (draft,))],
    )


def _creation(present: Mapping[str, Seen], slug: str | None, given: TopicInput) -> Draft:
    fresh = free_slug(slug, given["name"], present)
    return rules.create_topic(cast(Mapping[str, JSON], given), slug=fresh)


def _edited(app: App, seen: Seen, given: TopicInput) -> Plan:
    now_ms = app.runtime.now_ms()
    draft = rules.edit_topic(seen.owner.fields, cast(Mapping[str, JSON], given))
    if draft is None:
        return Plan({"topic": topic_view(seen), "outcome": "unchanged"}, now_ms)
    after = replace(seen, owner=form.after_draft(seen.owner, draft, now_ms))
    return Plan(
        answer={"topic": topic_view(after), "outcome": "updated"},
        at_ms=now_ms,
        edits=[seen.edit(draft)],
    )


async def update_topic_metadata(
    app: App,
    caller: Caller,
    slug: str,
    given: TopicInput,
    *,
    expected_version: int | None = None,
) -> Answer:
    """Edit an existing topic.

    *Shape:* answers as `upsert_topic`. *Raises:* as `upsert_topic`, NotFound, and Conflict
    (`version_conflict`) when it is not at `expected_version`; the unwritten profile is at 0.
    *Promise:* two round trips, a third for a new name.
    """

    async def decide() -> Plan:
        present = await _read(app, caller, slug, None)
        found = pick(names_of(present), slug, None)
        version = 0 if found is None else present[found].owner.version
        if found is not None or _is_profile(slug, None):
            check_version(slug, version, expected_version)
        if found is None and _is_profile(slug, None):
            return _made(app, present, slug, {"name": PROFILE_NAME, **given})
        if found is None:
            raise missing("topics", slug)
        if "name" in given:
            refuse_taken_name(
                await _read(app, caller, None, given["name"]),
                given["name"],
                but_id=present[found].owner.id,
                what="topic",
            )
        return _edited(app, present[found], given)

    return await write(app, caller, decide)


async def get_topic(app: App, caller: Caller, slug: str) -> Answer:
    """Show one topic with its canonical item and counts per state.

    *Shape:* answers `{"topic"}`. *Raises:* NotFound. *Promise:* one round trip.
    """
    present = await _read(app, caller, slug, None)
    found = pick(names_of(present), slug, None)
    if found is not None:
        return {"topic": topic_view(present[found])}
    if _is_profile(slug, None):
        return {"topic": unwritten_profile()}
    raise missing("topics", slug)


async def list_topics(
    app: App,
    caller: Caller,
    *,
    limit: int = limits.PAGE_ITEMS_MAX,
    cursor: str | None = None,
    as_of: str | None = None,
) -> Answer:
    """List topics by slug, a page at a time; the profile is among them, written or not.

    *Shape:* as `list_projects`, with `topics`. *Raises:* InvalidInput. *Promise:* one round
    trip, at most two more for `as_of`.
    """
    check_limit(limit)
    after = "" if cursor is None else str(decode_cursor(cursor, kind=_CURSOR, types=[str])[0])
    moment = await read_past(app, caller, as_of)
    position = None if moment is None else moment.position
    choice = store.page(caller.namespace, after_slug=after, limit=limit + 1, position=position)
    profile = replace(
        store.named(caller.namespace, slug=PROFILE_SLUG, name=None), position=position
    )
    outcomes = await app.sql.read(
        [
            *owner_store.view_statements(choice),
            owner_store.total_statement(choice),
            owner_store.view_statements(profile)[0],
        ]
    )
    found = owner_store.seen(outcomes[:VIEW_STATEMENTS], choice)
    rows: list[tuple[str, dict[str, JSON]]] = [(one.slug, topic_view(one)) for one in found]
    is_written = any(row["slug"] == PROFILE_SLUG for row in outcomes[VIEW_STATEMENTS + 1].rows)
    if not is_written and after < PROFILE_SLUG:
        rows = sorted([*rows, (PROFILE_SLUG, unwritten_profile())], key=lambda row: row[0])
    shown, more = rows[:limit], len(rows) > limit
    return {
        "topics": [view for _, view in shown],
        "count": len(shown),
        **totals(outcomes[VIEW_STATEMENTS], added=0 if is_written else 1),
        "next_cursor": encode_cursor(_CURSOR, [shown[-1][0]]) if more else None,
        "as_of": moment_view(moment),
    }


async def delete_topic(app: App, caller: Caller, slug: str) -> Answer:
    """Delete a topic: its slug and name are free again, its items stay and show none.

    *Shape:* answers `{"deleted": true, "topic"}` as it was. *Raises:* NotFound, Conflict for the
    profile, which is always there.
    """

    async def decide() -> Plan:
        present = await _read(app, caller, slug, None)
        found = pick(names_of(present), slug, None)
        if found == PROFILE_SLUG or (found is None and _is_profile(slug, None)):
            raise Conflict(
                f"the topic {PROFILE_SLUG!r} cannot be deleted",
                hint="delete or move its items instead",
            )
        if found is None:
            raise missing("topics", slug)
        seen = present[found]
        return Plan(
            answer={"deleted": True, "topic": topic_view(seen)},
            at_ms=app.runtime.now_ms(),
            edits=[seen.edit(rules.delete_topic(seen.owner.fields))],
        )

    return await write(app, caller, decide)


async def set_canonical_item(app: App, caller: Caller, slug: str, item_id: str | None) -> Answer:
    """Name the item that stands for a topic; None takes the name away.

    *Shape:* answers `{"topic", "outcome": "updated" | "unchanged"}`; an item without a topic
    joins this one. *Raises:* NotFound (topic, item), Conflict when the item belongs to another
    topic or is not current. *Promise:* two round trips.
    """

    async def decide() -> Plan:
        choice = _choice(caller, slug, None)
        outcomes = await app.sql.read(
            [
                *owner_store.view_statements(choice),
                item_store.setting_statement(caller.namespace),
                item_store.load_statement(caller.namespace, [item_id] if item_id else []),
            ]
        )
        present = _present(outcomes[:VIEW_STATEMENTS], choice)
        settings = {**SETTINGS, **item_store.settings_of(outcomes[VIEW_STATEMENTS].rows)}
        at = Moment(app.runtime.now_ms(), zone_of(app, settings))
        items, references = item_store.loaded(outcomes[VIEW_STATEMENTS + 1])
        topic, making = _topic(app, present, slug, at.now_ms)
        if item_id is None:
            return _canonical_plan(topic, making, None, [], at.now_ms)
        item = require(items, item_id)
        joined, edits = _joined(item, topic, references, at)
        shown = replace(topic, chief=joined, references=_with_topic(references, topic))
        return _canonical_plan(shown, making, item_id, edits, at.now_ms)

    return await write(app, caller, decide)


def _topic(
    app: App, present: Mapping[str, Seen], slug: str, now_ms: int
) -> tuple[Seen, Draft | None]:
    """Return the topic, and the draft that makes it when it is the unwritten profile."""
    found = pick(names_of(present), slug, None)
    if found is not None:
        return present[found], None
    if not _is_profile(slug, None):
        raise missing("topics", slug)
    draft = _creation(present, slug, {"name": PROFILE_NAME})
    record = form.made_by_draft(app.runtime.new_id("top"), draft, now_ms)
    return Seen(record, topic_stream(record.id), Head(), counts={}), draft


def _joined(
    item: LoadedItem, topic: Seen, references: References, at: Moment
) -> tuple[ItemRecord, list[StreamEdit]]:
    fields = item.record.fields
    owner = references.topics.get(str(fields.get("topic_id")))
    if owner is not None and owner.is_active and owner.id != topic.owner.id:
        raise Conflict(
            f"{item.record.id} belongs to the topic {owner.slug!r}",
            hint="move it with set_item_group first",
            details={"topic": owner.slug},
        )
    if fields.get("state") not in CURRENT_STATES:
        raise Conflict(
            f"{item.record.id} is {fields.get('state')!r}",
            hint="a canonical item is active, dormant or stale",
            details={"state": fields.get("state")},
        )
    draft = edit_item(fields, {"topic_id": topic.owner.id}, at=at)
    if draft is None:
        return item.record, []
    return after_draft(item.record, draft, at.now_ms), [item.edit(draft)]


def _with_topic(references: References, topic: Seen) -> References:
    owner = Owner(topic.owner.id, topic.slug, str(topic.owner.fields["name"]))
    return replace(references, topics={**references.topics, owner.id: owner})


def _canonical_plan(
    shown: Seen,
    making: Draft | None,
    item_id: str | None,
    edits: list[StreamEdit],
    now_ms: int,
) -> Plan:
    draft = rules.edit_topic(shown.owner.fields, {"canonical_item_id": item_id})
    if draft is None and not edits:
        return Plan({"topic": topic_view(shown), "outcome": "unchanged"}, now_ms)
    owner = shown.owner
    drafts = [draft] if draft is not None else []
    if draft is not None:
        owner = form.after_draft(owner, draft, now_ms)
    if making is not None:
        topic_edit = StreamEdit(shown.stream, Head(), {}, (making, *drafts))
    else:
        topic_edit = shown.edit(*drafts)
    after = replace(shown, owner=owner, chief=shown.chief if item_id else None)
    return Plan(
        answer={"topic": topic_view(after.recounted(edits)), "outcome": "updated"},
        at_ms=now_ms,
        edits=[topic_edit, *edits],
    )
