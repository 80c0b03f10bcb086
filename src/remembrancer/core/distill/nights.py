"""What a dreaming model answers of a day: its words, its quotes, its proposals, entry by entry.

Nothing is judged here but quotes, which a message has or has not; `verdicts.py` judges proposals,
`pages.py` words. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.core.distill.answers import Unreadable, read_object
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Line
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

PROPOSALS_MAX: Final = 40
"""Proposals of one kind that are read of one answer. Our choice: as many memories as are shown."""

EXCERPT_CHARS: Final = (6, 500)
"""Fewest and most characters of a quote. Our choice."""

Change = Literal["merge", "replace", "retire", "conflict"]
"""What is proposed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposed change.

    *Shape:* `ids` what it is about, for `replace` and `retire` one, for `merge` and `conflict`
    two or more; `by` the memory that makes the first obsolete.
    """

    change: Change
    ids: tuple[str, ...]
    content: str = ""
    by: str | None = None
    reason: str = ""
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Night:
    """What a model answered for one batch of a day, or a rule made of it."""

    title: str = ""
    summary: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    quotes: tuple[tuple[str, str | None], ...] = ()
    proposals: tuple[Proposal, ...] = ()


_TEXTS: Final = ("summary", "digest", "title")
_LISTS: Final = (
    "sections", "quotes", "excerpts", "merge", "replace", "memories_to_update", "retire",
    "delete", "memories_to_delete", "contradictions",
)  # fmt: skip


def read_night(text: str) -> Night | Unreadable:
    """Return what an answer proposes; the predecessor's names of the lists will do as well."""
    found = read_object(text, (*_TEXTS, *_LISTS, "memories"))
    if isinstance(found, Unreadable):
        return found
    proposals = [
        *(_merge(entry) for entry in _entries(found, "merge")),
        *(_replace(entry) for entry in _entries(found, "replace", "memories_to_update")),
        *(_retire(entry) for entry in _entries(found, "retire", "delete", "memories_to_delete")),
        *(_clash(entry) for entry in _entries(found, "contradictions")),
    ]
    sections = [entry for entry in _entries(found, "sections") if isinstance(entry, dict)]
    return Night(
        title=_line(found.get("title")),
        summary=_line(found.get("summary")),
        sections=tuple((_line(one.get("title")), _line(one.get("text"))) for one in sections[:3]),
        digest=_line(found.get("digest")),
        quotes=tuple(_quote(entry) for entry in _entries(found, "quotes", "excerpts")),
        proposals=tuple(one for one in proposals if one is not None),
    )


def _entries(found: Mapping[str, JSON], *names: str) -> list[JSON]:
    result: list[JSON] = []
    for name in names:
        value = found.get(name)
        result += value[:PROPOSALS_MAX] if isinstance(value, list) else []
    return result


def _line(value: JSON) -> str:
    return " ".join(clean(value).split()) if isinstance(value, str) else ""


def _ids(entry: Mapping[str, JSON], *names: str) -> tuple[str, ...]:
    for name in names:
        value = entry.get(name)
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list):
            return tuple(dict.fromkeys(str(one) for one in value if isinstance(one, str)))
    return ()


def _merge(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    ids = _ids(entry, "ids", "memory_ids")
    return Proposal("merge", ids, _line(entry.get("content")), reason=_line(entry.get("reason")))


def _replace(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    return Proposal(
        "replace",
        _ids(entry, "id", "memory_id", "target_id")[:1],
        _line(entry.get("content")),
        reason=_line(entry.get("reason")),
        source_ids=_ids(entry, "source_message_ids"),
    )


def _retire(entry: JSON) -> Proposal | None:
    if isinstance(entry, str):
        return Proposal("retire", (entry,))
    if not isinstance(entry, dict):
        return None
    by = _ids(entry, "by", "superseded_by", "contradicted_by")
    ids = _ids(entry, "id", "memory_id", "target_id")[:1]
    reason = _line(entry.get("reason"))
    return Proposal("retire", ids, by=by[0] if by else None, reason=reason)


def _clash(entry: JSON) -> Proposal | None:
    if not isinstance(entry, dict):
        return None
    return Proposal("conflict", _ids(entry, "ids", "memory_ids"), reason=_line(entry.get("reason")))


def _quote(entry: JSON) -> tuple[str, str | None]:
    if isinstance(entry, str):
        return entry, None
    if not isinstance(entry, dict):
        return "", None
    text = entry.get("text") or entry.get("content")
    ids = _ids(entry, "source_message_id", "source_message_ids")
    return (text if isinstance(text, str) else ""), ids[0] if ids else None


def kept_quotes(
    quotes: Sequence[tuple[str, str | None]], lines: Sequence[Line], *, limit: int
) -> list[tuple[str, str]]:
    """Return the quotes that a source message has word for word, with its id, each once.

    *Promise:* the text is a part of the message, unchanged; an instruction or a secret is none.
    """
    found: dict[str, str] = {}
    for text, cited in quotes:
        quote = re.sub(r"^[\"“「『]|[\"”」』]$", "", clean(text).strip()).strip()
        low, high = EXCERPT_CHARS
        is_safe = not is_instruction(quote) and without_secret(quote) == quote
        if not low <= len(quote) <= high or not is_safe:
            continue
        for line in sorted(lines, key=lambda line: line.id != cited):
            if line.is_source and quote in line.text:
                found.setdefault(quote, line.id)
                break
        if len(found) >= limit:
            break
    return list(found.items())[:limit]
