"""Log lines: one JSON object a line on stderr, with the time and never the text of an exception.

What is worth a line is decided where it is written. `local.wire` and `local.server` import it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Final

FRAMES_LOGGED: Final = 12
"""Innermost frames of an exception that a line names. Our choice."""

NAMES: Final = ("remembrancer", "uvicorn.error", "asyncio")
"""Loggers whose lines go to stderr."""


class JsonLines(logging.Formatter):
    """Makes one JSON object of a record; a message that is one already keeps its members."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head: dict[str, object] = {"at": at, "level": record.levelname.lower()}
        text = record.getMessage()
        if not text.startswith("{"):
            head |= {"event": "log", "logger": record.name, "text": text}
        if record.exc_info and record.exc_info[1] is not None:
            head |= _without_text(record.exc_info[1])
        line = json.dumps(head, ensure_ascii=False)
        return f"{line[:-1]}, {text[1:]}" if text.startswith("{") else line


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send the product's lines to stderr; others' only from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level if name == "remembrancer" else logging.WARNING)


def _without_text(error: BaseException) -> dict[str, object]:
    # An exception's own text can quote somebody's memory.
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES_LOGGED:]
    return {
        "kind": f"{type(error).__module__}.{type(error).__qualname__}",
        "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
