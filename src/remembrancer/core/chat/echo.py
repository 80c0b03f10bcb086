"""The echo guard: takes out of a text what we once put into a conversation.

A client may send it back, a model may quote it, a tool may return it: as it was, quoted, inside
JSON or HTML, on one line, cut off at either end. Without this, memory would remember itself. The
element is made in `wrapping`. Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.chat.request import SYSTEM_ROLES
from remembrancer.core.chat.shapes import Body, object_of, objects_of
from remembrancer.core.chat.wrapping import BAR

_LT: Final = r"(?:<|&(?:amp;)*lt;|&#0*60;|&#[xX]0*3[cC];|\\+u003[cC])"
_GT: Final = r"(?:>|&(?:amp;)*gt;|&#0*62;|&#[xX]0*3[eE];|\\+u003[eE])"
_QUOTE: Final = r"(?:\\*[\"']|&(?:amp;)*quot;|&#0*34;|\\+u0022)"
_NAME: Final = r"remembrancer-(?:memory|boot|context)"
_OPEN: Final = re.compile(rf"{_LT}{_NAME}\s+id=({_QUOTE})[A-Za-z0-9_-]{{1,64}}(?:{_QUOTE})\s*{_GT}")
_CLOSE: Final = re.compile(rf"{_LT}\\*/{_NAME}\s*{_GT}")
_CUT_OPEN: Final = re.compile(
    rf"{_LT}{_NAME}\s+i(?:d(?:=(?:{_QUOTE}(?:[A-Za-z0-9_-]{{1,64}}(?:{_QUOTE})?)?)?)?)?\s*\Z"
)
_CUT_CLOSE: Final = re.compile(rf"{_LT}\\*(?:/[a-z-]*)?\Z")
_QUOTED: Final = re.compile(r"(?:[ \t]|>|&gt;)*")
_QUOTE_BEFORE: Final = re.compile(r"(?:^|(?<=\n))[ \t]*(?:>|&gt;)(?:[ \t]|>|&gt;)*\Z")
_BAR_LINE: Final = re.compile(rf"(?:[ \t]|>|&gt;)*{re.escape(BAR)}")
_FLAT: Final = re.compile(rf"[ \t]*{re.escape(BAR)}[^\n]*")
_LINE_BREAK: Final = re.compile(r"(\\+)(?:r\1)?n")
_ANY_MARK: Final = "remembrancer-"

_SPAN_CHARS_MAX: Final = 40_000
"""Characters between an opening and a closing that no longer have bars in between. Our choice:
above every block that we make."""

_TAG_CHARS_MAX: Final = 256
"""Characters of a tag at most, before and after its name; a tag that was escaped more than five
times is longer."""

_PASSES_MAX: Final = 3
"""Times a text is looked through; what one pass brings together, the next one finds."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a copy is written.

    *Shape:* `line_end` matches a line's end where one is expected, `find` finds the next one (its
    group 1); `text_end` ends the string that the copy is in.
    """

    line_end: re.Pattern[str]
    find: re.Pattern[str]
    text_end: re.Pattern[str] | None


def _form(line_end: str) -> _Form:
    return _Form(re.compile(line_end), re.compile(f"({line_end})"), None)


_PLAIN: Final = _form(r"\n")
_OTHER_LINE_ENDS: Final = {
    "\r\n": _form(r"\r\n"),
    "\r": _form(r"\r"),
    "<br": _form(r"<br ?/?>\n?"),
}


def strip_injected(text: str) -> str:
    """Return `text` without the blocks that we put into it, complete or cut off.

    The blank line that joined a block to a text goes with it, so that taking out is the exact
    reverse of putting in.
    *Promise:* what is not ours stays, character by character; linear time; JSON that
    held a block inside a string is still JSON.
    """
    passes = 0
    while _ANY_MARK in text and passes < _PASSES_MAX:
        stripped = _without_orphans(_without_blocks(text))
        if stripped == text:
            break
        text, passes = stripped, passes + 1
    return text


def strip_injected_messages(messages: Sequence[Body]) -> list[Body]:
    """Return the messages without our blocks, in either vendor's form.

    *Shape:* messages without one are the very same objects; a part, or a system message, that was
    nothing else is left out. Thinking is never touched: its signature would break.
    """
    result: list[Body] = []
    for message in messages:
        clean = _clean_message(message)
        if clean is not None:
            result.append(clean)
    return result


def _clean_message(message: Body) -> Body | None:
    content = message.get("content")
    clean = _clean_content(content)
    calls = objects_of(message.get("tool_calls"))
    clean_calls = [_clean_call(call) for call in calls]
    changed: Body = {}
    if clean is not content:
        if not clean and message.get("role") in SYSTEM_ROLES:
            return None
        changed["content"] = clean
    if any(new is not old for new, old in zip(clean_calls, calls, strict=True)):
        changed["tool_calls"] = clean_calls
    return {**message, **changed} if changed else message


def _clean_content(content: object) -> object:
    if isinstance(content, str):
        return strip_injected(content)
    if not isinstance(content, list):
        return content
    parts: list[object] = []
    for part in content:
        clean = _clean_part(part) if isinstance(part, dict) else part
        if clean is not None:
            parts.append(clean)
    is_same = len(parts) == len(content) and all(
        new is old for new, old in zip(parts, content, strict=True)
    )
    return content if is_same else parts


def _clean_part(part: Body) -> Body | None:
    """The part without our blocks, the same object when it has none, None when it was one."""
    if part.get("type") in ("thinking", "redacted_thinking"):
        return part
    changed: Body = {}
    if isinstance(text := part.get("text"), str) and (clean := strip_injected(text)) != text:
        if not clean:
            return None
        changed["text"] = clean
    if (clean_content := _clean_content(part.get("content"))) is not part.get("content"):
        changed["content"] = clean_content
    if part.get("type") == "tool_use" and (given := _clean_value(part.get("input"))) != part.get(
        "input"
    ):
        changed["input"] = given
    return {**part, **changed} if changed else part


def _clean_call(call: Body) -> Body:
    function = object_of(call.get("function"))
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or (clean := strip_injected(arguments)) == arguments:
        return call
    return {**call, "function": {**function, "arguments": clean}}


def _clean_value(value: object) -> object:
    if isinstance(value, str):
        return strip_injected(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _clean_value(item) for key, item in value.items()}
    return value


# -- one text ------------------------------------------------------------------------------------


def _without_blocks(text: str) -> str:
    kept: list[str] = []
    at = 0
    while found := _find(_OPEN, text, at):
        form = _form_of(text, found)
        end = _end_of_blocks(text, found.end(), form)
        if end is None:
            kept.append(text[at : found.end()])
            at = found.end()
            continue
        start, end = _with_separator(text, found.start(), end, form)
        kept.append(text[at : max(start, at)])
        at = end
    rest = text[at:]
    cut = _CUT_OPEN.search(rest, max(0, len(rest) - _TAG_CHARS_MAX))
    if cut is not None:
        start, _ = _with_separator(rest, cut.start(), len(rest), _PLAIN)
        rest = rest[:start]
    return "".join([*kept, rest])


def _find(
    tag: re.Pattern[str], text: str, start: int = 0, limit: int | None = None
) -> re.Match[str] | None:
    """The first tag from `start` on: looked for by its name, which a plain search finds fast."""
    limit = len(text) if limit is None else limit
    name = text.find(_ANY_MARK, start, limit)
    while name >= 0:
        found = tag.search(
            text, max(start, name - _TAG_CHARS_MAX), min(limit, name + _TAG_CHARS_MAX)
        )
        if found is not None:
            return found
        name = text.find(_ANY_MARK, name + 1, limit)
    return None


def _form_of(text: str, opening: re.Match[str]) -> _Form:
    """A line of ours always ends right after the opening; how it ends tells the form."""
    found = _LINE_BREAK.match(text, opening.end())
    if found is None:
        for start, form in _OTHER_LINE_ENDS.items():
            if text.startswith(start, opening.end()):
                return form
        return _PLAIN
    # In a string n times escaped a line ends in 2^(n-1) backslashes and an n; a backslash of the
    # text is twice as many, and may stand before it.
    depth = len(found[1])
    escaped = rf"(?:\\{{{depth}}}r)?\\{{{depth}}}n"
    find = re.compile(rf"(?<!\\)(?:\\{{{2 * depth}}})*({escaped})")
    quote = opening[1]
    if quote in ('"', "'"):
        # A literal of a programming language: the other quotation mark is around it.
        text_end = r"(?<!\\)(?:\\\\)*(')" if quote == '"' else r'(?<!\\)(?:\\\\)*(")'
    else:
        text_end = rf'(?<!\\)(?:\\{{{2 * depth}}})*(\\{{0,{depth - 1}}}")'
    return _Form(re.compile(escaped), find, re.compile(text_end))


def _end_of_blocks(text: str, after_open: int, form: _Form) -> int | None:
    """Where a block ends, with those that are joined to it."""
    end = _end_of_block(text, after_open, form)
    joined = end
    while joined is not None:
        end = joined
        following = _OPEN.match(text, _past_separator(text, end, form))
        joined = _end_of_block(text, following.end(), form) if following else None
    return end


def _past_separator(text: str, end: int, form: _Form) -> int:
    for _ in range(2):
        if line_end := form.line_end.match(text, end):
            end = line_end.end()
    return end


def _end_of_block(text: str, after_open: int, form: _Form) -> int | None:
    """Where a block ends whose opening ends at `after_open`; None when nothing of ours follows."""
    limit = len(text)
    if form.text_end is not None and (stop := form.text_end.search(text, after_open)):
        limit = stop.start(1)
    following = _find(_OPEN, text, after_open)
    if following is not None:
        limit = min(limit, following.start())
    at, lines = after_open, 0
    while line_end := form.line_end.match(text, at, limit):
        start = _skip(text, line_end.end(), limit)
        if close := _CLOSE.match(text, start, limit):
            return close.end()
        if start >= limit:
            return limit
        if text[start] != BAR:
            if cut := _CUT_CLOSE.match(text, start, limit):
                return cut.end()
            break
        next_end = form.find.search(text, start, limit)
        at, lines = next_end.start(1) if next_end else limit, lines + 1
    if at >= limit:
        return limit
    close = _find(_CLOSE, text, at, min(limit, at + _SPAN_CHARS_MAX))
    if close is not None:
        return close.end()
    if lines:
        return at
    flat = _FLAT.match(text, after_open, limit)
    return flat.end() if flat else None


def _skip(text: str, start: int, limit: int) -> int:
    found = _QUOTED.match(text, start, limit)
    return found.end() if found else start


def _with_separator(text: str, start: int, end: int, form: _Form) -> tuple[int, int]:
    """The span with the quotation marks of its own line and the blank line that joined it."""
    if quoted := _QUOTE_BEFORE.search(text, max(0, start - 200), start):
        start = quoted.start()
    before = _line_ends_before(text, start, form)
    is_first = start == 0 or (form.text_end is not None and text[start - 1] in "\"'")
    if before < start or not is_first:
        return before, end
    return start, _past_separator(text, end, form)


def _line_ends_before(text: str, start: int, form: _Form) -> int:
    for _ in range(2):
        first = max(0, start - 64)
        found = [item for item in form.find.finditer(text, first, start) if item.end() == start]
        if not found:
            break
        start = found[-1].start(1)
    return start


def _without_orphans(text: str) -> str:
    """The text without the last lines of a block whose beginning was cut off."""
    close = _find(_CLOSE, text)
    while close is not None:
        first = _first_bar_line(text, close.start())
        if first is None:
            close = _find(_CLOSE, text, close.end())
            continue
        start, end = _with_separator(text, first, close.end(), _PLAIN)
        text = text[:start] + text[end:]
        close = _find(_CLOSE, text, start)
    return text


def _first_bar_line(text: str, before: int) -> int | None:
    """Where the lines with a bar start that stand right before a closing, or None."""
    line = text.rfind("\n", 0, before) + 1
    if text[line:before].strip(" \t>") or not line:
        return None
    first = None
    while line > 0:
        line = text.rfind("\n", 0, line - 1) + 1
        if not _BAR_LINE.match(text, line):
            break
        first = line
    return first
