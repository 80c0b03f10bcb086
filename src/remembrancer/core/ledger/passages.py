"""What says a forgotten text in other words' company: the clause or sentence that states it goes.

A verbatim quote is `redaction.py`'s. Here a passage is compared folded, and without the words for
who says it of whom: “我对花生过敏” states “用户对花生过敏”. In a message that the forgotten memory
names as its source more goes, since a model may have put it in other words. Pure; every ring may
import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

from remembrancer.core.distill.grounding import (
    NAMED_SHARE_MIN,
    SHARE_MIN,
    is_said_alike,
    nearness,
    telling_words,
)
from remembrancer.core.ledger.redaction import FORGOTTEN_TEXT, QUOTE_CHARS_MIN
from remembrancer.core.text.fold import fold, fold_key
from remembrancer.core.text.variants import other_forms, simplified
from remembrancer.core.values import JSON

STATEMENTS_MAX: Final = 45
"""Statements of a forgotten item that are looked for: a text of ten thousand characters has more
sentences, and its first ones say what it is about. Two words of each stay under the hundred values
that a statement of D1 binds."""

SHORT_CHARS_MIN: Final = 2
"""Characters of the shortest statement that is looked for, in Chinese. Our choice."""

WORDS_MAX: Final = 6
"""Words of a statement by which the store finds texts that may state it. Our choice."""

FEW: Final = 12
"""Statements up to which each is looked for by `WORDS_MAX` words, beyond it by two. As above."""

BOUND_MAX: Final = 90
"""Words that are looked for: under the hundred values that a statement of D1 binds."""

_SMALL: Final = str.maketrans({char: char.lower() for char in ascii_uppercase})
_SENTENCE: Final = re.compile(r"(?<=[。！？!?…\n])|(?<=\.)(?=\s)")
_CLAUSE: Final = re.compile(
    r"(?<=[，,；;：])|(?<=:)(?=\s)|(?=\b(?:but|and|because|so)\b)"
    r"|(?=但是|可是|不过|不過|而且|因为|因為|所以)"
)
_EDGES: Final = re.compile(
    r"^(?P<before>[\s>*#•-]*)(?P<core>.*?)(?P<after>[\s。！？!?.…，,；;：:]*)$", re.DOTALL
)
_SPEAKER: Final = re.compile(
    r"^(?:the )?user(?:'s| is| has| was| will)? "
    r"|^(?:i|you|he|she|they|we)(?:'m|'re|'s|'ve|'d|'ll| am| are| is| was| have| has)? "
    r"|^(?:my|your|his|her|their|our) "
    r"|^(?:用户|用戶|使用者|本人|我|你|您|他|她)(?:的|是)?"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A text that is forgotten, or a sentence of it. *Shape:* `cores` folded, as a whole and
    without who says it."""

    text: str
    cores: tuple[str, ...]


class Forgotten:
    """The texts of a forgotten item, and how they are taken out of others.

    *Shape:* `said` every wording that it ever had, `stated` those of them that say what it is: of
    a few characters these alone are looked for, since a step or a note of two (好的) is anybody's.
    *Promise:* the same text always loses the same passages, so what a table and its event hold
    stays equal.
    """

    def __init__(self, said: Sequence[str], stated: Sequence[str] = ()) -> None:
        self._said = [text for text in said if len(text) >= QUOTE_CHARS_MIN]
        self._statements = list(_statements(self._said))[:STATEMENTS_MAX]
        self._short = {text: core for text in stated if (core := _short_core(text))}

    @property
    def words(self) -> list[list[str]]:
        """Return groups of words: a text that states it has at least half of one of them.

        *Shape:* in small letters as the database makes them, Latin ones alone; each group in the
        other script of Chinese as well, as far as a statement binds so many values.
        """
        limit = WORDS_MAX if len(self._statements) <= FEW else 2
        groups = [_literal(one.text, limit) for one in self._statements]
        groups += [[_bare(text)] for text in self._short][: STATEMENTS_MAX - len(groups)]
        room = BOUND_MAX - sum(map(len, groups))
        for words in list(groups):
            for write in (_likeliest, _farthest):
                others = [write(word) for word in words]
                if others not in groups and len(others) <= room:
                    groups.append(others)
                    room -= len(others)
        return groups

    def states(self, text: str) -> bool:
        """Tell whether a text states what is forgotten."""
        return self.without(text) != text

    def without(self, text: str, taken: list[str] | None = None) -> str:
        """Return a text without quotes and passages that state it, a mark in their place.

        *Shape:* what goes is added to `taken`, in no order that matters.
        """
        gone = [] if taken is None else taken
        plain = "".join(self._sentence(part, gone) for part in _SENTENCE.split(text))
        for quote in sorted(set(self._said), key=len, reverse=True):
            gone += [quote] * plain.count(quote)
            plain = plain.replace(quote, FORGOTTEN_TEXT)
        return plain

    def redact(self, value: JSON, taken: list[str] | None = None) -> JSON:
        """Return a body without reasons, quotes and passages that state it. *Shape:* as above."""
        if isinstance(value, dict):
            return {
                name: FORGOTTEN_TEXT
                if name == "reason" and isinstance(part, str)
                else self.redact(part, taken)
                for name, part in value.items()
            }
        if isinstance(value, list):
            return [self.redact(part, taken) for part in value]
        return self.without(value, taken) if isinstance(value, str) else value

    def without_source(self, text: str, taken: list[str] | None = None) -> str:
        """Return a message that is a source of what is forgotten, without what it came from.

        *Shape:* as above. *Promise:* never returned as it was: where no passage is near, the
        nearest goes, and where nothing has a word of it (it was found by meaning), all of it.
        """
        out = [] if taken is None else taken
        plain = self.without(text, out)
        parts = _SENTENCE.split(plain)
        near = [self._nearness(part) for part in parts]
        gone = [index for index, (share, line) in enumerate(near) if share >= line]
        if not gone and plain == text:
            best = max((share for share, _ in near), default=0.0)
            if best <= 0:
                out.append(text)
                return FORGOTTEN_TEXT
            gone = [index for index, (share, _) in enumerate(near) if share == best]
        for index in gone:
            parts[index] = _marked(parts[index], out)
        return "".join(parts)

    def _nearness(self, part: str) -> tuple[float, float]:
        """Return the largest share of a statement that a sentence says, and what is enough."""
        best, line = 0.0, SHARE_MIN
        for one in self._statements:
            found = nearness(one.text, part)
            if found.share > best:
                enough = NAMED_SHARE_MIN if found.has_names else SHARE_MIN
                best, line = found.share, enough if found.is_complete else 1.0
        return best, line

    def _sentence(self, sentence: str, taken: list[str]) -> str:
        clauses = _CLAUSE.split(sentence)
        fresh = [_marked(part, taken) if self._is_stated(part) else part for part in clauses]
        if fresh == clauses and len(clauses) > 1 and self._is_stated(sentence):
            return _marked(sentence, taken)
        return "".join(fresh)

    def _is_stated(self, part: str) -> bool:
        if self._short and _short_core(part) in self._short.values():
            return True
        if len(part.strip()) < QUOTE_CHARS_MIN:
            return False
        key = fold_key(simplified(part))
        plain = _SPEAKER.sub("", fold(part))
        return any(
            any(_is_in(core, key) for core in one.cores) or is_said_alike(one.text, plain)
            for one in self._statements
        )


