"""Reading what one item referred to at a past moment. Its fields are replayed from its stream."""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.core.ids import RELATIONS, Namespace
from remembrancer.core.moments import PastMoment
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Statement
from remembrancer.store.item_filters import moment_sql, valid_sql
from remembrancer.store.ledger import EVENT_COLUMNS
from remembrancer.store.marks import Marks


def edges_statement(namespace: Namespace, item_id: str, moment: PastMoment) -> Statement:
    """Return the statement that reads the events of relations that name an item, in order."""
    marks = Marks(namespace)
    prefix = f"WITH {moment_sql(moment, marks)}"
    return Statement(
        f"{prefix} SELECT {EVENT_COLUMNS} FROM events AS e WHERE e.namespace = ?1"
        f" AND e.stream = '{RELATIONS}' AND e.position <= (SELECT position FROM moment)"
        f" AND instr(e.body, {marks.add(item_id)}) > 0 ORDER BY e.version",
        marks.values,
    )


def titles_statement(namespace: Namespace, ids: Iterable[str], moment: PastMoment) -> Statement:
    """Return the statement that reads titles and states of items that were not deleted."""
    marks = Marks(namespace)
    prefix = f"WITH {moment_sql(moment, marks)}"
    return Statement(
        f"{prefix} SELECT i.id, i.title, i.state"
        f" FROM json_each({marks.add(canonical_json(sorted(set(ids))))}) AS j"
        " CROSS JOIN item_versions AS i ON i.namespace = ?1 AND i.id = j.value"
        f" WHERE {valid_sql('i')} AND i.state <> 'deleted'",
        marks.values,
    )


def owner_statement(namespace: Namespace, area: str, id_: JSON, moment: PastMoment) -> Statement:
    """Return the statement that reads one project or topic; no row for None."""
    assert area in ("project", "topic")
    marks = Marks(namespace)
    prefix = f"WITH {moment_sql(moment, marks)}"
    wanted = marks.add(None if id_ is None else str(id_))
    return Statement(
        f"{prefix} SELECT o.id, o.slug, o.name, o.state FROM {area}_versions AS o"
        f" WHERE o.namespace = ?1 AND o.id = {wanted} AND {valid_sql('o')}",
        marks.values,
    )
