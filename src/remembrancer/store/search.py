"""Full-text search over the segmented index: how common terms are, and the best matches.

Which terms are asked for and how a match is scored is `core.search`; the conditions on items are
`store.item_filters`. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, cast

from remembrancer.core.ids import Namespace
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.search.ranking import MATCHED_ROWS_MAX
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.item_filters import Asked, conditions, scoped_match, text_match
from remembrancer.store.items import COLUMNS, item_of, owner_columns, references_of
from remembrancer.store.items_projection import ITEMS
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import load_json, whole

MATCHES_READ_MAX: Final = MATCHED_ROWS_MAX
"""Matches that one search looks at, the newest first: more only when each of its terms is common.
D1 counts three rows for each that a filter drops (the match, its length for BM25, the item)."""

TITLE_WEIGHT: Final = 4.0
TAGS_WEIGHT: Final = 2.0
BODY_WEIGHT: Final = 1.0
"""How much a term counts by where it stands; the scope word counts nothing. Our choice."""

MERGED_PAGES: Final = 100
"""Pages of the index that one statement merges: 30 ms, for which a write may have to wait. Our
choice."""

_RANK: Final = f"bm25(search, 0.0, {TITLE_WEIGHT}, {BODY_WEIGHT}, {TAGS_WEIGHT})"


COLD_READ_MAX: Final = 60
"""Matches that the search of the cold tier looks at, the newest first, and not by BM25, which takes
twice as long as all the rest. Our choice: it is asked when little else was found, and mostly finds
nothing."""

Tier = Literal["asked", "valid", "cold"]
"""What is searched: what the query's filters let pass; of that only what is valid by now; or
instead what a job archived."""

# A CASE, so that only the events of what is archived are looked at.
_COLD: Final = (
    "CASE WHEN i.state = 'archived' THEN EXISTS (SELECT 1 FROM events AS e WHERE e.namespace = ?1"
    " AND e.stream = 'item/' || i.id AND e.version = i.version"
    " AND e.actor >= 'job:' AND e.actor < 'job;') ELSE 0 END"
)
_TERMS_STEP: Final = 4
_LISTED_STEP: Final = 10
"""Numbers that terms and listed rows are rounded up to in a statement's text, so that most recalls
send a text that was checked and prepared before: 3 ms of work otherwise. Our choice."""

_SUMMED: Final = 12
"""Parts of one sum inside the sum of all: the depth of an expression stays far below D1's limit."""

_BRIEF: Final = (
    "kind",
    "type",
    "state",
    "progress",
    "title",
    "content",
    "priority",
    "startup_priority",
    "fact_key",
    "tags",
    "source",
    "valid_from",
    "pinned",
    "due_at",
    "recurrence_kind",
    "project_id",
    "topic_id",
)
"""The fields by which candidates are ranked and brought up, and which a brief view of them shows. A
recall reads a hundred items; the other thirty columns double what that takes."""

_BRIEF_ITEMS: Final = replace(
    ITEMS, columns={name: type_ for name, type_ in ITEMS.columns.items() if name in _BRIEF}
)

TAGS_KEPT: Final = 2_048
"""Lists of tags taken apart, the last ones: many items have the same. Our choice."""

_READ_CHARS_MAX: Final = 2_000
"""Characters of a row's body up to which its tokens are read, and looked through here: ten times as
quick as SQLite's `instr`. Of a longer one the database says what it holds, so that no Worker takes
over megabytes. Our choice."""

_OTHERS: Final = ""
"""What stands among the terms when other namespaces have items: no term is empty."""

# The index keeps tokens joined by single spaces, so a token is found between two of them.
_TEXT: Final = "' ' || s.title || ' ' || s.body || ' ' || s.tags || ' '"
_USE: Final = (
    "(SELECT u.last_recalled_at FROM item_use AS u WHERE u.namespace = ?1 AND u.item_id = i.id)"
    " AS last_recalled_at"
)


