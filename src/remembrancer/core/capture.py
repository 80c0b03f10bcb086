"""Quick capture: reads one typed line or note into title, content and markers.

`#tag`, `+project`, `@topic`, `due:`, `!` to `!!!` and a leading `note:` or `记住：` are markers;
all else is text, and no word of it is lost. It does not resolve names, read dates or fill in
defaults: that is the use case's part. Any ring may import it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import TAGS_MAX
from remembrancer.core.text.fold import clean
from remembrancer.core.text.graphemes import cut, shorten
from remembrancer.core.text.markers import CJK_SIGNS, code_spans, name_end
from remembrancer.core.text.slugs import slugify, tag_key

CAPTURE_TITLE_CHARS_MAX: Final = 160
"""Characters of a title made from captured text. Source: the predecessor's quick capture."""

CaptureKind = Literal["task", "memory"]
"""What a prefix asks for."""

_PREFIX: Final = re.compile(
    r"\s*(?:(?P<memory>note|memory|context|remember|请记住|請記住|记住|記住|记一下|記一下|备注|備註)"
    r"|(?P<task>todo|task|待办|待辦|任务|任務))[ \t]*[:：][ \t]*",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(
    rf"(?:(?<=[\s{CJK_SIGNS}])|(?<![\s\S]))(?:(?P<sign>[#＃+＋@＠])|(?P<due>due[:：]))"
    r"|(?<!\S)(?P<bang>[!！])",
    re.IGNORECASE,
)
_DUE_QUOTED: Final = re.compile(r'[ \t]*(?:"([^"\n]*)"|“([^”\n]*)”|「([^」\n]*)」)')
_BANG: Final = re.compile(
    r"[!！](?:(low|低)|(medium|中)|(high|高)|([!！]{0,2}))(?=\s|$)", re.IGNORECASE
)
_DUE_END: Final = re.compile(
    rf"[\n。；]|(?<=[\s:{CJK_SIGNS}])(?=[#＃+＋@＠][^\W\d_])|(?<=\s)(?={_BANG.pattern})",
    re.IGNORECASE,
)
_SEPARATORS: Final = "，、；,;"
_LIST_END: Final = "。！？.!?"
_SENTENCE_END: Final = re.compile(r"[。！？]+[”」』’）)]*|[.!?]+[\"'”’)]*(?=\s)")


@dataclass(frozen=True, slots=True)
class Capture:
    """What a captured text says.

    *Shape:* `kind` None without a prefix; `title` 1…160 characters on one line; `content` '' when
    the title holds everything, else the whole text without markers; `tags` as spelled, without
    two of one key; `project`, `topic` and `due` as spelled; `priority` 1 (low) to 3 (high).
    """

    kind: CaptureKind | None
    title: str
    content: str
    tags: tuple[str, ...]
    project: str | None
    topic: str | None
    due: str | None
    priority: int | None


@dataclass(slots=True)
class _Found:
    """Markers read so far, and where they stand in the text."""

    tags: dict[str, str] = field(default_factory=dict)
    project: str | None = None
    topic: str | None = None
    due: str | None = None
    priority: int | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)


def parse_capture(text: str) -> Capture:
    """Reads a captured text.

    A marker counts at the start of the text, after white space, after CJK punctuation and, for
    tags, right after another tag; its name starts with a letter of any script. E-mail addresses,
    `C++`, `1+1`, `#123`, URLs and anything in code ticks are text; so is a second project, topic,
    due or priority. `due:` reaches to its closing quote, the next marker, `。`, `；` or the end of
    the line.
    *Raises:* InvalidInput (field `input`) when no text remains.
    *Promise:* every word that is no marker is in the title or the content.
    """
    text = clean(text)
    kind: CaptureKind | None = None
    prefix = _PREFIX.match(text)
    if prefix is not None:
        kind = "memory" if prefix["memory"] else "task"
        text = text[prefix.end() :]
    found = _read_markers(text)
    rest = _without(text, found.spans).strip()
    title = _title_of(rest)
    if not title:
        raise InvalidInput(
            "the input has no text besides its markers",
            hint="write what is to be done or remembered, then #tag +project @topic due:",
            field="input",
        )
    return Capture(
        kind=kind,
        title=title,
        content="" if title == " ".join(rest.split()) else rest,
        tags=tuple(found.tags.values()),
        project=found.project,
        topic=found.topic,
        due=found.due,
        priority=found.priority,
    )


def _read_markers(text: str) -> _Found:
    found = _Found()
    in_code = code_spans(text)
    position = 0
    while (match := _MARKER.search(text, position)) is not None:
        start, position = match.start(), match.end()
        code = bisect_right(in_code, (start, len(text))) - 1
        if code >= 0 and start < in_code[code][1]:
            position = max(position, in_code[code][1])
            continue
        if match["due"]:
            end = _read_due(text, position, found)
        elif match["bang"]:
            end = _read_priority(text, start, found)
        else:
            end = _read_named(text, start, found)
        if end is not None:
            found.spans.append((start, end))
            position = end
    return found


