"""Finding the projects or topics that a slug or a name may mean, numbered slugs included.

A slug with all of its numbers is one range of an index, so a name costs the rows that there are,
not those that there might be. What is found is compared by `app.owners`.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Final

from remembrancer.core.projects.decide import spellings
from remembrancer.core.text.slugs import slug_ranges, slugify
from remembrancer.ports.sql import SqlValue
from remembrancer.store.marks import Marks

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def meant_sql(
    marks: Marks, columns: str, source: str, *, slug: str | None, name: str | None, by_name: str
) -> str:
    """Return the select of `columns` of what may be meant, as `n`; a row may come twice.

    *Shape:* `source` a table or select with the columns of projects or topics; `by_name` the hint
    that follows it where names are looked up; the name is by default the slug. *Raises:*
    InvalidInput when there is no letter or digit in what is given.
    """
    present = f"SELECT {columns} FROM {source} AS n WHERE n.namespace = ?1 AND n.state = 'active'"
    ranges = slug_ranges(slug if slug is not None else name or "")
    parts = [
        f"{present} AND n.slug >= {marks.add(first)} AND n.slug < {marks.add(end)}"
        for first, end in ranges
    ]
    if slug is not None and not any(first <= slug < end for first, end in ranges):
        parts.append(f"{present} AND n.slug = {marks.add(slug)}")
    forms = name_forms(name if name is not None else slug)
    parts.append(
        f"SELECT {columns} FROM {marks.many(forms)} AS j CROSS JOIN {source} AS n"
        f"{by_name} ON n.namespace = ?1 AND n.name = j.value COLLATE NOCASE"
        " AND n.state = 'active'"
    )
    return " UNION ALL ".join(parts)


def name_forms(name: str | None) -> list[str]:
    """Return the spellings of a name that the index of names is asked for.

    It compares Latin letters without regard to case: one spelling of them is enough.
    """
    return [*{form.translate(_LOWER): form for form in spellings(name)}.values()]


def called_sql(marks: Marks, table: str, names: Sequence[str], columns: str) -> str:
    """Return the select of `columns` of the projects or topics that are called so, as `o`, where
    none has the word for its slug.

    *Shape:* `table` projects or topics, whose names have an index; `names` with a letter or digit.
    """
    rows: list[list[SqlValue]] = [
        [form, name, slugify(name)] for name in names for form in name_forms(name)
    ]
    return (
        f"SELECT {columns} FROM {marks.rows(rows)} AS j CROSS JOIN {table} AS o"
        f" INDEXED BY {table}_name ON o.namespace = ?1 AND o.name = j.column1 COLLATE NOCASE"
        f" AND o.state = 'active' WHERE NOT EXISTS (SELECT 1 FROM {table} AS s"
        " WHERE s.namespace = ?1 AND s.state = 'active' AND s.slug IN (j.column2, j.column3))"
    )
