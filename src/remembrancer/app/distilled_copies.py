"""Forgetting reaches what was said and distilled: messages, candidates, pages, the digest, parts.

Part of `app.forget`; the statements go into its batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.passages import Forgotten
from remembrancer.core.ledger.redaction import FORGOTTEN_TEXT
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store import distilled_copies as store
from remembrancer.store.forgetting import redact_statement


@dataclass(frozen=True, slots=True)
class Copies:
    """What takes the copies away. *Shape:* `messages` how many lose a passage."""

    statements: list[Statement] = field(default_factory=list)
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Wording:
    """What is forgotten. *Shape:* `said` every wording the item ever had; `sources` ids of the
    messages that it came from."""

    said: Sequence[str]
    sources: Sequence[str]


async def distilled_copies(
    app: App, namespace: Namespace, item_id: str, wording: Wording
) -> Copies:
    """Return what takes a forgotten item's texts out of all that was said and distilled.

    *Shape:* texts shorter than `QUOTE_CHARS_MIN` are not looked for, but a candidate that says just
    that goes as well. *Promise:* one round trip.
    """
    said, sources = wording.said, wording.sources
    forgotten = Forgotten(said)
    hashes = [hashlib.sha256(repetition_key(text).encode()).hexdigest() for text in said]
    outcomes = await app.sql.read(
        store.quoting_statements(
            namespace, item_id, forgotten.words, hashes=hashes, sources=sources
        )
    )
    candidates, pages, digest, parts, events, messages, blocks, recalls = (
        outcome.rows for outcome in outcomes
    )
    gone = {
        str(row["id"])
        for row in candidates
        if row["is_same"] or forgotten.states(str(row["content"]))
    }
    bodies: list[tuple[int, str]] = []
    for row in events:
        body, fresh = str(row["body"]), _redacted(forgotten, str(row["body"]))
        area, _, name = str(row["stream"]).partition("/")
        if fresh == body:
            continue
        if area == "candidate":
            gone.add(name)
        else:
            bodies.append((int(str(row["position"])), fresh))
    result = _chats(namespace, forgotten, blocks, recalls)
    if bodies:
        result.append(redact_statement(namespace, bodies))
    if gone:
        result += store.remove_candidates_statements(namespace, sorted(gone))
    result += _pages(namespace, forgotten, pages)
    for row in digest:
        content = forgotten.without(str(row["content"]))
        result.append(store.rewrite_digest_statement(namespace, content))
    result += _parts(namespace, forgotten, parts, sources)
    said_in = _messages(forgotten, messages, sources)
    result += store.rewrite_messages_statements(namespace, said_in)
    return Copies(result, len(said_in))


def _chats(
    namespace: Namespace, forgotten: Forgotten, blocks: Sequence[Row], recalls: Sequence[Row]
) -> list[Statement]:
    turns = [
        (str(row["conversation_id"]), str(row["turn"]))
        for row in blocks
        if forgotten.states(str(row["block"])) or forgotten.states(str(row["thinking"]))
    ]
    asked = [str(row["id"]) for row in recalls if forgotten.states(str(row["query"]))]
    result = [store.drop_blocks_statement(namespace, turns)] if turns else []
    if asked:
        result.append(store.hide_queries_statement(namespace, asked, FORGOTTEN_TEXT))
    return result


def _pages(namespace: Namespace, forgotten: Forgotten, rows: Sequence[Row]) -> list[Statement]:
    fresh = [
        (str(row["label"]), {name: forgotten.without(str(row[name])) for name in store.PAGE_TEXTS})
        for row in rows
    ]
    return [store.rewrite_pages_statement(namespace, fresh)] if fresh else []


def _parts(
    namespace: Namespace, forgotten: Forgotten, rows: Sequence[Row], sources: Sequence[str]
) -> list[Statement]:
    made: list[tuple[str, int, str]] = []
    for row in rows:
        body = json.loads(str(row["body"]))
        said = body.get("said")
        if isinstance(said, dict):
            body["said"] = {
                id_: forgotten.without_source(str(text)) if id_ in sources else text
                for id_, text in said.items()
            }
        fresh = canonical_json(forgotten.redact(body))
        made.append((str(row["date"]), int(str(row["part"])), fresh))
    return [store.rewrite_parts_statement(namespace, made)] if made else []


def _messages(
    forgotten: Forgotten, rows: Sequence[Row], sources: Sequence[str]
) -> list[tuple[str, str]]:
    result: list[tuple[str, str]] = []
    for row in rows:
        id_, content = str(row["id"]), str(row["content"])
        take = forgotten.without_source if id_ in sources else forgotten.without
        fresh = take(content)
        if fresh != content:
            result.append((id_, fresh))
    return result


def _redacted(forgotten: Forgotten, body: str) -> str:
    return canonical_json(forgotten.redact(json.loads(body)))