def _bare(text: str) -> str:
    """Return a clause without what stands around it and who says it, as it is written."""
    edges = _EDGES.match(text)
    return _SPEAKER.sub("", edges["core"] if edges is not None else text)


def _short_core(text: str) -> str:
    """Return what a clause of few characters says, folded, or nothing.

    Two or three of Chinese can be a whole statement (属兔). It is found where it is all that a
    clause says; as a part of one it might be anything.
    """
    core = fold_key(simplified(_bare(text)))
    is_short = SHORT_CHARS_MIN <= len(core) < QUOTE_CHARS_MIN
    return core if is_short and not any(char.isascii() for char in core) else ""


def _literal(text: str, limit: int) -> list[str]:
    """Return telling words as they stand in a text; the text where none stands there as it is."""
    small = text.translate(_SMALL)
    words = [word for word in telling_words(text, limit=2 * limit) if word in small]
    return words[:limit] or [small]


def _likeliest(word: str) -> str:
    """Return a word in the script of Chinese that it is not in, or as it is."""
    plain = simplified(word)
    return plain if plain != word else next(iter(other_forms(word)), word)


def _farthest(word: str) -> str:
    """Return a word in traditional characters where each may be one: 隻 for 只, not 只 itself."""
    plain = simplified(word)
    forms = [form for form in other_forms(plain) if form != plain]
    return max(forms, key=lambda form: sum(map(str.__ne__, form, plain)), default=word)


def _statements(said: Sequence[str]) -> Iterator[_Statement]:
    seen: set[str] = set()
    wholes = [text.strip() for text in said]
    parts = [part.strip() for text in wholes for part in _SENTENCE.split(text)]
    for text in (*wholes, *(part for part in parts if len(telling_words(part)) > 1)):
        key = fold_key(simplified(text))
        if key in seen or len(key) < QUOTE_CHARS_MIN:
            continue
        seen.add(key)
        core = fold_key(_SPEAKER.sub("", fold(simplified(text))))
        # A single word is too little to tell whether it states the whole.
        is_telling = len(core) >= QUOTE_CHARS_MIN and (" " in core or not core.isascii())
        yield _Statement(text, (key, core) if is_telling else (key,))


def _is_in(core: str, key: str) -> bool:
    """Tell whether a folded text has another in it, from word to word."""
    start = key.find(core)
    while start >= 0:
        before, after = key[start - 1 : start], key[start + len(core) : start + len(core) + 1]
        if not (_joins(before, core[0]) or _joins(core[-1], after)):
            return True
        start = key.find(core, start + 1)
    return False


def _joins(one: str, two: str) -> bool:
    """Tell whether two characters belong to one word of a script with spaces."""
    return bool(one and two) and (one + two).isascii() and one.isalnum() and two.isalnum()


def _marked(part: str, taken: list[str]) -> str:
    edges = _EDGES.match(part)
    if edges is None or not edges["core"]:
        return part
    left = edges["core"].replace(FORGOTTEN_TEXT, " ").strip()
    if left:
        taken.append(left)
    return f"{edges['before']}{FORGOTTEN_TEXT}{edges['after']}"
