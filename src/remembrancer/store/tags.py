"""Reading the tags in use, with how many current items have each. Nothing is written here."""

from __future__ import annotations

from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import Statement

_LAST_CHAR = "\U0010ffff"


def tags_statement(namespace: Namespace, *, prefix: str, after: str, limit: int) -> Statement:
    """Return the statement that reads a page of tags in the order of their keys.

    *Shape:* rows `tag`, `name` (a spelling that an item has), `count`; only tags of items that
    are active, dormant or stale; keys that start with `prefix` and come after `after`.
    """
    return Statement(
        "SELECT substr(c.name, 5) AS tag, c.value AS count, coalesce((SELECT t.name"
        " FROM item_tags AS t WHERE t.namespace = ?1 AND t.tag = substr(c.name, 5)"
        " ORDER BY t.item_id LIMIT 1), substr(c.name, 5)) AS name"
        " FROM counters AS c WHERE c.namespace = ?1 AND c.name >= 'tag/' || ?2"
        " AND c.name <= 'tag/' || ?2 || ?3 AND c.name > 'tag/' || ?4 AND c.value > 0"
        " ORDER BY c.name LIMIT ?5",
        (namespace, prefix, _LAST_CHAR, after, limit),
    )
