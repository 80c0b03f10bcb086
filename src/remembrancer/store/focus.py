"""Reading what the focus is made of: the project, its objective, and the few tasks that may come
next, each with what blocks it.

An index holds the open tasks in the order of the rules (`core.focus.ranking`), by class: pinned or
not, and priority. The first of each class and the most urgent dated ones are enough to find the
next step, however many tasks there are. Nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Literal

from remembrancer.core import limits
from remembrancer.core.focus.ranking import RECENT_MS, Horizon
from remembrancer.core.ids import Namespace
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.values import DAY_MS, JSON
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.item_filters import owner_slugs
from remembrancer.store.items import COLUMNS, item_of
from remembrancer.store.marks import Marks
from remembrancer.store.owner_names import called_sql

Where = Literal["newest", "anywhere"]
"""Without a named project: that of the newest objective, or every task whatever its project."""

DATED_MAX: Final = 40
"""Dated tasks that are compared, the most urgent first. Our choice: one row read for each."""

RECURRING_MAX: Final = 10
"""Recurring systems that the focus shows. Source: the predecessor."""

RECURRING_READ_MAX: Final = 30
"""Recurring systems of all projects that are compared without a project. Our choice."""

REPLACED_MAX: Final = 10
"""Replaced items that the focus shows. As many."""

_LOOKED_AT: Final = 6
"""Tasks at the head of the order that are looked at for blocks. Our choice."""

_DATED_RANKED: Final = 12
"""Dated tasks among which a free one is looked for. Our choice; behind them the undated count."""

_DATED_KEPT: Final = 5
"""Dated tasks that are kept of those compared; one more when these are blocked."""

_MARKED_MAX: Final = 200
"""Tasks marked as stale that are looked at, the earliest marked first. Our choice."""

_PINNED: Final = "(1, 3), (1, 2), (1, 1)"
_LOOSE: Final = "(NULL, 3), (NULL, 2), (NULL, 1)"

_TACTICAL: Final = "y.type = 'tactical_task' AND y.state = 'active'"

_OPEN_STATES: Final = "o.state IN ('active', 'dormant', 'stale')"


def _blockers(alias: str) -> str:
    """Return the select of the open items that a task waits for, as `o`, after its columns."""
    return (
        "FROM (SELECT r.source_id AS id FROM relations AS r WHERE r.namespace = ?1"
        f" AND r.target_id = {alias}.id AND r.type = 'blocks' UNION"
        " SELECT r.target_id FROM relations AS r WHERE r.namespace = ?1"
        f" AND r.source_id = {alias}.id AND r.type = 'depends_on') AS b"
        f" CROSS JOIN items AS o ON o.namespace = ?1 AND o.id = b.id AND {_OPEN_STATES}"
    )


def _class_sql(values: str) -> str:
    """Return the common table of the classes, its bracket still open."""
    return f"class AS (SELECT column1 AS pinned, column2 AS priority FROM (VALUES {values})"


class _Focus:
    """The marks of one statement, and what all of its parts say."""

    def __init__(
        self, namespace: Namespace, project: str | None, where: Where, *, is_anywhere: bool = False
    ) -> None:
        self.marks = Marks(namespace)
        self.is_anywhere = is_anywhere
        select = "SELECT id, active_objective_id AS objective_id FROM projects"
        if project is not None:
            slugs = self.marks.many(owner_slugs(project))
            called = called_sql(
                self.marks, "projects", [project], "o.id, o.active_objective_id AS objective_id"
            )
            chosen = (
                f"{select} INDEXED BY projects_slug"
                f" WHERE namespace = ?1 AND state = 'active' AND slug IN {slugs}"
                f" UNION ALL {called}"
            )
        elif where == "newest":
            chosen = (
                f"{select} WHERE namespace = ?1 AND state = 'active'"
                " AND active_objective_id IS NOT NULL AND objective_since > 0"
                " ORDER BY objective_since DESC, updated_at DESC, id"
            )
        else:
            chosen = f"{select} WHERE 0"
        self.prefix = f"WITH chosen AS ({chosen} LIMIT 1)"

    def statement(self, sql: str) -> Statement:
        """Return the whole statement."""
        return Statement(f"{self.prefix}{sql}", self.marks.values)

    def open_(self, alias: str, now: str) -> str:
        """Return the condition that a task is neither put off nor expired."""
        return (
            f"({alias}.snoozed_until IS NULL OR {alias}.snoozed_until <= {now})"
            f" AND ({alias}.ignored_until IS NULL OR {alias}.ignored_until <= {now})"
            f" AND ({alias}.expires_at IS NULL OR {alias}.expires_at > {now})"
        )

    def walk(self, where: str, now: str) -> str:
        """Return the beginning of a select of open tasks, to be ended by an order and a limit."""
        return (
            f"SELECT y.seq FROM items AS y WHERE y.namespace = ?1 AND {_TACTICAL}{where}"
            f" AND {self.open_('y', now)}"
        )

    def firsts(self, where: str, order: str, now: str) -> str:
        """Return the select of the first free task of each class."""
        return (
            f"SELECT ({self.walk(where, now)} AND y.pinned IS class.pinned"
            f" AND y.priority = class.priority AND NOT EXISTS (SELECT 1 {_blockers('y')})"
            f" ORDER BY {order} LIMIT 1) AS seq FROM class"
        )

    def heads(self, where: str, order: str, now: str) -> str:
        """Return the select of the first tasks of all, free or not."""
        return (
            f"{self.walk(where, now)} ORDER BY y.pinned DESC, y.priority DESC, {order}"
            f" LIMIT {self.unless(_LOOKED_AT)}"
        )

    def dated(self, where: str, due: str, ranks: Sequence[str], now: str) -> str:
        """Return the common table `dated`: the most urgent tasks, with `ranks` as r0, r1, …"""
        ranked = ", ".join(f"{rank} AS r{number}" for number, rank in enumerate(ranks))
        order = ", ".join(f"r{number}" for number in range(len(ranks)))
        return (
            f"dated AS MATERIALIZED (SELECT y.seq, y.id, {ranked} FROM (SELECT y.seq, y.id,"
            " y.due_at, y.pinned, y.priority, y.updated_at, y.project_id, y.objective_id,"
            " y.snoozed_until, y.ignored_until, y.expires_at"
            " FROM items AS y INDEXED BY items_next_due"
            f" WHERE y.namespace = ?1 AND {_TACTICAL} AND y.due_at IS NOT NULL{due}"
            f" ORDER BY y.due_at LIMIT {self.unless(DATED_MAX)}) AS y"
            f" WHERE {where} AND {self.open_('y', now)} ORDER BY {order} LIMIT {_DATED_RANKED})"
        )

    def pool(self, dated: str, firsts: Sequence[str], *, ranks: int) -> Statement:
        """Return the statement that reads the tasks that may come next, with `blocked_by`."""
        blockers = (
            "(SELECT json_group_array(json_object('id', o.id, 'title', o.title,"
            f" 'state', o.state)) {_blockers('i')}) AS blocked_by"
        )
        order = ", ".join(f"y.r{number}" for number in range(ranks))
        free = f"WHERE NOT EXISTS (SELECT 1 {_blockers('y')})"
        parts = [
            *firsts,
            f"SELECT y.seq FROM dated AS y ORDER BY {order} LIMIT {_DATED_KEPT}",
            f"SELECT y.seq FROM dated AS y {free} ORDER BY {order} LIMIT 1",
        ]
        # A compound select has five terms at most on D1.
        union = " UNION ALL ".join(f"SELECT seq FROM ({part})" for part in parts[:2])
        for part in parts[2:]:
            union = f"SELECT seq FROM ({union}) UNION ALL SELECT seq FROM ({part})"
        return self.statement(
            f", {dated}, {_class_sql(f'{_PINNED}, {_LOOSE}')} LIMIT {self.unless(6)})"
            f" SELECT {COLUMNS}, {blockers} FROM (SELECT DISTINCT seq FROM ({union})) AS pool"
            " CROSS JOIN items AS i ON i.seq = pool.seq"
        )

    def unless(self, limit: int) -> str:
        """Return the limit of a part: 0 where the statement is for the other case."""
        wanted = 0 if self.is_anywhere else 1
        return f"(SELECT CASE count(*) WHEN {wanted} THEN {limit} ELSE 0 END FROM chosen)"


def project_statement(namespace: Namespace, project: str | None, where: Where) -> Statement:
    """Return the statement that reads the chosen project, and the version of what it shows."""
    focus = _Focus(namespace, project, where)
    return focus.statement(
        " SELECT p.id, p.slug, p.name, p.description, p.active_objective_id, p.objective_since,"
        " p.version, (SELECT v.version FROM scope_versions AS v WHERE v.namespace = ?1"
        " AND v.scope = 'project/' || p.id) AS focus_version"
        " FROM chosen AS c CROSS JOIN projects AS p ON p.namespace = ?1 AND p.id = c.id"
        " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
        " (SELECT v.version FROM scope_versions AS v WHERE v.namespace = ?1"
        " AND v.scope = 'startup') WHERE NOT EXISTS (SELECT 1 FROM chosen)"
    )


def objective_statement(namespace: Namespace, project: str | None, where: Where) -> Statement:
    """Return the statement that reads the item of the chosen project's objective."""
    focus = _Focus(namespace, project, where)
    return focus.statement(
        f" SELECT {COLUMNS} FROM chosen AS c CROSS JOIN items AS i"
        " ON i.namespace = ?1 AND i.id = c.objective_id WHERE i.state <> 'deleted'"
    )


