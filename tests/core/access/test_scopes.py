"""Scopes and the profiles of the environment's keys."""

from __future__ import annotations

import pytest

from remembrancer.core.access.profiles import OWNER_KEY, PROFILES
from remembrancer.core.access.scopes import SCOPE_MEANINGS, SCOPES, parse_scopes
from remembrancer.core.errors import InvalidInput


def test_scopes_every_one_has_a_meaning() -> None:
    assert tuple(SCOPE_MEANINGS) == SCOPES


def test_parse_scopes_orders_and_removes_repetition() -> None:
    assert parse_scopes(["admin", "memory:read", "admin"]) == ("memory:read", "admin")


@pytest.mark.parametrize(
    "names",
    [[], ["memory"], ["memory:read", "记忆"], ["*"], ["ADMIN"]],
    ids=["none", "half", "chinese", "star", "case"],
)
def test_parse_scopes_unknown_or_empty_is_invalid_and_lists_them(names: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_scopes(names)
    assert caught.value.field == "scopes"
    assert "memory:read" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("variable", "scopes"),
    [
        (OWNER_KEY, set(SCOPES)),
        ("IM_API_KEY", {"chat:proxy", "memory:read", "memory:write", "cache:read"}),
        ("DEBUG_API_KEY", set(SCOPES)),
        ("MEMORY_MCP_API_KEY", {"memory:read", "memory:write", "export:read"}),
        ("GUIDE_DOG_API_KEY", {"chat:proxy"}),
    ],
)
def test_profiles_grant_the_scopes_of_the_seed(variable: str, scopes: set[str]) -> None:
    grant = PROFILES[variable]
    assert grant.scopes == scopes
    assert grant.namespace == "default"
    assert grant.key_id == variable
