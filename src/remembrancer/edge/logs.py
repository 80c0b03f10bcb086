"""Log lines into the platform's own log: one JSON object a line, the time is the platform's.

What is worth a line is decided where it is written; an exception's text is never in one, since it
can quote somebody's memory. `edge.wire` imports it.
"""

from __future__ import annotations

import json
import logging
import traceback
from typing import Final

from remembrancer.edge.convert import print_line

FRAMES_LOGGED: Final = 12
"""Innermost frames of an exception that a line names. Our choice."""

LOGGER: Final = "remembrancer"
"""The logger above all of ours."""


class PlatformLog(logging.Handler):
    """Writes records through the platform's console, by their severity."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        is_error = record.levelno >= logging.ERROR
        print_line(line_of(record), 2 if is_error else int(record.levelno >= logging.WARNING))


def line_of(record: logging.LogRecord) -> str:
    """Return the line of a record; a message that is a JSON object already is left as it is."""
    text = record.getMessage()
    if text.startswith("{"):
        return text
    fields: dict[str, object] = {"event": "log", "logger": record.name, "text": text}
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)[-FRAMES_LOGGED:]
        fields["kind"] = f"{type(error).__module__}.{type(error).__qualname__}"
        fields["frames"] = [f"{each.filename}:{each.lineno} {each.name}" for each in frames]
    return json.dumps(fields, ensure_ascii=False)


def log_to_platform() -> None:
    """Send the product's lines to the platform; others' stay where they are."""
    logger = logging.getLogger(LOGGER)
    logger.handlers = [PlatformLog()]
    logger.propagate = False
    logger.setLevel(logging.INFO)
