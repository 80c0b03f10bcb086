"""Forgetting an item for good: every copy of its text goes, the chain still verifies.

A tombstone stays (who, when, the hash of the folded text, the fact key), so that nothing learns
it again. There is no undo.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from remembrancer.app.artifacts import remove_now
from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.context.cache import drop
from remembrancer.app.distilled_copies import Copies, Wording, distilled_copies
from remembrancer.app.objectives import clear_objective_of
from remembrancer.app.state import App
from remembrancer.app.vectors.removal import remove_vectors
from remembrancer.core.context.levels import project_scope, startup_scope, topic_scope
from remembrancer.core.errors import NotFound
from remembrancer.core.ids import RELATIONS, item_stream
from remembrancer.core.items.derive import text_hash
from remembrancer.core.ledger.changes import Changes, Fields
from remembrancer.core.ledger.events import ENDINGS, FORGOTTEN, Draft, Event, Head
from remembrancer.core.ledger.redaction import redact_body
from remembrancer.core.relations.decide import relation_key
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.text.slugs import tag_key
from remembrancer.core.values import JSON, Caller, canonical_json
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import forgetting as store
from remembrancer.store import items as item_store
from remembrancer.store import ledger, recalls
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit

PASSAGES_SHOWN_MAX: Final = 100
"""Places whose passages a preview shows; its counts are of all. Our choice."""

PASSAGE_CHARS_SHOWN: Final = 300
"""Characters of a passage that a preview shows. Our choice."""


async def forget_item(app: App, caller: Caller, item_id: str) -> Answer:
    """Remove an item and every copy of its text, for good.

    *Shape:* answers `{"forgotten": id}` and the counts of `preview_forgetting`. *Raises:* NotFound
    (also when it is forgotten already), StoreUnavailable when a copy in the cache could not be
    deleted. *Promise:* one atomic batch, then its vector and its artifacts' blobs (which are tried
    again for as long as it takes), the cached bundles and the deleted rows' bytes; reads the
    namespace's ledger and its messages once.
    """
    scopes: set[str] = set()

    async def decide() -> Plan:
        found = await _look(app, caller, item_id)
        scopes.update(found.scopes)
        now = app.runtime.now_ms()
        draft = _tombstone(found.item.record.fields)
        plan = Plan(
            answer={"forgotten": item_id, **found.counts},
            at_ms=now,
            edits=[*found.edges, found.item.edit(draft)],
            extra=[
                *_removal(caller, item_id, found.redacted, now),
                recalls.forget_statement(caller.namespace, item_id, found.said),
                *found.copies.statements,
            ],
        )
        ending = Draft("", {"state": (found.item.record.fields["state"], "deleted")})
        return await clear_objective_of(app, caller, plan, [(found.item, ending)])

    answer = await write(app, caller, decide)
    await remove_vectors(app, caller.namespace, [item_id])
    await remove_now(app, caller.namespace)
    # First, since the cache may fail: the item is forgotten by then, and nobody can ask again.
    await app.sql.scrub()
    await drop(app.kv, app.bundles, caller.namespace, scopes)
    return answer


async def preview_forgetting(app: App, caller: Caller, item_id: str) -> Answer:
    """Return what would go with an item, were it forgotten now.

    *Shape:* `{"would_forget": id, "title", "kind", "state", "counts": {"events_emptied",
    "quotes_redacted", "relations_removed", "messages_redacted", "pages_redacted",
    "digest_redacted", "notes_redacted", "candidates_removed", "questions_redacted",
    "turns_dropped"}, "passages": [{"place", "id", "texts"}], "more"}`; `more` places are not shown.
    *Raises:* NotFound. *Promise:* writes nothing; fifteen statements, however much there is.
    """
    found = await _look(app, caller, item_id)
    fields = found.item.record.fields
    passages = found.copies.passages
    shown: list[JSON] = [
        {
            "place": one.place,
            "id": one.id,
            "texts": [shorten(text, PASSAGE_CHARS_SHOWN) for text in one.texts],
        }
        for one in passages[:PASSAGES_SHOWN_MAX]
    ]
    return {
        "would_forget": item_id,
        "title": fields["title"],
        "kind": fields["kind"],
        "state": fields["state"],
        "counts": found.counts,
        "passages": shown,
        "more": len(passages) - len(shown),
    }


@dataclass(frozen=True, slots=True)
class _Found:
    """All that goes with an item. *Shape:* `redacted` bodies by position."""

    item: LoadedItem
    said: list[str]
    scopes: set[str]
    edges: list[StreamEdit]
    redacted: list[tuple[int, str]]
    copies: Copies
    counts: dict[str, JSON]


async def _look(app: App, caller: Caller, item_id: str) -> _Found:
    """Return what goes with an item, for forgetting and its preview alike."""
    stream = item_stream(item_id)
    events = await ledger.read_stream(app.sql, caller.namespace, stream)
    if not events or events[-1].kind in ENDINGS:
        raise NotFound(f"there is no item {item_id[:60]!r}", hint="list_items finds ids")
    outcomes = await app.sql.read(
        [
            item_store.load_statement(caller.namespace, [item_id]),
            store.mentions_statement(caller.namespace, item_id, stream),
            store.edges_statement(caller.namespace, item_id),
            ledger.heads_statement(caller.namespace, [RELATIONS]),
            *store.owner_names_statements(caller.namespace, _owner_ids(events)),
        ]
    )
    items, _ = item_store.loaded(outcomes[0])
    said = _said(events)
    redacted = _redacted(said, outcomes[1])
    wording = Wording(said, _said(events, _STATED), _sources(events))
    copies = await distilled_copies(app, caller.namespace, item_id, wording)
    counts: dict[str, JSON] = {
        "events_emptied": len(events),
        "quotes_redacted": len(redacted),
        "relations_removed": len(outcomes[2].rows),
        "messages_redacted": copies.count("message"),
        "pages_redacted": copies.count("page"),
        "digest_redacted": copies.count("digest"),
        "notes_redacted": copies.count("notes"),
        "candidates_removed": copies.count("candidate"),
        "questions_redacted": copies.count("question"),
        "turns_dropped": copies.turns,
    }
    return _Found(
        item=item_store.require(items, item_id),
        said=said,
        scopes=_scopes(events, *outcomes[4:]),
        edges=_edges_edit(outcomes[2], outcomes[3]),
        redacted=redacted,
        copies=copies,
        counts=counts,
    )


def _owner_ids(events: list[Event]) -> list[str]:
    """Return every project and topic that the item was ever in."""
    return sorted(
        {
            value
            for event in events
            for name in ("project_id", "topic_id")
            for value in event.changes.get(name, ())
            if isinstance(value, str)
        }
    )


def _scopes(events: list[Event], projects: Outcome, topics: Outcome) -> set[str]:
    """Return every scope whose cached bundle may hold the item."""
    tags = {
        str(tag)
        for event in events
        for value in event.changes.get("tags", ())
        if isinstance(value, list)
        for tag in value
    }
    result = {startup_scope()}
    result |= {topic_scope(name) for tag in tags for name in (tag, tag_key(tag))}
    for outcome, scope in ((projects, project_scope), (topics, topic_scope)):
        for row in outcome.rows:
            result |= {scope(str(row["slug"])), scope(str(row["name"]))}
    return result


def _tombstone(fields: Fields) -> Draft:
    note: dict[str, JSON] = {"text_hash": text_hash(fields)}
    if fields.get("fact_key") is not None:
        note["fact_key"] = fields["fact_key"]
    return Draft(FORGOTTEN, {}, note)


def _said(events: list[Event], fields: frozenset[str] | None = None) -> list[str]:
    """Return every text that the item ever had, in these fields or in any."""
    return sorted(
        {
            text
            for event in events
            for name, pair in event.changes.items()
            if name in (fields or _WORDED)
            for text in _texts(pair)
        }
    )


def _sources(events: list[Event]) -> list[str]:
    """Return the ids of every message that the item was said to come from."""
    found = {
        str(id_)
        for event in events
        for value in event.changes.get("source_message_ids", ())
        if isinstance(value, list)
        for id_ in value
    }
    return sorted(found)


def _redacted(texts: list[str], mentions: Outcome) -> list[tuple[int, str]]:
    result: list[tuple[int, str]] = []
    for row in mentions.rows:
        body = str(row["body"])
        fresh = canonical_json(redact_body(json.loads(body), texts=texts))
        if fresh != body:
            result.append((int(str(row["position"])), fresh))
    return result


_WORDED = frozenset(
    {"title", "content", "summary", "raw_input", "steps", "notes", "decisions", "problems"}
)
"""Fields whose wording is looked for as quotes."""

_STATED = frozenset({"title", "content"})
"""Fields that say what the item is."""


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _texts(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts(part)]
    return []


def _edges_edit(edges: Outcome, head_rows: Outcome) -> list[StreamEdit]:
    if not edges.rows:
        return []
    # Without the reason: an event that removes an edge must not carry the text anew.
    present: Fields = {
        relation_key(*store.edge_key_parts(row)): {
            "confidence": row["confidence"] if isinstance(row["confidence"], float) else 1.0,
            "reason": None,
            "created_at": int(str(row["created_at"])),
        }
        for row in edges.rows
    }
    head = ledger.heads(head_rows.rows).get(RELATIONS, Head())
    changes: Changes = {key: (edge, None) for key, edge in present.items()}
    return [StreamEdit(RELATIONS, head, present, (Draft("RelationRemoved", changes),))]


def _removal(
    caller: Caller, item_id: str, redacted: list[tuple[int, str]], at_ms: int
) -> list[Statement]:
    stream = item_stream(item_id)
    statements = [store.empty_bodies_statement(caller.namespace, stream)]
    if redacted:
        statements.append(store.redact_statement(caller.namespace, redacted))
    return statements + store.copies_statements(caller.namespace, item_id, at_ms=at_ms)
