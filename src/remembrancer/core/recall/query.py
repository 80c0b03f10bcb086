"""From a message to what is searched for: nothing for small talk, more for a thin follow-up.

It searches nothing; cutting words into terms is `core.text.segment`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.recall.asks import Asks, asks_of
from remembrancer.core.text.fold import fold
from remembrancer.core.text.segment import query_terms

TURNS_MAX: Final = 2
"""Turns before a thin message that widen it. Source: the follow-ups of zh-recall's dev half,
whose topic lies one or two turns back."""

TURN_CHARS_MAX: Final = 200
"""Characters of a turn that widen a message, its last. Our choice: a sentence or two."""

THIN_WEIGHT: Final = 5.0
"""Weight of a message's terms up to which it is thin: some six Chinese characters, or five
words. Source: as `TURNS_MAX`."""

_SMALL_TALK: Final = re.compile(
    # Within an atomic group the longer phrase stands before the shorter that begins it.
    r"(?:(?>(?:thank you|got it|i see|go on|go ahead|so much|good (?:morning|night|evening)"
    r"|well done|never ?mind|that s all|no problem|see you"
    r"|ok|okay|kk?|yes|yeah|yep|yup|no|nope|sure|right|thanks|thx|ty|hi|hello|hey"
    r"|bye|goodbye|lol|lmao|ha(?:ha)+|hm+|mm+|oh|ah|wow|cool|nice|great|perfect|awesome|fine"
    r"|continue|next|please)(?![a-z0-9])"
    r"|好[的吧呀啊啦嘞哒噠]?|嗯+|恩+|哦+|噢+|喔+|啊+|呀|唉|诶|欸|哎呀?|哇+|哈+|呵+|嘻+|嘿+"
    r"|行[吧啊]?|可以[的了]?|收到|明白|了解|知道|懂|对[的啊]?|對[的啊]?|是[的啊]?|没错|沒錯"
    r"|谢+|謝+|多谢|多謝|感谢|感謝|辛苦|麻烦你?|麻煩你?|不用|没事|沒事|没关系|沒關係|不客气|不客氣"
    r"|继续|繼續|接着说|接著說|然后呢|然後呢|下一个|下一個|请|請|吧|了|啦|你|您|呢|咯|喽"
    r"|早上好|早安|早|午安|晚上好|晚安|你好|您好|嗨|拜+|再见|再見|先这样|先這樣|就这样|就這樣"
    r"|太?好了|太?棒|厉害|厲害|加油|真不错|真不錯|ありがとう|はい)\s*+)++"
)
"""Phrases that ask for nothing, simplified and traditional. Our list. Atomic, so that a long
text is read once."""

_NOISE: Final = re.compile(r"[^\w\s]|_")

_BACKWARD: Final = re.compile(
    r"^(?:那|它|他|她|牠|这|這|下次|上次那|后来|後來|还有|還有|另)|[它她他牠]们?的?|[它她他]們"
    r"|^(?:and|then|so|what about|how about)\b|\b(?:it|its|they|them|their|that one|this one|he|she"
    r"|him|her|his)\b"
)
"""Words that point back to what was said before."""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What to search for.

    *Shape:* `words` for the index of words, the message first; `meaning` for the embedder, in the
    order in which it was said; `message` alone, whose names count; `asks` what kind of answer it
    waits for.
    """

    words: str
    meaning: str
    message: str
    asks: Asks = "open"
    is_widened: bool = False


def is_small_talk(message: str) -> bool:
    """Tell whether a message asks for nothing: thanks, a laugh, “go on”, or no word at all."""
    plain = _NOISE.sub(" ", fold(message)).strip()
    return not plain or _SMALL_TALK.fullmatch(plain) is not None


def build_query(message: str, turns: Sequence[str] = ()) -> RecallQuery | None:
    """Return what to search for, or None when nothing should be brought up.

    *Shape:* `turns` what was said before, oldest first; the last of them widen a message that is
    thin or points back. *Promise:* never raises; deterministic.
    """
    if is_small_talk(message):
        return None
    before = [turn[-TURN_CHARS_MAX:] for turn in turns[-TURNS_MAX:] if not is_small_talk(turn)]
    asks = asks_of(message)
    if not before or not is_thin(message):
        return RecallQuery(message, message, message, asks)
    words, meaning = " ".join([message, *before]), " ".join([*before, message])
    return RecallQuery(words, meaning, message, asks, is_widened=True)


def is_thin(message: str) -> bool:
    """Tell whether a message is too short to stand alone, or points back."""
    if _BACKWARD.search(fold(message).strip()):
        return True
    return sum(term.weight for term in query_terms(message)) <= THIN_WEIGHT
