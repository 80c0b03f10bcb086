"""Reading items: lists, single items now and in the past, artifacts, tags.

Nothing here writes. Searching by relevance is `app.search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from remembrancer.app.commit import Answer
from remembrancer.app.items.past import moment_of, moment_view, past_item, read_zone
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.artifacts import sha256_of
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.query import (
    ItemQuery,
    Place,
    Sort,
    check_query,
    counted_by,
    decode_place,
    decode_text,
    encode_place,
    encode_text,
    times_of,
)
from remembrancer.core.items.record import ItemRecord, References, item_view
from remembrancer.core.moments import PastMoment, parse_bound, parse_past, parse_position
from remembrancer.core.text.segment import query_terms
from remembrancer.core.text.slugs import slugify, tag_key
from remembrancer.core.topics.decide import PROFILE_SLUG
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Outcome
from remembrancer.store import artifacts, item_lists, relations
from remembrancer.store import items as item_store
from remembrancer.store.item_filters import Asked
from remembrancer.store.tags import tags_statement

TAGS_PAGE_MAX: Final = 500
"""Tags of one page. Our choice; they are short."""


NO_REFERENCES: Final = References()
"""When nothing is known of what items refer to."""


async def list_items(app: App, caller: Caller, query: ItemQuery) -> Answer:
    """Return a page of the items that pass all filters.

    *Shape:* `{"items", "count", "total", "total_is_minimum", "next_cursor", "as_of"}`; `total`
    counts all pages, up to `COUNT_MAX` when filtered, and in the past as far as the pages went.
    *Raises:* InvalidInput, LimitExceeded, NotFound (a project or topic that does not exist).
    *Promise:* one round trip, a second when the query has words for a time.
    """
    sort = check_query(query)
    place = None if query.cursor is None else decode_place(sort, query.cursor)
    asked = await ask(app, caller, query, place)
    named = [(area, names) for area, names in _named(query) if names]
    statements = [item_lists.owners_statement(asked, area, names) for area, names in named]
    statements.append(item_lists.page_statement(asked, sort, place))
    if asked.as_of is None:
        statements.append(item_lists.total_statement(asked))
    else:
        statements.append(item_lists.moment_statement(caller.namespace, asked.as_of))
    outcomes = await app.sql.read(statements)
    refuse_unknown(named, outcomes)
    return _page(asked, sort, place, outcomes[len(named) :])


def _named(query: ItemQuery) -> Sequence[tuple[str, Sequence[str]]]:
    return (("project", query.projects), ("topic", query.topics))


def refuse_unknown(named: Sequence[tuple[str, Sequence[str]]], outcomes: Sequence[Outcome]) -> None:
    """Refuse a name that no project or topic has. *Raises:* NotFound naming it.

    *Shape:* the profile topic is there before any event has made it; it has no items then.
    """
    for (area, names), outcome in zip(named, outcomes, strict=False):
        asked = [name for name in names if area != "topic" or slugify(name) != PROFILE_SLUG]
        unknown = item_lists.unknown_owner(asked, outcome.rows)
        if unknown is not None:
            raise NotFound(
                f"there is no {area} {unknown[:60]!r}", hint=f"list_{area}s shows those there are"
            )


async def ask(app: App, caller: Caller, query: ItemQuery, place: Place | None) -> Asked:
    """Return the query with its words resolved.

    *Raises:* InvalidInput. *Promise:* no round trip unless a word needs the time zone.
    """
    times = times_of(query)
    position = None if query.as_of is None else parse_position(query.as_of)
    now_ms = app.runtime.now_ms()
    asked = Asked(
        caller.namespace,
        query,
        now_ms,
        terms=[term.text for term in query_terms(query.q or "")],
        as_of=position,
    )
    is_bare = query.as_of is None or position is not None or place is not None
    if times or not is_bare:
        zone = await read_zone(app, caller.namespace)
        bounds = {
            name: parse_bound(text, field=name, now_ms=now_ms, zone=zone)
            for name, text in times.items()
        }
        asked = replace(asked, times=bounds)
        if not is_bare:
            assert query.as_of is not None
            asked = replace(asked, as_of=parse_past(query.as_of, now_ms=now_ms, zone=zone))
    return asked if place is None else replace(asked, as_of=_pinned(query, place))


def _pinned(query: ItemQuery, place: Place) -> PastMoment | None:
    """Return the moment that the first page was read at."""
    if (place.moment is None) != (query.as_of is None):
        raise InvalidInput(
            "the cursor belongs to a list of another as_of",
            hint="repeat the first page's as_of with its next_cursor",
            field="cursor",
        )
    return place.moment


def _page(asked: Asked, sort: Sort, place: Place | None, outcomes: Sequence[Outcome]) -> Answer:
    query = asked.query
    rows = outcomes[0].rows[: query.limit]
    has_more = len(outcomes[0].rows) > query.limit
    records, references = item_store.records_of(rows)
    seen = query.offset + len(rows) + (place.seen if place is not None else 0)
    moment: PastMoment | None = None
    if asked.as_of is None:
        counted = item_lists.total_of(query, outcomes[1].rows)
        is_exact_total = counted_by(query) is not None or counted <= limits.COUNT_MAX
        total = counted if is_exact_total else limits.COUNT_MAX
    else:
        moment = moment_of(asked.as_of, outcomes[1].rows[0])
        total, is_exact_total = seen, not has_more
    cursor: str | None = None
    if has_more:
        cursor = encode_place(
            sort, item_lists.place_after(rows[-1], sort, moment=moment, seen=seen)
        )
    return {
        "items": [item_view(record, references) for record in records],
        "count": len(records),
        "total": total,
        "total_is_minimum": not is_exact_total,
        "next_cursor": cursor,
        "as_of": moment_view(moment),
    }


async def get_item(app: App, caller: Caller, item_id: str, *, as_of: str | None = None) -> Answer:
    """Return one item with its relations, now or as it was.

    *Shape:* `{"item", "relations": [{type, direction, item_id, title, state, confidence,
    reason}]}`; a deleted item is found and says so. *Raises:* NotFound, InvalidInput (`as_of`).
    *Promise:* one round trip; up to three for the past.
    """
    if as_of is not None:
        return await past_item(app, caller, item_id, as_of)
    item, related = await app.sql.read(
        [
            item_lists.items_statement(caller.namespace, [item_id]),
            relations.relations_statement(caller.namespace, item_id),
        ]
    )
    records, references = item_store.records_of(item.rows)
    if not records:
        raise NotFound(
            f"there is no item {item_id[:60]!r}", hint="list_items or semantic_search find ids"
        )
    return {
        "item": item_view(records[0], references),
        "relations": relations.relation_views(related.rows),
    }


async def get_artifact(app: App, caller: Caller, artifact_id: str) -> Answer:
    """Return the whole text of an artifact.

    *Shape:* `{"artifact": {"id", "item_id", "chars", "sha256", "text"}}`. *Raises:* NotFound,
    CorruptData when it is not what was stored, StoreUnavailable. *Promise:* one round trip, and one
    to the blob store for a text that was moved there.
    """
    item_id, text = await artifacts.read_artifact(app.sql, app.blobs, caller.namespace, artifact_id)
    return {
        "artifact": {
            "id": artifact_id,
            "item_id": item_id,
            "chars": len(text),
            "sha256": sha256_of(text),
            "text": text,
        }
    }


async def list_tags(
    app: App,
    caller: Caller,
    *,
    prefix: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Answer:
    """Return the tags of current items in the order of their keys, with how many have each.

    *Shape:* `{"tags": [{"tag", "name", "count"}], "count", "next_cursor"}`; `tag` is the folded
    key, `name` a spelling in use. *Raises:* InvalidInput. *Promise:* one round trip.
    """
    if not 1 <= limit <= TAGS_PAGE_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {TAGS_PAGE_MAX}", field="limit"
        )
    after = ""
    if cursor is not None:
        [packed] = decode_cursor(cursor, kind="tags", types=[str])
        after = decode_text(str(packed))
    start = tag_key(prefix) if prefix is not None and prefix.strip("# _") else ""
    [outcome] = await app.sql.read(
        [tags_statement(caller.namespace, prefix=start, after=after, limit=limit + 1)]
    )
    rows = outcome.rows[:limit]
    has_more = len(outcome.rows) > limit
    return {
        "tags": [
            {"tag": str(row["tag"]), "name": str(row["name"]), "count": int(str(row["count"]))}
            for row in rows
        ],
        "count": len(rows),
        "next_cursor": encode_cursor("tags", [encode_text(str(rows[-1]["tag"]))])
        if has_more
        else None,
    }


async def read_references(
    app: App, caller: Caller, records: Sequence[ItemRecord], *, known: References = NO_REFERENCES
) -> References:
    """Return the projects and topics that items refer to, and those known already.

    *Promise:* one round trip at most; what is known is not read again.
    """
    wanted = [
        sorted(
            {str(record.fields[name]) for record in records if record.fields.get(name)} - {*have}
        )
        for name, have in (("project_id", known.projects), ("topic_id", known.topics))
    ]
    if not any(wanted):
        return known
    projects, topics = await app.sql.read(
        [
            item_store.owners_statement(caller.namespace, area, ids)
            for area, ids in zip(("projects", "topics"), wanted, strict=True)
        ]
    )
    return References(
        {**known.projects, **item_store.owners(projects.rows)},
        {**known.topics, **item_store.owners(topics.rows)},
    )