def _read_named(text: str, start: int, found: _Found) -> int | None:
    """Reads `#tag`, `+project` or `@topic` and the tags that touch it; None when it is text."""
    if text[start] in "#＃":
        return _read_tags(text, start, found)
    end = name_end(text, start + 1)
    if end is None or text[end : end + 1] in tuple("@＠+＋=#＃"):
        return None
    name = text[start + 1 : end]
    if not _is_accepted(slugify, name):
        return None
    if text[start] in "+＋":
        if found.project is not None:
            return None
        found.project = name
    else:
        if found.topic is not None:
            return None
        found.topic = name
    return end


def _read_tags(text: str, start: int, found: _Found) -> int | None:
    """Reads a tag, those that touch it (`#a#b`), and the closing sign of `#话题#`."""
    end = _read_tag(text, start, found)
    while end is not None and text[end : end + 1] in ("#", "＃"):
        if not text[end - 1].isascii():
            # Chinese networks close a tag, and the text may follow at once.
            return end + 1
        touching = _read_tag(text, end, found)
        if touching is None:
            return end
        end = touching
    return end


def _read_tag(text: str, start: int, found: _Found) -> int | None:
    end = name_end(text, start + 1)
    if end is None or text[end : end + 1] in tuple("@＠+＋="):
        return None
    name = text[start + 1 : end]
    if not _is_accepted(tag_key, name):
        return None
    key = tag_key(name)
    if key not in found.tags and len(found.tags) == TAGS_MAX:
        return None
    found.tags.setdefault(key, name)
    return end


def _is_accepted(rule: Callable[[str], str], name: str) -> bool:
    try:
        rule(name)
    except InvalidInput:
        return False
    return True


def _read_due(text: str, start: int, found: _Found) -> int | None:
    if found.due is not None:
        return None
    quoted = _DUE_QUOTED.match(text, start)
    if quoted is not None:
        value, end = next(part for part in quoted.groups() if part is not None), quoted.end()
    else:
        stop = _DUE_END.search(text, start)
        end = stop.start() if stop is not None else len(text)
        value = text[start:end].rstrip(" \t" + _SEPARATORS)
        end = start + len(value)
    value = value.strip()
    if not value:
        return None
    found.due = value
    return end


def _read_priority(text: str, start: int, found: _Found) -> int | None:
    match = _BANG.match(text, start)
    if match is None or found.priority is not None:
        return None
    low, medium, high, more = match.groups()
    found.priority = 1 if low else 2 if medium else 3 if high else 1 + len(more)
    return match.end()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Cuts the markers out, with the space and the list comma that each leaves behind."""
    kept = ""
    position = 0
    for start, end in [*spans, (len(text), len(text))]:
        piece = text[position:start]
        kept = _join(kept, piece) if position else piece
        position = end
    return kept


def _join(before: str, after: str) -> str:
    follows = after.lstrip(" \t")
    stem = before.rstrip(" \t")
    if stem[-1:] in tuple(_SEPARATORS) and (
        not follows or follows[0] == "\n" or follows[0] in _SEPARATORS + _LIST_END
    ):
        before = stem = stem[:-1]
    elif (not stem or stem[-1] == "\n") and follows[:1] in tuple(_SEPARATORS):
        after = follows = follows[1:].lstrip(" \t")
    elif stem[-1:] in tuple(_LIST_END) and follows[:1] in ("。", "."):
        after = follows = follows[1:]
    if not stem or stem[-1] == "\n":
        # The line began with the marker: no indent, and no empty line where nothing else stood.
        return stem + (follows.removeprefix("\n") if stem else follows)
    if not follows or follows[0] == "\n":
        return stem + follows
    is_sign = follows[0] in _SEPARATORS + _LIST_END
    if is_sign and not (follows[0].isascii() and follows[1:2].isalnum()):
        return stem + follows
    if before != stem and after != follows:
        return stem + " " + follows
    return before + after


def _title_of(rest: str) -> str:
    lines = [" ".join(line.split()) for line in rest.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        return ""
    line = next((line for line in lines if any(char.isalnum() for char in line)), lines[0])
    if len(line) <= CAPTURE_TITLE_CHARS_MAX:
        return line
    ends = [found.end() for found in _SENTENCE_END.finditer(line)]
    sentence_end = max((end for end in ends if end <= CAPTURE_TITLE_CHARS_MAX), default=0)
    if sentence_end:
        return cut(line, sentence_end)
    return shorten(line, CAPTURE_TITLE_CHARS_MAX)