_BESIDE: Final = f"{owner_columns()}, {_USE}"
_WHOLE_COLUMNS: Final = f"{COLUMNS}, {_BESIDE}"
_BRIEF_COLUMNS: Final = ", ".join(
    [
        *(f"i.{name}" for name in ("seq", "id", "version", "position", "created_at", "updated_at")),
        *(f"i.{name}" for name in _BRIEF),
        _BESIDE,
    ]
)

_TEXTS_KEPT: Final = 64
"""Texts of the column `held` that are kept: one for each number of terms, rounded up, and place
among the bound values. Our choice."""


_NOTHING: Final[frozenset[str]] = frozenset()


class Match(NamedTuple):
    """An item that holds some of the terms, or that was asked for by id.

    *Shape:* `row` as it was read: most of what a recall looks at is never shown, so the whole
    record is made of it only when it is asked for. `strength` BM25, greater is better, 0 for what
    was asked for by id; `held` which of all the query's terms it holds. *Units:* `recalled_at`
    milliseconds UTC.
    """

    id: str
    row: Row
    strength: float = 0.0
    held: frozenset[str] = frozenset()
    recalled_at: int | None = None

    @property
    def seq(self) -> int:
        """The item's place in the order of making."""
        return whole(self.row["seq"])

    @property
    def changed_at(self) -> int:
        """When the item was last changed. *Units:* milliseconds UTC."""
        return whole(self.row["updated_at"])

    @property
    def record(self) -> ItemRecord:
        """The item, made anew each time; where it was read with terms, only what a brief view of it
        shows."""
        is_whole = "notes" in self.row
        return item_of(self.row, ITEMS if is_whole else _BRIEF_ITEMS)

    @property
    def texts(self) -> Mapping[str, JSON]:
        """The fields whose columns hold them as they are: texts and numbers, not lists or flags."""
        return cast("Mapping[str, JSON]", self.row)

    @property
    def tags(self) -> tuple[str, ...]:
        """The item's tags."""
        tags = self.row["tags"]
        return () if tags is None else _tags_of(str(tags))


@lru_cache(maxsize=TAGS_KEPT)
def _tags_of(listed: str) -> tuple[str, ...]:
    tags = load_json(listed)
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def frequencies_statement(namespace: Namespace, terms: Sequence[str]) -> Statement:
    """Return the statement that reads how many rows of the index hold each term, and whether other
    namespaces have items. *Promise:* reads a row for each term that is held, and one more."""
    return Statement(
        "SELECT v.term, v.doc FROM json_each(?2) AS j"
        " CROSS JOIN search_terms AS v ON v.term = j.value"
        " UNION ALL SELECT '', 1 WHERE EXISTS (SELECT 1 FROM items WHERE namespace > ?1)"
        " OR EXISTS (SELECT 1 FROM items WHERE namespace < ?1)",
        (namespace, canonical_json(list(terms))),
    )


def frequencies(rows: Sequence[Row]) -> dict[str, int]:
    """Return term → rows that hold it; terms of no row are missing."""
    return {str(row["term"]): int(str(row["doc"])) for row in rows if row["term"] != _OTHERS}


def foreign_rows(
    rows: Sequence[Row], chosen: Sequence[str], known: Mapping[str, int] = MappingProxyType({})
) -> int:
    """Return how many rows the chosen terms match at most, those of other namespaces among them,
    from the rows of `frequencies_statement`; 0 when no other namespace has items.

    *Shape:* `known` the frequencies of terms that the statement was not asked for.
    """
    documents = {str(row["term"]): int(str(row["doc"])) for row in rows}
    if _OTHERS not in documents:
        return 0
    return sum(documents.get(term, 0) or known.get(term, 0) for term in chosen)


