"""All projections: which tables a stream's events fill, and how a batch of events fills them.

One function serves live writes, imports and rebuilds. All events of a batch are taken at once, or
in rounds where one table row must give way to another, so that every statement handles many streams
and many events of each. Counters and scope versions are summed over the whole batch. Not for
reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.core.ids import RELATIONS, SETTINGS
from remembrancer.core.items import derive
from remembrancer.core.ledger.events import ENDINGS
from remembrancer.core.projects.decide import DEFAULTS as PROJECT_FIELDS
from remembrancer.core.relations.decide import split_key
from remembrancer.core.topics.decide import DEFAULTS as TOPIC_FIELDS
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import SqlValue, Statement
from remembrancer.store.access import project_keys
from remembrancer.store.distill_projection import project_candidates, project_pages
from remembrancer.store.items_projection import project_items
from remembrancer.store.library_projection import (
    project_digest,
    project_glossary,
    project_precious,
)
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import ColumnType, Placed, RecordTable, net_entries

TABLES: Final = (
    "items",
    "item_versions",
    "item_tags",
    "search",
    "projects",
    "project_versions",
    "topics",
    "topic_versions",
    "relations",
    "settings",
    "precious",
    "glossary",
    "glossary_names",
    "digests",
    "candidates",
    "pages",
    "keys",
    "tombstones",
    "counters",
)
"""Tables that a rebuild makes anew from the events. Forgotten text has no place to come from."""

CONSOLIDATING: Final = ("MemoriesConsolidated", "PageWritten")
"""Kinds of events that date the last consolidation: one by hand, and a night, which has a page."""


def _columns(fields: Mapping[str, object]) -> Mapping[str, ColumnType]:
    return MappingProxyType(dict.fromkeys(fields, "text"))


PROJECTS: Final = RecordTable("projects", "project_versions", "project/", _columns(PROJECT_FIELDS))
"""The projects table."""

TOPICS: Final = RecordTable("topics", "topic_versions", "topic/", _columns(TOPIC_FIELDS))
"""The topics table."""


Rounds = Sequence[Sequence[Placed]]
"""Events of one namespace in the order in which tables take them; see `least_round`."""


def project(
    batch: Sequence[Placed], shadow: str = "", *, rounds: Rounds | None = None
) -> list[Statement]:
    """Return what brings all projections up to a batch of events of one namespace.

    *Shape:* events in the order they were written; `shadow` is the prefix of the tables to fill;
    `rounds` when a key that one stream frees is taken by another: the batch in another's rounds.
    """
    result: list[Statement] = []
    for round_ in _rounds(batch) if rounds is None else rounds:
        by_area: dict[str, list[Placed]] = {}
        for placed in round_:
            by_area.setdefault(placed.event.stream.partition("/")[0], []).append(placed)
        for area in sorted(by_area):
            result += PROJECTORS[area](by_area[area], shadow)
    return result + _count(batch, shadow)


def bump_scopes(batch: Sequence[Placed]) -> list[Statement]:
    """Return what bumps the version of every scope that the batch touches.

    What is made in this very batch is in no bundle yet: it has no version to bump.
    """
    touched: set[str] = set()
    born: set[str] = set()
    for placed in batch:
        area, _, name = placed.event.stream.partition("/")
        if area == "item":
            touched |= derive.scopes(placed.before, placed.after)
        elif placed.event.kind in CONSOLIDATING:
            touched.add("startup")  # which says when that was
        elif area in ("project", "topic") and placed.event.version == 1:
            touched.add("startup")
            born.add(f"{area}/{name}")
        elif area in ("project", "topic"):
            # A name shows in every bundle that has an item of this project or topic.
            touched |= {"startup", "names", f"{area}/{name}"}
        elif area == RELATIONS:
            touched.add("startup")
        elif area == SETTINGS:
            touched |= {"startup", "names"}
    if not touched:
        return []
    marks = Marks(batch[0].event.namespace)
    scopes = marks.rows([[scope] for scope in sorted(touched - born)])
    sql = (
        "INSERT INTO scope_versions (namespace, scope, version)"
        f" SELECT ?1, column1, 1 FROM {scopes} WHERE 1"
        " ON CONFLICT (namespace, scope) DO UPDATE SET version = version + 1"
    )
    return [Statement(sql, marks.values)]


def _rounds(batch: Sequence[Placed]) -> list[list[Placed]]:
    rounds: list[list[Placed]] = []
    reached: dict[str, int] = {}
    for placed in batch:
        number = reached[placed.event.stream] = least_round(placed, reached)
        while number >= len(rounds):
            rounds.append([])
        rounds[number].append(placed)
    return rounds


def least_round(placed: Placed, reached: Mapping[str, int]) -> int:
    """Return the first round that takes an event, by the rounds that its stream has reached.

    What ends a record is behind all that came before: it takes the rows away that they have made.
    """
    stream = placed.event.stream
    if stream not in reached:
        return 0
    return reached[stream] + (placed.event.kind in ENDINGS)


def _count(batch: Sequence[Placed], shadow: str) -> list[Statement]:
    total: Counter[str] = Counter()
    for placed in batch:
        if placed.event.stream.startswith("item/"):
            total.update(derive.counters(placed.after))
            total.subtract(derive.counters(placed.before))
    rows: list[list[SqlValue]] = [[name, value] for name, value in sorted(total.items()) if value]
    moments = [placed.event.at_ms for placed in batch if placed.event.kind in CONSOLIDATING]
    if moments:
        rows.append(["consolidated_at", max(moments)])
    if not rows:
        return []
    marks = Marks(batch[0].event.namespace)
    sql = (
        f"INSERT INTO {shadow}counters (namespace, name, value)"
        f" SELECT ?1, column1, column2 FROM {marks.rows(rows)} WHERE 1"
        " ON CONFLICT (namespace, name) DO UPDATE SET value = CASE name"
        # The latest, whatever a clock said in between and however events are batched.
        " WHEN 'consolidated_at' THEN max(value, excluded.value) ELSE value + excluded.value END"
    )
    return [Statement(sql, marks.values)]


def _project_relations(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    namespace, entries = round_[0].event.namespace, net_entries(round_)
    gone = [split_key(key) for key, (before, _, _) in entries.items() if before is not None]
    come = [
        [*split_key(key), *(_scalar(edge.get(name)) for name in _EDGE)]
        for key, (_, edge, _) in entries.items()
        if isinstance(edge, dict)
    ]
    result: list[Statement] = []
    if gone:
        marks = Marks(namespace)
        keys = marks.keys(("source_id", "type", "target_id"), gone)
        sql = f"DELETE FROM {shadow}relations WHERE {keys}"
        result.append(Statement(sql, marks.values))
    if come:
        marks = Marks(namespace)
        sql = (
            f"INSERT INTO {shadow}relations (namespace, source_id, type, target_id,"
            f" {', '.join(_EDGE)}) SELECT ?1, * FROM {marks.rows(come)}"
        )
        result.append(Statement(sql, marks.values))
    return result


_EDGE: Final = ("confidence", "reason", "created_at")
"""What is known of a relation, in the order of its columns."""


def _scalar(value: JSON) -> SqlValue:
    assert value is None or isinstance(value, str | int | float)
    return value


def _project_settings(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    namespace, entries = round_[0].event.namespace, net_entries(round_)
    gone = [[name] for name, (before, _, _) in entries.items() if before is not None]
    come = [
        [name, canonical_json(value)]
        for name, (_, value, _) in entries.items()
        if value is not None
    ]
    result: list[Statement] = []
    if gone:
        marks = Marks(namespace)
        sql = f"DELETE FROM {shadow}settings WHERE {marks.keys(('name',), gone)}"
        result.append(Statement(sql, marks.values))
    if come:
        marks = Marks(namespace)
        sql = (
            f"INSERT INTO {shadow}settings (namespace, name, value)"
            f" SELECT ?1, * FROM {marks.rows(come)}"
        )
        result.append(Statement(sql, marks.values))
    return result


PROJECTORS: Final[Mapping[str, Callable[[Sequence[Placed], str], list[Statement]]]] = (
    MappingProxyType(
        {
            "item": project_items,
            "key": project_keys,
            "project": PROJECTS.statements,
            "topic": TOPICS.statements,
            "relations": _project_relations,
            "settings": _project_settings,
            "precious": project_precious,
            "glossary": project_glossary,
            "digest": project_digest,
            "candidate": project_candidates,
            "page": project_pages,
        }
    )
)
"""Stream's first word → its projector."""
