"""The conditions that an ItemQuery stands for, over the items table or over its past.

One text serves both: `i` is a row of `items`, or of `item_versions` at a position. Pages and
totals are `store.item_lists`, the ranking of matches is `store.search`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core import limits
from remembrancer.core.ids import Namespace
from remembrancer.core.items.derive import scope_word
from remembrancer.core.items.fields import CURRENT_STATES, STATES
from remembrancer.core.items.query import ItemQuery, shown_states
from remembrancer.core.moments import PastMoment
from remembrancer.core.text.fold import fold
from remembrancer.core.text.segment import match_expression
from remembrancer.core.text.slugs import slugify, tag_key
from remembrancer.core.text.stopwords import is_stop_word
from remembrancer.core.values import DAY_MS, canonical_json
from remembrancer.store.marks import Marks
from remembrancer.store.owner_names import called_sql

OVERLAPPING_EVENTS: Final = 64
"""Events before a position that may be younger than it: writers that overlap. Our choice."""

CURRENT: Final = "i.state IN ('active', 'dormant', 'stale')"
"""The condition of the partial indexes, word for word, so that they can serve."""

assert CURRENT_STATES == ("active", "dormant", "stale")

ENDED: Final = "i.state IN ('superseded', 'archived', 'completed', 'expired')"
"""As `CURRENT`, of the index of what has ended in a project."""

ENDED_STATES: Final = ("superseded", "archived", "completed", "expired")
"""The states in it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its words resolved.

    *Shape:* `times` field → milliseconds UTC; `terms` the search terms of `q`.
    """

    namespace: Namespace
    query: ItemQuery
    now_ms: int
    times: Mapping[str, int] = field(default_factory=dict)
    terms: Sequence[str] = ()
    as_of: PastMoment | None = None

    @property
    def is_past(self) -> bool:
        """Tell whether the twin is asked."""
        return self.as_of is not None

    @property
    def table(self) -> str:
        """The table of items that is asked."""
        return "item_versions" if self.is_past else "items"


def moment_sql(as_of: PastMoment, marks: Marks) -> str:
    """Return the common table `moment` (position, upper): the position asked for, and the time
    after which no row was written by then."""
    if as_of.position is not None:
        last = "coalesce((SELECT max(position) FROM events), 0)"
        position = f"min({marks.add(as_of.position)}, {last})"
    else:
        assert as_of.at_ms is not None
        position = (
            "coalesce((SELECT position FROM events WHERE namespace = ?1 AND at_ms <="
            f" {marks.add(as_of.at_ms)} ORDER BY at_ms DESC, position DESC LIMIT 1), 0)"
        )
    upper = (
        "coalesce((SELECT max(at_ms) FROM events WHERE events.position <= p.position"
        f" AND events.position > p.position - {OVERLAPPING_EVENTS}), 0)"
    )
    return (
        f"moment AS (SELECT p.position, {upper} AS upper FROM (SELECT {position} AS position) AS p)"
    )


def valid_sql(alias: str) -> str:
    """Return the condition that a row of a twin was the present one at `moment`."""
    return (
        f"{alias}.from_position <= (SELECT position FROM moment) AND"
        f" ({alias}.to_position IS NULL OR {alias}.to_position > (SELECT position FROM moment))"
    )


def scoped_match(namespace: Namespace, terms: Sequence[str]) -> str:
    """Return the FTS5 expression for rows of a namespace with any of the terms; `""`, which
    finds nothing, without terms."""
    if not terms:
        return match_expression([])
    return f'scope : "{scope_word(namespace)}" AND {text_match(terms)}'


def text_match(terms: Sequence[str]) -> str:
    """Return the FTS5 expression for rows of any namespace with any of the terms, of which there
    are some."""
    return f"{{title body tags}} : ({match_expression(terms)})"


def owners_sql(asked: Asked, area: str, names: Sequence[str], marks: Marks) -> str:
    """Return the select of id, slug and name of the projects or topics that the query names.

    *Shape:* by slug, else by the name of now: a slug stays what it was, a name is what people say.
    """
    slugs = dict.fromkeys(slug for name in names for slug in owner_slugs(name))
    table = f"{area}_versions AS o" if asked.is_past else f"{area}s AS o INDEXED BY {area}s_slug"
    valid = f" AND {valid_sql('o')}" if asked.is_past else ""
    by_slug = (
        f"SELECT o.id, o.slug, o.name FROM {table} WHERE o.namespace = ?1"
        f" AND o.state = 'active' AND o.slug IN {marks.many(list(slugs))}{valid}"
    )
    return f"{by_slug} UNION ALL {called_sql(marks, f'{area}s', names, 'o.id, o.slug, o.name')}"


def owner_slugs(name: str) -> tuple[str, ...]:
    """Return the slugs that a word for a project or topic may mean: itself, or its slug.

    *Raises:* InvalidInput for a word without a letter or digit.
    """
    return (name, slugify(name))


def conditions(
    asked: Asked, marks: Marks, *, is_matched: bool = False, is_tagged: bool = False
) -> list[str]:
    """Return the conditions on `i`, all of which hold for what the query wants.

    *Shape:* `is_matched` when the statement reads the matches of `q` anyway, `is_tagged` when it
    reads the items of the tags.
    """
    query = asked.query
    result = ["i.namespace = ?1"]
    if asked.is_past:
        result += [valid_sql("i"), "i.updated_at <= (SELECT upper FROM moment)"]
    states = shown_states(query)
    if states == tuple(state for state in STATES if state != "deleted"):
        result.append("i.state <> 'deleted'")
    elif states != STATES:
        result.append(_among("state", states, marks))
    for column, values in (
        ("kind", query.kinds),
        ("type", query.types),
        ("priority", query.priorities),
    ):
        if values:
            result.append(_among(column, values, marks))
    if query.pinned is not None:
        result.append("i.pinned = 1" if query.pinned else "i.pinned IS NULL")
    if query.startup_priority_min is not None:
        result.append(f"i.startup_priority >= {marks.add(query.startup_priority_min)}")
    if query.startup_priority_max is not None:
        result.append(f"i.startup_priority <= {marks.add(query.startup_priority_max)}")
    result += _times(asked, marks)
    for area, names in (("project", query.projects), ("topic", query.topics)):
        if names:
            select = owners_sql(asked, area, names, marks)
            result.append(f"i.{area}_id IN (SELECT id FROM ({select}))")
    if query.tags and not is_tagged:
        result.append(_tags(asked, marks))
    result += _ages(asked, marks)
    return result if is_matched else [*result, *_words(asked, marks)]


def _among(column: str, values: Sequence[str | int], marks: Marks) -> str:
    """Return the condition that a column has one of the values; D1 counts a row read for each row
    that is looked up in a list, and none for one that is compared."""
    if len(values) == 1:
        return f"i.{column} = {marks.add(values[0])}"
    return f"i.{column} IN {marks.many(values)}"


def _times(asked: Asked, marks: Marks) -> list[str]:
    result = []
    for name, at_ms in asked.times.items():
        column, _, side = name.partition("_")
        sign = "<" if side == "before" else ">="
        result.append(f"i.{column}_at {sign} {marks.add(at_ms)}")
    return result


def _ages(asked: Asked, marks: Marks) -> list[str]:
    query = asked.query
    if not (query.current_only or query.stale_only):
        return []
    if asked.as_of is None:
        now = marks.add(asked.now_ms)
    elif asked.as_of.at_ms is not None:
        now = marks.add(asked.as_of.at_ms)
    else:
        now = "(SELECT upper FROM moment)"
    result = []
    if query.current_only:
        result += [
            CURRENT,
            f"(i.expires_at IS NULL OR i.expires_at > {now})",
            f"(i.valid_to IS NULL OR i.valid_to > {now})",
        ]
    if query.stale_only:
        result.append(
            "(i.state = 'stale' OR (i.state = 'active' AND i.type = 'tactical_task'"
            f" AND i.updated_at <= {now} - {limits.STALE_DAYS * DAY_MS}))"
        )
    return result


def _words(asked: Asked, marks: Marks) -> list[str]:
    """Return the condition of `q`: any of its terms, or in the past any of its words literally,
    since only the present is indexed."""
    if asked.query.q is None:
        return []
    if not asked.is_past:
        match = marks.add(scoped_match(asked.namespace, asked.terms))
        return [f"i.seq IN (SELECT rowid FROM search WHERE search MATCH {match})"]
    words = [word for word in fold(asked.query.q).split() if not is_stop_word(word)]
    spelled = list(dict.fromkeys([*words, *asked.query.q.split()]))
    text = "lower(i.title || ' ' || coalesce(i.content, '') || ' ' || coalesce(i.tags, ''))"
    wanted = f"json_each({marks.add(canonical_json(spelled))}) AS w"
    return [f"EXISTS (SELECT 1 FROM {wanted} WHERE instr({text}, w.value) > 0)"]


def tagged_sql(asked: Asked, marks: Marks) -> str:
    """Return the select of the ids of the items that have the query's tags, each once."""
    keys, wanted = _tag_keys(asked.query)
    if len(keys) == 1:
        return f"SELECT item_id FROM item_tags WHERE namespace = ?1 AND tag = {marks.add(keys[0])}"
    return (
        f"SELECT item_id FROM item_tags WHERE namespace = ?1 AND tag IN {marks.many(keys)}"
        f" GROUP BY item_id HAVING count(*) >= {marks.add(wanted)}"
    )


