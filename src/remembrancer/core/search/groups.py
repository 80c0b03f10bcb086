"""Groups of items that share tags, and how those of a group may be brought together.

Pure: which items share a tag is read by the store. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from remembrancer.core.text.fold import fold_key

Relationship = Literal["duplicate_of", "supersedes", "replaces", "derived_from"]

RELATIONSHIPS: Final = ("duplicate_of", "supersedes", "replaces", "derived_from")
"""Types by which items are consolidated. Source: the predecessor's schema."""

MEMBERS_MAX: Final = 25
"""Items of one group that are shown, the newest first. Our choice."""


@dataclass(frozen=True, slots=True)
class Member:
    """An item as far as grouping needs it. *Shape:* `tags` key → spelling."""

    id: str
    title: str
    state: str
    updated_at: int
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Group:
    """Items that share tags.

    *Shape:* `tags` all that all members share, by key; `members` the newest first; the first
    active one is the `keeper`.
    """

    tags: Sequence[str]
    members: Sequence[Member]

    @property
    def keeper(self) -> Member:
        """The member that would stay."""
        return next((one for one in self.members if one.state == "active"), self.members[0])


def groups_of(members: Sequence[Member], *, size_min: int, tag: str | None = None) -> list[Group]:
    """Return the groups, the largest first, then those that share most.

    *Shape:* `tag` wants only the group of that key. *Promise:* two items are together in one
    group at most, with all tags that the group shares; deterministic.
    """
    by_tag: dict[str, list[Member]] = {}
    for member in sorted(members, key=lambda one: (-one.updated_at, one.id)):
        for key in member.tags:
            by_tag.setdefault(key, []).append(member)
    wanted = by_tag.values() if tag is None else [by_tag.get(tag, [])]
    distinct = {tuple(one.id for one in group): group for group in wanted}
    groups = [_group(group[:MEMBERS_MAX]) for group in distinct.values() if len(group) >= size_min]
    groups.sort(key=_rank)
    seen: set[tuple[str, str]] = set()
    kept = [_group(left) for left in (_unseen(group, seen) for group in groups) if left]
    return sorted((group for group in kept if len(group.members) >= size_min), key=_rank)


def _group(members: Sequence[Member]) -> Group:
    shared = set.intersection(*(set(one.tags) for one in members))
    return Group(sorted(shared), members)


def _rank(group: Group) -> tuple[int, int, Sequence[str], str]:
    return (-len(group.members), -len(group.tags), group.tags, group.members[0].id)


def _unseen(group: Group, seen: set[tuple[str, str]]) -> list[Member]:
    """Return the members of which no two were together before, and note them."""
    left: list[Member] = []
    for member in group.members:
        if all(_pair(member, other) not in seen for other in left):
            left.append(member)
    if len(left) < 2:
        return []
    seen.update(_pair(one, two) for one, two in combinations(left, 2))
    return left


def _pair(one: Member, two: Member) -> tuple[str, str]:
    return (one.id, two.id) if one.id < two.id else (two.id, one.id)


def suggested_relationship(group: Group) -> Relationship:
    """Return how to bring the group together.

    The same title everywhere: duplicates; the newest active and the oldest dormant: the newest
    replaces; else it supersedes. *Source:* the predecessor's rule.
    """
    if len({fold_key(one.title) for one in group.members}) == 1:
        return "duplicate_of"
    if group.members[0].state == "active" and group.members[-1].state == "dormant":
        return "replaces"
    return "supersedes"
