"""What the words of a captured task say of its time: a date, or a series and its first date.

A marker or an argument for the due date leaves no question, and the words are not asked then.
"""

from __future__ import annotations

from typing import Final

from remembrancer.app.items.inputs import ItemInput
from remembrancer.core.dates import find_date, find_series
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.fields import RECURRENCE_KINDS

SAID_CHARS_MAX: Final = 160
"""How far into a text its time is looked for, characters: as long as a captured title. What is due
is said early, and reading takes longer than all else of a capture."""


def read_words(given: ItemInput, at: Moment) -> ItemEdit:
    """Return what a captured text says of when its task is due; empty when it says nothing.

    *Shape:* no word is taken out of the text. A monthly series keeps the day that was said, also
    where this month is too short for it.
    """
    if given.get("kind") != "task" or "due" in given:
        return {}
    text = str(given.get("content") or given["title"])[:SAID_CHARS_MAX]
    series = None
    if "recurrence_kind" not in given:
        series = find_series(text, now_ms=at.now_ms, zone=at.zone)
    edit: ItemEdit = {}
    if series is not None and series.due_ms is not None:
        edit = {"due_at": series.due_ms, "due_text": series.matched}
        if series.due_wall is not None:
            edit["due_wall"] = series.due_wall
    else:
        found = find_date(text, now_ms=at.now_ms, zone=at.zone)
        if found is not None and found.at_ms > at.now_ms:
            edit = {"due_at": found.at_ms, "due_text": found.matched}
    if series is None:
        return edit
    said = series.recurrence
    assert said.kind in RECURRENCE_KINDS
    edit |= {"recurrence_kind": said.kind, "recurrence_interval": said.interval}
    if said.kind == "monthly" and said.anchor_day is not None:
        edit["recurrence_day"] = said.anchor_day
    return edit
