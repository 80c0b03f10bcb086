"""Tokens: the form of made keys, their hash, comparison, and where a request carries one.

A token is a secret: nothing here puts one into a message. Randomness is handed in.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

from remembrancer.core.access.profiles import PROFILES, Grant
from remembrancer.core.errors import Unauthenticated

TOKEN_RANDOM_BYTES: Final = 32
"""Random bytes of one token (256 bits), so that a plain hash is enough to store it."""

TOKEN_CHARS_MAX: Final = 512
"""Characters of a token that are looked at; as an environment key's limit. Our choice."""

_TOKEN: Final = re.compile(r"rmb_[A-Za-z0-9_-]{43}")
_BEARER: Final = re.compile(r"bearer[ \t]+([!-~]+)[ \t]*", re.IGNORECASE)


def make_token(random: bytes) -> str:
    """Return `rmb_` and 43 URL-safe characters. *Shape:* `random` is `TOKEN_RANDOM_BYTES` long."""
    assert len(random) == TOKEN_RANDOM_BYTES
    return "rmb_" + base64.urlsafe_b64encode(random).rstrip(b"=").decode("ascii")


def is_token(text: str) -> bool:
    """Tell whether a text has the form of a made key, so that looking it up makes sense."""
    return _TOKEN.fullmatch(text) is not None


def hash_token(token: str) -> str:
    """Return the hex SHA-256 under which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def equal_secrets(first: str, second: str) -> bool:
    """Compare two secrets in a time that tells nothing of either, its length included."""
    return hmac.compare_digest(hash_token(first), hash_token(second))


def match_environment_key(token: str, keys: Mapping[str, str]) -> Grant | None:
    """Return the grant of the environment key that equals the token, or None.

    *Shape:* `keys` is variable → key. *Promise:* every key is compared, whichever matches.
    """
    found: Grant | None = None
    for variable, key in keys.items():
        if equal_secrets(token, key):
            found = PROFILES[variable]
    return found


def bearer_from(headers: Mapping[str, str], query_token: str | None = None) -> str | None:
    """Return the token that a request carries: bearer first, then `x-api-key`, then the query's.

    *Shape:* header names in lower case; `query_token` is None where a door does not take one.
    *Raises:* Unauthenticated for another scheme or a broken header, when nothing else is there.
    """
    authorization = headers.get("authorization")
    bearer = _BEARER.fullmatch(authorization.strip()) if authorization else None
    if bearer is not None:
        return _bounded(bearer.group(1))
    named = headers.get("x-api-key", "").strip() or (query_token or "").strip()
    if named:
        return _bounded(named)
    if authorization and authorization.strip():
        raise Unauthenticated(
            "the authorization header is not of the form 'Bearer <key>'",
            hint="send 'Authorization: Bearer <key>' or 'x-api-key: <key>'",
        )
    return None


def _bounded(token: str) -> str:
    if len(token) > TOKEN_CHARS_MAX:
        raise Unauthenticated(
            f"the key is longer than {TOKEN_CHARS_MAX} characters, so it is not one of ours",
            hint="check that the header holds the key and nothing else",
        )
    return token
