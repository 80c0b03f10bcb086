"""Secrets that are known by their label: `password: …`, `密码是…`, `--token …`.

A label with a colon or an equals sign is believed unless the value is plainly none; after “is”,
是 or a mere space the value must also look like a secret, since people write about passwords too
(“密码是必填的”). Secrets that show by their own form are `known.py`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from remembrancer.core.redact.known import Kind

_HUMAN_LABELS: Final = (
    r"password|passwd|passphrase|passcode|(?<![a-z])pwd|(?<![a-z])pin ?code"
    r"|密码|密碼|口令|pin码|pin碼"
)
_MACHINE_LABELS: Final = (
    r"(?:api|access|secret|private|account|encryption|signing|shared|master|session|bot)[ _-]?key"
    r"(?:[ _-]?id)?|apikey|secret[ _-]?access[ _-]?key|(?:client|app|webhook|shared)[ _-]?secret"
    r"|(?<![a-z])secret|(?:access|refresh|auth|bearer|session|id|csrf|bot|api)?[ _-]?token"
    r"|session[ _-]?id|(?<![a-z])cookie|credentials?|令牌|密钥|密鑰|秘钥|秘鑰|私钥|私鑰|凭证|憑證"
)
_LABEL: Final = rf"(?P<label>(?P<is_password>{_HUMAN_LABELS})|{_MACHINE_LABELS})(?![a-z])"
_VALUE: Final = r"[^\s\"'`“”‘’「」，。；、！？（）《》【】\u3400-\u9fff]"
_QUOTED: Final = r"[\"'`“‘「](?P<quoted>[^\"'`”’」\n]{3,512})(?:[\"'`”’」]|$|(?=\n))"
_STRONG: Final = (
    rf"{_LABEL}[\"'`）)\]]?\s?(?:(?:is|are|是|为|為)\s?)?(?::=|=>|[:=：＝])\s*"
    rf"(?:bearer\s+|basic\s+)?(?:{_QUOTED}|(?P<plain>{_VALUE}{{3,2048}})"
    r"|(?P<han>[\u3400-\u9fff]{2,16}))"
)
_WEAK: Final = (
    rf"{_LABEL}(?P<link>\s*(?:(?<=[a-z\s])is|was|are|是|为|為|改成|改为|改為|换成|換成|设为|設為)\s*"
    r"(?:now |set to |还是|就是)?"
    rf"|\s*)(?:{_QUOTED}|(?P<plain>(?![:=]){_VALUE}{{4,2048}}))"
)
_OPTION: Final = rf"(?<![A-Za-z0-9])--[a-z-]{{0,20}}{_LABEL}[ =](?P<plain>{_VALUE}{{3,2048}})"
_SCHEME: Final = (
    r"(?<![A-Za-z0-9])(?:bearer\s+(?=[^\s]{0,200}[0-9])(?P<plain>[A-Za-z0-9._~+/=-]{16,})"
    r"|authorization\s?[:：]\s*(?:basic|token|digest)\s+(?P<quoted>[A-Za-z0-9+/=._-]{8,}))"
)

_NO_VALUE: Final = (
    # Placeholders, references to where the value is, calls and paths.
    r"[<$%{*x.…_-]+|<.*|\$.*|\{.*|%[A-Z_]+%|\[redacted:.*|[*•●x.…]{3,}.*|your[-_ ].*|my[-_ ].*"
    r"|[A-Za-z_][\w.]*[(\[].*|os\.environ.*|process\.env.*|env\..*|secrets\..*|[/~].*|https?:.*"
)
_PLAIN_WORDS: Final = frozenset(
    """the this that a an and or not no none null nil undefined true false yes required optional
    see ask in on at from with via is are was be it its string str text int number bool bytes any
    field input type value values base64 md5 sha1 sha256 sha512 bcrypt argon2 argon2id scrypt
    pbkdf2 oauth oauth2 2fa mfa jwt totp hash hashed encrypted stored unknown empty missing expired
    invalid reset changed rotated revoked leaked manager 1password bitwarden keepass vault keychain
    icloud length minimum maximum must should can cannot may will has have wrong correct weak strong
    safe secure okay fine public private shared default same as my your our their his her todo tbd
    na n/a based auth authentication count counts limit limits budget usage window usd per
    protected free less only""".split()
)
_HAN_NO_VALUE: Final = (
    "[见見在请請忘无無没沒不要必需由和已存保放同用记記可应應是尚未长長至最应]|为空|為空|错误|錯誤|管理"
    "|安全|强度|長度|规则|規則|策略|过期|過期|失效|重置|修改|更新|输入|輸入"
)
_COUNTED: Final = re.compile(r"[0-9]{1,4}\s*[年月日位个個字次天号號种種条條]")
_SECRET_SIGN: Final = re.compile(r"[0-9]|[^\W_][!@#$%^&*+=~?]|[a-z][A-Z]")
_WEAK_DIGITS: Final = re.compile(r"[0-9]")
_TRAILING: Final = ".,;:!?)]}>"

_CORES: Final = (
    "passw", "passphrase", "passcode", "pwd", "pin code", "pincode", "pin码", "pin碼", "密码",
    "密碼", "口令", "key", "secret", "token", "session", "cookie", "credential", "令牌", "密钥",
    "密鑰", "秘钥", "秘鑰", "私钥", "私鑰", "凭证", "憑證",
)  # fmt: skip
"""What every label holds one of: a pattern is tried around these alone, since trying a label at
each character of a long text takes seconds."""
_LIKE_ASCII: Final = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
"""Letters beyond ASCII that a pattern without regard to case takes for one of it."""
_BEFORE_CORE: Final = 48
_BEHIND_CORE: Final = 8_192
"""Characters around a core that a match may reach, blanks before its value included."""

SECRET_CHARS_MIN: Final = 8
"""Characters of a key or token that a label announces. Our choice; “token: 4096” is none."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # When the first text is looked at: a start needs none of them.
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def labelled(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield start, end and kind of the secrets that a label announces; spans may overlap."""
    near = _windows(text)
    for pattern in (_OPTION, _STRONG):
        for match in _matches(pattern, text, near):
            span = _span(match)
            if span is not None and _is_believed(match, text[slice(*span)]):
                yield *span, _kind(match)
    for match in _matches(_WEAK, text, near):
        span = _span(match)
        if span is not None and _looks_secret(match, text, span):
            yield *span, _kind(match)
    for match in _compiled(_SCHEME).finditer(text):
        name = "plain" if match["plain"] is not None else "quoted"
        yield match.start(name), match.end(name), "token"


def _matches(pattern: str, text: str, windows: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    for start, end in windows:
        yield from _compiled(pattern).finditer(text, start, end)


def _windows(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a text in which a label may be, in order, none touching."""
    is_plain = text.isascii() or not any(chr(code) in text for code in _LIKE_ASCII)
    lowered = (text if is_plain else text.translate(_LIKE_ASCII)).lower()
    if len(lowered) != len(text):
        return [(0, len(text))]
    found = sorted(place for core in _CORES for place in _places(lowered, core))
    windows: list[tuple[int, int]] = []
    for place in found:
        start, end = max(0, place - _BEFORE_CORE), min(len(text), place + _BEHIND_CORE)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return windows


def _places(text: str, core: str) -> Iterator[int]:
    place = text.find(core)
    while place >= 0:
        yield place
        place = text.find(core, place + len(core))


def _kind(match: re.Match[str]) -> Kind:
    if match["is_password"] is not None:
        return "password"
    label = match["label"].lower()
    is_token = any(word in label for word in ("token", "令牌", "cookie", "session"))
    return "token" if is_token else "key"


def _span(match: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value stands, without the signs that end a sentence."""
    for name in ("quoted", "plain", "han"):
        if match.re.groupindex.get(name) and match[name] is not None:
            value = match[name]
            end = match.end(name)
            if name == "plain":
                end -= len(value) - len(value.rstrip(_TRAILING))
            return (match.start(name), end) if end > match.start(name) else None
    return None


def _is_plain(value: str) -> bool:
    return _compiled(_NO_VALUE).fullmatch(value) is not None or value.casefold() in _PLAIN_WORDS


def _is_believed(match: re.Match[str], value: str) -> bool:
    groups = match.re.groupindex
    if "quoted" in groups and match["quoted"] is not None:
        return not _is_plain(value)
    if "han" in groups and match["han"] is not None:
        return match["is_password"] is not None and _compiled(_HAN_NO_VALUE).match(value) is None
    if _is_plain(value):
        return False
    if match["is_password"] is not None:
        return True
    return len(value) >= SECRET_CHARS_MIN and _SECRET_SIGN.search(value) is not None


def _looks_secret(match: re.Match[str], text: str, span: tuple[int, int]) -> bool:
    value = text[slice(*span)]
    if _is_plain(value):
        return False
    is_linked = bool(match["link"].strip())
    if match["quoted"] is not None:
        return is_linked and (match["is_password"] is not None or " " not in value)
    if _COUNTED.match(text, span[0]) is not None:
        return False
    if match["is_password"] is None:
        # “token sk-…” shows by its form; here only what is long and mixed counts.
        return len(value) >= 2 * SECRET_CHARS_MIN and _WEAK_DIGITS.search(value) is not None
    is_han = ord(match["label"][-1]) > 0x3000
    if is_han and is_linked:
        return value.isascii()
    if is_linked:
        return _SECRET_SIGN.search(value) is not None
    has_letter = any(char.isalpha() for char in value)
    return _WEAK_DIGITS.search(value) is not None and (is_han or has_letter or len(value) >= 6)
