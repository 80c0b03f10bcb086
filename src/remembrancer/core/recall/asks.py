"""What kind of answer a message waits for: one value, a piece of work, or whatever bears on it.

“几号到期” has one answer or none, and what is merely alike answers nothing; “帮我翻译” needs
nothing from memory unless it names it; a message about a topic is served by all that belongs to
the topic. `core.recall.gates` asks for more or less evidence accordingly. Every ring may import it.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from remembrancer.core.text.fold import fold
from remembrancer.core.text.segment import query_terms

Asks = Literal["value", "work", "open"]
"""One value (who, when, which, how many); a piece of work on the message itself; anything else."""

VALUE_WEIGHT_MAX: Final = 16.0
"""Weight of a message's terms from which it is about more than one value: some two sentences. Our
choice."""

_VALUE: Final = re.compile(
    r"什么|什麼|甚麼|啥|咋|[几幾](?!乎)|多少|多久|多大|多长|多長|多高|多远|多遠|哪(?!怕)|谁|誰|何时|何時"
    r"|何|いつ|どこ|だれ|いくら|いくつ"
    r"|\b(?:who|whose|whom)\b"
    # “When should I …” asks for advice, and no date answers it.
    r"|\b(?:when|where|which)(?:'s| (?:did|do|does|is|are|was|were|will|ha[sd]|have))\b"
    r"|\b(?:which|what) (?:time|date|day|month|year|number|size|colou?r|brand|type|kind|version"
    r"|name|port|price|address|age)\b"
    r"|\bhow (?:many|much|long|old|often|far|tall|big)\b"
    # What somebody has or does is one value; what one should do is not, and more words than two
    # name a topic.
    r"|\bwhat(?:'s| (?:is|are|was|were)) (?:my|our|his|her|their|(?:\w+ )?\w+'s) \w+(?: \w+)?\W*$"
    r"|\bwhich\b(?!.{0,80}\bshould\b)"
    r"(?=.{0,80}\b(?:i|my|we|our|his|her|their|he|she|they)\b|.{0,80}\w's\b)"
    r"|\b(?:which|what) \w+ (?:does|did|do|is|has) \w+"
)
"""Words that ask for one value, simplified, traditional, Japanese and English. Our list."""

_WORK: Final = re.compile(
    r"(?:^|[帮幫替请請给給你])[我个個]?(?:写|寫|画|畫|编|編|作)(?:一?[个個首篇段份封句张張幅]|点|點)"
    r"|翻[译譯成]|[译譯]成|润色|潤色|改写|改寫|[换換转轉]成|[换換]算|[转轉].{1,3}[进進]制"
    r"|^(?:please |can you |could you )?(?:write|translate|convert|summari[sz]e|draft|rewrite"
    r"|generate|compose|proofread)\b"
)
"""What a model does with the message alone. Our list."""


def asks_of(message: str) -> Asks:
    """Return what kind of answer a message waits for. *Promise:* never raises; deterministic."""
    plain = fold(message)
    if _WORK.search(plain):
        return "work"
    if _VALUE.search(plain) and _weight(message) <= VALUE_WEIGHT_MAX:
        return "value"
    return "open"


def _weight(message: str) -> float:
    return sum(term.weight for term in query_terms(message))
