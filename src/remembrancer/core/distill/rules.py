"""Facts by rule: explicit statements of who somebody is, what they like and when, in Chinese and
English, for a store without a model.

A rule takes the sentence as it was said. It understands nothing else: questions, conditions and
what is told of others stay out. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.distill.facts import Fact
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Line
from remembrancer.core.text.fold import clean

CONFIDENCE: Final = 0.85
"""Confidence in what a rule found: somebody said it of themselves. Our choice, above the line."""

SENTENCE_CHARS_MAX: Final = 160
"""Characters of a sentence that a rule reads; a longer one says more than one thing. Our choice."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One form of statement. *Shape:* `key` a fact key, or a function of the match, or None."""

    pattern: re.Pattern[str]
    type: str
    importance: float
    key: str | Callable[[re.Match[str]], str | None] | None = None


def _rule(
    pattern: str,
    type_: str,
    importance: float,
    key: str | Callable[[re.Match[str]], str | None] | None = None,
) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), type_, importance, key)


_THINGS: Final = {
    "colour": "color",
    "颜色": "color", "顏色": "color", "食物": "food", "菜": "dish", "电影": "movie",
    "電影": "movie", "书": "book", "書": "book", "歌": "song", "音乐": "music", "音樂": "music",
    "运动": "sport", "運動": "sport", "季节": "season", "季節": "season", "水果": "fruit",
    "城市": "city", "动物": "animal", "動物": "animal", "游戏": "game", "遊戲": "game",
    "数字": "number", "數字": "number", "歌手": "singer", "作家": "author", "演员": "actor",
}  # fmt: skip


def _favourite(found: re.Match[str]) -> str | None:
    thing = found["thing"].strip().lower()
    word = _THINGS.get(thing) or re.sub(r"\s+", "_", thing)
    return f"preference:favorite_{word}" if re.fullmatch("[a-z_]{2,30}", word) else None


_KIN: Final = {
    "wife": "wife", "husband": "husband", "son": "son", "daughter": "daughter", "dog": "dog",
    "cat": "cat", "mother": "mother", "mom": "mother", "mum": "mother", "father": "father",
    "dad": "father", "sister": "sister", "brother": "brother", "girlfriend": "girlfriend",
    "boyfriend": "boyfriend", "partner": "partner", "老婆": "wife", "妻子": "wife", "太太": "wife",
    "老公": "husband", "丈夫": "husband", "儿子": "son", "兒子": "son", "女儿": "daughter",
    "女兒": "daughter", "狗": "dog", "猫": "cat", "貓": "cat", "妈妈": "mother", "媽媽": "mother",
    "爸爸": "father", "姐姐": "older_sister", "妹妹": "younger_sister", "哥哥": "older_brother",
    "弟弟": "younger_brother", "女朋友": "girlfriend", "男朋友": "boyfriend",
}  # fmt: skip


def _kin(found: re.Match[str]) -> str | None:
    return f"family:{_KIN[found['kin'].lower()]}"


_KIN_EN: Final = "|".join(word for word in _KIN if word.isascii())
_KIN_ZH: Final = "|".join(sorted((word for word in _KIN if not word.isascii()), key=len)[::-1])
_NO_THING: Final = r"(?!\s*(?:it|that|this|these|those|you|him|her|them|how|what|when|the way)\b)"
_NO_THING_ZH: Final = "(?!这|這|那|你|他|她|它)"

_ENGLISH: Final = (
    _rule(
        r"^(?:hi,? |hello,? )?(?:my name is|i am called|call me)"
        r" (?P<x>[\w'’.-]+(?: [\w'’.-]+){0,3})$",
        "identity",
        0.9,
        "profile:name",
    ),
    _rule(
        rf"^my (?P<kin>{_KIN_EN})(?:['’]s name is| is (?:called|named)) (?P<x>.+)$",
        "relationship",
        0.8,
        _kin,
    ),
    _rule(
        r"^i(?: now| currently)? live in (?P<x>.+)$"
        r"|^i(?:['’]ve| have)? (?:just |recently )?moved to .+$",
        "identity",
        0.8,
        "profile:home",
    ),
    _rule(
        r"^(?:my birthday is|i was born (?:on|in)) (?P<x>.+)$",
        "identity",
        0.85,
        "profile:birthday",
    ),
    _rule(r"^(?:my|our) (?:wedding )?anniversary is (?P<x>.+)$", "event", 0.8, "date:anniversary"),
    _rule(r"^i(?:['’]m| am) (?P<x>\d{1,3}) years? old$", "identity", 0.7, "profile:age"),
    _rule(
        r"^i work (?:as|at|for) (?P<x>.+)$|^my (?:job|occupation|profession) is .+$",
        "identity",
        0.75,
        "profile:occupation",
    ),
    _rule(r"^i(?:['’]m| am) (?:a )?(?:vegan|vegetarian)$", "boundary", 0.85, "diet:kind"),
    _rule(r"^i(?:['’]m| am) (?:very |badly |severely )?allergic to (?P<x>.+)$", "boundary", 0.95),
    _rule(
        r"^my fav(?:ou?)rite (?P<thing>[a-z ]{2,30}?) (?:is|are) (?P<x>.+)$",
        "preference",
        0.7,
        _favourite,
    ),
    _rule(
        r"^i (?:really |much )?(?:prefer|like|love|enjoy|hate|dislike|can['’]t stand)"
        rf"{_NO_THING} (?P<x>.+)$",
        "preference",
        0.65,
    ),
    _rule(
        rf"^i (?:don['’]t|do not|never) (?:like|eat|drink){_NO_THING} (?P<x>.+)$",
        "preference",
        0.65,
    ),
)

