"""Whom a text is about: speakers, kin and others that it names, the user.

A question about one person is not answered by what another says of themselves. Only what is said
outright counts: a speaker's name before a colon, a word for kin, a name that some memory introduces
(“太太叫郁婷”), a name formed like 小邱, an English genitive. No model, and no list of names. Every
ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from remembrancer.core.recall.names import is_said, key_words, spoken
from remembrancer.core.text.variants import simplified

_SPEAKER: Final = re.compile(r"\s*([^\W\d_][\w .'’-]{0,30}?)\s?[:：](?!//)\s*(?=\S)")
"""A name before what was said."""

_KIN: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "mother": r"妈|娘(?!家)|母亲|\b(?:mom|mum|mother)\b",
        "father": r"爸|父亲|\b(?:dad|father)\b",
        "wife": r"老婆|太太|媳妇|妻子|\bwife\b",
        "husband": r"老公|丈夫|\bhusband\b",
        "partner": r"[男女]朋友|[男女]友|对象|\b(?:girlfriend|boyfriend)\b",
        "daughter": r"女儿|闺女|\bdaughter\b",
        "son": r"儿子|\bson\b",
        "child": r"孩子|小孩|\bkids?\b",
        "grandmother": r"奶奶|外婆|姥姥|阿嬷|\bgrand(?:ma|mother)\b",
        "grandfather": r"爷爷|外公|姥爷|阿公|\bgrand(?:pa|father)\b",
        "sibling": r"哥|姐|姊|弟弟|妹妹|\b(?:brother|sister)\b",
        "roommate": r"室友|舍友|\b(?:room|flat)mate\b",
        "boss": r"老板|上司|\b(?:boss|manager)\b",
        "doctor": r"医生|医师|\bdoctor\b",
        "cat": r"猫|\bcat\b",
        "dog": r"狗|\bdog\b",
    }.items()
}
"""Words for those whom a life has one or few of, simplified; two of one kind are one. Our list."""

_INTRODUCED: Final = re.compile(
    r"(?:小名|名叫|叫做|叫|外号|名字是|\bis called|\bnamed)\s*[「“\"]?"
    r"([㐀-鿿]{2,3}?|[A-Z][a-z]+)(?=[，,。；;、\s」”\".]|$)"
)
"""What somebody is called, in the sentence that says who it is."""

_INTRODUCING: Final = ("叫", "名", "号", "is called", "named")
"""Each introduction has one of these; most texts have none, which is told in no time."""

_FAMILIAR: Final = re.compile(
    # Ordinary words that begin so are no names.
    r"小(?![时区程心学说孩朋组吃写事声腿伙票点号数名三角班伤])[㐀-鿿]"
    r"|阿(?![姨里公嬷拉])[㐀-鿿]|老(?![板师家客小是公婆人年鼠虎化旧大早了])[㐀-鿿A-Z]"
)
"""Names as friends use them, simplified: 小邱, 阿凯, 老K. Our list of what is none."""

_GENITIVE: Final = re.compile(
    r"\b(?!(?:It|What|That|Who|Here|There|Let|How)\b)([A-Z][a-z]+)['’]s\b"
)

_USER: Final = re.compile(r"我|用户|\b(?:I|my|me|user)\b")
"""Words by which a memory is about the user, simplified."""

_USER_KEY: Final = "profile:"
"""How keys of what is known of the user begin. Source: the predecessor's keys."""


def speaker_of(text: str) -> str:
    """Return who says a turn, '' where no name stands before it."""
    found = _SPEAKER.match(text)
    return found[1].casefold() if found else ""


def said_of(text: str) -> str:
    """Return a turn without the name of its speaker."""
    found = _SPEAKER.match(text)
    return text[found.end() :] if found else text


def asked_speaker(message: str, speakers: Iterable[str]) -> str:
    """Return the one speaker whom a message names, '' when it names none or several."""
    words = spoken(message)
    named = [speaker for speaker in {*speakers} if speaker and is_said(spoken(speaker), words)]
    return named[0] if len(named) == 1 else ""


def introductions(texts: Iterable[str]) -> dict[str, str]:
    """Return names that texts introduce → the kin that each is, or else the name itself."""
    found: dict[str, str] = {}
    for text in texts:
        plain = simplified(text)
        if not any(word in plain for word in _INTRODUCING):
            continue
        for match in _INTRODUCED.finditer(plain):
            kin = _kin(plain[: match.start(1)])
            found[match[1]] = next(iter(kin)) if len(kin) == 1 else match[1]
    return found


def persons_of(text: str, known: Mapping[str, str]) -> frozenset[str]:
    """Return whom a text names: kin by what they are, others by name; not the user.

    *Shape:* `known` as `introductions` returns it.
    """
    plain = simplified(text)
    named = {match[0] for match in _FAMILIAR.finditer(plain)}
    named |= {match[1] for match in _GENITIVE.finditer(plain)}
    named |= {name for name in known if name in plain}
    return _kin(plain) | {known.get(name, name) for name in named}


def is_of_another(
    asked: frozenset[str], text: str, fact_key: str | None, known: Mapping[str, str]
) -> bool:
    """Tell whether a memory is about others than those whom a question asks about.

    *Shape:* `asked` as `persons_of` returns it for the question. *Promise:* False where the
    question names nobody, or the memory nobody at all.
    """
    if not asked:
        return False
    key = fact_key or ""
    about = persons_of(f"{text} {key_words(key)}", known)
    plain = simplified(text)
    if not asked.isdisjoint(about) or any(name in plain for name in asked):
        return False
    return bool(about) or key.startswith(_USER_KEY) or _USER.search(plain) is not None


def _kin(plain: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _KIN.items() if pattern.search(plain))
