"""Whom a text is about: speakers, kin and others that it names, the user.

A question about one person is not answered by what another says of themselves. Only what is said
outright counts: a speaker's name before a colon, a word for kin, a name that some memory introduces
(“太太叫郁婷”), a name formed like 小邱, an English genitive. No model, and no list of names. Every
ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from remembrancer.core.recall.names import is_said, key_words, spoken
from remembrancer.core.text.variants import simplified

Regard = Literal["fits", "other", "nobody", "kin"]
"""Whom a memory is about: those whom the question asks about, if it names any; others, or the user;
nobody that it names; or somebody else, where the question names nobody and speaks of the user."""

_SPEAKER: Final = re.compile(r"\s*([^\W\d_][\w .'’-]{0,30}?)\s?[:：](?!//)\s*(?=\S)")
"""A name before what was said."""

_KIN: Final[Mapping[str, tuple[tuple[str, ...], frozenset[str]]]] = {
    name: (tuple(parts.split()), frozenset(words.split()))
    for name, (parts, words) in {
        "mother": ("妈 我娘 俺娘 给娘 爹娘 老娘 母亲", "mom mum mother"),
        "father": ("爸 我爹 爹娘 老爹 父亲", "dad father"),
        "mother-in-law": ("婆婆 岳母 丈母娘 mother-in-law", ""),
        "father-in-law": ("公公 岳父 丈人 father-in-law", ""),
        "wife": ("老婆 太太 媳妇 妻子", "wife"),
        "husband": ("老公 丈夫 我先生", "husband"),
        "partner": ("男朋友 女朋友 男友 女友 对象", "girlfriend boyfriend"),
        "daughter": ("女儿 闺女", "daughter"),
        "son": ("儿子", "son"),
        "child": ("孩子 小孩", "kid kids"),
        "grandmother": ("奶奶 外婆 姥姥 阿嬷", "grandma grandmother"),
        "grandfather": ("爷爷 外公 姥爷 阿公", "grandpa grandfather"),
        "brother": ("哥哥 我哥 大哥 二哥 他哥 她哥 弟弟 我弟 老弟", "brother"),
        "sister": ("姐姐 我姐 大姐 二姐 他姐 她姐 姊 妹妹 我妹", "sister"),
        "cousin": ("表哥 表姐 表弟 表妹 堂哥 堂姐 堂弟 堂妹", "cousin"),
        "uncle": ("叔叔 伯父 舅舅 姑父 姨父", "uncle"),
        "aunt": ("姑姑 姨妈 舅妈 婶", "aunt"),
        "roommate": ("室友 舍友 room-mate flat-mate", "roommate flatmate"),
        "boss": ("老板 上司", "boss manager"),
        "doctor": ("医生 医师", "doctor"),
        "cat": ("猫", "cat"),
        "dog": ("狗", "dog"),
    }.items()
}
"""Words for those whom a life has one or few of: parts of a text, simplified, and whole English
words; two of one kind are one. Our list."""

_LATIN_WORD: Final = re.compile("[a-z]+(?:-in-law)?")

_INTRODUCED: Final = re.compile(
    r"(?:小名|名叫|叫做|叫|外号|名字是|\bis called|\bnamed)\s*[「“\"]?"
    r"([㐀-鿿]{2,3}?|[A-Z][a-z]+)(?=[，,。；;、\s」”\".]|$)"
)
"""What somebody is called, in the sentence that says who it is."""

_CALLED: Final = re.compile(
    r"\b(wife|husband|girlfriend|boyfriend|partner|son|daughter|brother|sister|cousin|uncle|aunt"
    r"|mom|mum|mother|dad|father|boss|manager|dog|cat|room-?mate|flat-?mate|doctor|dentist|friend"
    r"|mate)(?: is(?: called)?|:|,)? ([A-Z][a-z]+)\b"
)
"""Kin and the name right behind it: my wife Imogen."""

_CAPITAL: Final = re.compile(r" [A-Z][a-z]")
"""Each of those has one; most texts have none, which is told in no time."""

_ASKED_NAME: Final = re.compile(
    r"\b(?:does|did|do|is|was|has|had|will|can|should)"
    r" ((?!The|My|Our|It|This|That)[A-Z][a-z]+)\b"
)
"""A name of which an English question says something: Where does Ruth live?"""

_NICKNAMED: Final = re.compile(
    r"[「“『\"]([㐀-鿿A-Za-z]{1,8})[」”』\"]\s?(?:就是|是|指的是|指|means|is)\s?我?([㐀-鿿]{1,4}|[A-Z][a-z]+)"
)
"""Whom a nickname in quotes stands for: 「领导」是郁婷."""

_INTRODUCING: Final = ("叫", "名", "号", "」", "”", "』", "is called", "named", '"')
"""Each introduction has one of these; most texts have none, which is told in no time."""

_FAMILIAR: Final = re.compile(
    # Ordinary words that begin so are no names.
    r"小(?![时区程心学说孩朋组吃写事声腿伙票点号数名三角班伤饭费店包袋车船屋提米麦])[㐀-鿿]"
    r"|阿(?![姨里公嬷拉])[㐀-鿿]|老(?![板师家客小是公婆人年鼠虎化旧大早了毛店房实规样地照])[㐀-鿿A-Z]"
)
"""Names as friends use them, simplified: 小邱, 阿凯, 老K. Our list of what is none."""

_GENITIVE: Final = re.compile(
    r"\b(?!(?:It|What|That|Who|Here|There|Let|How)\b)([A-Z][a-z]+)['’]s\b"
)

_USER: Final = re.compile(r"我|本人|用户|\b(?:I|[Mm]y|me|[Ww]e|[Oo]ur|[Uu]ser)\b")
"""Words by which a memory is about the user, simplified."""

_EVERYBODY: Final = re.compile(
    r"各自|全家|大家|几口人|每个人|所有人|家里人|一家人"
    r"|\b(?:everyone|everybody|each of|all of us|whole family)\b",
    re.IGNORECASE,
)
"""Words by which a question asks about several, whoever else it names; simplified."""

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
        for match in _CALLED.finditer(plain) if _CAPITAL.search(plain) else ():
            found[match[2]] = next(iter(_kin(match[1])), match[2])
        if not any(word in plain for word in _INTRODUCING):
            continue
        for match in _INTRODUCED.finditer(plain):
            kin = _kin(plain[: match.start(1)])
            found[match[1]] = next(iter(kin)) if len(kin) == 1 else match[1]
        for match in _NICKNAMED.finditer(plain):
            kin = _kin(match[2])
            found[match[1]] = next(iter(kin)) if len(kin) == 1 else match[2]
    return found


def asked_persons(question: str, known: Mapping[str, str]) -> frozenset[str]:
    """Return whom a question asks about, as `persons_of` names them; nobody when it asks about
    everybody."""
    plain = simplified(question)
    if _EVERYBODY.search(plain):
        return frozenset()
    named = (match[1] for match in _ASKED_NAME.finditer(question))
    return persons_of(question, known) | {known.get(name, name) for name in named}


def persons_of(text: str, known: Mapping[str, str]) -> frozenset[str]:
    """Return whom a text names: kin by what they are, others by name; not the user.

    *Shape:* `known` as `introductions` returns it.
    """
    plain = simplified(text)
    named = {match[0] for match in _FAMILIAR.finditer(plain)}
    named |= {match[1] for match in _GENITIVE.finditer(plain)}
    named |= {name for name in known if name in plain}
    return _kin(plain) | {known.get(name, name) for name in named}


def regard_of(
    asked: frozenset[str],
    text: str,
    fact_key: str | None,
    known: Mapping[str, str],
    *,
    of_user: bool = False,
) -> Regard:
    """Return how a memory regards those whom a question asks about.

    *Shape:* `asked` as `asked_persons` returns it for the question; `of_user`: the question speaks
    of the user. *Promise:* `fits` where the question names nobody, not the user either.
    """
    if not asked and not of_user:
        return "fits"
    key = fact_key or ""
    about = persons_of(f"{text} {key_words(key)}", known)
    plain = simplified(text)
    is_users = key.startswith(_USER_KEY) or _USER.search(plain) is not None
    if not asked:
        return "kin" if about and not is_users else "fits"
    if not asked.isdisjoint(about) or any(name in plain for name in asked):
        return "fits"
    return "other" if about or is_users else "nobody"


def is_of_user(question: str) -> bool:
    """Tell whether a question speaks of the user."""
    return _USER.search(simplified(question)) is not None


def _kin(plain: str) -> frozenset[str]:
    lower = plain.lower()
    said = frozenset(_LATIN_WORD.findall(lower))
    return frozenset(
        name
        for name, (parts, words) in _KIN.items()
        if any(part in lower for part in parts) or not said.isdisjoint(words)
    )