def project_tasks_statement(
    namespace: Namespace, project: str | None, where: Where, *, now_ms: int
) -> Statement:
    """Return the statement that reads the tasks that may come next in the chosen project: its
    own, and those that serve its objective; `blocked_by` is JSON."""
    focus = _Focus(namespace, project, where)
    now = focus.marks.add(now_ms)
    order = "y.updated_at DESC, y.id"
    owner, objective = "(SELECT id FROM chosen)", "(SELECT objective_id FROM chosen)"
    ranks = (
        f"y.objective_id IS NOT {objective}",
        "y.pinned IS NULL",
        "-y.priority",
        "-y.updated_at",
        "y.id",
    )
    own = f" AND y.project_id IS NOT NULL AND y.project_id = {owner}"
    serving = f" AND y.objective_id IS NOT NULL AND y.objective_id = {objective}"
    dated = focus.dated(
        f"(y.project_id = {owner} OR y.objective_id = {objective})",
        f" AND y.due_at < {now}",
        ranks,
        now,
    )
    firsts = [focus.firsts(part, order, now) for part in (own, serving)]
    heads = [focus.heads(part, order, now) for part in (own, serving)]
    return focus.pool(dated, [*firsts, *heads], ranks=len(ranks))


def tasks_statement(
    namespace: Namespace, project: str | None, where: Where, *, horizon: Horizon
) -> Statement:
    """Return the statement that reads the tasks that may come next anywhere; no row when a
    project is chosen. `blocked_by` is JSON."""
    focus = _Focus(namespace, project, where, is_anywhere=True)
    marks = focus.marks
    now, recent = marks.add(horizon.now_ms), marks.add(horizon.recent_ms)
    ranks = (
        f"y.due_at >= {now}",
        f"y.due_at >= {marks.add(horizon.today_end_ms)}",
        f"y.due_at >= {marks.add(horizon.upcoming_end_ms)}",
        f"y.updated_at < {recent}",
        "y.pinned IS NULL",
        "-y.priority",
        "y.due_at",
        "y.updated_at",
        "y.id",
    )
    firsts = [
        focus.firsts(f" AND y.updated_at {sign} {recent}", "y.updated_at, y.id", now)
        for sign in (">=", "<")
    ]
    firsts.append(focus.heads("", "y.updated_at, y.id", now))
    dated = focus.dated("1", "", ranks, now)
    return focus.pool(dated, firsts, ranks=len(ranks))


