"""Tokens: form, hash, comparison, and where a request carries one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.access.tokens import (
    TOKEN_CHARS_MAX,
    bearer_from,
    equal_secrets,
    hash_token,
    is_token,
    make_token,
    match_environment_key,
)
from remembrancer.core.errors import Unauthenticated


@given(st.binary(min_size=32, max_size=32))
def test_make_token_any_bytes_give_the_documented_form(random: bytes) -> None:
    token = make_token(random)
    assert is_token(token)
    assert len(token) == 47
    assert len(hash_token(token)) == 64


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_make_token_different_bytes_give_different_tokens(one: bytes, two: bytes) -> None:
    assert (make_token(one) == make_token(two)) == (one == two)


@pytest.mark.parametrize(
    "text", ["", "rmb_", "rmb_" + "a" * 42, "rmb_" + "a" * 44, "rmb_" + "é" * 43, "xyz_" + "a" * 43]
)
def test_is_token_other_text_is_not_one(text: str) -> None:
    assert not is_token(text)


@given(st.text(), st.text())
def test_equal_secrets_agrees_with_equality(one: str, two: str) -> None:
    assert equal_secrets(one, two) == (one == two)
    assert equal_secrets(one, one)


def test_match_environment_key_finds_its_profile_or_none() -> None:
    keys = {"CHATBOX_API_KEY": "owner-key", "GUIDE_DOG_API_KEY": "dog-key"}
    owner = match_environment_key("owner-key", keys)
    dog = match_environment_key("dog-key", keys)
    assert owner is not None
    assert owner.key_id == "CHATBOX_API_KEY"
    assert dog is not None
    assert dog.scopes == {"chat:proxy"}
    assert match_environment_key("Owner-key", keys) is None
    assert match_environment_key("", {}) is None


@pytest.mark.parametrize(
    ("headers", "query", "token"),
    [
        ({"authorization": "Bearer abc"}, None, "abc"),
        ({"authorization": "bearer  abc "}, None, "abc"),
        ({"authorization": "Bearer abc", "x-api-key": "def"}, "ghi", "abc"),
        ({"x-api-key": "def"}, "ghi", "def"),
        ({"x-api-key": " "}, "ghi", "ghi"),
        ({}, "ghi", "ghi"),
        ({"authorization": "Basic dXNlcg=="}, "ghi", "ghi"),
        ({"authorization": ""}, None, None),
        ({}, None, None),
        ({}, "", None),
    ],
)
def test_bearer_from_takes_header_first_then_query(
    headers: dict[str, str], query: str | None, token: str | None
) -> None:
    assert bearer_from(headers, query) == token


@pytest.mark.parametrize("value", ["Basic dXNlcg==", "Bearer", "Bearer two words", "token 密钥"])
def test_bearer_from_other_scheme_alone_is_unauthenticated_without_echo(value: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        bearer_from({"authorization": value})
    assert value.rsplit(maxsplit=1)[-1] not in caught.value.message.replace("Bearer <key>", "")
    assert "Bearer <key>" in (caught.value.hint or "")


def test_bearer_from_too_long_key_is_unauthenticated() -> None:
    assert bearer_from({"x-api-key": "a" * TOKEN_CHARS_MAX}) == "a" * TOKEN_CHARS_MAX
    with pytest.raises(Unauthenticated):
        bearer_from({"x-api-key": "a" * (TOKEN_CHARS_MAX + 1)})


@given(st.dictionaries(st.sampled_from(["authorization", "x-api-key"]), st.text(max_size=60)))
def test_bearer_from_any_header_gives_a_token_or_unauthenticated(headers: dict[str, str]) -> None:
    try:
        token = bearer_from(headers)
    except Unauthenticated:
        token = None
    assert token is None or 0 < len(token) <= TOKEN_CHARS_MAX
