"""The lines of a batch: stored messages as a distilling model is shown them.

What a line is cut to, whose lines can be a fact's source, and which language a batch is in. It
reads no store. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.core.chat.echo import strip_injected
from remembrancer.core.chat.envelopes import without_envelope
from remembrancer.core.ledger.redaction import FORGOTTEN_TEXT
from remembrancer.core.recall.patch import without_patches
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.text.scripts import LETTER, UNSPACED, classes_of

EXTRACT_LINE_CHARS: Final = 900
"""Characters of what extraction is only shown, an assistant's reply: what can be a source is read
in slices. Source: the predecessor."""

DREAM_LINE_CHARS: Final = 700
"""Characters of a message that a dream reads, and more where others of its batch leave room.
Source: the predecessor."""

BESIDE_MIN: Final = 8
"""Letters, a Han character counted twice, that must be left of a message beside what was saved of
it at once and the request to save it. Our choice: “我叫小明” has as many."""

_REQUEST: Final = re.compile(
    r"对了|對了|还有|還有|另外|以后|以後|好的|务必|務必|一定要?|请|請|麻烦|麻煩|拜托|拜託|帮我|幫我|给我|給我|替我"
    r"|[记記](?:住|下来?|下來?|一下|好|着|著|得|到)|牢[记記]|[别別]忘[记記]?了?|不要忘[记記]?了?|[备備][注註]"
    r"|以下|这几点|這幾點|这些|這些|这件事|這件事|这点|這點|内容|內容|[谢謝]{2}|一下|[你您哦喔啊呀吧啦哈嘛了]"
    r"|\b(?:ok|okay|hey|hi|thanks?|you|so|and|also|btw|by the way|can|could|will|would|please|pls"
    r"|kindly|just|always|remember|don[’']?t|do not|never|forget|keep|bear|in mind|make|take|a"
    r"|mental|notes?|of|down|that|this|it|these|for me|the following|later)\b",
    re.IGNORECASE,
)
"""The words of a request to remember, as `core.memories.remember` knows them."""

Language = Literal["zh", "en"]
"""The languages that prompts and pages are written in."""

_ZH_SHARE: Final = 0.3
"""Share of Han characters among the letters from which a text counts as Chinese. Our choice: mixed
text with whole Chinese sentences is well above, a Latin text with a name well below."""


@dataclass(frozen=True, slots=True)
class Line:
    """A stored message in a batch. *Units:* `created_at` milliseconds UTC.

    *Shape:* `is_saved`: a person had it remembered already, so nothing is learned from it again.
    """

    id: str
    role: str
    text: str
    created_at: int
    is_saved: bool = False

    @property
    def is_source(self) -> bool:
        """Whether a fact can come from it: what the assistant, a tool or the client says is shown,
        never learned; so nothing that we injected or answered comes back as a fact."""
        return self.role == "user" and not self.is_saved

    def cut(self, chars_max: int) -> Line:
        """Return the line with at most so many characters."""
        if len(self.text) <= chars_max:
            return self
        text = shorten(self.text, chars_max)
        return Line(self.id, self.role, text, self.created_at, self.is_saved)


def fitted(lines: Sequence[Line], *, chars_each: int) -> list[Line]:
    """Return the lines cut so that together they have at most so many characters a line: what the
    short ones leave, the long ones that can be a source share."""
    plain = [line if line.is_source else line.cut(chars_each) for line in lines]
    room = chars_each * len(plain)
    for number, length in enumerate(sorted(len(line.text) for line in plain)):
        share = room // (len(plain) - number)
        if length > share:
            return [line.cut(share) for line in plain]
        room -= length
    return plain


def own_words(text: str) -> str:
    """Return a message without what we injected, what its client put around it and lines that
    quote: none of it is said by whoever sent it."""
    plain = without_patches(without_envelope(strip_injected(text)))
    kept = [line for line in plain.splitlines() if not line.lstrip().startswith(">")]
    text = "\n".join(kept).strip()
    if FORGOTTEN_TEXT not in text:
        return text
    # The mark is nobody's word either, and signs that stood beside it say nothing alone.
    rest = text.replace(FORGOTTEN_TEXT, " ").strip()
    return rest if any(char.isalnum() for char in rest) else ""


def beside(text: str, saved: Sequence[str]) -> str | None:
    """Return what a message says beside the statements that were saved of it at once; None when
    only the request itself is left of it."""
    for statement in saved:
        text = text.replace(statement, " ")
    left = [char for char in _REQUEST.sub(" ", text) if char.isalnum()]
    # A Latin word has some five letters, so a Han character counts for two.
    width = len(left) + "".join(classes_of("".join(left))).count(UNSPACED)
    return text if width >= BESIDE_MIN else None


def rendered(lines: Sequence[Line]) -> str:
    """Return the lines as a prompt shows them: one a line, with id and role, marks defused."""
    return "\n".join(f"[{line.id}] {line.role}: {_defused(line.text)}" for line in lines)


def _defused(text: str) -> str:
    # A line of a message can never look like another message or close the data block.
    return " ".join(text.split()).replace("<", "‹").replace(">", "›")


def language_of(texts: Sequence[str]) -> Language:
    """Return the language that most of the texts are in."""
    classes = "".join(classes_of(text) for text in texts)
    han = classes.count(UNSPACED)
    # A Latin word has some five letters, so a Han character counts for two.
    return "zh" if han and 2 * han >= _ZH_SHARE * (2 * han + classes.count(LETTER)) else "en"
