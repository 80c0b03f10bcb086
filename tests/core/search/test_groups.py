"""Groups of items by shared tags: no pair twice, all shared tags, rules of the relationship."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.search.groups import (
    MEMBERS_MAX,
    Group,
    Member,
    groups_of,
    suggested_relationship,
)


def member(
    name: str, tags: str = "", *, title: str | None = None, state: str = "active", at: int = 0
) -> Member:
    return Member(name, title or name, state, at, {tag: tag.upper() for tag in tags.split()})


def shape(groups: list[Group]) -> list[tuple[str, str]]:
    return [(" ".join(group.tags), "".join(one.id for one in group.members)) for group in groups]


def test_pair_that_shares_three_tags_is_one_group_with_all_of_them() -> None:
    assert shape(groups_of([member("a", "x y z"), member("b", "z y x w")], size_min=2)) == [
        ("x y z", "ab")
    ]


def test_group_inside_a_larger_one_is_not_reported_again() -> None:
    members = [member("a", "x y"), member("b", "x y"), member("c", "x")]
    assert shape(groups_of(members, size_min=2)) == [("x", "abc")]


def test_groups_that_overlap_share_no_pair() -> None:
    members = [member("a", "x"), member("b", "x y"), member("c", "x y"), member("d", "y")]
    assert shape(groups_of(members, size_min=2)) == [("x", "abc"), ("y", "bd")]


def test_groups_come_largest_first_and_members_newest_first() -> None:
    members = [
        member("a", "x", at=1),
        member("b", "x", at=3),
        member("c", "家 v", at=5),
        member("d", "家 v", at=2),
        member("e", "家", at=9),
        member("f", "u w"),
        member("g", "u w"),
        member("h", "lonely"),
    ]
    assert shape(groups_of(members, size_min=2)) == [("家", "ecd"), ("u w", "fg"), ("x", "ba")]
    assert shape(groups_of(members, size_min=3)) == [("家", "ecd")]
    assert shape(groups_of(members, size_min=2, tag="v")) == [("v 家", "cd")]
    assert groups_of(members, size_min=2, tag="lonely") == []
    assert groups_of([], size_min=2, tag="none") == []


def test_group_is_cut_to_its_newest_members() -> None:
    members = [member(f"m{number:03}", "x", at=number) for number in range(MEMBERS_MAX + 5)]
    [group] = groups_of(members, size_min=2)
    assert len(group.members) == MEMBERS_MAX
    assert group.members[0].id == f"m{MEMBERS_MAX + 4:03}"


@given(
    st.lists(
        st.builds(
            lambda number, tags, at: member(f"m{number}", " ".join(sorted(tags)), at=at),
            st.integers(0, 99),
            st.sets(st.sampled_from("uvwxyz")),
            st.integers(0, 3),
        ),
        unique_by=lambda one: one.id,
    )
)
def test_no_two_items_are_together_twice_and_all_share_the_tags(members: list[Member]) -> None:
    groups = groups_of(members, size_min=2)
    seen: set[frozenset[str]] = set()
    for group in groups:
        assert group.tags
        for one, two in combinations(group.members, 2):
            assert set(group.tags) <= set(one.tags) & set(two.tags)
            pair = frozenset((one.id, two.id))
            assert pair not in seen
            seen.add(pair)
    assert groups == groups_of(members[::-1], size_min=2)


@pytest.mark.parametrize(
    ("members", "relationship", "keeper"),
    [
        ([member("a", title="Same"), member("b", title="same.")], "duplicate_of", "a"),
        ([member("a"), member("b", state="dormant")], "replaces", "a"),
        ([member("a"), member("b", state="dormant"), member("c")], "supersedes", "a"),
        ([member("a", state="dormant"), member("b")], "supersedes", "b"),
        ([member("a", state="dormant"), member("b", state="dormant")], "supersedes", "a"),
    ],
    ids=["duplicates", "replaces", "mixed", "dormant-newest", "all-dormant"],
)
def test_relationship_follows_titles_and_states(
    members: list[Member], relationship: str, keeper: str
) -> None:
    group = Group(["x"], members)
    assert suggested_relationship(group) == relationship
    assert group.keeper.id == keeper
