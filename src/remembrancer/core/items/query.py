"""What can be asked of a list of items: filters, order, place; checked, not yet resolved.

Words for dates, slugs and tags are resolved by `app.items.read`; the SQL is `store.item_lists`.
Every ring may import it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from remembrancer.core import limits
from remembrancer.core.cursors import CursorValue, decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.items.fields import CURRENT_STATES, KINDS, STATES, TYPES
from remembrancer.core.moments import PastMoment

TagsMatch = Literal["any", "all"]

OFFSET_MAX: Final = 10_000
"""Items that `offset` may skip. Our choice: each is read; a cursor has no such limit."""

NAMES_MAX: Final = 50
"""Projects, topics or tags that one query may name. As many as tags of one item."""

TITLE_KEY_CHARS: Final = 100
"""Characters by which titles are ordered; so many always fit a cursor. Our choice."""


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """Filters that an item must pass, all of them, and how the page is cut.

    *Shape:* an empty sequence or None does not filter. `…_after` is inclusive, `…_before`
    exclusive; both are words or ISO 8601, and a day without a time is that day's first moment, so
    that a day belongs to what comes after it. `current_only` wants active, dormant or stale and
    neither expired nor past its validity; `stale_only` stale, or an active tactical task untouched
    for 21 days. Deleted items are shown when `include_deleted` or `states` says so. `as_of` is a
    time (words or ISO 8601; a day means its end) or, in digits, a position of the ledger.
    """

    ids: Sequence[str] = ()
    kinds: Sequence[str] = ()
    types: Sequence[str] = ()
    states: Sequence[str] = ()
    completed: bool | None = None
    archived: bool | None = None
    pinned: bool | None = None
    priorities: Sequence[int] = ()
    startup_priority_min: int | None = None
    startup_priority_max: int | None = None
    q: str | None = None
    due_before: str | None = None
    due_after: str | None = None
    created_before: str | None = None
    created_after: str | None = None
    updated_before: str | None = None
    updated_after: str | None = None
    projects: Sequence[str] = ()
    topics: Sequence[str] = ()
    tags: Sequence[str] = ()
    tags_match: TagsMatch = "any"
    stale_only: bool = False
    current_only: bool = False
    include_deleted: bool = False
    limit: int = 20
    cursor: str | None = None
    offset: int = 0
    sort: str = "-updated_at"
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class SortKey:
    """One part of an order: a column, and what a cursor holds of it."""

    column: str
    type: type | tuple[type, ...] = int
    is_high_first: bool = False
    """The plain order goes from high to low here, the one with `-` from low to high."""


SORTS: Final[Mapping[str, tuple[SortKey, ...]]] = MappingProxyType(
    {
        "updated_at": (SortKey("updated_at"), SortKey("seq")),
        "created_at": (SortKey("created_at"), SortKey("seq")),
        "due_at": (SortKey("due_at", (int, type(None))), SortKey("seq")),
        "priority": (SortKey("priority"), SortKey("updated_at"), SortKey("seq")),
        "title": (SortKey("title", str), SortKey("seq")),
        "startup": (
            SortKey("startup_priority", is_high_first=True),
            SortKey("pinned", is_high_first=True),
            SortKey("priority", is_high_first=True),
            SortKey("updated_at", is_high_first=True),
            SortKey("id", str),
        ),
    }
)
"""Order → its keys; the last one tells equal items apart (`seq` is the order of creation).

`startup` is the order of the context levels, the most important first. Items
without a due date come last both ways.
"""


@dataclass(frozen=True, slots=True)
class Sort:
    """A parsed order."""

    name: str
    is_descending: bool

    @property
    def keys(self) -> tuple[SortKey, ...]:
        """The keys of this order."""
        return SORTS[self.name]

    def descends(self, key: SortKey) -> bool:
        """Tell whether this key goes from high to low."""
        return self.is_descending != key.is_high_first


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended.

    *Shape:* `values` one for each key of the order; `moment` for a list of the past, which every
    page then shows; `seen` items up to here.
    """

    values: tuple[CursorValue, ...]
    moment: PastMoment | None
    seen: int


def parse_sort(text: str) -> Sort:
    """Return the order that `-updated_at` and the like name. *Raises:* InvalidInput."""
    name = text.lstrip("+") if text.startswith("+") else text.removeprefix("-")
    if name not in SORTS:
        raise InvalidInput(
            f"sort {text[:40]!r} is not an order",
            hint=f"one of {', '.join(SORTS)}, with - in front for descending",
            field="sort",
        )
    return Sort(name, text.startswith("-"))


def encode_place(sort: Sort, place: Place) -> str:
    """Return the cursor of a place."""
    values = [
        encode_text(str(value)) if key.column == "title" else value
        for key, value in zip(sort.keys, place.values, strict=True)
    ]
    moment = place.moment or PastMoment()
    head = [moment.position, moment.at_ms, place.seen]
    return encode_cursor(_cursor_kind(sort), [*head, *values])


