"""Whether a statement stands on what was said: its numbers, names and words, against the source.

A distilling model rewrites (“I moved to Lisbon” → “The user lives in Lisbon”), so the words that
frame a fact do not count; every number and name must be there, and most of what else it says. It
measures texts; meaning comes in as a cosine. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from remembrancer.core.dates.numerals import ENGLISH_WORD_NUMBER, english_number, han_number
from remembrancer.core.distill.slices import Slice, slices_of
from remembrancer.core.search.likeness import compare, gist_of
from remembrancer.core.text.fold import fold, fold_key, normalise
from remembrancer.core.text.scripts import LETTER, UNSPACED, classes_of
from remembrancer.core.text.segment import index_terms, query_terms
from remembrancer.core.text.stems import stem
from remembrancer.core.text.stopwords import ENGLISH
from remembrancer.core.text.variants import simplified

GROWN_CHARS_MIN: Final = 5
"""Characters from which a word counts as the shorter form of a name. Our choice: first names that
begin alike are shorter."""

Verdict = Literal["grounded", "reversed", "far", "invented"]
"""`reversed`: as the source, but for a negation; `far`: the words do not say it, the meaning may;
`invented`: a number, a name or the language is not the source's."""

SHARE_MIN: Final = 0.5
"""Share of what a fact says that its source must say. Our choice, found with `scripts/bench
distill`: a fact about something else shares at most a third."""

NAMED_SHARE_MIN: Final = 0.3
"""The same where a name or number of the fact is in the source. Our choice."""

MEANING_SHARE_MIN: Final = 0.15
"""Share below which no meaning helps: “lives in Berlin” is near “moved to Lisbon” in meaning, and
where no capital letter marks a name nothing else tells them apart. Our choice."""

MEANING_MIN: Final = 0.6
"""Cosine from which a fact that shares too few words still is its source's. Our choice; above what
unrelated turns of one conversation have with the encoder that comes along."""

_FRAME: Final = frozenset(
    """
    user users person speaker people someone they he she we who name named called calls call goes
    like likes liked love loves enjoy enjoys prefer prefers preferred preference hate hates dislike
    dislikes live lives lived living reside resides work works working job occupation want wants
    plan plans planned planning need needs currently current now always usually often favorite
    favourite interested interest has have had having own owns got get gets say says said mention
    mentions mentioned tell told think thinks believe believes feel feels fact about also recently
    not no never don dont doesn doesnt isn isnt longer anymore
    """.split()
)
_FRAME_ZH: Final = re.compile(
    "用户|用戶|使用者|本人|对方|對方|名字|姓名|喜欢|喜歡|偏好|爱好|愛好|讨厌|討厭|住在|居住|居住地|目前|现在|現在|"
    "正在|打算|计划|計劃|希望|想要|叫做|名叫|职业|職業|从事|從事|工作|认为|認為|表示|提到|经常|經常|总是|總是|"
    "通常|最近|自己|一个|一個|一些|没有|沒有|不再|不是|不要|这个|這個|那个|那個|以及|或者|因为|因為|所以|但是|"
    "[我你他她它们們的是在有了和与與也很会會要对對叫去到把被给給让讓为為于於从從就都还還将將会会着过過地得之及等并並且其中上下里裡不没沒别別吗嗎呢吧啊呀哦嘛]"
)
_SPEAKER_ZH: Final = re.compile("用户|用戶|使用者|本人|[我的了]")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_HAN_NUMERALS: Final = re.compile("[零〇一二两三四五六七八九十廿卅百]+")
_COUNTED_HAN: Final = re.compile(
    r"[零〇一二两三四五六七八九十廿卅百]+(?=[个只条张本杯次天年月日号岁点分秒周块元斤里米楼层室位口间辆台部件双顿瓶包份"
    r"所页集期届级段折])|(?<=[周第])[二三四五六]|(?<=星期|礼拜)[二三四五六]"
)
"""Numerals that count something, or name a day of the week."""
_COUNTED_EN: Final = re.compile(rf"\b{ENGLISH_WORD_NUMBER}\b")
_VERY: Final = re.compile("十分(?!钟)|百分之")
_TWO_OR_SO: Final = {
    "twice": 2, "couple": 2, "pair": 2, "both": 2, "twin": 2, "double": 2, "dozen": 12,
    "俩": 2, "双": 2, "仨": 3,
}  # fmt: skip
"""What a source may say for a number that a fact counts with."""
_WORD_NUMBERS: Final = re.compile(r"[a-z]+(?:[- ][a-z]+)?")
_NAME: Final = re.compile(
    r"(?<=[\w,;:)’'\"] )[A-Z][\w'’-]*\w|\b[A-Za-z]*[a-z][A-Z]\w*|\b[A-Z]{2,}\w*|\b[A-Za-z]+\d\w*"
)
_QUOTED: Final = re.compile('[“「『《"]([^”」』》"\n]{1,60})[”」』》"]')
_PLAIN_CAPITALS: Final = frozenset("i i'm i've i'll i'd ok ai tv pm am".split())
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n['’]t|stopped|quit|hates?|dislikes?"
    r"|avoids?|refuses?)\b"
    r"|没有|沒有|不再|从不|從不|不要|不喜|不吃|不喝|不能|不会|不會|不想|不是|不爱|不愛|讨厌|討厭|没|沒|别|別"
)


