"""Forgetting reaches what was said and distilled: messages, candidates, pages, the digest, parts.

Part of `app.forget`; the statements go into its batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.passages import Forgotten
from remembrancer.core.ledger.redaction import FORGOTTEN_TEXT
from remembrancer.core.memories.sameness import repetition_key
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store import distilled_copies as store
from remembrancer.store.forgetting import redact_statement

Place = Literal["candidate", "page", "digest", "notes", "message", "question"]
"""Where a passage stands; notes are what a night keeps of a day that is not over, and a question
is what was asked in a recall."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What goes at one place. *Shape:* `id` of the message, candidate, page (its label), day or
    recall, `digest` for the digest; `texts` what is taken out of it, or all of it."""

    place: Place
    id: str
    texts: Sequence[str]


@dataclass(slots=True)
class Copies:
    """What takes the copies away, and which they are.

    *Shape:* `turns` how many turns of chats lose what they were given and thought.
    """

    statements: list[Statement] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    turns: int = 0

    def count(self, place: Place) -> int:
        """Return at how many places of a sort something goes."""
        return sum(one.place == place for one in self.passages)

    def take(self, place: Place, id_: str, texts: Sequence[str]) -> None:
        """Note what goes at one place."""
        self.passages.append(Passage(place, id_, list(dict.fromkeys(texts))))


@dataclass(frozen=True, slots=True)
class Wording:
    """What is forgotten. *Shape:* `said` every wording the item ever had, `stated` those that were
    its title or content; `sources` ids of the messages that it came from."""

    said: Sequence[str]
    stated: Sequence[str]
    sources: Sequence[str]


async def distilled_copies(
    app: App, namespace: Namespace, item_id: str, wording: Wording
) -> Copies:
    """Return what takes a forgotten item's texts out of all that was said and distilled.

    *Shape:* a text shorter than `QUOTE_CHARS_MIN` is looked for where a clause says nothing else,
    in Chinese; a candidate that says just that goes as well. *Promise:* one round trip of eight
    statements; writes nothing.
    """
    said, sources = wording.said, wording.sources
    forgotten = Forgotten(said, wording.stated)
    hashes = [hashlib.sha256(repetition_key(text).encode()).hexdigest() for text in said]
    outcomes = await app.sql.read(
        store.quoting_statements(
            namespace, item_id, forgotten.words, hashes=hashes, sources=sources
        )
    )
    candidates, pages, digest, parts, events, messages, blocks, recalls = (
        outcome.rows for outcome in outcomes
    )
    copies = Copies()
    _chats(copies, namespace, forgotten, (blocks, recalls))
    _history(copies, namespace, forgotten, (candidates, events))
    _pages(copies, namespace, forgotten, pages)
    for row in digest:
        taken: list[str] = []
        content = forgotten.without(str(row["content"]), taken)
        if taken:
            copies.take("digest", "digest", taken)
            copies.statements.append(store.rewrite_digest_statement(namespace, content))
    _parts(copies, namespace, forgotten, (parts, sources))
    _messages(copies, namespace, forgotten, (messages, sources))
    return copies


def _history(
    copies: Copies,
    namespace: Namespace,
    forgotten: Forgotten,
    found: tuple[Sequence[Row], Sequence[Row]],
) -> None:
    """Candidates that say it go as a whole; pages and digests of before lose the passage."""
    candidates, events = found
    gone = {
        str(row["id"]): [str(row["content"])]
        for row in candidates
        if row["is_same"] or forgotten.states(str(row["content"]))
    }
    bodies: list[tuple[int, str]] = []
    for row in events:
        taken: list[str] = []
        body = str(row["body"])
        fresh = canonical_json(forgotten.redact(json.loads(body), taken))
        area, _, name = str(row["stream"]).partition("/")
        if fresh == body:
            continue
        if area == "candidate":
            gone.setdefault(name, taken)
        else:
            bodies.append((int(str(row["position"])), fresh))
    if bodies:
        copies.statements.append(redact_statement(namespace, bodies))
    if gone:
        copies.statements += store.remove_candidates_statements(namespace, sorted(gone))
    for id_, texts in sorted(gone.items()):
        copies.take("candidate", id_, texts)


def _chats(
    copies: Copies,
    namespace: Namespace,
    forgotten: Forgotten,
    found: tuple[Sequence[Row], Sequence[Row]],
) -> None:
    blocks, recalls = found
    turns = [
        (str(row["conversation_id"]), str(row["turn"]))
        for row in blocks
        if forgotten.states(str(row["block"])) or forgotten.states(str(row["thinking"]))
    ]
    asked = [row for row in recalls if forgotten.states(str(row["query"]))]
    copies.turns = len(turns)
    if turns:
        copies.statements.append(store.drop_blocks_statement(namespace, turns))
    if asked:
        ids = [str(row["id"]) for row in asked]
        copies.statements.append(store.hide_queries_statement(namespace, ids, FORGOTTEN_TEXT))
    for row in asked:
        copies.take("question", str(row["id"]), [str(row["query"])])


def _pages(copies: Copies, namespace: Namespace, forgotten: Forgotten, rows: Sequence[Row]) -> None:
    made: list[tuple[str, dict[str, str]]] = []
    for row in rows:
        taken: list[str] = []
        texts = {name: forgotten.without(str(row[name]), taken) for name in store.PAGE_TEXTS}
        if any(texts[name] != str(row[name]) for name in store.PAGE_TEXTS):
            made.append((str(row["label"]), texts))
            copies.take("page", str(row["label"]), taken)
    if made:
        copies.statements.append(store.rewrite_pages_statement(namespace, made))


def _parts(
    copies: Copies,
    namespace: Namespace,
    forgotten: Forgotten,
    found: tuple[Sequence[Row], Sequence[str]],
) -> None:
    rows, sources = found
    made: list[tuple[str, int, str]] = []
    texts: dict[str, list[str]] = {}
    for row in rows:
        taken: list[str] = []
        body = json.loads(str(row["body"]))
        said = body.get("said")
        if isinstance(said, dict):
            body["said"] = {
                id_: forgotten.without_source(str(text), taken) if id_ in sources else text
                for id_, text in said.items()
            }
        fresh = canonical_json(forgotten.redact(body, taken))
        if fresh != str(row["body"]):
            made.append((str(row["date"]), int(str(row["part"])), fresh))
            texts.setdefault(str(row["date"]), []).extend(taken)
    if made:
        copies.statements.append(store.rewrite_parts_statement(namespace, made))
    for date, taken in texts.items():
        copies.take("notes", date, taken)


def _messages(
    copies: Copies,
    namespace: Namespace,
    forgotten: Forgotten,
    found: tuple[Sequence[Row], Sequence[str]],
) -> None:
    rows, sources = found
    made: list[tuple[str, str]] = []
    for row in rows:
        taken: list[str] = []
        id_, content = str(row["id"]), str(row["content"])
        take = forgotten.without_source if id_ in sources else forgotten.without
        fresh = take(content, taken)
        if fresh != content:
            made.append((id_, fresh))
            copies.take("message", id_, taken)
    copies.statements += store.rewrite_messages_statements(namespace, made)
