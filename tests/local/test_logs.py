"""Log lines: one JSON object each, without the texts of exceptions."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from remembrancer.local.logs import NAMES, JsonLines, log_to_stderr


@pytest.fixture(autouse=True)
def _unchanged_loggers() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(one.handlers[:], one.propagate, one.level) for one in loggers]
    yield
    for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
        one.handlers, one.propagate = handlers, propagate
        one.setLevel(level)


def _record(text: str, *, is_failing: bool = False) -> logging.LogRecord:
    record = logging.LogRecord("remembrancer.x", logging.WARNING, "x.py", 1, text, None, None)
    record.created = 1_900_000_000.5
    if is_failing:
        try:
            raise ValueError("我的秘密")
        except ValueError:
            record.exc_info = sys.exc_info()
    return record


def test_line_of_a_text_is_an_object_with_its_time() -> None:
    assert json.loads(JsonLines().format(_record("磁盘满了"))) == {
        "at": "2030-03-17T17:46:40.500+00:00",
        "level": "warning",
        "event": "log",
        "logger": "remembrancer.x",
        "text": "磁盘满了",
    }


def test_line_of_an_object_keeps_its_members() -> None:
    line = json.loads(JsonLines().format(_record('{"event": "request", "id": "req_1"}')))
    assert (line["event"], line["id"], line["level"]) == ("request", "req_1", "warning")
    assert "text" not in line


def test_line_of_a_failure_tells_where_but_not_what() -> None:
    text = JsonLines().format(_record("failed", is_failing=True))
    line = json.loads(text)
    assert line["kind"] == "builtins.ValueError"
    assert "test_logs.py" in line["frames"][-1]
    assert "秘密" not in text


def test_lines_go_to_stderr_and_others_only_from_warnings_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()
    logging.getLogger("remembrancer.request").info("一")
    logging.getLogger("uvicorn.error").info("started")
    logging.getLogger("uvicorn.error").warning("odd")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [json.loads(line)["text"] for line in shown.err.splitlines()] == ["一", "odd"]