_CLAUSE: Final = re.compile(
    r"[.!?;,\n]\s|[。！？；，、\n]|\b(?:but|and)\b|但是?|可是|不过|不過|而且"
)


@dataclass(frozen=True, slots=True)
class Nearness:
    """How a statement stands to a source.

    *Shape:* `share` 0…1 of what the statement says; `has_names`: it has names or numbers, and
    `is_complete` that the source has them all.
    """

    share: float
    has_names: bool
    is_complete: bool
    is_same_script: bool
    is_same_polarity: bool


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of a source. *Shape:* `terms` of the index, `chars` of scripts without spaces."""

    folded: str
    terms: frozenset[str]
    chars: frozenset[str]


@dataclass(frozen=True, slots=True)
class Source:
    """Texts that statements are held against, taken apart once.

    *Shape:* `texts` of each the stretches that words are looked for in, one after another;
    `clauses` with whether each is denied; `letters` and `unspaced` characters of either class.
    """

    folded: str
    terms: frozenset[str]
    numbers: frozenset[str]
    texts: tuple[tuple[_Stretch, ...], ...]
    clauses: tuple[tuple[_Stretch, bool], ...]
    letters: int
    unspaced: int


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a statement says beside its frame. *Shape:* a Latin word counts two, a Han character
    one."""

    text: str
    words: frozenset[str]
    chars: frozenset[str]

    def share(self, terms: Set[str], chars: Set[str], folded: str) -> float:
        """Return how much of it there is among these."""
        total = 2 * len(self.words) + len(self.chars)
        if not total:
            # Nothing but words that frame: said so, or not at all.
            return float(bool(fold(self.text)) and fold_key(self.text) in folded)
        shared = 2 * sum(
            word in terms or stem(word) in terms or (word.isdigit() and word.lstrip("0") in terms)
            for word in self.words
        )
        return (shared + len(self.chars & chars)) / total


def source_of(text: str, *, chars_max: int | None = None) -> Source:
    """Return a text as a source.

    *Shape:* the words of a statement stand together in it within so many characters, anywhere
    without a bound: a long text has most words somewhere. Names and numbers may be anywhere.
    """
    text = simplified(text)
    spans = [Slice(0, len(text))] if chars_max is None else slices_of(text, chars_max=chars_max)
    stretches = tuple(_stretch(text[span.start : span.end]) for span in spans)
    parts = [part for part in _CLAUSE.split(text) if part.strip()] or [text]
    classes = classes_of(text)
    return Source(
        folded=fold(text),
        terms=frozenset(index_terms(text).split()),
        numbers=frozenset(_numbers(text) | _worded_numbers(text)),
        texts=(stretches,),
        clauses=tuple((_stretch(part), _is_denied(part)) for part in parts),
        letters=classes.count(LETTER),
        unspaced=classes.count(UNSPACED),
    )


