"""A person's own words in a user's message, without what their client put around them.

Reminders of a coding agent, the output of its commands, pages that a search found: a model is to
read them, and nobody said them. They are asked about and passed on as they came; only what is
recalled for, saved and stored leaves them out. Any ring may import it.
*Source:* what Claude Code, Cline and Roo Code send, and the default prompts of Open WebUI and
Cherry Studio for found texts.
"""

from __future__ import annotations

import re
from typing import Final

_ELEMENTS: Final = (
    *("system-reminder", "user-prompt-submit-hook", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr"),
    *("command-name", "command-message", "bash-stdout", "bash-stderr"),
    *("ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics"),
    "environment_details",
)
"""Elements that hold nothing of a person's."""

_OPEN: Final = re.compile(rf"<({'|'.join(_ELEMENTS)})(?:\s[^<>]{{0,200}})?>")
_ARGUMENTS: Final = re.compile(r"</?command-args>")

_CONTINUED: Final = "This session is being continued from a previous conversation"
"""How Claude Code's summary of what came before begins; it is a text of its own."""

_FOUND_TEXTS: Final = "### task:\nrespond to the user query using the provided context"
"""How Open WebUI's prompt for found texts begins; the question stands behind them."""
_CONTEXT_END: Final = "</context>"
_QUERY: Final = re.compile(r"\s*<user_query>(.*)</user_query>\s*", re.DOTALL)

_REFERENCES: Final = "please answer the question based on the reference materials"
"""How Cherry Studio's prompts for found texts begin; the question stands between two headings."""
_QUESTION: Final = "## My question is:"
_MATERIALS: Final = "## Reference Materials:"


def without_envelope(text: str) -> str:
    """Return what of a user's message its client did not add.

    *Shape:* the very text where there is nothing of the kind; '' when there is nothing else.
    *Promise:* an element that is not closed stays; linear time.
    """
    if text.lstrip().startswith(_CONTINUED):
        return ""
    if "<" not in text and "#" not in text:
        return text
    told = _behind_found_texts(text)
    if "<" not in told:
        return told
    kept = _ARGUMENTS.sub("", told) if _OPEN.search(told) else told
    kept = _without_elements(kept)
    return told if kept == told else kept.strip()


def _without_elements(text: str) -> str:
    kept: list[str] = []
    unclosed: set[str] = set()
    at = start = 0
    while found := _OPEN.search(text, at):
        name, at = found[1], found.end()
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        kept.append(text[start : found.start()])
        at = start = end + len(name) + 3
    return "".join([*kept, text[start:]])


def _behind_found_texts(text: str) -> str:
    head = text.lstrip()[:80].lower()
    if head.startswith(_FOUND_TEXTS):
        at = text.rfind(_CONTEXT_END)
        if at < 0:
            return text
        asked = text[at + len(_CONTEXT_END) :]
        framed = _QUERY.fullmatch(asked)
        return (framed[1] if framed else asked).strip()
    if head.startswith(_REFERENCES):
        before, heading, rest = text.partition(_QUESTION)
        asked, end, _ = rest.rpartition(_MATERIALS)
        return asked.strip() if before and heading and end else text
    return text
