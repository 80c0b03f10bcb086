"""The record of a page of the diary: one a day, a week, a month; how it is named and shown.

What a page says is `pages.py`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.changes import changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.values import JSON

PageKind = Literal["day", "week", "month"]
"""What a page is about."""

REVISED: Final = "PageRevised"
"""Kind of the event that rolls a week or month up again, without one of its days. It is no night:
it dates no consolidation, and it is not undone by itself."""

TITLE_CHARS_MAX: Final = 80
"""Characters of a page's title. Our choice; a prompt asks for half."""

SUMMARY_CHARS_MAX: Final = 1_200
"""Characters of a page's summary. Our choice."""

CONTENT_CHARS_MAX: Final = 20_000
"""Characters of a page. Our choice; a day of ten batches has some 6,000."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the diary.

    *Shape:* `label` `2026-03-01`, `2026-W09` or `2026-03`; `starts_on` its first day; `content`
    Markdown; `through_id` the last message that went into a day's page.
    """

    label: str
    kind: PageKind
    starts_on: str
    title: str
    summary: str
    content: str
    through_id: str | None = None

    @property
    def path(self) -> str:
        """Where the page lies in a workspace."""
        return f"logs/{self.label}.md"


def write_page(present: Mapping[str, JSON], page: Page) -> Draft | None:
    """Draft a page's new text; None when nothing changes.

    *Promise:* instructions and secrets never come in: the sentences were checked, the rest is
    redacted here.
    """
    after: dict[str, JSON] = {
        "kind": page.kind,
        "path": page.path,
        "starts_on": page.starts_on,
        "title": redact(shorten(page.title, TITLE_CHARS_MAX)),
        "summary": redact(shorten(page.summary, SUMMARY_CHARS_MAX)),
        "content": redact(shorten(page.content, CONTENT_CHARS_MAX)),
        "through_id": page.through_id,
    }
    changes = changes_between(present, after)
    return Draft("PageWritten", changes) if changes else None


def page_from(label: str, fields: Mapping[str, JSON]) -> Page | None:
    """Return the page of a record; None when the record has no page any more."""
    kind, starts_on = parse_label(label)
    if not fields.get("kind"):
        return None
    title, summary, content = (
        str(fields.get(name) or "") for name in ("title", "summary", "content")
    )
    through = fields.get("through_id")
    through_id = None if through is None else str(through)
    return Page(label, kind, starts_on, title, summary, content, through_id)


def parse_label(label: str) -> tuple[PageKind, str]:
    """Return what a label names and its first day. *Raises:* InvalidInput."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", label):
            return "day", date.fromisoformat(label).isoformat()
        if re.fullmatch(r"\d{4}-W\d\d", label):
            first = date.fromisocalendar(int(label[:4]), int(label[6:]), 1)
            return "week", first.isoformat()
        if re.fullmatch(r"\d{4}-\d\d", label):
            return "month", date(int(label[:4]), int(label[5:]), 1).isoformat()
    except ValueError:
        pass  # a form without a day behind it, refused below
    raise InvalidInput(
        f"{label[:40]!r} names no page",
        hint="a date such as 2026-03-01, a week 2026-W09 or a month 2026-03",
        field="date",
    )


def week_of(day: str) -> str:
    """Return the label of the ISO week of a date."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def span_of(label: str) -> tuple[str, str]:
    """Return the first day of a week or month and the first behind it. *Raises:* InvalidInput."""
    kind, starts_on = parse_label(label)
    first = date.fromisoformat(starts_on)
    if kind == "week":
        return first.isoformat(), (first + timedelta(days=7)).isoformat()
    return first.isoformat(), (first.replace(day=28) + timedelta(days=4)).replace(day=1).isoformat()


def closes(day: str) -> list[tuple[PageKind, str]]:
    """Return the week and the month that end with a date."""
    found: list[tuple[PageKind, str]] = []
    present = date.fromisoformat(day)
    if present.isoweekday() == 7:
        found.append(("week", week_of(day)))
    if (present + timedelta(days=1)).day == 1:
        found.append(("month", day[:7]))
    return found


def page_view(
    label: str, fields: Mapping[str, JSON], *, updated_at: str, version: int
) -> dict[str, JSON]:
    """Return a page's answer form."""
    return {
        "date": label,
        "kind": fields.get("kind"),
        "path": fields.get("path"),
        "starts_on": fields.get("starts_on"),
        "title": fields.get("title") or "",
        "summary": fields.get("summary") or "",
        "content": fields.get("content") or "",
        "version": version,
        "updated_at": updated_at,
    }
