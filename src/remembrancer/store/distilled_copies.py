"""Where the text of a forgotten item is quoted in what was distilled, and how it goes from there.

Candidates that say it go as a whole; pages, digest and parts lose the quote. Deciding what is a
quote is `core.ledger.redaction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Statement

_QUOTED: Final = "EXISTS (SELECT 1 FROM json_each(?2) AS j WHERE instr({text}, j.value) > 0)"

PAGE_TEXTS: Final = ("title", "summary", "content")
"""The texts of a page."""


def quoting_statements(
    namespace: Namespace, item_id: str, texts: Sequence[str], hashes: Sequence[str]
) -> list[Statement]:
    """Return the statements that find candidates, pages, the digest, parts and events.

    *Shape:* `hashes` of the texts as candidates have them; events are those of the streams
    `candidate/…`, `page/…` and `digest`. *Promise:* reads all of these; forgetting is rare.
    """
    wanted = canonical_json(list(texts))
    # Bodies are JSON: what is looked for in them is written as JSON writes it.
    written = canonical_json([canonical_json(text)[1:-1] for text in texts])
    any_text = " OR ".join(_QUOTED.format(text=f"p.{name}") for name in PAGE_TEXTS)
    return [
        Statement(
            "SELECT c.id FROM candidates AS c WHERE c.namespace = ?1 AND"
            f" ({_QUOTED.format(text='c.content')} OR instr(coalesce(c.target_ids, ''), ?3) > 0"
            " OR c.result_id = ?3 OR c.text_hash IN (SELECT value FROM json_each(?4)))",
            (namespace, wanted, item_id, canonical_json(list(hashes))),
        ),
        Statement(
            "SELECT p.label, p.title, p.summary, p.content FROM pages AS p"
            f" WHERE p.namespace = ?1 AND ({any_text})",
            (namespace, wanted),
        ),
        Statement(
            "SELECT content FROM digests AS d WHERE d.namespace = ?1"
            f" AND {_QUOTED.format(text='d.content')}",
            (namespace, wanted),
        ),
        Statement(
            "SELECT p.date, p.part, p.body FROM dream_parts AS p WHERE p.namespace = ?1"
            f" AND ({_QUOTED.format(text='p.body')} OR instr(p.body, ?3) > 0)",
            (namespace, written, item_id),
        ),
        Statement(
            "SELECT e.position, e.stream, e.body FROM events AS e WHERE e.namespace = ?1"
            " AND ((e.stream >= 'candidate/' AND e.stream < 'candidate0')"
            " OR (e.stream >= 'page/' AND e.stream < 'page0') OR e.stream = 'digest')"
            f" AND e.body IS NOT NULL AND {_QUOTED.format(text='e.body')}",
            (namespace, written),
        ),
    ]


def remove_candidates_statements(namespace: Namespace, ids: Sequence[str]) -> list[Statement]:
    """Return the statements that remove candidates with the bodies of their events."""
    wanted = canonical_json(list(ids))
    return [
        Statement(
            "DELETE FROM candidates WHERE namespace = ?1"
            " AND id IN (SELECT value FROM json_each(?2))",
            (namespace, wanted),
        ),
        Statement(
            "UPDATE events SET body = NULL, salt = NULL WHERE namespace = ?1"
            " AND stream IN (SELECT 'candidate/' || value FROM json_each(?2))",
            (namespace, wanted),
        ),
    ]


def rewrite_pages_statement(
    namespace: Namespace, pages: Sequence[tuple[str, Mapping[str, str]]]
) -> Statement:
    """Return the statement that puts pages' redacted texts in place, by their labels."""
    rows = [[label, *(texts[name] for name in PAGE_TEXTS)] for label, texts in pages]
    return Statement(
        "UPDATE pages SET title = j.value ->> 1, summary = j.value ->> 2, content = j.value ->> 3"
        " FROM json_each(?2) AS j WHERE pages.namespace = ?1 AND pages.label = j.value ->> 0",
        (namespace, canonical_json(rows)),
    )


def rewrite_digest_statement(namespace: Namespace, content: str) -> Statement:
    """Return the statement that puts the redacted digest in place."""
    return Statement("UPDATE digests SET content = ?2 WHERE namespace = ?1", (namespace, content))


def rewrite_parts_statement(
    namespace: Namespace, parts: Sequence[tuple[str, int, str]]
) -> Statement:
    """Return the statement that puts parts' redacted bodies in place, by date and number."""
    return Statement(
        "UPDATE dream_parts SET body = j.value ->> 2 FROM json_each(?2) AS j"
        " WHERE dream_parts.namespace = ?1 AND dream_parts.date = j.value ->> 0"
        " AND dream_parts.part = j.value ->> 1",
        (namespace, canonical_json([[*part] for part in parts])),
    )
