"""Reading the library: precious quotes, the glossary, the digest, and what the boot pack counts.

The rules are `core.library`; the tables are filled by `store.library_projection`. Nothing is
written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core import limits
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.library.precious import Quote
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.library_projection import entry_of
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import load_json

_QUOTE: Final = "p.id, p.content, p.context_message_ids, p.source, p.created_at"
_ENTRY: Final = (
    "g.id, g.term, g.aliases, g.definition, g.examples, g.created_at, g.updated_at, g.name"
)


def quotes_statement(namespace: Namespace, *, before_id: str | None, limit: int) -> Statement:
    """Return the statement that reads a page of precious quotes, newest first."""
    marks = Marks(namespace)
    where = "" if before_id is None else f" AND p.id < {marks.add(before_id)}"
    return Statement(
        f"SELECT {_QUOTE} FROM precious AS p WHERE p.namespace = ?1{where}"
        f" ORDER BY p.id DESC LIMIT {marks.add(limit)}",
        marks.values,
    )


def named_quotes_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads the precious quotes of these ids."""
    return Statement(
        f"SELECT {_QUOTE} FROM json_each(?2) AS j CROSS JOIN precious AS p"
        " ON p.namespace = ?1 AND p.id = j.value",
        (namespace, canonical_json(list(ids))),
    )


def same_quote_statement(namespace: Namespace, sha256: str) -> Statement:
    """Return the statement that reads the precious quote with these bytes."""
    return Statement(
        f"SELECT {_QUOTE} FROM precious AS p WHERE p.namespace = ? AND p.sha256 = ?",
        (namespace, sha256),
    )


def quote_count_statement(namespace: Namespace) -> Statement:
    """Return the statement that counts all precious quotes."""
    return Statement("SELECT count(*) AS total FROM precious WHERE namespace = ?", (namespace,))


def quotes_of(rows: Sequence[Row]) -> list[Quote]:
    """Return the quotes from the rows of the reading statements."""
    return [
        Quote(
            id=str(row["id"]),
            content=str(row["content"]),
            context_message_ids=_texts(row["context_message_ids"]),
            source=str(row["source"]),
            created_at=int(str(row["created_at"])),
        )
        for row in rows
    ]


def entries_statement(
    namespace: Namespace, *, after_name: str = "", limit: int = limits.GLOSSARY_ENTRIES_MAX
) -> Statement:
    """Return the statement that reads glossary entries in the order of their folded terms."""
    return Statement(
        f"SELECT {_ENTRY} FROM glossary AS g WHERE g.namespace = ? AND g.name > ?"
        " ORDER BY g.name LIMIT ?",
        (namespace, after_name, limit),
    )


def named_entries_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads the glossary entries of these ids."""
    return Statement(
        f"SELECT {_ENTRY} FROM json_each(?2) AS j CROSS JOIN glossary AS g"
        " ON g.namespace = ?1 AND g.id = j.value",
        (namespace, canonical_json(list(ids))),
    )


def meant_entries_statement(
    namespace: Namespace, *, names: Sequence[str] = (), id_: str = ""
) -> Statement:
    """Return the statement that reads the entries that have one of these folded names, or an id."""
    marks = Marks(namespace)
    place = marks.add(id_)
    held = marks.rows([[name] for name in names])
    return Statement(
        f"SELECT {_ENTRY} FROM (SELECT {place} AS id UNION SELECT n.entry_id FROM {held} AS j"
        " CROSS JOIN glossary_names AS n ON n.namespace = ?1 AND n.name = j.column1) AS m"
        " CROSS JOIN glossary AS g ON g.namespace = ?1 AND g.id = m.id",
        marks.values,
    )


def entry_count_statement(namespace: Namespace) -> Statement:
    """Return the statement that counts all glossary entries."""
    return Statement("SELECT count(*) AS total FROM glossary WHERE namespace = ?", (namespace,))


def entries_of(rows: Sequence[Row]) -> list[GlossaryEntry]:
    """Return the entries from the rows of the reading statements."""
    return [
        entry_of(
            str(row["id"]),
            {
                "term": str(row["term"]),
                "aliases": load_json(row["aliases"]),
                "definition": str(row["definition"]),
                "examples": load_json(row["examples"]),
                "created_at": int(str(row["created_at"])),
            },
            at_ms=int(str(row["updated_at"])),
        )
        for row in rows
    ]


def total_of(rows: Sequence[Row]) -> int:
    """Return the number from the row of a counting statement."""
    return int(str(rows[0]["total"]))


def digest_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the digest."""
    return Statement(
        "SELECT content, version, updated_at FROM digests WHERE namespace = ?", (namespace,)
    )


def digest_of(rows: Sequence[Row]) -> Fields:
    """Return the digest's record from the rows of `digest_statement`."""
    return {"content": str(rows[0]["content"])} if rows else {}


def memory_types_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads how many active memories there are of each type."""
    return Statement(
        "SELECT substr(name, 13) AS type, value AS total FROM counters WHERE namespace = ?"
        " AND name > 'memory_type/' AND name < 'memory_type0' AND value > 0 ORDER BY name",
        (namespace,),
    )


def _texts(value: SqlValue) -> tuple[str, ...]:
    loaded = load_json(value)
    assert isinstance(loaded, list)
    return tuple(map(str, loaded))
