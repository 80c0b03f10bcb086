"""Decisions on precious quotes: kept byte for byte, never rewritten, removed only with a reason.

All of a namespace are one record: id → the quote and where it is from. Every ring may import it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.events import Draft
from remembrancer.core.library.words import check_length, checked_list
from remembrancer.core.values import JSON

PreciousSource = Literal["human", "secretary"]
"""Who keeps a quote: a person, or an agent on their behalf. Source: the predecessor's values."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Quote:
    """A precious quote. *Units:* `created_at` milliseconds UTC."""

    id: str
    content: str
    context_message_ids: tuple[str, ...]
    source: str
    created_at: int

    @property
    def fields(self) -> dict[str, JSON]:
        """What the record of all quotes holds under its id."""
        return {
            "content": self.content,
            "context_message_ids": list(self.context_message_ids),
            "source": self.source,
            "created_at": self.created_at,
        }

    @property
    def view(self) -> dict[str, JSON]:
        """The answer form."""
        return {"id": self.id, **self.fields, "created_at": format_iso(self.created_at)}


def content_hash(content: str) -> str:
    """Return the SHA-256 of the quote's bytes, by which the same quote is known again."""
    return hashlib.sha256(content.encode()).hexdigest()


def check_content(content: str) -> str:
    """Return the quote as it came: nothing is trimmed, folded or rewritten.

    *Raises:* InvalidInput for an empty one, white space alone, and lone surrogates (no UTF-8
    text can hold them); LimitExceeded.
    """
    if _SURROGATE.search(content):
        raise InvalidInput(
            "content holds half of a surrogate pair, which no text can",
            hint="send the text as valid Unicode",
            field="content",
        )
    if not content.strip():
        raise InvalidInput("content is empty", hint="give the words to keep", field="content")
    check_length(content, field="content", chars_max=limits.PRECIOUS_CHARS_MAX)
    return content


def check_message_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the messages around a quote. *Raises:* InvalidInput, LimitExceeded."""
    return checked_list(
        ids,
        field="context_message_ids",
        count_max=limits.SOURCE_IDS_MAX,
        chars_max=limits.CONVERSATION_ID_CHARS_MAX,
    )


def add_quote(quote: Quote) -> Draft:
    """Draft the keeping of a quote that is not there yet."""
    return Draft("PreciousAdded", {quote.id: (None, quote.fields)})


def remove_quote(present: Mapping[str, JSON], id_: str, *, reason: str) -> Draft:
    """Draft the removal of a quote. *Shape:* `present` holds it; `reason` was checked."""
    return Draft("PreciousRemoved", {id_: (present[id_], None)}, {"reason": reason})
