"""Bringing together what was saved more than once: finding the groups, and doing it.

What a new statement conflicts with is `app.search`; relations themselves are `app.relations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final, Required, TypedDict, Unpack

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.recall.alike import alike_groups
from remembrancer.app.relations import Link, plan_link
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import RELATIONS
from remembrancer.core.items.derive import tag_keys
from remembrancer.core.items.fields import KINDS
from remembrancer.core.items.record import item_view
from remembrancer.core.search.groups import (
    RELATIONSHIPS,
    Group,
    Member,
    groups_of,
    suggested_relationship,
)
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.text.slugs import tag_key
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import tags as store
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.record_table import load_json

CONSOLIDATED: Final = "MemoriesConsolidated"
"""Kind of the event by which relations are made here: it dates the last consolidation."""

GROUPS_MAX: Final = 50
"""Groups of one answer. Source: the predecessor's schema."""

_TAGS_READ: Final = 60
"""Tags that are looked at, the most common first. Our choice."""

_ITEMS_READ: Final = 40
"""Items of each tag that are looked at, the newest first. Our choice."""


async def find_consolidation_candidates(
    app: App,
    caller: Caller,
    *,
    kind: str = "memory",
    tag: str | None = None,
    min_group_size: int = 2,
    limit: int = 20,
) -> Answer:
    """Return groups of active and dormant items that share tags, the largest first, then pairs of
    the newest that are near in meaning without sharing one.

    *Shape:* `{"groups": [{"tags", "items", "count", "suggested_relationship", "source_item_id",
    "target_item_ids"}], "count"}`, ready for `consolidate_memories`; two items are together in
    one group at most, with all tags that it shares; a pair by meaning has its `score` and the
    `differences`. *Raises:* InvalidInput. *Promise:* four round trips; writes nothing.
    """
    if kind not in KINDS:
        raise InvalidInput(
            f"kind {kind[:40]!r} is unknown", hint=f"one of {', '.join(KINDS)}", field="kind"
        )
    if min_group_size < 2:
        raise InvalidInput(
            f"min_group_size {min_group_size!r} is out of range",
            hint="at least 2",
            field="min_group_size",
        )
    if not 1 <= limit <= GROUPS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {GROUPS_MAX}", field="limit"
        )
    key = None if tag is None else tag_key(tag)
    keys = [key] if key is not None else await _shared_tags(app, caller, min_group_size)
    [outcome] = await app.sql.read(
        [
            store.sharing_statement(
                caller.namespace, keys, kind=kind, now_ms=app.runtime.now_ms(), newest=_ITEMS_READ
            )
        ]
    )
    rows = {str(row["id"]): row for row in outcome.rows}
    members = [_member(row) for row in rows.values()]
    groups = groups_of(members, size_min=min_group_size, tag=key)[:limit]
    shown: list[JSON] = [_group_view(group, rows) for group in groups]
    if key is None and min_group_size == 2 and len(shown) < limit:
        together = {
            frozenset(pair)
            for group in groups
            for pair in combinations([one.id for one in group.members], 2)
        }
        alike = await alike_groups(app, caller, kind=kind, together=together)
        shown += alike[: limit - len(shown)]
    return {"groups": shown, "count": len(shown)}


async def _shared_tags(app: App, caller: Caller, shared_min: int) -> list[str]:
    [outcome] = await app.sql.read(
        [store.shared_tags_statement(caller.namespace, shared_min=shared_min, limit=_TAGS_READ)]
    )
    return [str(row["tag"]) for row in outcome.rows]


def _member(row: Row) -> Member:
    updated_at = row["updated_at"]
    assert isinstance(updated_at, int)
    return Member(
        id=str(row["id"]),
        title=str(row["title"]),
        state=str(row["state"]),
        updated_at=updated_at,
        tags=tag_keys({"tags": load_json(row["tags"])}),
    )


def _group_view(group: Group, rows: dict[str, Row]) -> dict[str, JSON]:
    keeper = group.keeper
    return {
        "tags": [keeper.tags[key] for key in group.tags],
        "items": [_member_view(member, rows[member.id]) for member in group.members],
        "count": len(group.members),
        "suggested_relationship": suggested_relationship(group),
        "source_item_id": keeper.id,
        "target_item_ids": [one.id for one in group.members if one is not keeper],
    }


def _member_view(member: Member, row: Row) -> dict[str, JSON]:
    return {
        "id": member.id,
        "title": member.title,
        "excerpt": shorten(str(row["excerpt"] or ""), store.EXCERPT_CHARS),
        "state": member.state,
        "pinned": bool(row["pinned"]),
        "tags": list(member.tags.values()),
        "updated_at": format_iso(member.updated_at),
    }


class Consolidation(TypedDict, total=False):
    """What is to be brought together.

    *Shape:* `source_item_id` is what stays, `target_item_ids` 1–100 others. `duplicate_of` leads
    from each target to what stays; `supersedes`, `replaces` and `derived_from` lead from what
    stays to each target. `mark_superseded` is true unless the type is `derived_from`: what
    something was derived from stays in force, unless this says true.
    """

    source_item_id: Required[str]
    target_item_ids: Required[Sequence[str]]
    relationship_type: Required[str]
    reason: str | None
    mark_superseded: bool | None


async def consolidate_memories(app: App, caller: Caller, **given: Unpack[Consolidation]) -> Answer:
    """Relate what stays to the others, and supersede these.

    *Shape:* `{"source": item, "relationship_type", "created", "superseded": ids, "already":
    ids}`; `created` counts the relations that were not there. *Raises:* NotFound for any unknown
    id, InvalidInput, LimitExceeded, Conflict (`cycle`; a deleted item). *Promise:* one atomic
    batch.
    """
    type_ = given["relationship_type"]
    if type_ not in RELATIONSHIPS:
        raise InvalidInput(
            f"{type_[:40]!r} does not consolidate",
            hint=f"one of {', '.join(RELATIONSHIPS)}",
            field="relationship_type",
        )
    marks = given.get("mark_superseded")
    link = Link(
        given["source_item_id"],
        given["target_item_ids"],
        type=type_,
        reason=given.get("reason"),
        is_superseding=type_ != "derived_from" if marks is None else marks,
        is_incoming=type_ == "duplicate_of",
    )

    async def decide() -> Plan:
        linked = await plan_link(app, caller, link)
        return replace(
            linked.plan,
            edits=[_consolidating(edit) for edit in linked.plan.edits],
            answer={
                "source": item_view(linked.source.record, linked.references),
                "relationship_type": type_,
                "created": len(linked.added),
                "superseded": [*linked.superseded],
                "already": [*linked.already],
            },
        )

    return await write_in_turn(app, caller, decide)


def _consolidating(edit: StreamEdit) -> StreamEdit:
    if edit.stream != RELATIONS:
        return edit
    return replace(edit, drafts=tuple(replace(draft, kind=CONSOLIDATED) for draft in edit.drafts))
