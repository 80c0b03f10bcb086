"""What kind of value a question asks for, and which kinds a text tells: a time, a number, a place.

How long a lease runs is answered by no memory of the lease that tells no time. A kind is told by
its form alone, and most texts tell some: it is evidence for `core.recall.bearing`, no more. Every
ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.text.variants import simplified

_ASKED: Final = {
    name: re.compile(pattern)
    for name, pattern in {
        "time": (
            r"什么时候|何时|几[点号月]|哪[天年月]|哪一[天年月]|(?:星期|周|礼拜)几|多久|几时|いつ"
            r"|\bwhen\b|\bwhat (?:time|day|date|year|month)"
            r"|\b(?:which|what) (?:day|year|month)|\bhow (?:long|often)"
        ),
        "number": (
            r"多少|多大|多高|多重|多长|多远|(?<![期周拜])几(?!乎|[点号月时])|号码|卡号|いくら|いくつ"
            r"|\bhow (?:many|much|old|tall|far|big|heavy|large)\b"
            r"|\b(?:phone|card|passport|account|house) number\b"
        ),
        "place": (
            r"哪里|哪儿|在哪|去哪|住哪|哪[个座家所](?:城市|国家|省|区|地方|公司|学校|医院|酒店|银行)|什么地方|どこ"
            r"|\bwhere\b|\b(?:which|what) (?:city|country|town|place|street|hotel|school)\b"
        ),
        "name": (r"叫什么|叫啥|名字|姓什么|谁|何人|だれ|\bwho(?:se|m)?\b|\b(?:named?|called)\b"),
        "reason": r"为什么|为啥|为何|怎么会|なぜ|どうして|\bwhy\b|\bhow come\b",
    }.items()
}
"""What asks for each, simplified and in small letters. Our lists."""

_NUMERAL: Final = "[一二三四五六七八九十百千万亿两半〇零]"

_TOLD: Final = {
    name: re.compile(pattern)
    for name, pattern in {
        "time": (
            rf"\d{{1,2}} ?[:：点時] ?|\d ?[年月日号天周]|{_NUMERAL}+(?:[月号日点天周年]|个月|小时)"
            r"|(?:周|星期|礼拜)[一二三四五六日天末]|早上|上午|下午|晚上|中午|凌晨|夜里"
            r"|昨天|今天|明天|去年|今年|明年|下个?月|上个?月|每[天周月年晚]|小时|分钟|年底"
            r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
            r"|\b(?:yesterday|today|tomorrow|tonight|ago|daily|weekly|monthly|yearly)\b"
            r"|\b(?:january|february|march|april|may|june|july|august|september|october|november"
            r"|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|spring|summer|autumn|winter)\b"
            r"|\b(?:days?|weeks?|months?|years?|hours?|weekends?|mornings?|evenings?|nights?)\b"
            r"|\d ?(?:am|pm)\b|\b(?:19|20)\d\d\b|\b(?:at|past|before|after|until) half\b"
            r"|\bat (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
        ),
        "number": (
            rf"\d|{_NUMERAL}+[㐀-鿿]"
            r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty"
            r"|fifty|hundred|thousand|half|once|twice|dozen)\b"
        ),
        "place": (
            r"在|住|搬|去了|[市区县镇路街村站岛楼层州省]|放|\b(?:in|at|near|to|from|on|behind|under"
            r"|with|above|inside|lives?)\b"
        ),
        "name": (
            r"叫|名|姓|「|“|《|[㐀-鿿](?:姐|哥|总|老师|医生|师傅|主任)|[老小阿][㐀-鿿a-z]"
            r"|\b(?:called|named|mr|mrs|ms|dr)\b"
        ),
        "reason": (
            r"因为|所以|为了|由于|怕|嫌|太[㐀-鿿]"
            r"|\b(?:because|since|due to|so that|too|instead|but)\b"
        ),
    }.items()
}
"""What tells each, simplified and in small letters. Our lists."""

_CAPITALS: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
"""An English name within a sentence."""


def kinds_asked(question: str) -> frozenset[str]:
    """Return which kinds of value a question asks for. *Promise:* never raises; deterministic."""
    plain = simplified(question).casefold()
    return frozenset(name for name, pattern in _ASKED.items() if pattern.search(plain))


def share_told(asked: frozenset[str], text: str) -> float:
    """Return the share of some kinds of value that a text tells, 0 of none. *Units:* 0…1."""
    if not asked:
        return 0.0
    plain = simplified(text).casefold()
    told = sum(
        _TOLD[name].search(plain) is not None
        or (name == "name" and _CAPITALS.search(text) is not None)
        for name in asked
    )
    return told / len(asked)
