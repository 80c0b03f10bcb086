"""When two statements are one: an update must never be taken for a repetition.

No measure of likeness can tell “port 2222” from “port 2223”, so none is asked. Under a key only
the same folded text repeats; without one, words that say nothing may differ as well. Likeness
(`core.search.likeness`) serves to show a person what may conflict. Every ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.text.fold import fold_key

_HAN: Final = "\u3400-\u9fff"
_POLITE: Final = re.compile(r"^\s*(?:please|kindly|请|請|麻烦|麻煩)[\s，,]*", re.IGNORECASE)
_ARTICLE: Final = re.compile(
    # In small letters, or where a sentence begins: “Vitamin A” and “The Who” are names.
    r"(?<![\w'-])(?:the|an|a)\s+(?=\w)|(?:^|(?<=[.!?]\s))(?:The|An|A)\s+(?=\w)"
)
_PARTICLE: Final = re.compile(r"[啊呀哦噢嘛哈]+(?=[\s，。！；,.!;]|$)")
_OF: Final = re.compile(rf"(?<=[{_HAN}])的(?=[{_HAN}])")
_PAUSE: Final = re.compile(r"(?<!\d)[，、,；;]|[，、,；;](?!\d)")


def is_same_text(left: str, right: str) -> bool:
    """Tell whether two texts are the same once folded. *Source:* DESIGN section 5."""
    return fold_key(left) == fold_key(right)


def repetition_key(text: str) -> str:
    """Return the key under which two statements repeat each other.

    Beyond the folded text only articles, courtesies, closing particles, 的 between words and
    pauses go: none of them is a number, a date, a name or a negation.
    *Promise:* equal for the same folded text.
    """
    plain = _POLITE.sub("", text.strip())
    plain = _ARTICLE.sub("", plain)
    plain = _PARTICLE.sub("", plain)
    plain = _OF.sub("", plain)
    return fold_key(_PAUSE.sub(" ", plain)) or fold_key(text)


def is_repetition(left: str, right: str) -> bool:
    """Tell whether one statement only repeats the other."""
    return is_same_text(left, right) or repetition_key(left) == repetition_key(right)
