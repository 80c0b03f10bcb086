"""Reading projects with the heads of their streams. Nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.core.ids import Namespace, project_stream, topic_stream
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Head
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Outcome, Row, SqlStore, Statement
from remembrancer.store import ledger
from remembrancer.store.projections import PROJECTS, TOPICS
from remembrancer.store.record_table import RecordTable


@dataclass(frozen=True, slots=True)
class LoadedOwner:
    """A project or topic with the head of its stream. *Units:* times in milliseconds UTC."""

    id: str
    version: int
    created_at: int
    updated_at: int
    fields: Fields
    head: Head


def load_owner_statements(
    namespace: Namespace, table: RecordTable, slugs: Sequence[str]
) -> list[Statement]:
    """Return the two statements that read projects or topics by slug, and their heads."""
    wanted = canonical_json(list(slugs))
    chosen = (
        f"FROM json_each(?2) AS j CROSS JOIN {table.name} AS o"
        " ON o.namespace = ?1 AND o.slug = j.value AND o.state = 'active'"
    )
    return [
        Statement(f"SELECT o.* {chosen}", (namespace, wanted)),
        Statement(
            "SELECT e.stream, e.version, e.chain"
            f" {chosen} CROSS JOIN events AS e ON e.namespace = ?1"
            f" AND e.stream = '{table.prefix}' || o.id AND e.version = o.version",
            (namespace, wanted),
        ),
    ]


def loaded_owners(outcomes: Sequence[Outcome], table: RecordTable) -> dict[str, LoadedOwner]:
    """Return slug → project or topic from the outcomes of `load_owner_statements`."""
    rows, head_rows = (outcome.rows for outcome in outcomes)
    heads = ledger.heads(head_rows)
    found = [owner_of(row, heads, table) for row in rows]
    return {str(owner.fields["slug"]): owner for owner in found}


def owner_of(row: Row, heads: dict[str, Head], table: RecordTable) -> LoadedOwner:
    """Return the project or topic in a row of its table."""
    id_ = str(row["id"])
    stream = project_stream(id_) if table is PROJECTS else topic_stream(id_)
    return LoadedOwner(
        id=id_,
        version=int(str(row["version"])),
        created_at=int(str(row["created_at"])),
        updated_at=int(str(row["updated_at"])),
        fields=table.row_fields(row),
        head=heads.get(stream, Head()),
    )


async def load_projects_of_objectives(
    sql: SqlStore, namespace: Namespace, item_ids: Sequence[str]
) -> list[LoadedOwner]:
    """Return the projects whose active objective is one of these items."""
    wanted = canonical_json(list(item_ids))
    chosen = (
        "FROM projects AS o WHERE o.namespace = ?1 AND o.state = 'active'"
        " AND o.active_objective_id IN (SELECT value FROM json_each(?2))"
    )
    rows, head_rows = await sql.read(
        [
            Statement(f"SELECT o.* {chosen}", (namespace, wanted)),
            Statement(
                "SELECT e.stream, e.version, e.chain FROM events AS e JOIN"
                f" (SELECT o.id, o.version {chosen}) AS p ON e.namespace = ?1"
                " AND e.stream = 'project/' || p.id AND e.version = p.version",
                (namespace, wanted),
            ),
        ]
    )
    heads = ledger.heads(head_rows.rows)
    return [owner_of(row, heads, PROJECTS) for row in rows.rows]


__all__ = [
    "PROJECTS",
    "TOPICS",
    "LoadedOwner",
    "load_owner_statements",
    "load_projects_of_objectives",
    "loaded_owners",
    "owner_of",
]
