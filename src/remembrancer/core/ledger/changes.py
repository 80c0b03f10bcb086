"""What an event does to one record: a set of fields with their values before and after.

Every stream is a record: an item's fields, a project's fields, all relations under their keys,
all settings under their names. Because each change carries both sides, folding, diffing, undoing
and checking for later edits are the same few lines for every stream. Absent and None are one
value. Not a diff of texts; not aware of what any field means. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.core.values import JSON

Fields = dict[str, JSON]
"""A record's present values by field name; a missing name is None."""

Changes = dict[str, tuple[JSON, JSON]]
"""Field name → (value before, value after); equal pairs are left out."""


def changes_between(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> Changes:
    """Return the fields whose values differ.

    *Shape:* only the names in `after` are looked at, so a partial `after` is an edit.
    """
    return {
        name: (before.get(name), value)
        for name, value in after.items()
        if not same(before.get(name), value)
    }


def apply_changes(fields: Mapping[str, JSON], changes: Changes) -> Fields:
    """Return the record with the changes' after-values; None removes a field."""
    result = dict(fields)
    for name, (_, value) in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def invert(changes: Changes) -> Changes:
    """Return the changes that take these back."""
    return {name: (after, before) for name, (before, after) in changes.items()}


def edited_since(fields: Mapping[str, JSON], changes: Changes) -> list[str]:
    """Return the fields that no longer hold what these changes left; empty when all do."""
    return sorted(name for name, (_, after) in changes.items() if not same(fields.get(name), after))


def same(left: JSON, right: JSON) -> bool:
    """Tell whether two JSON values are equal; unlike Python, True is not 1."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right