def next_change_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that reads when the next task no longer counts as touched lately.

    *Shape:* one row with `touched`, NULL where none does. *Promise:* a row read for each class.
    """
    marks = Marks(namespace)
    recent, until = marks.add(now_ms - RECENT_MS), marks.add(RECENT_MS + 1)
    return Statement(
        f"WITH {_class_sql(f'{_PINNED}, {_LOOSE}')}) SELECT min((SELECT y.updated_at"
        f" FROM items AS y WHERE y.namespace = ?1 AND {_TACTICAL} AND y.pinned IS class.pinned"
        f" AND y.priority = class.priority AND y.updated_at >= {recent}"
        f" ORDER BY y.updated_at LIMIT 1)) + {until} AS touched FROM class",
        marks.values,
    )


def tasks_of(rows: Sequence[Row]) -> tuple[list[ItemRecord], list[tuple[ItemRecord, JSON]]]:
    """Return the free tasks, and the blocked ones with what they wait for."""
    free: list[ItemRecord] = []
    blocked: list[tuple[ItemRecord, JSON]] = []
    for row in rows:
        blockers: JSON = json.loads(str(row["blocked_by"]))
        if blockers:
            blocked.append((item_of(row), blockers))
        else:
            free.append(item_of(row))
    return free, blocked


def recurring_statement(namespace: Namespace, project: str | None, where: Where) -> Statement:
    """Return the statement that reads the chosen project's recurring systems, the most important
    first; without a project those of the first `RECURRING_READ_MAX` of all."""
    focus = _Focus(namespace, project, where)
    of_all = _Focus(namespace, project, where, is_anywhere=True)
    order = "startup_priority DESC, pinned DESC, priority DESC, updated_at DESC, id"
    recurring = (
        "SELECT * FROM items WHERE namespace = ?1 AND type = 'recurring_system'"
        " AND state = 'active'"
    )
    of_project = f"{recurring} AND project_id = (SELECT id FROM chosen)"
    parts = (
        f"{of_project} ORDER BY {order} LIMIT {RECURRING_MAX}",
        f"{recurring} ORDER BY project_id, {order} LIMIT {of_all.unless(RECURRING_READ_MAX)}",
    )
    source = " UNION ALL ".join(f"SELECT * FROM ({part})" for part in parts)
    return focus.statement(
        f" SELECT {COLUMNS} FROM ({source}) AS i ORDER BY {order} LIMIT {RECURRING_MAX}"
    )


def replaced_statement(namespace: Namespace, project: str | None, where: Where) -> Statement:
    """Return the statement that reads what was replaced last in the chosen project."""
    focus = _Focus(namespace, project, where)
    return focus.statement(
        f" SELECT {COLUMNS} FROM items AS i WHERE i.namespace = ?1 AND i.state = 'superseded'"
        " AND i.project_id IS NOT NULL AND i.project_id = (SELECT id FROM chosen)"
        f" ORDER BY i.updated_at DESC, i.id LIMIT {REPLACED_MAX}"
    )


def untouched_statement(
    namespace: Namespace, *, now_ms: int, limit: int, is_markable: bool = False
) -> Statement:
    """Return the statement that reads the tactical tasks that nobody touched for `STALE_DAYS`,
    the longest untouched first, marked as stale or not.

    *Shape:* `is_markable` wants only those to mark: active, not pinned, serving no objective.
    `untouched_since` is when it was touched last: being marked is no touch, so for one that was
    marked last it is the time of the version before. Tasks put off are left out.
    """
    marks = Marks(namespace)
    now, before = marks.add(now_ms), marks.add(now_ms - limits.STALE_DAYS * DAY_MS)
    shown = marks.add(limit)
    awake = f"(y.snoozed_until IS NULL OR y.snoozed_until <= {now})"
    active = (
        f"SELECT y.seq FROM items AS y WHERE y.namespace = ?1 AND {_TACTICAL}"
        " AND y.pinned IS class.pinned AND y.priority = class.priority"
        f" AND y.updated_at <= {before} AND {awake}"
        f"{' AND y.objective_id IS NULL' if is_markable else ''}"
        f" ORDER BY y.updated_at, y.id LIMIT {shown}"
    )
    pool = f"SELECT x.seq FROM class CROSS JOIN items AS x ON x.seq IN ({active})"
    if not is_markable:
        pool += (
            " UNION ALL SELECT seq FROM (SELECT y.seq FROM items AS y WHERE y.namespace = ?1"
            f" AND y.type = 'tactical_task' AND y.state = 'stale' AND {awake}"
            f" ORDER BY y.updated_at LIMIT {_MARKED_MAX})"
        )
    touched = (
        "CASE WHEN i.state = 'stale' AND i.state_since = i.updated_at THEN coalesce("
        "(SELECT v.updated_at FROM item_versions AS v WHERE v.namespace = ?1 AND v.id = i.id"
        " AND v.from_position < i.position ORDER BY v.from_position DESC LIMIT 1), i.updated_at)"
        " ELSE i.updated_at END"
    )
    return Statement(
        f"WITH {_class_sql(_LOOSE if is_markable else f'{_PINNED}, {_LOOSE}')})"
        f" SELECT * FROM (SELECT {COLUMNS}, {touched} AS untouched_since FROM ({pool}) AS pool"
        " CROSS JOIN items AS i ON i.seq = pool.seq) AS t"
        f" WHERE t.untouched_since <= {before}"
        f" ORDER BY t.untouched_since, t.id LIMIT {shown}",
        marks.values,
    )
