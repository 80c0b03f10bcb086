"""The diary: one page a day, rolled up by week and month, and the digest that a night leaves.

A page says only what the day's messages say: each sentence is checked against them, and what is
left of nothing is picked from the messages themselves. The record of a page and its event are
here too. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core import limits
from remembrancer.core.distill.diary import (
    SUMMARY_CHARS_MAX,
    TITLE_CHARS_MAX,
    Page,
    PageKind,
    parse_label,
)
from remembrancer.core.distill.grounding import nearness
from remembrancer.core.distill.guard import is_instruction, without_secret
from remembrancer.core.distill.lines import Language, Line, language_of
from remembrancer.core.distill.nights import Night
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.text.segment import query_terms

SENTENCE_SHARE_MIN: Final = 0.4
"""Share of a sentence's words that the day's messages must say. Our choice: a diary paraphrases
many messages at once, and each of its names and numbers is checked."""

_SENTENCES: Final = re.compile(r"[^。！？.!?\n]+(?:[。！？!?\n]+|\.(?=\s|$)|$|\.)")


def grounded_text(text: str, source: str) -> str:
    """Return the sentences of a text that a source bears out, in their order.

    *Promise:* no sentence with a name or number that the source has not; no instruction.
    """
    kept: list[str] = []
    for match in _SENTENCES.finditer(text):
        sentence = match.group().strip()
        if not sentence or is_instruction(sentence) or without_secret(sentence) != sentence:
            continue
        found = nearness(sentence, source)
        if found.is_complete and found.is_same_script and found.share >= SENTENCE_SHARE_MIN:
            kept.append(sentence)
    return _joined(kept)


def grounded_title(title: str, source: str) -> str:
    """Return a title that a source bears out, else an empty one."""
    return grounded_text(title, source).rstrip("。. ")


def grounded_night(night: Night, lines: Sequence[Line], *, before: str = "") -> Night:
    """Return what a model wrote of a batch as far as its messages bear it out.

    *Shape:* `before` what the digest may keep from earlier; a batch of which nothing is left is
    summed up by rule.
    """
    source = "\n".join(line.text for line in lines if line.role in ("user", "assistant"))
    summary = grounded_text(night.summary, source)
    sections = [
        (grounded_title(title, source) or title_of(text), text)
        for title, text in ((t, grounded_text(x, source)) for t, x in night.sections)
        if text
    ]
    return Night(
        title=shorten(grounded_title(night.title, source), TITLE_CHARS_MAX),
        summary=summary or extract_of(lines),
        sections=tuple(sections),
        digest=grounded_text(night.digest, f"{before}\n{source}"),
        quotes=night.quotes,
        proposals=night.proposals,
    )


def extract_of(lines: Sequence[Line], *, sentences_max: int = 4, chars_max: int = 320) -> str:
    """Return what a batch says, in its own sentences: those with the most telling words.

    *Promise:* every sentence is a part of a user's message, in the order they were said.
    """
    found: list[tuple[float, int, str]] = []
    seen: set[str] = set()
    for line in lines:
        for match in _SENTENCES.finditer(line.text) if line.role == "user" else ():
            sentence = " ".join(match.group().split())
            key = repetition_key(sentence)
            if not 4 <= len(sentence) <= chars_max or sentence[-1] in "?？" or key in seen:
                continue
            if is_instruction(sentence) or without_secret(sentence) != sentence:
                continue
            seen.add(key)
            weight = sum(term.weight for term in query_terms(sentence))
            found.append((min(weight, 12.0), len(found), sentence))
    best = sorted(found, key=lambda one: (-one[0], one[1]))[:sentences_max]
    return shorten(
        _joined([text for _, _, text in sorted(best, key=lambda one: one[1])]), chars_max
    )


def _joined(sentences: Sequence[str]) -> str:
    text = ""
    for sentence in sentences:
        is_open = bool(text) and text[-1] not in "。！？"
        text += (" " if is_open and text[-1].isascii() else "") + sentence
        if text[-1].isalnum():
            text += "。" if language_of([sentence]) == "zh" else "."
    return text


def title_of(text: str) -> str:
    """Return a title for a text that has none: the beginning of its first sentence."""
    first = next(iter(_SENTENCES.findall(text)), text).strip().rstrip("。.！!？?")
    return shorten(first, 16 if language_of([first]) == "zh" else 40)


def rolled_by_rule(notes: Sequence[str], *, chars_max: int) -> str:
    """Return several notes as one text: of each a like share, from its beginning."""
    kept = [note for note in notes if note]
    if not kept:
        return ""
    each = max(24, chars_max // len(kept) - 1)
    return shorten(_joined([shorten(note, each) for note in kept]), chars_max)


def day_digest(nights: Sequence[Night], before: str, rolled: str = "") -> str:
    """Return the digest after a day: the model's, else the day's summaries; at most 500 characters.

    *Shape:* `rolled` the digest of a roll-up over several batches. An empty day leaves `before`.
    """
    given = [night.digest for night in nights if night.digest]
    text = rolled or (given[-1] if len(nights) == 1 and given else "")
    if not text:
        parts = [night.summary for night in nights]
        text = rolled_by_rule(given or parts, chars_max=limits.DIGEST_CHARS_MAX)
    return shorten(redact(text), limits.DIGEST_CHARS_MAX) or before


_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "zh": {"quotes": "原话", "part": "片段", "days": "每日"},
    "en": {"quotes": "Quotes", "part": "Part", "days": "Days"},
}


def day_page(
    day: str,
    nights: Sequence[Night],
    quotes: Sequence[str],
    *,
    summary: str,
    title: str,
    through_id: str | None,
) -> Page:
    """Return the page of a day, over all of its batches."""
    language = language_of([night.summary for night in nights])
    words = _WORDS[language]
    title = title or next((night.title for night in nights if night.title), "")
    title = title or title_of(summary)
    blocks = [f"# {day} {title}".rstrip(), summary]
    if len(nights) > 1:
        blocks += [
            f"## {words['part']} {number}\n\n{night.summary}"
            for number, night in enumerate(nights, 1)
        ]
    blocks += [f"## {name}\n\n{text}" for night in nights for name, text in night.sections]
    if quotes:
        lines = "\n".join("> " + quote.replace("\n", "\n> ") + "\n" for quote in quotes)
        blocks.append(f"## {words['quotes']}\n\n{lines.rstrip()}")
    content = "\n\n".join(block for block in blocks if block) + "\n"
    return Page(day, "day", day, title, summary, content, through_id)


def rolled_page(
    kind: PageKind, label: str, days: Sequence[Page], *, title: str = "", summary: str = ""
) -> Page:
    """Return the page of a week or month from its days' pages, at least one."""
    language = language_of([page.summary for page in days])
    summary = summary or rolled_by_rule(
        [page.summary for page in days], chars_max=SUMMARY_CHARS_MAX // 2
    )
    title = title or title_of(summary)
    listed = "\n".join(f"- {page.label} {page.title}".rstrip() for page in days)
    content = f"# {label} {title}\n\n{summary}\n\n## {_WORDS[language]['days']}\n\n{listed}\n"
    return Page(label, kind, parse_label(label)[1], title, summary, content)
