"""Use cases of the glossary: set, change, list, remove. No name is in two entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.library.precious import check_limit
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput, LimitExceeded, NotFound
from remembrancer.core.ids import GLOSSARY
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.library import glossary as rules
from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.text.fold import fold
from remembrancer.core.values import Caller
from remembrancer.store import ledger
from remembrancer.store import library as store
from remembrancer.store.ledger import StreamEdit


class EntryFields(TypedDict, total=False):
    """What may be said of a glossary entry; what is not said, or None, stays as it is."""

    term: str | None
    aliases: Sequence[str] | None
    definition: str | None
    examples: Sequence[str] | None


async def set_glossary(
    app: App,
    caller: Caller,
    *,
    term: str,
    definition: str,
    aliases: Sequence[str] | None = None,
    examples: Sequence[str] | None = None,
) -> Answer:
    """Say what a term means: the entry with this term is changed, or a new one is made.

    *Shape:* `{"entry", "outcome": "created" | "updated" | "unchanged"}`. *Raises:* InvalidInput,
    LimitExceeded, Conflict naming the other entry that has one of the names.
    *Promise:* two round trips.
    """
    given = rules.check_entry(term=term, aliases=aliases, definition=definition, examples=examples)

    async def decide() -> Plan:
        meant, counted, heads = await app.sql.read(
            [
                store.meant_entries_statement(caller.namespace, names=given.names),
                store.entry_count_statement(caller.namespace),
                ledger.heads_statement(caller.namespace, [GLOSSARY]),
            ]
        )
        others = store.entries_of(meant.rows)
        now_ms = app.runtime.now_ms()
        head = ledger.heads(heads.rows).get(GLOSSARY, Head())
        mine = [entry for entry in others if fold(entry.term) == given.names[0]]
        if mine:
            entry = rules.merge_entry(mine[0], given, now_ms=now_ms)
            return _put(mine[0], entry, others, head)
        entry = rules.make_entry(given, id_=app.runtime.new_id("glo"), now_ms=now_ms)
        rules.refuse_taken(entry, others)
        if store.total_of(counted.rows) >= limits.GLOSSARY_ENTRIES_MAX:
            raise LimitExceeded(
                f"the glossary has {limits.GLOSSARY_ENTRIES_MAX} entries, which is the most",
                hint="remove one that is not used any more",
            )
        return _put(None, entry, others, head)

    return await write_in_turn(app, caller, decide)


async def update_glossary(
    app: App, caller: Caller, entry_id: str, **fields: Unpack[EntryFields]
) -> Answer:
    """Change the given fields of an entry; the term may change too.

    *Shape:* `{"entry", "outcome": "updated" | "unchanged"}`. *Raises:* NotFound, and as
    `set_glossary`. *Promise:* two round trips.
    """
    given = rules.check_entry(**fields)

    async def decide() -> Plan:
        meant, heads = await app.sql.read(
            [
                store.meant_entries_statement(caller.namespace, names=given.names, id_=entry_id),
                ledger.heads_statement(caller.namespace, [GLOSSARY]),
            ]
        )
        others = store.entries_of(meant.rows)
        present = _require(others, entry_id)
        entry = rules.merge_entry(present, given, now_ms=app.runtime.now_ms())
        return _put(present, entry, others, ledger.heads(heads.rows).get(GLOSSARY, Head()))

    return await write_in_turn(app, caller, decide)


def _put(
    present: GlossaryEntry | None,
    entry: GlossaryEntry,
    others: Sequence[GlossaryEntry],
    head: Head,
) -> Plan:
    rules.refuse_taken(entry, others)
    draft = rules.put_entry(present, entry)
    if draft is None:
        assert present is not None
        return Plan({"entry": present.view, "outcome": "unchanged"}, entry.updated_at)
    outcome = "created" if present is None else "updated"
    answer: Answer = {"entry": entry.view, "outcome": outcome}
    return Plan(answer, entry.updated_at, [_edit(head, present, draft)])


def _edit(head: Head, present: GlossaryEntry | None, draft: Draft) -> StreamEdit:
    before: Fields = {} if present is None else {present.id: present.fields}
    return StreamEdit(GLOSSARY, head, before, (draft,))


async def remove_glossary(
    app: App, caller: Caller, *, entry_id: str | None = None, term: str | None = None
) -> Answer:
    """Remove an entry, by its id or by its term or an alias; undo brings it back.

    *Shape:* `{"removed": true, "entry", "cause"}`, the cause for undo.
    *Raises:* NotFound, InvalidInput. *Promise:* two round trips.
    """
    if (entry_id is None) == (term is None):
        raise InvalidInput(
            "say which entry by exactly one of id and term",
            hint="glossary_list shows both",
            field="id",
        )
    names = [] if term is None else [fold(term)]

    async def decide() -> Plan:
        meant, heads = await app.sql.read(
            [
                store.meant_entries_statement(caller.namespace, names=names, id_=entry_id or ""),
                ledger.heads_statement(caller.namespace, [GLOSSARY]),
            ]
        )
        found = store.entries_of(meant.rows)
        present = _require(found, entry_id or term or "", is_any=term is not None)
        head = ledger.heads(heads.rows).get(GLOSSARY, Head())
        return Plan(
            answer={"removed": True, "entry": present.view, "cause": caller.cause},
            at_ms=app.runtime.now_ms(),
            edits=[_edit(head, present, rules.remove_entry(present))],
        )

    return await write_in_turn(app, caller, decide)


async def list_glossary(
    app: App, caller: Caller, *, limit: int = 100, cursor: str | None = None
) -> Answer:
    """List glossary entries by term.

    *Shape:* `{"entries", "count", "total", "next_cursor"}`. *Raises:* InvalidInput.
    *Promise:* one round trip.
    """
    check_limit(limit)
    after = ""
    if cursor is not None:
        after = str(decode_cursor(cursor, kind="glossary", types=(str,))[0])
    page, counted = await app.sql.read(
        [
            store.entries_statement(caller.namespace, after_name=after, limit=limit + 1),
            store.entry_count_statement(caller.namespace),
        ]
    )
    entries = store.entries_of(page.rows)
    shown = entries[:limit]
    is_more = len(entries) > limit
    return {
        "entries": [entry.view for entry in shown],
        "count": len(shown),
        "total": store.total_of(counted.rows),
        "next_cursor": encode_cursor("glossary", [fold(shown[-1].term)]) if is_more else None,
    }


def _require(
    entries: Sequence[GlossaryEntry], wanted: str, *, is_any: bool = False
) -> GlossaryEntry:
    for entry in entries:
        if is_any or entry.id == wanted:
            return entry
    raise NotFound(
        f"there is no glossary entry {wanted[:60]!r}", hint="glossary_list shows all of them"
    )
