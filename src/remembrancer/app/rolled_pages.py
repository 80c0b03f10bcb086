"""The pages of a week and a month after one of their days was taken back, or brought back.

They are rolled up again by rule, in the batch that takes the day back: no model is asked, and no
page says for a day what its night does not say any more. How nights write pages is
`app.jobs.diary`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from remembrancer.app.state import App
from remembrancer.core.distill.diary import (
    REVISED,
    Page,
    page_from,
    parse_label,
    span_of,
    week_of,
    write_page,
)
from remembrancer.core.distill.pages import rolled_page
from remembrancer.core.ledger.changes import Fields, apply_changes
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Row
from remembrancer.store import days as store
from remembrancer.store.days import page_stream
from remembrancer.store.ledger import StreamEdit


async def roll_again(app: App, caller: Caller, edits: Sequence[StreamEdit]) -> list[StreamEdit]:
    """Return the edits of the pages over the days that a command changes.

    *Shape:* none for a page that is not there, or that the command itself writes. *Promise:* no
    round trip without a day's page among the edits; then two.
    """
    changed = _days(edits)
    written = {edit.stream for edit in edits}
    over = {label: None for day in changed for label in (week_of(day), day[:7])}
    labels = [label for label in over if page_stream(label) not in written]
    if not labels:
        return []
    [found] = await app.sql.read([store.known_statement(caller.namespace, labels)])
    present = {str(row["named"]): row for row in found.rows if row["label"] is not None}
    if not present:
        return []
    spans = [span_of(label) for label in present]
    whole = min(first for first, _ in spans), max(end for _, end in spans)
    [within] = await app.sql.read(
        [store.span_statement(caller.namespace, "day", start=whole[0], end=whole[1])]
    )
    days = {page.label: page for page in map(store.page_of, within.rows)}
    for day, page in changed.items():
        days.pop(day, None)
        if page is not None:
            days[day] = page
    result = [_edit(label, row, days) for label, row in sorted(present.items())]
    return [edit for edit in result if edit is not None]


def _days(edits: Sequence[StreamEdit]) -> dict[str, Page | None]:
    """Return day → its page as the edits leave it, None where there is none any more."""
    found: dict[str, Page | None] = {}
    for edit in edits:
        area, _, label = edit.stream.partition("/")
        if area == "page" and parse_label(label)[0] == "day":
            fields: Fields = dict(edit.fields)
            for draft in edit.drafts:
                fields = apply_changes(fields, draft.changes)
            found[label] = page_from(label, fields)
    return found


def _edit(label: str, row: Row, days: Mapping[str, Page]) -> StreamEdit | None:
    first, end = span_of(label)
    within = [days[day] for day in sorted(days) if first <= days[day].starts_on < end]
    present = store.fields_of(row)
    if within:
        draft = write_page(present, rolled_page(parse_label(label)[0], label, within))
    else:
        draft = Draft(REVISED, {name: (value, None) for name, value in present.items()})
    if draft is None:
        return None
    drafts = (replace(draft, kind=REVISED),)
    return StreamEdit(page_stream(label), store.head_of(row), present, drafts)