_CHINESE: Final = (
    _rule(
        "^(?:你好[,，]?)?(?:我叫|我的名字(?:是|叫)|叫我)(?P<x>[^\\s,，]{1,12})$",
        "identity",
        0.9,
        "profile:name",
    ),
    _rule(
        f"^我(?:家)?的?(?P<kin>{_KIN_ZH})(?:的名字)?(?:叫|名叫|是叫)(?P<x>.{{1,20}})$",
        "relationship",
        0.8,
        _kin,
    ),
    _rule(
        "^我(?:现在|現在|目前)?(?:住在|搬到了|搬到|定居在)(?P<x>.+)$",
        "identity",
        0.8,
        "profile:home",
    ),
    _rule(
        "^我的?生日(?:是|在)(?P<x>.+)$|^我(?:是)?.{0,14}(?:出生的?)$",
        "identity",
        0.85,
        "profile:birthday",
    ),
    _rule(
        "^(?:我们|我們|我)的?(?:结婚|結婚)?(?:纪念日|紀念日)(?:是|在)(?P<x>.+)$",
        "event",
        0.8,
        "date:anniversary",
    ),
    _rule(
        "^我今年(?P<x>\\d{1,3}|[一二三四五六七八九十]{1,4})[岁歲]$",
        "identity",
        0.7,
        "profile:age",
    ),
    _rule(
        "^我(?:是(?:一名|一个|一個|一位)|的(?:职业|職業|工作)是)(?P<x>.+)$",
        "identity",
        0.75,
        "profile:occupation",
    ),
    _rule("^我(?:对|對)(?P<x>.+?)(?:严重|嚴重)?(?:过敏|過敏)$", "boundary", 0.95),
    _rule("^我(?:吃素|是素食者|是素食主义者|是素食主義者)$", "boundary", 0.85, "diet:kind"),
    _rule(
        "^我最(?:喜欢|喜歡|爱|愛)的(?P<thing>[^是]{1,6})是(?P<x>.+)$",
        "preference",
        0.7,
        _favourite,
    ),
    _rule(
        "^我(?:很|最|特别|特別|非常|更|比较|比較)?"
        "(?:喜欢|喜歡|爱吃|愛吃|爱喝|愛喝|热爱|熱愛|偏好|偏爱|讨厌|討厭)"
        f"{_NO_THING_ZH}(?P<x>.+)$",
        "preference",
        0.65,
    ),
    _rule(
        "^我(?:很|最|从来|從來)?(?:不喜欢|不喜歡|不吃|不喝|不爱|不愛|受不了)"
        f"{_NO_THING_ZH}(?P<x>.+)$",
        "preference",
        0.65,
    ),
)

RULES: Final[Sequence[Rule]] = (*_ENGLISH, *_CHINESE)
"""The forms, of which the first that fits a sentence counts."""

_SENTENCE: Final = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]?")
_ENGLISH_END: Final = re.compile(r"(?<=[a-z\d)]{2})\.\s+(?=[A-Z\u3400-\u9fff])")
_CLAUSE: Final = re.compile("[,，]")
_TAIL: Final = re.compile(r"[\s。.！!～~]+$")
_OPEN: Final = re.compile(
    r"^(?:well|so|oh|and|btw|by the way|嗯|对了|對了|另外|其实|其實)[,，\s]+", re.I
)
_UNSURE: Final = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|wish|used to|imagine|pretend|suppose)\b"
    r"|如果|要是|假如|可能|也许|也許|大概|以前|曾经|曾經|假装|假裝|吗$|嗎$|呢$",
    re.IGNORECASE,
)


def facts_by_rule(lines: Sequence[Line], *, importance_min: float = 0.0) -> list[Fact]:
    """Return the facts that the lines state in so many words, in their order.

    *Promise:* what the text says is a part of the line, verbatim.
    """
    facts: list[Fact] = []
    for line in lines:
        for sentence in _SENTENCE.findall(_ENGLISH_END.sub("\n", line.text)):
            found = _facts(sentence, line) if line.is_source else []
            facts += [fact for fact in found if fact.importance >= importance_min]
    return facts


def _facts(sentence: str, line: Line) -> list[Fact]:
    """Return what a sentence states as a whole, else what its clauses state.

    Of a question only what comes before it counts: “我叫小明，你呢？”.
    """
    plain = clean(sentence).strip()
    if not plain or plain.startswith((">", "|", "`", "#")) or is_instruction(plain):
        return []
    is_question = plain[-1] in "?？"
    said = _OPEN.sub("", _TAIL.sub("", plain)).strip()
    if _UNSURE.search(said) and not is_question:
        return []
    whole = None if is_question else _fact(said, line)
    if whole is not None:
        return [whole]
    clauses = [part.strip() for part in _CLAUSE.split(said) if part.strip()]
    kept = clauses[:-1] if is_question else clauses
    if any(_UNSURE.search(part) for part in kept):
        return []
    found = [_fact(part, line) for part in kept]
    return [fact for fact in found if fact is not None]


def _fact(sentence: str, line: Line) -> Fact | None:
    if len(sentence) > SENTENCE_CHARS_MAX:
        return None
    for rule in RULES:
        found = rule.pattern.match(sentence)
        if found is None:
            continue
        content = without_secret(sentence)
        if content is None:
            return None
        key = rule.key(found) if callable(rule.key) else rule.key
        return Fact(
            type=rule.type,
            content=content,
            fact_key=key,
            confidence=CONFIDENCE,
            importance=rule.importance,
            tags=(),
            source_ids=(line.id,),
        )
    return None