def matches_statement(
    asked: Asked,
    chosen: Sequence[str],
    terms: Sequence[str],
    *,
    limit: int,
    tier: Tier = "asked",
    foreign: int | None = None,
) -> Statement:
    """Return the statement that reads the best matches that the query's filters let pass.

    *Shape:* rows that hold any of the `chosen` terms, by BM25, cold ones by age; each says which of
    `terms` it has, and without terms it is whole;
    `foreign` as `foreign_rows` says, None when nobody looked. It changes no answer.
    *Promise:* reads an index row for each match, and items only until `limit` of them pass.
    """
    marks = Marks(asked.namespace)
    looked_max = COLD_READ_MAX if tier == "cold" else MATCHES_READ_MAX
    # BM25 counts every row of each term of the expression, and the namespace's is in all of its
    # rows. It adds nothing to a rank; it only keeps other namespaces from using up the limit.
    is_scoped = foreign is None or foreign > looked_max
    expression = scoped_match(asked.namespace, chosen) if is_scoped else text_match(chosen)
    match = marks.add(expression)
    looked = marks.add(looked_max)
    rank = "0.0" if tier == "cold" else _RANK
    # Items are looked up in the order of the ranking, which ends at the limit.
    return Statement(
        f"SELECT {_columns(terms)}, found.rank AS rank, {_held(terms, marks)}"
        f" FROM (SELECT id, rank FROM (SELECT rowid AS id, {rank} AS rank FROM search"
        f" WHERE search MATCH {match} ORDER BY rowid DESC LIMIT {looked})"
        " ORDER BY rank, id DESC LIMIT -1) AS found"
        " CROSS JOIN items AS i ON i.seq = found.id CROSS JOIN search AS s ON s.rowid = i.seq"
        f" WHERE {_passing(asked, marks, tier)} LIMIT {marks.add(limit)}",
        marks.values,
    )


def named_statement(
    asked: Asked, ids: Sequence[str], terms: Sequence[str], *, tier: Tier = "asked"
) -> Statement:
    """Return the statement that reads those of the items by id that the filters let pass.

    *Shape:* each says which of `terms` it has, and without terms it is whole; their rank is 0.
    """
    marks = Marks(asked.namespace)
    listed = marks.many([*ids, *_filling(ids, "")])  # no item has such an id
    source = f"{listed} AS j CROSS JOIN items AS i ON i.namespace = ?1 AND i.id = j.value"
    return _listed(source, asked, terms, marks, tier)


def placed_statement(
    asked: Asked, seqs: Sequence[int], terms: Sequence[str], *, tier: Tier = "asked"
) -> Statement:
    """Return the statement that reads those of the items by their place in the order of making
    that the filters let pass. *Shape:* as `named_statement`."""
    marks = Marks(asked.namespace)
    listed = marks.many([*seqs, *_filling(seqs, 0)])  # the first item has the place 1
    source = f"{listed} AS j CROSS JOIN items AS i ON i.seq = j.value"
    return _listed(source, asked, terms, marks, tier)


def newest_statement(asked: Asked, *, limit: int) -> Statement:
    """Return the statement that reads the items that the filters let pass, the latest changed
    first. *Shape:* as `named_statement`, without terms."""
    marks = Marks(asked.namespace)
    return Statement(
        f"SELECT {_columns(())}, 0.0 AS rank, {_held((), marks)} FROM items AS i"
        f" WHERE {_passing(asked, marks, 'asked')}"
        f" ORDER BY i.updated_at DESC, i.seq DESC LIMIT {marks.add(limit)}",
        marks.values,
    )


def _filling(listed: Sequence[SqlValue], value: SqlValue) -> list[SqlValue]:
    """Return values that stand for no row and round a list up."""
    return [value] * (-len(listed) % _LISTED_STEP)


def _listed(source: str, asked: Asked, terms: Sequence[str], marks: Marks, tier: Tier) -> Statement:
    return Statement(
        f"SELECT {_columns(terms)}, 0.0 AS rank, {_held(terms, marks)}"
        f" FROM {source} CROSS JOIN search AS s ON s.rowid = i.seq"
        f" WHERE {_passing(asked, marks, tier)}",
        marks.values,
    )


def _columns(terms: Sequence[str]) -> str:
    return _BRIEF_COLUMNS if terms else _WHOLE_COLUMNS


