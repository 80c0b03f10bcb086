"""Words that say too little to search for, in English and Chinese.

They are dropped from queries only, never from the index, and only while something else remains.
Negations (not, no, never, 不, 没) are not among them. Any ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

ENGLISH: Final = frozenset(
    """
    a about am an and any are as at be been being but by can could d did do does doing for from had
    has have having he her here hers him his how i if in into is it its just let like ll m may me
    might mine must my of on or our ours please s shall she should so some such t than that the
    their theirs them then there these they this those to too us ve very was we were what when
    where which while who whom whose why will with would you your yours re tell know im ive
    youre youve theyre thats
    """.split()
)
"""Function words and question words, folded; with the pieces that apostrophes leave."""

CHINESE: Final = frozenset(
    """
    的 了 是 吗 嗎 呢 吧 啊 呀 哦 嘛 么 麼 我 你 您 他 她 它 们 們 这 這 那 哪 谁 誰 很 也
    我们 我們 你们 你們 他们 他們 她们 她們 我的 你的 他的 她的 什么 什麼 甚麼 怎么 怎麼
    怎样 怎樣 怎么样 怎麼樣 哪里 哪裡 哪儿 哪兒 哪个 哪個 哪些 这个 這個 那个 那個 这些
    這些 那些 为什么 為什麼 多少 几个 幾個 是不是 有没有 有沒有 可以 请问 請問 告诉 告訴
    知道 一下 一个 一個 时候 時候 什么时候 什麼時候 关于 關於 还有 還有 以及 或者 如果 因为
    因為 所以 但是
    """.split()
)
"""Particles, pronouns and question words, simplified and traditional. Single characters only where
they seldom begin or end another word (上海, 会议 and 地址 must stay whole)."""

_CHINESE_RUN: Final = re.compile(
    "|".join(sorted(map(re.escape, CHINESE), key=lambda word: (-len(word), word)))
)


def is_stop_word(word: str) -> bool:
    """Tells whether a folded word, or a whole run of Chinese, is a stop word."""
    return word in ENGLISH or word in CHINESE


def stop_mask(run: str) -> list[bool]:
    """Tells for each character of a Chinese run whether it belongs to a stop word.

    Longest words first, from the left; no dictionary of other words, so 的 inside 目的地 counts
    too: callers keep pairs across such a border, at a lower weight.
    """
    mask = [False] * len(run)
    for found in _CHINESE_RUN.finditer(run):
        mask[found.start() : found.end()] = [True] * (found.end() - found.start())
    return mask