def _tag_keys(query: ItemQuery) -> tuple[list[str], int]:
    """Return the keys of the tags, and how many of them an item must have."""
    keys = list(dict.fromkeys(tag_key(tag) for tag in query.tags))
    return keys, len(keys) if query.tags_match == "all" else 1


def _tags(asked: Asked, marks: Marks) -> str:
    if not asked.is_past:
        return f"i.id IN ({tagged_sql(asked, marks)})"
    keys, wanted = _tag_keys(asked.query)
    # The past keeps tags as they were spelled; SQLite folds ASCII, Python the spellings given.
    pairs = [[key, spelling] for key in keys for spelling in _spellings(key, asked.query.tags)]
    return (
        "(SELECT count(DISTINCT w.value ->> 0) FROM json_each(i.tags) AS t"
        f" CROSS JOIN json_each({marks.add(canonical_json(pairs))}) AS w"
        " ON (w.value ->> 1) IN (t.value, replace(replace(lower(t.value), ' ', '-'), '_', '-')))"
        f" >= {marks.add(wanted)}"
    )


def _spellings(key: str, tags: Sequence[str]) -> list[str]:
    given = [" ".join(tag.split()).lstrip("#") for tag in tags if tag_key(tag) == key]
    forms = [key, key.replace("-", " "), *given]
    forms += [changed for form in forms for changed in (form.title(), form.upper(), fold(form))]
    return list(dict.fromkeys(forms))
