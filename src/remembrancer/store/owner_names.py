"""Finding the projects or topics that a slug or a name may mean, numbered slugs included.

A slug with all of its numbers is one range of an index, so a name costs the rows that there are,
not those that there might be. What is found is compared by `app.owners`.
"""

from __future__ import annotations

import string
from typing import Final

from remembrancer.core.projects.decide import spellings
from remembrancer.core.text.slugs import slug_ranges
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
    # The index compares Latin letters without regard to case: one spelling of them is enough.
    forms = spellings(name if name is not None else slug)
    names = {form.translate(_LOWER): form for form in forms}
    parts.append(
        f"SELECT {columns} FROM {marks.many([*names.values()])} AS j CROSS JOIN {source} AS n"
        f"{by_name} ON n.namespace = ?1 AND n.name = j.value COLLATE NOCASE"
        " AND n.state = 'active'"
    )
    return " UNION ALL ".join(parts)