def together(sources: Sequence[Source]) -> Source:
    """Return several sources as one: a statement may be put together of all of them."""
    return Source(
        folded="\n".join(one.folded for one in sources),
        terms=frozenset().union(*(one.terms for one in sources)),
        numbers=frozenset().union(*(one.numbers for one in sources)),
        texts=tuple(text for one in sources for text in one.texts),
        clauses=tuple(clause for one in sources for clause in one.clauses),
        letters=sum(one.letters for one in sources),
        unspaced=sum(one.unspaced for one in sources),
    )


def _stretch(text: str) -> _Stretch:
    chars = _content_chars(text) | {char for char in text if char >= "\u3400"}
    return _Stretch(fold(text), frozenset(index_terms(text).split()), frozenset(chars))


def nearness(statement: str, source: str | Source) -> Nearness:
    """Return how near a statement is to what it is said to come from.

    *Shape:* both scripts of Chinese are one. *Promise:* never raises.
    """
    known = source_of(source) if isinstance(source, str) else source
    text = simplified(statement)
    said = _Statement(text, frozenset(_content_words(text)), frozenset(_content_chars(text)))
    wanted = _numbers(text) | _counted(text)
    names = _names(text)
    named = {name for name in names if not _is_in(name, known.folded, known.terms)}
    return Nearness(
        share=_share(said, known),
        has_names=bool(names or wanted),
        is_complete=not named and wanted <= known.numbers,
        is_same_script=_is_same_script(text, known),
        is_same_polarity=_is_same_polarity(said, known),
    )


def judge(statement: str, source: str | Source, *, cosine: float | None = None) -> Verdict:
    """Return whether a statement stands on its source.

    *Shape:* `cosine` where an embedder compared the two; it can make up for other words, never
    for a missing number or name. *Source:* DESIGN section 8.
    """
    found = nearness(statement, source)
    if not (found.is_complete and found.is_same_script):
        return "invented"
    line = NAMED_SHARE_MIN if found.has_names else SHARE_MIN
    is_near = cosine is not None and cosine >= MEANING_MIN and found.share >= MEANING_SHARE_MIN
    if found.share < line and not is_near:
        return "far"
    return "grounded" if found.is_same_polarity else "reversed"


def _share(said: _Statement, source: Source) -> float:
    """Return how much of a statement there is in the stretch of each text that has most of it."""
    terms, chars = set(source.numbers), set[str]()
    for text in source.texts:
        near = max(text, key=lambda one: said.share(one.terms, one.chars, one.folded))
        terms |= near.terms
        chars |= near.chars
    return said.share(terms, chars, source.folded)


def _is_same_polarity(said: _Statement, source: Source) -> bool:
    """Tell whether one of the clauses that a statement is nearest to is denied as it is."""
    shares = [said.share(one.terms, one.chars, one.folded) for one, _ in source.clauses]
    best, is_denied = max(shares), _is_denied(said.text)
    return any(
        share == best and denied == is_denied
        for share, (_, denied) in zip(shares, source.clauses, strict=True)
    )


def _is_denied(text: str) -> bool:
    return bool(_NEGATION.search(fold(text)))


def telling_words(text: str, *, limit: int = 8) -> list[str]:
    """Return the words without which a text would say something else, the most telling first.

    *Shape:* tokens of the index; words that only frame a fact go while others remain.
    """
    terms = query_terms(text, limit=4 * limit)
    full = [term.text for term in terms if term.weight >= 1 and term.kind != "unigram"]
    kept = [word for word in full if word not in frame_words()]
    return (kept or full or [term.text for term in terms])[:limit]


def is_said_alike(one: str, two: str, *, share_min: float = 0.9) -> bool:
    """Tell whether two statements say the same but for who says it of whom.

    *Promise:* another number, date or negation, or another verb, makes them two; another script of
    Chinese does not.
    """
    one, two = simplified(one), simplified(two)
    if compare(gist_of(one), gist_of(two)).differences:
        return False
    mine, theirs = _said(one), _said(two)
    total = len(mine) + len(theirs)
    return bool(total) and 2 * len(mine & theirs) / total >= share_min


