"""Forgetting reaches what was distilled: candidates that say it, pages and digest that quote it.

Part of `app.forget`; the statements go into its batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.redaction import QUOTE_CHARS_MIN, redact_body
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Statement
from remembrancer.store import distilled_copies as store
from remembrancer.store.forgetting import redact_statement


async def distilled_copies(
    app: App, namespace: Namespace, item_id: str, said: Sequence[str]
) -> list[Statement]:
    """Return what takes a forgotten item's texts out of all that was distilled.

    *Shape:* `said` every wording the item ever had; those shorter than `QUOTE_CHARS_MIN` are not
    looked for as quotes, but a candidate that says just that goes as well. *Promise:* one round
    trip.
    """
    texts = [text for text in said if len(text) >= QUOTE_CHARS_MIN]
    hashes = [hashlib.sha256(repetition_key(text).encode()).hexdigest() for text in said]
    candidates, pages, digest, parts, events = await app.sql.read(
        store.quoting_statements(namespace, item_id, texts, hashes)
    )
    gone = {str(row["id"]) for row in candidates.rows}
    bodies: list[tuple[int, str]] = []
    for row in events.rows:
        area, _, name = str(row["stream"]).partition("/")
        if area == "candidate":
            gone.add(name)
        else:
            bodies.append((int(str(row["position"])), _redacted(str(row["body"]), texts)))
    result: list[Statement] = []
    if bodies:
        result.append(redact_statement(namespace, bodies))
    if gone:
        result += store.remove_candidates_statements(namespace, sorted(gone))
    if pages.rows:
        fresh = [
            (
                str(row["label"]),
                {name: str(_plain(str(row[name]), texts)) for name in store.PAGE_TEXTS},
            )
            for row in pages.rows
        ]
        result.append(store.rewrite_pages_statement(namespace, fresh))
    for row in digest.rows:
        content = str(_plain(str(row["content"]), texts))
        result.append(store.rewrite_digest_statement(namespace, content))
    if parts.rows:
        made = [
            (str(row["date"]), int(str(row["part"])), _redacted(str(row["body"]), texts))
            for row in parts.rows
        ]
        result.append(store.rewrite_parts_statement(namespace, made))
    return result


def _redacted(body: str, texts: Sequence[str]) -> str:
    return canonical_json(redact_body(json.loads(body), texts=texts))


def _plain(text: str, texts: Sequence[str]) -> JSON:
    return redact_body(text, texts=texts)
