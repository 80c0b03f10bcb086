"""Whether a statement stands on what was said: its numbers, names and words, against the source.

A distilling model rewrites (“I moved to Lisbon” → “The user lives in Lisbon”), so the words that
frame a fact do not count; every number and name must be there, and most of what else it says. It
measures texts; meaning comes in as a cosine. Every ring may import it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from remembrancer.core.dates.numerals import ENGLISH_WORD_NUMBER, english_number, han_number
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


def nearness(statement: str, source: str) -> Nearness:
    """Return how near a statement is to what it is said to come from.

    *Shape:* both scripts of Chinese are one. *Promise:* never raises.
    """
    statement, source = simplified(statement), simplified(source)
    wanted = _numbers(statement) | _counted(statement)
    known = _numbers(source) | _worded_numbers(source)
    names, folded = _names(statement), fold(source)
    terms = set(index_terms(source).split())
    named = {name for name in names if not _is_in(name, folded, terms)}
    return Nearness(
        share=_share(statement, source, terms | known),
        has_names=bool(names or wanted),
        is_complete=not named and wanted <= known,
        is_same_script=_is_same_script(statement, source),
        is_same_polarity=_is_same_polarity(statement, source),
    )


def judge(statement: str, source: str, *, cosine: float | None = None) -> Verdict:
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


def _is_same_polarity(statement: str, source: str) -> bool:
    """Tell whether one of the clauses that a statement is nearest to is denied as it is."""
    clauses = [part for part in _CLAUSE.split(source) if part.strip()] or [source]
    shares = [_share(statement, part, set(index_terms(part).split())) for part in clauses]
    best, is_denied = max(shares), _is_denied(statement)
    near = [part for part, share in zip(clauses, shares, strict=True) if share == best]
    return any(_is_denied(part) == is_denied for part in near)


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


def _share(statement: str, source: str, terms: set[str]) -> float:
    """Return the share: a Latin word counts two, a Han character one."""
    words = _content_words(statement)
    chars = _content_chars(statement)
    total = 2 * len(words) + len(chars)
    if not total:
        # Nothing but words that frame: said so, or not at all.
        return float(bool(fold(statement)) and fold_key(statement) in fold(source))
    present = set(_content_chars(source)) | {char for char in source if char >= "\u3400"}
    shared = 2 * sum(
        word in terms or stem(word) in terms or (word.isdigit() and word.lstrip("0") in terms)
        for word in words
    )
    return (shared + len(chars & present)) / total


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


def _is_in(name: str, folded: str, terms: set[str]) -> bool:
    if name in folded:
        return True
    parts = index_terms(name).split()
    return bool(parts) and all(part in terms or _is_grown(part, terms) for part in parts)


def _is_grown(part: str, terms: set[str]) -> bool:
    """Tell whether a name is a longer or shorter form of a word: PostgreSQL of Postgres."""
    return any(
        min(len(part), len(term)) >= GROWN_CHARS_MIN
        and (part.startswith(term) or term.startswith(part))
        for term in terms
    )


def _is_same_script(statement: str, source: str) -> bool:
    """Tell whether a statement's script is one that the source has too."""
    mine, theirs = classes_of(statement), classes_of(source)
    han, letters = mine.count(UNSPACED), mine.count(LETTER)
    main = UNSPACED if han * 3 >= letters else LETTER
    if not han and not letters:
        return True
    if main == UNSPACED:
        return UNSPACED in theirs
    return theirs.count(LETTER) >= 2 or theirs.count(UNSPACED) == 0
