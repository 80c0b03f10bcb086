"""What a person's message asks to be remembered, by rule: no model, nothing guessed.

Only a request counts, at the beginning of a sentence or at its end: not a question about what is
remembered, not a recollection, not what was quoted or stands in code. What is found is cut from the
message as it stands. Saving it is `app.memories.remember`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from remembrancer.core.text.fold import fold_key

WISHES_MAX: Final = 10
"""Statements of one message that are saved. Our choice: a list of a person's facts, not a text."""

WISH_CHARS_MAX: Final = 2_000
"""Characters of one statement; what is longer was pasted, not told. Our choice."""

MESSAGE_CHARS_MAX: Final = 20_000
"""Characters of a message that are read. Our choice: whoever asks, does so in a page."""

_BEFORE_ZH: Final = (
    r"(?:对了|對了|还有|還有|另外|以后|以後|那|嗯|好的?|哦|ok)?[，,、 ]*"
    r"(?:请|請|麻烦|麻煩|拜托|拜託)?(?:你|您|帮我|幫我|给我|給我|替我|一定|要|务必|務必|先)*"
)
_VERB_ZH: Final = (
    r"(?:记住|記住|记下来?|記下來?|记一下|記一下|记好|記好|牢记|牢記|记着|記著|记得|記得"
    r"|(?:别|別|不要|不准)忘(?:记|記)?了?|记到(?:心里|备忘)|備註一下|备注一下)"
)
_ASKED_ZH: Final = re.compile(rf"{_BEFORE_ZH}(?P<verb>{_VERB_ZH})(?P<rest>[\s\S]*)", re.IGNORECASE)
_ASKED_EN: Final = re.compile(
    r"(?:(?:ok|okay|hey|hi|thanks|oh|so|and|also|btw|by the way)[,!. ]+)*"
    r"(?:(?P<polite>(?:can|could|will|would) you(?: please)?|please|pls|kindly|just|always)[, ]+)*"
    r"(?P<verb>remember|(?:don[’']?t|do not|never) forget|keep in mind|bear in mind"
    r"|make a (?:mental )?note|take (?:a )?note|note down)\b(?P<rest>[\s\S]*)",
    re.IGNORECASE,
)
_LAST_ZH: Final = re.compile(
    r"(?P<said>[\s\S]+?)[，,、。.！!；;\s]+(?:请|請|麻烦|麻煩)?(?:你|您|帮我|幫我|给我|給我|一定|要|务必)*"
    r"(?:记住|記住|记下来?|記下來?|记一下|記一下|记好|記好|别忘了?|別忘了?|不要忘记?了?|不要忘記了?)"
    r"(?:这个|這個|这点|這點|这一点|這一點|这件事|這件事|它|了)*[哦喔啊呀吧啦哈嘛～~]*[。！!.]*\s*"
)
_LAST_EN: Final = re.compile(
    r"(?P<said>[\s\S]+?)[,;.!—–-]+\s*(?:so |and )?(?:please |pls |do |just )?"
    r"(?:remember|don[’']?t forget|keep in mind|make a note of|note)"
    r"(?: (?:this|that|it|these|those))?(?: please| for (?:me|later|next time|the future))*"
    r"[.!]*\s*",
    re.IGNORECASE,
)
_ASKS_ZH: Final = re.compile(
    r"[?？]|(?:吗|嗎|么|麼|呢)[。！!～~]*$|^(?:什么|什麼|怎么|怎麼|为什么|為什麼|哪|谁|誰|几|幾)"
)
_NOTHING: Final = re.compile(
    r"(?:了|过|過|下|一下|我|你|他|她|它|这个?|這個?|那个?|那個?|这点|這點|这一点|這一點|这些|這些"
    r"|这件事|這件事|上面的?|我的话|我說的話|我说的话|我的名字|以上|以下|几点|幾點|内容|內容|me|this|that"
    r"|these|those|it|him|her|them|the above|the following|everything|for (?:me|later)"
    r"|please|ok|哦|喔|啊|呀|吧|啦|哈)*",
    re.IGNORECASE,
)
_PAST_EN: Final = re.compile(
    r"\s*(?:when|how|what|who|whom|where|why|if|whether|which|the time|back when|those days)\b",
    re.IGNORECASE,
)
_OPENS_EN: Final = re.compile(
    r"\s*(?:[:：,，—-]+|that\b[:,]?|this\b\s*[:：]|these\b\s*[:：])?\s*", re.I
)
_OPENS_ZH: Final = re.compile(
    r"(?:我说的|我說的|以下(?:几点|幾點|内容|內容)?|这几点|這幾點|这些|這些|下面这些|一下|下)?"
    r"[：:，,、\s]*"
)
_LIST_HEAD: Final = re.compile(r"[：:]\s*$|^\s*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)、．]|[（(]\d{1,2}[）)])\s*")
_SENTENCE: Final = re.compile(r"[^。！？!?\n；]*?(?:[。！？!?；]+|\.(?=\s|$)|\n|$)")
_OTHER_WISH: Final = re.compile(
    r"(?:帮|幫|请|請|麻烦|麻煩|你|您|另外|顺便|順便|现在|現在|接下来|接下來|然后|然後|谢|謝|好吗|好嗎"
    r"|please|pls|can you|could you|would you|now\b|then\b|also[, ]+(?:can|could|please)"
    r"|thanks|thank you|write|give me|tell me|show me|help me|what|how|why|who|when|where"
    r"|is |are |do )",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)")