def _said(text: str) -> set[str]:
    plain = _SPEAKER_ZH.sub(" ", text)
    classes = classes_of(plain)
    latin = "".join(
        char if kind != UNSPACED else " " for char, kind in zip(plain, classes, strict=True)
    )
    words = {stem(word) for word in index_terms(latin).split() if word not in ENGLISH}
    han = {char for char, kind in zip(plain, classes, strict=True) if kind == UNSPACED}
    return (words - {"user"}) | han


def _content_words(text: str) -> set[str]:
    classes = classes_of(text)
    latin = "".join(
        char if kind != UNSPACED else " " for char, kind in zip(text, classes, strict=True)
    )
    words = {word for word in index_terms(latin).split() if len(word) > 1 or word.isdigit()}
    # A word stands once, by its stem.
    return {stem(word) for word in words if word not in ENGLISH} - frame_words()


@cache
def frame_words() -> frozenset[str]:
    """Return the words that only frame a fact, with their stems."""
    return _FRAME | {stem(word) for word in _FRAME}


def _content_chars(text: str) -> set[str]:
    plain = _FRAME_ZH.sub(" ", text)
    return {char for char, kind in zip(plain, classes_of(plain), strict=True) if kind == UNSPACED}


def _numbers(text: str) -> set[str]:
    plain = normalise(text)
    found = {match.group() for match in _NUMBER.finditer(plain)}
    parts = (part for number in found for part in re.split(r"[:/-]", number.replace(",", "")))
    return {part.lstrip("0") or "0" for part in parts}


def _worded_numbers(text: str) -> set[str]:
    """Return the numbers that a source writes in words: a fact may write them in digits."""
    plain = fold(text)
    found = {han_number(match.group()) for match in _HAN_NUMERALS.finditer(plain)}
    found |= {
        english_number(word)
        for match in _WORD_NUMBERS.finditer(plain)
        for word in (match.group(), *match.group().split())
    }
    found |= {number for word, number in _TWO_OR_SO.items() if word in plain}
    return {str(number) for number in found if number is not None}


def _counted(statement: str) -> set[str]:
    """Return the numbers that a statement counts with in words: its source must have them.

    *Shape:* but for one, which is an article as well.
    """
    plain = _VERY.sub(" ", fold(statement))
    found = {han_number(match.group()) for match in _COUNTED_HAN.finditer(plain)}
    found |= {english_number(match.group()) for match in _COUNTED_EN.finditer(plain)}
    return {str(number) for number in found if number is not None and number > 1}


def _names(text: str) -> set[str]:
    found = {match.group() for match in _NAME.finditer(text)}
    found |= {match.group(1) for match in _QUOTED.finditer(text)}
    plain = {fold(name).removesuffix("'s").removesuffix("’s") for name in found}
    return {name for name in plain if name not in _PLAIN_CAPITALS and name not in _FRAME}


def _is_in(name: str, folded: str, terms: Set[str]) -> bool:
    if name in folded:
        return True
    parts = index_terms(name).split()
    return bool(parts) and all(part in terms or _is_grown(part, terms) for part in parts)


def _is_grown(part: str, terms: Set[str]) -> bool:
    """Tell whether a name is a longer or shorter form of a word: PostgreSQL of Postgres."""
    return any(
        min(len(part), len(term)) >= GROWN_CHARS_MIN
        and (part.startswith(term) or term.startswith(part))
        for term in terms
    )


def _is_same_script(statement: str, source: Source) -> bool:
    """Tell whether a statement's script is one that the source has too."""
    mine = classes_of(statement)
    han, letters = mine.count(UNSPACED), mine.count(LETTER)
    main = UNSPACED if han * 3 >= letters else LETTER
    if not han and not letters:
        return True
    if main == UNSPACED:
        return source.unspaced > 0
    return source.letters >= 2 or source.unspaced == 0