def _held(terms: Sequence[str], marks: Marks) -> str:
    """Return the column `held`: a row's tokens, or of a long row those of the terms that it holds,
    a space before and behind each.

    The terms are one bound array that is read by place: D1 counts each row of `json_each`, and a
    sum of more than a hundred parts is too deep for it.
    """
    if not terms:
        return "'' AS held"
    return _held_sql(marks.add(canonical_json(list(terms))), -(-len(terms) // _TERMS_STEP))


@lru_cache(maxsize=_TEXTS_KEPT)
def _held_sql(listed: str, steps: int) -> str:
    parts = [
        f"CASE WHEN instr(text, ' ' || ({listed} ->> {place}) || ' ') > 0"
        f" THEN ({listed} ->> {place}) || ' ' ELSE '' END"
        # Beyond the last term there is only NULL, which no text holds.
        for place in range(steps * _TERMS_STEP)
    ]
    groups = [
        f"({' || '.join(parts[start : start + _SUMMED])})"
        for start in range(0, len(parts), _SUMMED)
    ]
    # With a limit and a condition the inner select is not merged into the outer one, so the text
    # is put together once a row, and no row is copied for it.
    text = f"SELECT {_TEXT} AS text LIMIT 1"
    long = f"(SELECT ' ' || {' || '.join(groups)} FROM ({text}) WHERE true)"
    return f"CASE WHEN length(s.body) <= {_READ_CHARS_MAX} THEN {_TEXT} ELSE {long} END AS held"


def _passing(asked: Asked, marks: Marks, tier: Tier) -> str:
    if tier == "cold":
        query = replace(asked.query, states=("archived",), current_only=False)
        cold = replace(asked, query=query)
        return " AND ".join([*conditions(cold, marks, is_matched=True), _COLD])
    passing = conditions(asked, marks, is_matched=True)
    if tier == "valid":
        passing.append(f"(i.valid_from IS NULL OR i.valid_from <= {marks.add(asked.now_ms)})")
    return " AND ".join(passing)


def matches_of(rows: Sequence[Row], terms: Sequence[str] = ()) -> tuple[list[Match], References]:
    """Return the matches from the rows of a reading statement, and what they refer to.

    *Shape:* `terms` as the statement was given them; by BM25, the newest first among equals; those
    by id in the order of the ids.
    """
    framed = [(term, f" {term} ") for term in terms]
    matches: list[Match] = []
    for row in rows:
        text = str(row["held"])
        held = [term for term, token in framed if token in text]
        matches.append(
            Match(
                str(row["id"]),
                row,
                _strength(row["rank"]),
                frozenset(held) if held else _NOTHING,
                _time(row["last_recalled_at"]),
            )
        )
    return sorted(matches, key=_weakness), references_of(rows)


def segments_statement() -> Statement:
    """Return the statement that reads the segments of the index, with their pages."""
    return Statement("SELECT segid, count(*) AS pages FROM search_idx GROUP BY segid")


def segments_of(rows: Sequence[Row]) -> dict[int, int]:
    """Return segment → pages that its terms begin on, from the rows of `segments_statement`."""
    return {whole(row["segid"]): whole(row["pages"]) for row in rows}


def merge_statement(*, is_first: bool = False) -> Statement:
    """Return the statement that merges some pages of the index's segments into one segment.

    *Shape:* the first one says that all are to be merged; the others go on with that. *Promise:*
    changes nothing that is found. *Source:* SQLite FTS5 documentation, section 6.8.
    """
    pages = -MERGED_PAGES if is_first else MERGED_PAGES
    return Statement("INSERT INTO search (search, rank) VALUES ('merge', ?)", (pages,))


def _weakness(match: Match) -> float:
    return -match.strength


def _strength(rank: SqlValue) -> float:
    return -rank if isinstance(rank, float) else -float(str(rank))


def _time(value: SqlValue) -> int | None:
    return value if isinstance(value, int) else None
