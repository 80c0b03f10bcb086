"""What servers log while tests talk to them: no key, and no word of what they were sent.

What was sent is heard where it leaves this process, so no test has to say it. A line of a request
is held to its form, in which there is no room for a text; everything else is searched.
"""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final
from unittest import mock
from urllib.parse import parse_qsl

import httpx
import httpx2

Json = Any

CHARS_MIN: Final = 8
"""Characters from which a text is looked for."""
HEAD_CHARS: Final = 24
"""Characters at either end that are looked for: what is logged may be cut off."""
KEY_NAMES: Final = ("KEY", "TOKEN", "SECRET")
"""How names of variables end that hold a key."""

_NO_PROSE: Final = re.compile(r"[A-Za-z0-9_.,:;/@+*?=&%#~|-]*|[\d\s:./TZ+-]*")
"""Names, addresses and dates: the product's own lines may hold the same ones."""
_MARK: Final = re.compile(r"[0-9a-f]{32}")
"""What tests put into their texts so that no other text is the same."""
_NAME: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_COUNT: Final = re.compile(r"\d{1,9}")
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(("at", "id", "cause", "level", "event", "method"), _NAME),
    **dict.fromkeys(("route", "key", "namespace", "error"), _NAME),
    **dict.fromkeys(("status", "ms", "queries", "statements"), _COUNT),
    "at": re.compile(r"[0-9T:.+-]{20,40}"),
}
"""The members of a request's line, and what each may be."""


@dataclass(slots=True)
class Sent:
    """What this process sent, and the keys that it sent it with."""

    keys: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def add_key(self, key: str | None) -> None:
        """Take note of a key; what is shorter than any key of ours is none."""
        if key and len(key) >= CHARS_MIN:
            self.keys.add(key)

    def add(self, value: Json) -> None:
        """Take note of every text in a JSON value."""
        if isinstance(value, str):
            if len(value) >= CHARS_MIN:
                self.texts.add(value)
        elif isinstance(value, Mapping):
            self.add([*value, *value.values()])
        elif isinstance(value, Sequence):
            for part in value:
                self.add(part)

    def add_body(self, raw: bytes) -> None:
        """Take note of a body: of its texts where it is JSON, else of itself."""
        try:
            self.add(json.loads(raw))
        except (ValueError, RecursionError):
            self.add(raw.decode(errors="replace"))

    def add_call(self, arguments: Sequence[str], environ: Mapping[str, str]) -> None:
        """Take note of how a program was called."""
        self.add(list(arguments))
        for option, value in pairwise(arguments):
            if option == "--token":
                self.add_key(value)
        for name, value in environ.items():
            if name.endswith(KEY_NAMES):
                self.add_key(value)

    def add_request(self, request: Any) -> None:  # Any: httpx's or httpx2's, which are alike
        """Take note of a request that is sent."""
        self.add_key(request.headers.get("x-api-key"))
        self.add_key(request.headers.get("authorization", "").partition(" ")[2])
        for name, value in parse_qsl(request.url.query.decode()):
            if name == "token":
                self.add_key(value)
            else:
                self.add(value)
        try:
            self.add_body(request.content)
        except (httpx.RequestNotRead, httpx2.RequestNotRead):
            pass  # it is made while it is sent: nothing of ours

    @property
    def prose(self) -> list[str]:
        """The texts that no line of ours could hold by chance."""
        return [text for text in self.texts if _NO_PROSE.fullmatch(text) is None]

    @property
    def marks(self) -> set[str]:
        """What tests made unique."""
        return {mark for text in self.texts for mark in _MARK.findall(text)}


SENT: Final = Sent()
"""What is sent in this process while somebody listens."""


class Lines(logging.Handler):
    """Keeps what a server of this very process logs."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def listening(sent: Sent = SENT) -> Iterator[Lines]:
    """Hear what the HTTP clients of this process send, and what its own servers log."""
    lines = Lines()
    logger = logging.getLogger("remembrancer")
    with ExitStack() as stack:
        for client in (httpx.Client, httpx2.Client, httpx.AsyncClient, httpx2.AsyncClient):
            send = _heard(client.send, sent)
            stack.enter_context(mock.patch.object(client, "send", send))
        logger.addHandler(lines)
        stack.callback(logger.removeHandler, lines)
        yield lines


def _heard(send: Callable[..., Any], sent: Sent) -> Callable[..., Any]:
    @functools.wraps(send)
    def hear(client: Any, request: Any, **options: Any) -> Any:
        sent.add_request(request)
        return send(client, request, **options)

    return hear


def is_plain(line: str) -> bool:
    """Tell whether a line is a request's, with nothing in it that could hold a text."""
    try:
        told = json.loads(line)
    except ValueError:
        return False
    if not isinstance(told, dict) or told.get("event") != "request":
        return False
    return all(
        name in _FORMS and _FORMS[name].fullmatch(str(value)) is not None
        for name, value in told.items()
    )


def leaks(log: str, sent: Sent) -> list[str]:
    """Return what of the keys and texts a log holds, cut so that it can be shown."""
    rest = "\n".join([line for line in log.splitlines() if not is_plain(line)])
    found = [f"the key {key[:4]}…" for key in sent.keys if key in log]
    found += [f"the mark of {mark!r}" for mark in sent.marks & set(_MARK.findall(log))]
    for text in sent.prose:
        ends = {text[:HEAD_CHARS], text[-HEAD_CHARS:]}
        if any(form in rest for end in ends for form in _forms(end)):
            found.append(f"the text {text[:HEAD_CHARS]!r}")
    return found


def _forms(text: str) -> set[str]:
    """A text as lines write it: as it is, in JSON, in JSON of ASCII alone, as Python shows it."""
    whole = text.encode(errors="replace").decode()
    return {
        *(text, repr(text)[1:-1], json.dumps(text)[1:-1]),
        *(whole, json.dumps(whole, ensure_ascii=False)[1:-1]),
    }


def hold_no_secret(logs: Mapping[str, str], sent: Sent) -> None:
    """Check what servers logged. *Raises:* AssertionError, which names the logs and what is there.

    *Shape:* `logs` name → text.
    """
    found = {name: leaks(log, sent) for name, log in logs.items()}
    told = {name: each[:10] for name, each in found.items() if each}
    assert not told, f"logs hold what was sent: {told}"
