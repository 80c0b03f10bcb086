"""Folding: one form of a text for comparing, and the removal of what must not be stored.

`fold` is the one folding that storage and filters share; `fold_key` says when two memories are
the same text. Neither is for display: what a person typed is kept elsewhere. Any ring may import
it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SURROGATES: Final = "\ud800-\udfff"
_CONTROLS: Final = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_UNSAFE: Final = re.compile(f"[{_SURROGATES}{_CONTROLS}{_BIDI}\ufeff\ufff9-\ufffb]")
# Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties), as ranges: soft hyphen, joiners,
# fillers, variation selectors, tag characters. Invisible, so they must not make two texts differ.
_INVISIBLE: Final = re.compile(
    "["
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
_SMALL_DIGITS: Final = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_LOW_DIGITS: Final = re.compile("[\u2080-\u2089]+")
_FRACTION_AFTER_DIGIT: Final = re.compile("(?<=\\d)(?=[\u00bc-\u00be\u2150-\u215e])")

_HAN_KANA: Final = "\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_SPACE_BY_CJK: Final = re.compile(f"(?<=[{_HAN_KANA}]) | (?=[{_HAN_KANA}])")
_APOSTROPHES: Final = re.compile("[\u2018\u2019\u02bc\u201b`\u00b4]")
_PAIRED_QUOTES: Final = re.compile("[\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]")
_CLOSING: Final = re.compile("[\\s.,;:\u3001!~\u301c]+$")


def clean(text: str) -> str:
    """Returns `text` without what no store or reader should get: a safe form for display.

    Removes lone surrogates (not encodable), control characters other than white space, and
    bidirectional overrides (they make a text read otherwise than it is). Line ends become LF.
    Joiners and variation selectors stay, since emoji and some scripts need them.
    *Promise:* idempotent.
    """
    text = _UNSAFE.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def normalise(text: str) -> str:
    """Returns the NFKC form of `text` without invisible characters; case and spaces stay.

    Full-width letters, digits and punctuation become half-width. Emoji stay, joined ones as parts.
    """
    return unicodedata.normalize("NFKC", _drop_invisible(text))


def fold(text: str) -> str:
    """Returns the form in which storage and filters compare texts.

    NFKC, case folded, white space runs as one space, ends trimmed; surrogates, control, bidi and
    zero-width characters removed. Emoji, punctuation and diacritics stay.
    *Promise:* idempotent.
    *Source:* Unicode Standard 3.13, toNFKC_Casefold, plus white space.
    """
    # Case folding can undo a composition and the other way round; a second round settles it.
    return _fold_once(_fold_once(text))


def fold_key(text: str) -> str:
    """Returns the key under which two memories count as the same text.

    Beyond `fold`: closing punctuation and quotation marks go, the ideographic full stop equals
    the Latin one, and spaces beside Han and Kana go (`用 Python 写` = `用Python写`). A number, a
    unit, a question mark, a negation or an apostrophe inside a word always stays: `5'10"` is not
    `510`, `10²` not `102`, `1½` not `11/2`. A text of punctuation alone is its own key.
    *Promise:* idempotent.
    """
    # Ends soon: after the first round each one only drops quotes or closing signs.
    while (key := _fold_key_once(text)) != text:
        text = key
    return key


def _drop_invisible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub("", _UNSAFE.sub("", text))


def _fold_once(text: str) -> str:
    return " ".join(normalise(normalise(text).casefold()).split())


def _fold_key_once(text: str) -> str:
    marked = _SMALL_DIGITS.sub(lambda found: "^" + found.group(), text)
    marked = _LOW_DIGITS.sub(lambda found: "_" + found.group(), marked)
    plain = fold(_FRACTION_AFTER_DIGIT.sub(" ", marked))
    key = _APOSTROPHES.sub("'", plain).replace("\u3002", ".")
    key = _drop_quotes(key)
    key = _SPACE_BY_CJK.sub("", key)
    key = _drop_closing(" ".join(key.split()))
    return key or plain


def _drop_quotes(text: str) -> str:
    text = _PAIRED_QUOTES.sub("\u201c", text)
    if "'" not in text and '"' not in text and "\u201c" not in text:
        return text
    kept: list[str] = []
    for index, char in enumerate(text):
        if char not in "'\"\u201c":
            kept.append(char)
            continue
        before = text[index - 1] if index else " "
        after = text[index + 1] if index + 1 < len(text) else " "
        joins = before.isalnum() and after.isalnum()
        if char != "\u201c" and before.isdigit():
            # Feet, inches, minutes and years (`5'10"`, `'90's`): part of the number.
            kept.append(char)
        elif char == "'" and before.isalpha() and after.isalpha():
            kept.append(char)
        elif joins:
            kept.append(" ")
    return "".join(kept)


def _drop_closing(text: str) -> str:
    found = _CLOSING.search(text)
    if found is None:
        return text
    rest = text[: found.start()]
    # `5!` and `5~` may be a factorial or an open range.
    if rest[-1:].isdigit() and found.group()[0] in "!~":
        return text
    return rest
