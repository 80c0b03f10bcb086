"""Projecting the shared streams of the library: precious quotes, glossary, digest.

Each event of a shared stream changes a few entries of one record, and many are taken at once.
Reading is `store.library`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.library.precious import content_hash
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import SqlValue, Statement
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import Entry, Placed, net_entries


def project_precious(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the precious quotes up to these events of their stream."""
    entries = net_entries(round_)
    rows: list[list[SqlValue]] = [
        [
            id_,
            str(quote["content"]),
            content_hash(str(quote["content"])),
            canonical_json(quote["context_message_ids"]),
            str(quote["source"]),
            int(str(quote["created_at"])),
        ]
        for id_, (_, quote, _) in entries.items()
        if isinstance(quote, dict)
    ]
    result = _delete(round_, f"{shadow}precious", "id", _ids(entries))
    columns = "id, content, sha256, context_message_ids, source, created_at"
    return result + _insert(round_, f"{shadow}precious", columns, rows)


def project_glossary(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the glossary, and the table of its names, up to events of its stream.

    *Promise:* a name that another entry has is a clash, and the batch is not written.
    """
    entries = net_entries(round_)
    before = [
        entry_of(id_, entry, at_ms=0)
        for id_, (entry, _, _) in entries.items()
        if isinstance(entry, dict)
    ]
    after = [
        entry_of(id_, entry, at_ms=at_ms)
        for id_, (_, entry, at_ms) in entries.items()
        if isinstance(entry, dict)
    ]
    rows: list[list[SqlValue]] = [
        [
            entry.id,
            next(iter(entry.names)),
            entry.term,
            canonical_json(entry.aliases),
            entry.definition,
            canonical_json(entry.examples),
            entry.created_at,
            entry.updated_at,
        ]
        for entry in after
    ]
    names: list[list[SqlValue]] = [[name, entry.id] for entry in after for name in entry.names]
    gone = [name for entry in before for name in entry.names]
    columns = "id, name, term, aliases, definition, examples, created_at, updated_at"
    return [
        *_delete(round_, f"{shadow}glossary", "id", _ids(entries)),
        *_delete(round_, f"{shadow}glossary_names", "name", gone),
        *_insert(round_, f"{shadow}glossary", columns, rows),
        *_insert(round_, f"{shadow}glossary_names", "name, entry_id", names),
    ]


def project_digest(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings the digest up to these events of its stream: the last one counts."""
    renewing = [placed.event for placed in round_ if "content" in placed.event.changes]
    if not renewing:
        return []
    event = renewing[-1]
    content = event.changes["content"][1]
    if content is None:
        sql = f"DELETE FROM {shadow}digests WHERE namespace = ?"
        return [Statement(sql, (event.namespace,))]
    sql = (
        f"INSERT INTO {shadow}digests (namespace, content, version, updated_at)"
        " VALUES (?, ?, ?, ?) ON CONFLICT (namespace) DO UPDATE SET content = excluded.content,"
        " version = excluded.version, updated_at = excluded.updated_at"
    )
    return [Statement(sql, (event.namespace, str(content), event.version, event.at_ms))]


def entry_of(id_: str, entry: Mapping[str, JSON], *, at_ms: int) -> GlossaryEntry:
    """Return a glossary entry from what the record holds under its id."""
    aliases, examples = entry["aliases"], entry["examples"]
    assert isinstance(aliases, list) and isinstance(examples, list)
    return GlossaryEntry(
        id=id_,
        term=str(entry["term"]),
        aliases=tuple(map(str, aliases)),
        definition=str(entry["definition"]),
        examples=tuple(map(str, examples)),
        created_at=int(str(entry["created_at"])),
        updated_at=at_ms,
    )


def _ids(entries: Mapping[str, Entry]) -> list[str]:
    return [id_ for id_, (before, _, _) in entries.items() if before is not None]


def _delete(
    round_: Sequence[Placed], table: str, column: str, keys: Sequence[str]
) -> list[Statement]:
    if not keys:
        return []
    marks = Marks(round_[0].event.namespace)
    where = marks.keys((column,), [[key] for key in keys])
    return [Statement(f"DELETE FROM {table} WHERE {where}", marks.values)]


def _insert(
    round_: Sequence[Placed], table: str, columns: str, rows: Sequence[Sequence[SqlValue]]
) -> list[Statement]:
    if not rows:
        return []
    marks = Marks(round_[0].event.namespace)
    sql = f"INSERT INTO {table} (namespace, {columns}) SELECT ?1, * FROM {marks.rows(rows)}"
    return [Statement(sql, marks.values)]
