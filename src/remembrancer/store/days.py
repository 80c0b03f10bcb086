"""The diary's pages: reading them; and the parts of a day that is being dreamt.

Pages are in the ledger, parts are not. What a page says is `core.distill.pages`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, cast

from remembrancer.core.dates import format_iso
from remembrancer.core.distill.diary import Page, PageKind, page_view
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Head
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.distill_projection import PAGE_FIELDS
from remembrancer.store.distilling import next_messages_statement
from remembrancer.store.marks import Marks

_READ: Final = "p.label, p.version, p.created_at, p.updated_at, " + ", ".join(
    f"p.{name}" for name in PAGE_FIELDS
)


def page_stream(label: str) -> Stream:
    """Name the stream of one page."""
    return Stream(f"page/{label}")


def pages_statement(namespace: Namespace, labels: Sequence[str]) -> Statement:
    """Return the statement that reads pages by their labels, in the order of their days."""
    marks = Marks(namespace)
    return Statement(
        f"SELECT {_READ} FROM {marks.many(labels)} AS j CROSS JOIN pages AS p"
        " ON p.namespace = ?1 AND p.label = j.value ORDER BY p.starts_on, p.label",
        marks.values,
    )


def known_statement(namespace: Namespace, labels: Sequence[str]) -> Statement:
    """Return the statement that reads the streams of pages by label, with the pages that are there.

    *Shape:* `named` the label, `head_version` and `head_chain` of its stream; the page's own
    columns are null where it was taken back.
    """
    marks = Marks(namespace)
    return Statement(
        f"SELECT j.value AS named, e.version AS head_version, e.chain AS head_chain, {_READ}"
        f" FROM {marks.many(labels)} AS j CROSS JOIN events AS e ON e.namespace = ?1"
        " AND e.stream = 'page/' || j.value AND e.version = (SELECT version FROM events"
        " WHERE namespace = ?1 AND stream = 'page/' || j.value ORDER BY version DESC LIMIT 1)"
        " LEFT JOIN pages AS p ON p.namespace = ?1 AND p.label = j.value",
        marks.values,
    )


def head_of(row: Row) -> Head:
    """Return the head of a stream from a row with `head_version` and `head_chain`."""
    return Head(int(str(row["head_version"])), str(row["head_chain"]))


def span_statement(namespace: Namespace, kind: PageKind, *, start: str, end: str) -> Statement:
    """Return the statement that reads the pages of a kind that begin in a span of dates."""
    return Statement(
        f"SELECT {_READ} FROM pages AS p WHERE p.namespace = ? AND p.kind = ?"
        " AND p.starts_on >= ? AND p.starts_on < ? ORDER BY p.starts_on",
        (namespace, kind, start, end),
    )


def latest_statement(namespace: Namespace, kind: PageKind, *, before: str, limit: int) -> Statement:
    """Return the statement that reads a list of pages of a kind, the newest first."""
    return Statement(
        f"SELECT {_READ} FROM pages AS p WHERE p.namespace = ? AND p.kind = ?"
        " AND p.starts_on < ? ORDER BY p.starts_on DESC LIMIT ?",
        (namespace, kind, before, limit),
    )


def fields_of(row: Row) -> Fields:
    """Return a page's record from a row."""
    return {name: str(row[name]) for name in PAGE_FIELDS if row[name] is not None}


def page_of(row: Row) -> Page:
    """Return the page in a row."""
    through = row["through_id"]
    return Page(
        label=str(row["label"]),
        # The projection holds no other.
        kind=cast(PageKind, str(row["kind"])),
        starts_on=str(row["starts_on"]),
        title=str(row["title"]),
        summary=str(row["summary"]),
        content=str(row["content"]),
        through_id=None if through is None else str(through),
    )


def brief_of(row: Row) -> dict[str, JSON]:
    """Return the form in which lists and the boot pack show a page: without its content."""
    return {name: value for name, value in view_of(row).items() if name != "content"}


def view_of(row: Row) -> dict[str, JSON]:
    """Return a page's answer form from a row."""
    return page_view(
        str(row["label"]),
        fields_of(row),
        updated_at=format_iso(int(str(row["updated_at"]))),
        version=int(str(row["version"])),
    )


def outlook_statement(namespace: Namespace, cursor: str) -> Statement:
    """Return the one statement that reads what a dream begins with.

    *Shape:* rows of four sorts: `setting` as `store.items.settings_of` takes them, `cursor` as
    `store.job_cursors.cursors_of` (those whose names begin so), `message`, whose `at_ms` is the
    time of the first message from that cursor on, or null, and `refused` as
    `store.skips.standing_of` takes it.
    """
    return Statement(
        "SELECT 'setting' AS sort, name, value, NULL AS at_ms, NULL AS id FROM settings"
        " WHERE namespace = ?1 UNION ALL SELECT 'cursor', name, NULL, at_ms, id FROM job_cursors"
        " WHERE namespace = ?1 AND name >= ?2 AND name < ?2 || char(1114111)"
        " UNION ALL SELECT 'message', NULL, NULL, (SELECT min(created_at) FROM messages"
        " WHERE namespace = ?1 AND created_at >= coalesce((SELECT c.at_ms FROM job_cursors AS c"
        " WHERE c.namespace = ?1 AND c.name = ?2), 0)), NULL"
        " UNION ALL SELECT 'refused', job, json_array(attempts, size), until_at, until_id"
        " FROM refused_batches WHERE namespace = ?1 AND job = ?2",
        (namespace, cursor),
    )


def batch_statement(
    namespace: Namespace, date: str, after: Cursor, *, until_ms: int, limit: int
) -> Statement:
    """Return the one statement that reads the parts of a day and the messages behind a place.

    *Shape:* rows of two sorts, `part` for `parts_of` and `message` for
    `store.distilling.messages_of`, each in its order.
    """
    messages = next_messages_statement(namespace, after, until_ms=until_ms, limit=limit)
    return Statement(
        "SELECT 'part' AS sort, part, body, NULL AS id, NULL AS role, NULL AS content,"
        " NULL AS created_at, NULL AS chars FROM (SELECT part, body FROM dream_parts"
        " WHERE namespace = ?1 AND date = ?6 ORDER BY part) UNION ALL SELECT 'message', NULL,"
        f" NULL, id, role, content, created_at, chars FROM ({messages.sql})",
        (*messages.params, date),
    )


def parts_of(rows: Sequence[Row]) -> list[dict[str, JSON]]:
    """Return the bodies of the parts."""
    ordered = sorted(rows, key=lambda row: int(str(row["part"])))
    return [json.loads(str(row["body"])) for row in ordered]


def keep_parts_statement(
    namespace: Namespace, date: str, parts: Sequence[tuple[int, dict[str, JSON]]]
) -> Statement:
    """Return the statement that keeps what was made of batches, by their numbers."""
    rows = [[number, canonical_json(body)] for number, body in parts]
    return Statement(
        "INSERT INTO dream_parts (namespace, date, part, body)"
        " SELECT ?1, ?3, j.value ->> 0, j.value ->> 1 FROM json_each(?2) AS j WHERE 1"
        " ON CONFLICT (namespace, date, part) DO UPDATE SET body = excluded.body",
        (namespace, canonical_json(rows), date),
    )


def drop_parts_statement(namespace: Namespace, date: str) -> Statement:
    """Return the statement that removes the parts of a day."""
    return Statement("DELETE FROM dream_parts WHERE namespace = ? AND date = ?", (namespace, date))