_QUOTED: Final = re.compile(r"^[ \t]*[>＞|].*$", re.MULTILINE)
_ENDS: Final = " \t\r\n。．.！!；;，,、～~"
_SHORT_MIN: Final = 2


def wishes_in(message: str) -> list[str]:
    """Return the statements that a message asks to be remembered, in their order.

    *Shape:* at most `WISHES_MAX`, each a part of the message without the request itself and
    without the stop at its end; of two with the same folded text the first.
    *Promise:* never raises; deterministic; nothing for a question, a recollection, a quotation.
    """
    text = message[:MESSAGE_CHARS_MAX]
    text = _QUOTED.sub("", _CODE.sub("\n\n", text))
    wishes: dict[str, str] = {}
    for wish in _wishes(text):
        wish = wish.strip(_ENDS)
        if _SHORT_MIN <= len(wish) <= WISH_CHARS_MAX and not _NOTHING.fullmatch(wish):
            wishes.setdefault(fold_key(wish), wish)
    return list(wishes.values())[:WISHES_MAX]


def _wishes(text: str) -> Iterator[str]:
    """Yield what is asked for, sentence by sentence."""
    at, before = (
        0,
        0,
    )  # `before`: where the sentence before this one began, when it may belong to it
    while at < len(text):
        match = _SENTENCE.match(text, at)
        assert match is not None
        end = max(match.end(), at + 1)
        sentence = text[at:end]
        asked = _asked(sentence.strip(), text[end:])
        if asked is not None:
            wishes, used = asked
            yield from wishes
            end += used
            before = end
        else:
            said = _said_before(text[before:end], sentence)
            if said is not None:
                yield said
            is_apart = said is not None or "\n" in sentence or _ASKS_ZH.search(sentence.strip())
            before = end if is_apart else at
        at = end


def _asked(sentence: str, after: str) -> tuple[list[str], int] | None:
    """Return the statements of a sentence that begins with a request, and how much of what comes
    after it belongs to them; None when it is no request."""
    chinese = _ASKED_ZH.fullmatch(sentence)
    english = None if chinese else _ASKED_EN.fullmatch(sentence)
    found = chinese or english
    if found is None:
        return None
    rest = found["rest"]
    if english is not None:
        if _PAST_EN.match(rest) or (_is_question(rest) and not english["polite"]):
            return None
    elif _ASKS_ZH.search(rest.strip()) or rest.startswith(("过", "過", "不住")):
        return None
    opens = (_OPENS_EN if english else _OPENS_ZH).match(rest)
    assert opens is not None
    said = rest[opens.end() :]
    if _LIST_HEAD.search(said) and _head_of_list(rest, after):
        return _list_items(after)
    if _NOTHING.fullmatch(said.strip(_ENDS + "?？")):
        return None
    said = said.rstrip("?？ ")
    used = _more_of_it(after) if _is_colon(rest) else 0
    return [said + after[:used] if not used else f"{_stopped(sentence, said)}{after[:used]}"], used


def _stopped(sentence: str, said: str) -> str:
    """Return the statement with the stop of its sentence, for more of it comes after."""
    place = sentence.rfind(said)
    return sentence[place:] if place >= 0 else said


def _is_question(rest: str) -> bool:
    return rest.rstrip().endswith(("?", "？"))


def _is_colon(rest: str) -> bool:
    return rest.lstrip(" 一下").startswith((":", "：")) or rest.lstrip().lower().startswith(
        ("this:", "these:", "this：", "these：")
    )


def _head_of_list(rest: str, after: str) -> bool:
    first = after.lstrip("\n").split("\n", 1)[0]
    return _BULLET.match(first) is not None or (_is_colon(rest) and bool(first.strip()))


def _list_items(after: str) -> tuple[list[str], int]:
    """Return the lines up to the next empty one, without their bullets."""
    items: list[str] = []
    used = 0
    for line in after.splitlines(keepends=True):
        if not line.strip():
            if items:
                break
        else:
            items.append(_BULLET.sub("", line, count=1))
        used += len(line)
    return items, used


def _more_of_it(after: str) -> int:
    """Return how much of the same line still tells, after a request with a colon."""
    used = 0
    while used < len(after):
        match = _SENTENCE.match(after, used)
        assert match is not None
        sentence = match.group().strip()
        if not sentence or _ASKS_ZH.search(sentence) or _OTHER_WISH.match(sentence):
            break
        if _ASKED_ZH.fullmatch(sentence) or _ASKED_EN.fullmatch(sentence):
            break
        used = match.end()
        if match.group().endswith("\n"):
            break
    return used


def _said_before(paragraph: str, sentence: str) -> str | None:
    """Return the statement before a request at the end of its sentence, or in the next one."""
    if _ASKS_ZH.search(sentence.strip()):
        return None
    found = _LAST_ZH.fullmatch(paragraph) or _LAST_EN.fullmatch(paragraph)
    if found is None or _ASKS_ZH.search(found["said"].strip()):
        return None
    said = [part.strip() for part in _SENTENCE.findall(found["said"].strip()) if part.strip()]
    return said[-1] if said else None
