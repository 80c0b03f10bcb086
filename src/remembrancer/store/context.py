"""Reading for the context levels: few statements, each bounded by an index and a limit.

What makes a bundle of the rows is `core.context`; nothing is written here.
"""

from __future__ import annotations

from typing import Final

from remembrancer.core.context import levels
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import Namespace
from remembrancer.core.text.slugs import slugify
from remembrancer.core.topics.decide import PROFILE_SLUG
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.items import ITEM_COLUMNS
from remembrancer.store.marks import Marks
from remembrancer.store.owner_names import called_sql

_CURRENT: Final = "state IN ('active', 'dormant', 'stale')"
_ORDER: Final = "startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id"
# Time that has run out, or not begun: bound as ?2 in every statement that uses it.
_VALID: Final = (
    "(expires_at IS NULL OR expires_at > ?2) AND (valid_to IS NULL OR valid_to > ?2)"
    " AND (valid_from IS NULL OR valid_from <= ?2)"
)


_NAMES: Final = "'names'"


def _version(scope: str) -> str:
    """Return the select of a scope's version; apart, since D1 counts more rows for a list."""
    return (
        "coalesce((SELECT v.version FROM scope_versions AS v"
        f" WHERE v.namespace = ?1 AND v.scope = {scope}), 0)"
    )


def versions_statement(namespace: Namespace, scope: str) -> Statement:
    """Return the statement that reads a bundle's version: its scope's and that of all names."""
    return Statement(f"SELECT {_version('?2')} + {_version(_NAMES)} AS version", (namespace, scope))


def owner_version_statement(namespace: Namespace, area: str, name: str) -> Statement:
    """Return the statement that reads the version of a project's or topic's bundle.

    The slug wins over the name; a list and an order would cost D1 three rows more.

    *Shape:* `name` a slug or a name; no row when there is no such project or topic. *Raises:*
    InvalidInput (no letter or digit in a project's name; a topic's may be a tag, 🚀).
    """
    assert area in ("project", "topic")
    try:
        slug = slugify(name)
    except InvalidInput:
        if area == "project":
            raise
        return Statement("SELECT 1 WHERE 0")
    marks = Marks(namespace)
    first, second = marks.add(name), marks.add(slug)
    scope = f"'{area}/' || o.id"
    columns = f"o.id, o.slug, {_version(scope)} + {_version(_NAMES)} AS version"
    present = f"SELECT {columns} FROM {area}s AS o WHERE o.namespace = ?1 AND o.state = 'active'"
    return Statement(
        f"{present} AND o.slug = {first} UNION ALL {present} AND o.slug = {second}"
        f" AND {second} <> {first} UNION ALL {called_sql(marks, f'{area}s', [name], columns)}"
        " LIMIT 1",
        marks.values,
    )


def goals_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads the goals of the startup bundle."""
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM items INDEXED BY items_goals WHERE namespace = ?1"
        " AND type = 'strategic_goal' AND state = 'active' AND startup_priority >= 8"
        f" AND {_VALID} ORDER BY {_ORDER} LIMIT ?3",
        (namespace, now_ms, levels.GOALS_MAX),
    )


def always_load_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads the items which are always loaded."""
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM items INDEXED BY items_startup WHERE namespace = ?1"
        f" AND startup_priority = 10 AND startup_priority >= 8 AND {_CURRENT} AND {_VALID}"
        f" ORDER BY {_ORDER} LIMIT ?3",
        (namespace, now_ms, levels.ALWAYS_LOAD_MAX),
    )


def profile_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads the profile item.

    The profile topic's canonical item, else the first of its current items that may be loaded at
    startup at all.
    """
    return Statement(
        f"SELECT {_prefixed('i')} FROM topics AS t CROSS JOIN items AS i ON i.namespace = ?1"
        " AND i.id = coalesce((SELECT c.id FROM items AS c WHERE c.namespace = ?1"
        f" AND c.id = t.canonical_item_id AND c.{_CURRENT} AND {_VALID}),"
        " (SELECT f.id FROM items AS f"
        f" WHERE f.namespace = ?1 AND f.topic_id = t.id AND f.{_CURRENT}"
        f" AND f.startup_priority > 0 AND {_VALID}"
        " ORDER BY f.startup_priority DESC, f.pinned DESC, f.priority DESC, f.updated_at DESC,"
        " f.id LIMIT 1)) WHERE t.namespace = ?1 AND t.slug = ?3 AND t.state = 'active'",
        (namespace, now_ms, PROFILE_SLUG),
    )


def projects_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the projects with current items, newest focus first."""
    return Statement(
        "SELECT p.id, p.slug, p.name, p.description, p.active_objective_id, p.objective_since,"
        " p.updated_at, (SELECT title FROM items AS g WHERE g.namespace = ?1"
        " AND g.id = p.active_objective_id) AS objective_title,"
        f" {_counter('project', 'p.id', 'active')} AS active_count"
        " FROM projects AS p INDEXED BY projects_focus WHERE p.namespace = ?1"
        " AND p.state = 'active' AND EXISTS (SELECT 1 FROM items AS i WHERE i.namespace = ?1"
        f" AND i.project_id = p.id AND i.{_CURRENT})"
        " ORDER BY p.objective_since DESC, p.updated_at DESC, p.id LIMIT ?2",
        (namespace, levels.PROJECTS_MAX),
    )


