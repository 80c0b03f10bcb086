"""Reading the tags in use, with how many current items have each. Nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import Statement
from remembrancer.store.marks import Marks

EXCERPT_CHARS: Final = 200
"""Characters of a content that stand for it in a list of candidates. Our choice."""

_LAST_CHAR: Final = "\U0010ffff"


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


def shared_tags_statement(namespace: Namespace, *, shared_min: int, limit: int) -> Statement:
    """Return the statement that reads the keys of tags that several current items have, the most
    common first."""
    return Statement(
        "SELECT substr(name, 5) AS tag FROM counters WHERE namespace = ? AND name >= 'tag/'"
        " AND name < 'tag0' AND value >= ? ORDER BY value DESC, name LIMIT ?",
        (namespace, shared_min, limit),
    )


def sharing_statement(
    namespace: Namespace, keys: Sequence[str], *, kind: str, now_ms: int, newest: int
) -> Statement:
    """Return the statement that reads the newest items of some tags, each once.

    *Shape:* active and dormant ones of a kind, not expired; `excerpt` the beginning of the
    content; at most `newest` of each tag are looked at.
    """
    marks = Marks(namespace)
    tags = marks.many(keys)
    of_kind, now = marks.add(kind), marks.add(now_ms)
    return Statement(
        "SELECT i.id, i.title, i.state, i.pinned, i.tags, i.updated_at,"
        f" substr(i.content, 1, {EXCERPT_CHARS + 1}) AS excerpt FROM"
        f" (SELECT DISTINCT t.item_id FROM {tags} AS c CROSS JOIN item_tags AS t"
        " ON t.namespace = ?1 AND t.tag = c.value AND t.item_id IN"
        " (SELECT n.item_id FROM item_tags AS n WHERE n.namespace = ?1 AND n.tag = c.value"
        f" ORDER BY n.item_id DESC LIMIT {marks.add(newest)})) AS chosen"
        " CROSS JOIN items AS i ON i.namespace = ?1 AND i.id = chosen.item_id"
        f" WHERE i.kind = {of_kind} AND i.state IN ('active', 'dormant')"
        f" AND (i.expires_at IS NULL OR i.expires_at > {now})",
        marks.values,
    )
