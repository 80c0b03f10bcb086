"""Secrets that are known by their own form: keys and tokens with a maker's prefix, private keys,
connection strings, and long random words without any prefix.

A letter or digit beside a secret is part of it, a Chinese character never is. Hashes of commits
and files, UUIDs and our own ids are no secrets and stay. What is secret only because a label says
so is `labelled.py`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, Literal

Kind = Literal["key", "token", "password", "private_key", "connection", "text"]
"""What a redacted secret was; `text` stands for a whole text that could not be made safe."""

_LEFT: Final = r"(?<![A-Za-z0-9])"
_LEFT_OF_WORD: Final = r"(?<![A-Za-z0-9_/.+-])"
_DIGIT_AHEAD: Final = r"(?=[A-Za-z_-]{0,80}[0-9])"

_KEYS: Final = (
    # Model providers: OpenAI, Anthropic, OpenRouter and all who copied their prefix.
    rf"sk-{_DIGIT_AHEAD}[A-Za-z0-9_-]{{16,}}",
    r"(?:gsk|r8|hf|tvly|pplx|nvapi|xai|fw|csk|jina|ntn|secret)[_-][A-Za-z0-9]{20,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])",
    # Clouds.
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r"LTAI[A-Za-z0-9]{12,}",
    r"AKID[A-Za-z0-9]{13,}",
    r"do[opr]_v1_[0-9a-f]{40,}",
    # Payment, mail, messages.
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"key-[0-9a-f]{32}(?![0-9a-f])",
    r"SK[0-9a-f]{32}(?![0-9a-f])",
    # Our own.
    r"rmb_[A-Za-z0-9_-]{20,}",
)
_TOKENS: Final = (
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"dckr_pat_[A-Za-z0-9_-]{16,}",
    r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}",
    r"(?:lin_api|figd|sntrys|PMAK)[_-][A-Za-z0-9_=-]{20,}",
    r"ATATT3[A-Za-z0-9_=-]{20,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"EAA[A-Za-z0-9]{40,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    # A JSON Web Token: its first two parts are JSON objects in base64.
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
)
_HOOKS: Final = (
    r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
    r"https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}",
    r"https://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[A-Za-z0-9-]{20,}",
    r"https://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[A-Za-z0-9-]{20,}",
)
_PRIVATE_KEY: Final = (
    # A key whose end was cut off goes to the end of the text: better too much than a part.
    r"-----BEGIN (?P<name>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:(?!-----END ).)*-----END (?P=name)-----|.*)"
    r"|PuTTY-User-Key-File-[0-9].*"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{50,}"
)
_URL_STOP: Final = "\\s\"'<>`\\u3000-\\u303f\\u3400-\\u9fff\\uff01-\\uffee"
_CONNECTION: Final = (
    # Databases and brokers: a password may hold anything but white space.
    r"(?<![A-Za-z0-9+.-])(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|mongodb|rediss?"
    r"|amqps?|nats|clickhouse|cockroachdb|kafka|ldaps?|s?ftp|ssh|smtps?|imaps?|mqtts?|jdbc:[a-z]+)"
    rf"(?:\+[a-z0-9_]{{1,20}})?://[^{_URL_STOP}:/@]{{0,128}}:[^{_URL_STOP}]{{1,256}}@[^{_URL_STOP},;)]+"
    # Any other address with a name and a password in it.
    r"|(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://"
    rf"[^{_URL_STOP}:/@]{{1,128}}:[^{_URL_STOP}/@]{{1,256}}@[^{_URL_STOP},;)]+"
)
_RANDOM: Final = (
    # 40 characters of base64 may hold its signs; any other run may be as long as it likes.
    rf"{_LEFT_OF_WORD}(?:[A-Za-z0-9_-]{{32,}}={{0,2}}(?![A-Za-z0-9_/.+=-])"
    r"|[A-Za-z0-9/+]{40}(?![A-Za-z0-9_/.+=-]))"
)
_CHUNK: Final = re.compile(r"[!-~]{11,}")
"""Where a key or token may be: none has a blank or a letter beyond ASCII, or is shorter than a
JSON Web Token's first part."""
_DIGIT_RUNS: Final = re.compile("[0-9]+")

RANDOM_DIGIT_RUNS_MIN: Final = 3
"""Runs of digits in a word that counts as random. Our choice: 32 random characters of base 62
have five on average, an identifier of a program seldom more than one."""

RANDOM_CASE_MIN: Final = 4
"""Capital and small letters each, in a word that counts as random. Hashes in hexadecimal and ids
in capitals have only one of both, and are no secrets."""


def is_random(word: str) -> bool:
    """Tell whether a long word looks drawn by lot rather than written."""
    return (
        len(_DIGIT_RUNS.findall(word)) >= RANDOM_DIGIT_RUNS_MIN
        and sum(char.isupper() for char in word) >= RANDOM_CASE_MIN
        and sum(char.islower() for char in word) >= RANDOM_CASE_MIN
    )


@cache
def forms() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """Return kind and form; the earlier one counts where two meet.

    *Promise:* compiled once, when the first text is looked at: a start needs none of it.
    """
    tokens = "|".join([*(f"{_LEFT}{form}" for form in _TOKENS), *_HOOKS])
    keys = "|".join(f"{_LEFT}{form}" for form in _KEYS)
    return (
        ("private_key", re.compile(_PRIVATE_KEY, re.DOTALL)),
        ("connection", re.compile(_CONNECTION, re.IGNORECASE)),
        ("token", re.compile(tokens)),
        ("key", re.compile(keys)),
    )


def known_forms(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield start, end and kind of what is a secret by its form; where they meet, the surer first.

    A long text is mostly words: what they cannot be is not looked for at each character.
    """
    chunks = [found.span() for found in _CHUNK.finditer(text)]
    for kind, pattern in forms():
        if kind in ("token", "key"):
            spans = chunks
        elif kind == "private_key" or "://" in text:
            spans = [(0, len(text))]
        else:
            spans = []
        for start, end in spans:
            for match in pattern.finditer(text, start, end):
                yield *match.span(), kind


@cache
def _random() -> re.Pattern[str]:
    return re.compile(_RANDOM)


def random_words(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield start, end and kind of long words without a known form that look random."""
    for match in _random().finditer(text):
        if is_random(match.group()):
            yield match.start(), match.end(), "key"