def decode_place(sort: Sort, cursor: str) -> Place:
    """Return the place that a cursor of this order names.

    *Raises:* InvalidInput (`cursor`) for one of another order or list, or none of ours.
    """
    optional = (int, type(None))
    types = [optional, optional, int, *(key.type for key in sort.keys)]
    kind = _cursor_kind(sort)
    position, at_ms, seen, *values = decode_cursor(cursor, kind=kind, types=types)
    assert isinstance(seen, int)
    moment: PastMoment | None = None
    if isinstance(position, int):
        moment = PastMoment(position, at_ms if isinstance(at_ms, int) else None)
    return Place(
        tuple(
            decode_text(str(value)) if key.column == "title" else value
            for key, value in zip(sort.keys, values, strict=True)
        ),
        moment,
        seen,
    )


def _cursor_kind(sort: Sort) -> str:
    return f"items{'-' if sort.is_descending else '+'}{sort.name}"


def encode_text(text: str) -> str:
    """Return any text in the letters that a cursor can hold."""
    return base64.urlsafe_b64encode(text.encode()).decode("ascii")


def decode_text(text: str) -> str:
    """Return the text of `encode_text`. *Raises:* InvalidInput (`cursor`) for anything else."""
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            f"cursor holds {text[:40]!r}, which this list did not write",
            hint="send next_cursor of the page before, or leave it out for the first page",
            field="cursor",
        ) from error


def check_query(query: ItemQuery) -> Sort:
    """Check what needs no look at the store, and return the order.

    *Raises:* InvalidInput, LimitExceeded naming the field.
    """
    _check_words("kinds", query.kinds, KINDS)
    _check_words("types", query.types, TYPES)
    _check_words("states", query.states, STATES)
    _check_words("tags_match", [query.tags_match], ("any", "all"))
    for priority in query.priorities:
        _check_range("priorities", priority, 1, 3)
    for name, value in (
        ("startup_priority_min", query.startup_priority_min),
        ("startup_priority_max", query.startup_priority_max),
    ):
        if value is not None:
            _check_range(name, value, 0, 10)
    _check_count("ids", query.ids, limits.BULK_ITEMS_MAX)
    for name, names in (("projects", query.projects), ("topics", query.topics)):
        _check_count(name, names, NAMES_MAX)
    _check_count("tags", query.tags, NAMES_MAX)
    _check_range("limit", query.limit, 1, limits.PAGE_ITEMS_MAX)
    _check_range("offset", query.offset, 0, OFFSET_MAX)
    if query.cursor is not None and query.offset:
        raise InvalidInput(
            f"a cursor and offset {query.offset!r} were both given",
            hint="a cursor names its place by itself; leave offset out",
            field="offset",
        )
    return parse_sort(query.sort)


def _check_words(name: str, given: Sequence[str], allowed: Sequence[str]) -> None:
    for word in given:
        if word not in allowed:
            raise InvalidInput(
                f"{name} {word[:40]!r} is unknown", hint=f"one of {', '.join(allowed)}", field=name
            )


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInput(f"{name} {value!r} is out of range", hint=f"{low} to {high}", field=name)


def _check_count(name: str, given: Sequence[str], maximum: int) -> None:
    if len(given) > maximum:
        raise LimitExceeded(
            f"{len(given)} {name}", hint=f"at most {maximum} in one call", field=name
        )


def shows_state(query: ItemQuery, state: str) -> bool:
    """Tell whether the query's filters on the state alone let this state pass."""
    if query.states and state not in query.states:
        return False
    if state == "deleted" and not (query.include_deleted or "deleted" in query.states):
        return False
    if query.current_only and state not in CURRENT_STATES:
        return False
    for flag, named in ((query.completed, "completed"), (query.archived, "archived")):
        if flag is not None and flag != (state == named):
            return False
    return True


def shown_states(query: ItemQuery) -> tuple[str, ...]:
    """Return the states that the query's filters let pass."""
    return tuple(state for state in STATES if shows_state(query, state))


def counted_by(query: ItemQuery) -> Literal["items", "project", "topic"] | None:
    """Return which counters give the query's total, by state: those of all items by kind, or
    those of projects or topics; None when its items must be counted."""
    if (
        query.ids
        or query.types
        or query.pinned is not None
        or query.priorities
        or query.startup_priority_min is not None
        or query.startup_priority_max is not None
        or query.q is not None
        or times_of(query)
        or query.tags
        or query.stale_only
        or query.current_only
        or query.as_of is not None
    ):
        return None
    if not (query.projects or query.topics):
        return "items"
    if query.kinds or (query.projects and query.topics):
        return None
    return "project" if query.projects else "topic"


def times_of(query: ItemQuery) -> dict[str, str]:
    """Return the times that the query names: field → words."""
    given = {
        "due_before": query.due_before,
        "due_after": query.due_after,
        "created_before": query.created_before,
        "created_after": query.created_after,
        "updated_before": query.updated_before,
        "updated_after": query.updated_after,
    }
    return {name: text for name, text in given.items() if text is not None}