def topics_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads the topics of the startup bundle with their counts."""
    return Statement(
        f"SELECT {_topic_columns()} FROM topics AS t INDEXED BY topics_retrieval"
        " WHERE t.namespace = ?1 AND t.state = 'active' AND t.retrieval_priority > 0"
        " AND t.slug <> ?3 ORDER BY t.retrieval_priority DESC, t.name, t.id LIMIT ?4",
        (namespace, now_ms, PROFILE_SLUG, levels.TOPICS_MAX),
    )


def topic_statement(namespace: Namespace, topic_id: str, now_ms: int) -> Statement:
    """Return the statement that reads one topic with its counts."""
    return Statement(
        f"SELECT {_topic_columns()} FROM topics AS t WHERE t.namespace = ?1 AND t.id = ?3",
        (namespace, now_ms, topic_id),
    )


def _topic_columns() -> str:
    counts = ", ".join(
        f"{_counter('topic', 't.id', name)} AS {name}_count"
        for name in ("active", "dormant", "stale", "pinned")
    )
    # The canonical item while it is current and holds, else the first that is and does.
    canonical = (
        "coalesce((SELECT c.id FROM items AS c WHERE c.namespace = ?1"
        f" AND c.id = t.canonical_item_id AND c.{_CURRENT} AND {_VALID}),"
        " (SELECT f.id FROM items AS f"
        f" WHERE f.namespace = ?1 AND f.topic_id = t.id AND f.{_CURRENT} AND {_VALID}"
        " ORDER BY f.startup_priority DESC, f.pinned DESC, f.priority DESC, f.updated_at DESC,"
        " f.id LIMIT 1)) AS shown_item_id"
    )
    return (
        "t.id, t.slug, t.name, t.kind, t.retrieval_priority, t.description, t.summary_mode,"
        f" t.updated_at, {counts}, {canonical}"
    )


def _counter(area: str, owner: str, name: str) -> str:
    return (
        "coalesce((SELECT n.value FROM counters AS n WHERE n.namespace = ?1"
        f" AND n.name = '{area}/' || {owner} || '/{name}'), 0)"
    )


def owner_items_statement(
    namespace: Namespace, now_ms: int, *, area: str, owner_id: str, limit: int, without: str | None
) -> Statement:
    """Return the statement that reads a project's or topic's current items in context order."""
    assert area in ("project", "topic")
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM items INDEXED BY items_{area} WHERE namespace = ?1"
        f" AND {area}_id = ?3 AND {_CURRENT} AND {_VALID} AND id <> ?4"
        f" ORDER BY {_ORDER} LIMIT ?5",
        (namespace, now_ms, owner_id, without or "", limit),
    )


def recurring_statement(namespace: Namespace, project_id: str, now_ms: int) -> Statement:
    """Return the statement that reads a project's recurring systems."""
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM items INDEXED BY items_recurring WHERE namespace = ?1"
        " AND project_id = ?3 AND type = 'recurring_system' AND state = 'active'"
        f" AND {_VALID} ORDER BY {_ORDER} LIMIT ?4",
        (namespace, now_ms, project_id, levels.RECURRING_MAX),
    )


def project_history_statement(namespace: Namespace, project_id: str, limit: int) -> Statement:
    """Return the statement that reads a project's superseded, archived and completed items."""
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM items INDEXED BY items_ended WHERE namespace = ?1"
        " AND project_id = ?2 AND state IN ('superseded', 'archived', 'completed', 'expired')"
        " ORDER BY updated_at DESC, id LIMIT ?3",
        (namespace, project_id, limit),
    )


def tag_items_statement(namespace: Namespace, now_ms: int, tag: str, limit: int) -> Statement:
    """Return the statement that reads the current items of a tag in context order."""
    return Statement(
        f"SELECT {_prefixed('i')} FROM item_tags AS g CROSS JOIN items AS i ON i.namespace = ?1"
        f" AND i.id = g.item_id WHERE g.namespace = ?1 AND g.tag = ?3 AND i.{_CURRENT}"
        f" AND {_VALID} ORDER BY i.startup_priority DESC, i.pinned DESC, i.priority DESC,"
        " i.updated_at DESC, i.id LIMIT ?4",
        (namespace, now_ms, tag, limit),
    )


def tag_count_statement(namespace: Namespace, tag: str) -> Statement:
    """Return the statement that reads how many current items a tag has."""
    return Statement(
        "SELECT value FROM counters WHERE namespace = ? AND name = ?", (namespace, f"tag/{tag}")
    )


def next_change_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads the next moments at which time alone changes a bundle.

    *Shape:* one row, a column for each kind of moment, NULL where none lies ahead. (A compound
    of six would be over D1's limit.)
    """
    columns = ", ".join(
        f"(SELECT min({column}) FROM items INDEXED BY items_{index} WHERE namespace = ?1"
        f" AND {column} {sign} ?2 AND {column} IS NOT NULL{more}) AS {column}"
        for column, sign, index, more in (
            # What is due now is overdue in a moment; the others have changed when they are reached.
            ("due_at", ">=", "due", " AND kind = 'task' AND state = 'active'"),
            ("expires_at", ">", "expiry", f" AND {_CURRENT}"),
            ("snoozed_until", ">", "snoozed", ""),
            ("ignored_until", ">", "ignored", ""),
            ("valid_from", ">", "valid_from", ""),
            ("valid_to", ">", "valid_to", ""),
        )
    )
    return Statement(f"SELECT {columns}", (namespace, now_ms))


def consolidated_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads when memories were last consolidated."""
    return Statement(
        "SELECT value FROM counters WHERE namespace = ? AND name = 'consolidated_at'",
        (namespace,),
    )


def number(row: Row, name: str) -> int:
    """Return an integer column of a row; 0 for NULL."""
    value = row[name]
    return int(value) if isinstance(value, int | float) else 0


def _prefixed(alias: str) -> str:
    return ", ".join(f"{alias}.{name.strip()}" for name in ITEM_COLUMNS.split(","))
