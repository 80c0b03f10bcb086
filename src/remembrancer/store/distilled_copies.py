"""Where the text of a forgotten item is said in messages and what was distilled, and how it goes.

Candidates that say it go as a whole; messages, pages, digest and parts lose the passage. The store
finds what has enough of its words; what states it is decided by `core.ledger.passages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Statement
from remembrancer.store.marks import Marks

PAGE_TEXTS: Final = ("title", "summary", "content")
"""The texts of a page."""

GIVEN: Final = "b.block || ' ' || b.thinking"
"""What a chat's turn was given, and thought."""

MESSAGE_BYTES_MAX: Final = 500_000
"""Characters of messages that one statement rewrites: under D1's limit of a bound value."""


class _Sought:
    """The condition that a text may state what is forgotten, and the values it binds."""

    def __init__(self, namespace: Namespace, groups: Sequence[Sequence[str]]) -> None:
        self.marks = Marks(namespace)
        self._groups = [[self.marks.add(word) for word in words] for words in groups]

    def says(self, text: str) -> str:
        """Return that a text has at least half of a statement's words."""
        parts = [
            "+".join(f"(instr(lower({text}), {mark}) > 0)" for mark in marks)
            + f" >= {(len(marks) + 1) // 2}"
            for marks in self._groups
        ]
        return f"({' OR '.join(parts)})" if parts else "0"


def quoting_statements(
    namespace: Namespace,
    item_id: str,
    groups: Sequence[Sequence[str]],
    *,
    hashes: Sequence[str],
    sources: Sequence[str],
) -> list[Statement]:
    """Return the statements that find candidates, pages, the digest, parts, events, messages
    and what chats keep that may state a forgotten text, eight in all.

    *Shape:* `groups` the words of each statement; `hashes` of the texts as candidates have them:
    `is_same` for these and for those about the item; `sources` ids of messages. *Promise:* reads
    all of these; forgetting is rare.
    """
    sought = [_Sought(namespace, groups) for _ in range(8)]
    candidates, pages, digest, parts, events, messages, blocks, recalls = sought
    item, wanted = candidates.marks.add(item_id), candidates.marks.add(canonical_json([*hashes]))
    is_same = (
        f"(instr(coalesce(c.target_ids, ''), {item}) > 0 OR c.result_id IS {item}"
        f" OR c.text_hash IN (SELECT value FROM json_each({wanted})))"
    )
    texts = " || ' ' || ".join(f"p.{name}" for name in PAGE_TEXTS)
    named, ids = parts.marks.add(item_id), messages.marks.add(canonical_json([*sources]))
    sql = (
        (
            f"SELECT c.id, c.content, {is_same} AS is_same FROM candidates AS c"
            f" WHERE c.namespace = ?1 AND ({candidates.says('c.content')} OR {is_same})"
        ),
        (
            "SELECT p.label, p.title, p.summary, p.content FROM pages AS p"
            f" WHERE p.namespace = ?1 AND {pages.says(texts)}"
        ),
        f"SELECT content FROM digests AS d WHERE d.namespace = ?1 AND {digest.says('d.content')}",
        (
            "SELECT p.date, p.part, p.body FROM dream_parts AS p WHERE p.namespace = ?1"
            f" AND ({parts.says('p.body')} OR instr(p.body, {named}) > 0)"
        ),
        (
            "SELECT e.position, e.stream, e.body FROM events AS e WHERE e.namespace = ?1"
            " AND ((e.stream >= 'candidate/' AND e.stream < 'candidate0')"
            " OR (e.stream >= 'page/' AND e.stream < 'page0') OR e.stream = 'digest')"
            f" AND e.body IS NOT NULL AND {events.says('e.body')}"
        ),
        (
            "SELECT m.id, m.content FROM messages AS m WHERE m.namespace = ?1"
            f" AND ({messages.says('m.content')}"
            f" OR m.id IN (SELECT value FROM json_each({ids})))"
        ),
        (
            "SELECT b.conversation_id, b.turn, b.block, b.thinking FROM turn_blocks AS b"
            f" WHERE b.namespace = ?1 AND {blocks.says(GIVEN)}"
        ),
        (
            "SELECT r.id, r.query FROM recalls AS r WHERE r.namespace = ?1"
            f" AND {recalls.says('r.query')}"
        ),
    )
    return [Statement(text, one.marks.values) for text, one in zip(sql, sought, strict=True)]


def drop_blocks_statement(namespace: Namespace, turns: Sequence[tuple[str, str]]) -> Statement:
    """Return the statement that removes what turns were given or thought: they lose their cache.

    *Shape:* `turns` conversation and turn of each.
    """
    return Statement(
        "DELETE FROM turn_blocks WHERE namespace = ?1 AND (conversation_id, turn) IN"
        " (SELECT value ->> 0, value ->> 1 FROM json_each(?2))",
        (namespace, canonical_json([[*turn] for turn in turns])),
    )


def hide_queries_statement(namespace: Namespace, ids: Sequence[str], mark: str) -> Statement:
    """Return the statement that puts a mark in place of what was asked in recalls."""
    return Statement(
        "UPDATE recalls SET query = ?3 WHERE namespace = ?1"
        " AND id IN (SELECT value FROM json_each(?2))",
        (namespace, canonical_json(list(ids)), mark),
    )


def rewrite_messages_statements(
    namespace: Namespace, messages: Sequence[tuple[str, str]]
) -> list[Statement]:
    """Return the statements that put messages' redacted texts in place, by their ids."""
    batches: list[list[tuple[str, str]]] = []
    room = 0
    for id_, content in messages:
        if len(content) > room:
            batches.append([])
            room = MESSAGE_BYTES_MAX
        batches[-1].append((id_, content))
        room -= len(content)
    return [
        Statement(
            # As the projections do: else SQLite walks the namespace's messages for each of them.
            "WITH j AS MATERIALIZED (SELECT ?1 AS namespace, value ->> 0 AS id,"
            " value ->> 1 AS content FROM json_each(?2)) UPDATE messages SET content = j.content"
            " FROM j WHERE messages.namespace = j.namespace AND messages.id = j.id",
            (namespace, canonical_json([[*row] for row in batch])),
        )
        for batch in batches
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
