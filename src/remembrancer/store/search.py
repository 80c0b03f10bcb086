"""Full-text search over the segmented index: how common terms are, and the best matches.

Which terms are asked for and how a match is scored is `core.search`; the conditions on items are
`store.item_filters`. Nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.search.ranking import MATCHED_ROWS_MAX
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.item_filters import Asked, conditions, scoped_match
from remembrancer.store.items import COLUMNS, owner_columns, records_of
from remembrancer.store.marks import Marks

MATCHES_READ_MAX: Final = MATCHED_ROWS_MAX
"""Matches that one search looks at, the newest first: reached only when each of its terms is
common. As many as the chosen terms of other queries may have."""

TITLE_WEIGHT: Final = 4.0
TAGS_WEIGHT: Final = 2.0
BODY_WEIGHT: Final = 1.0
"""How much a term counts by where it stands; the scope word counts nothing. Our choice."""

_RANK: Final = f"bm25(search, 0.0, {TITLE_WEIGHT}, {BODY_WEIGHT}, {TAGS_WEIGHT})"


@dataclass(frozen=True, slots=True)
class Match:
    """An item that holds some of the terms.

    *Shape:* `strength` BM25, greater is better; `held` which of all the query's terms it holds.
    """

    record: ItemRecord
    strength: float
    held: frozenset[str]


def frequencies_statement(terms: Sequence[str]) -> Statement:
    """Return the statement that reads how many rows of the index hold each term."""
    return Statement(
        "SELECT v.term, v.doc FROM json_each(?1) AS j"
        " CROSS JOIN search_terms AS v ON v.term = j.value",
        (canonical_json(list(terms)),),
    )


def frequencies(rows: Sequence[Row]) -> dict[str, int]:
    """Return term → rows that hold it; terms of no row are missing."""
    return {str(row["term"]): int(str(row["doc"])) for row in rows}


def matches_statement(
    asked: Asked, chosen: Sequence[str], terms: Sequence[str], *, limit: int
) -> Statement:
    """Return the statement that reads the best matches that the query's filters let pass.

    *Shape:* rows that hold any of the `chosen` terms, by BM25; each says which of `terms` it has.
    """
    marks = Marks(asked.namespace)
    match = marks.add(scoped_match(asked.namespace, chosen))
    looked = marks.add(MATCHES_READ_MAX)
    passing = " AND ".join(conditions(asked, marks, is_matched=True))
    wanted = marks.add(canonical_json(list(terms)))
    # The index keeps tokens joined by single spaces, so a token is found between two of them.
    text = "' ' || s.title || ' ' || s.body || ' ' || s.tags || ' '"
    held = (
        f"(SELECT json_group_array(t.value) FROM json_each({wanted}) AS t"
        f" WHERE instr({text}, ' ' || t.value || ' ') > 0)"
    )
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, page.rank AS rank, {held} AS held FROM"
        " (SELECT i.seq, found.rank FROM"
        f" (SELECT rowid, {_RANK} AS rank FROM search WHERE search MATCH {match}"
        f" ORDER BY rowid DESC LIMIT {looked}) AS found"
        f" CROSS JOIN items AS i ON i.seq = found.rowid WHERE {passing}"
        f" ORDER BY found.rank, i.seq DESC LIMIT {marks.add(limit)}) AS page"
        " CROSS JOIN items AS i ON i.seq = page.seq"
        " CROSS JOIN search AS s ON s.rowid = page.seq ORDER BY page.rank, i.seq DESC",
        marks.values,
    )


def matches_of(rows: Sequence[Row]) -> tuple[list[Match], References]:
    """Return the matches from the rows of `matches_statement`, and what they refer to."""
    records, references = records_of(rows)
    return [
        Match(record, -float(str(row["rank"])), frozenset(json.loads(str(row["held"]))))
        for record, row in zip(records, rows, strict=True)
    ], references
