"""Every limit of the product, named, with its unit and source; nothing else.

Drivers, use cases and doors all check against these, so a value that D1 would refuse fails on a
laptop with the same sentence. Every ring may import it.
"""

from __future__ import annotations

from typing import Final

INTEGER_MAX: Final = 2**53 - 1
"""Largest integer that survives D1's floating-point binding. Source: measured, workerd 1.2026."""

SQL_BOUND_VALUES_MAX: Final = 100
"""Bound values in one statement. Source: D1 limits; 101 are refused (measured)."""

SQL_STATEMENT_BYTES_MAX: Final = 100_000
"""Bytes of one statement's text. Source: D1 limits page."""

SQL_VALUE_BYTES_MAX: Final = 2_000_000
"""Bytes of one bound text or blob, and of one row. Source: D1 limits page."""

SQL_LIKE_PATTERN_BYTES_MAX: Final = 50
"""Bytes of a LIKE or GLOB pattern. Source: D1 limits page; longer is refused (measured)."""

SQL_BATCH_STATEMENTS_MAX: Final = 45
"""Statements one request may send, so that the free plan's 50 hold. Source: DESIGN section 14."""

KV_KEY_BYTES_MAX: Final = 512
"""Bytes of a key. Source: Workers KV limits."""

KV_VALUE_BYTES_MAX: Final = 25 * 1024 * 1024
"""Bytes of a value. Source: Workers KV limits."""

KV_TTL_S_MIN: Final = 60
"""Shortest time to live in seconds. Source: Workers KV limits."""

TITLE_CHARS_MAX: Final = 200
"""Characters of an item's title after trimming. Source: DESIGN section 4."""

CONTENT_CHARS_MAX: Final = 10_000
"""Characters of content kept in the item; above it becomes an artifact. Source: DESIGN 4."""

CONTENT_EXCERPT_CHARS: Final = 1_000
"""Characters of an artifact's text that stay in the item, before the pointer. Our choice."""

ARTIFACT_CHARS_MAX: Final = 1_000_000
"""Characters of one artifact. Keeps a whole write under D1's row and request limits."""

ARTIFACT_CHUNK_CHARS: Final = 250_000
"""Characters of one stored chunk: at most 1 MB of UTF-8, half of D1's value limit."""

BLOB_KEY_BYTES_MAX: Final = 1_024
"""Bytes of a blob's key. Source: R2 limits, developers.cloudflare.com."""

BLOB_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of one blob. Our choice: an artifact has 4 MB at most, and an isolate 128 MB of memory."""

BLOB_KEYS_MAX: Final = 1_000
"""Blobs that one call removes. Source: R2's Workers API, developers.cloudflare.com."""

SUMMARY_CHARS_MAX: Final = 2_000
"""Characters of a summary. Our choice."""

RAW_INPUT_CHARS_MAX: Final = 10_000
"""Characters of the raw input that is kept beside what was made of it. As content."""

TAGS_MAX: Final = 50
"""Tags of one item. Our choice."""

TAG_CHARS_MAX: Final = 64
"""Characters of one tag. Our choice."""

FACT_KEY_CHARS_MAX: Final = 200
"""Characters of a fact key. Our choice."""

NAME_CHARS_MAX: Final = 200
"""Characters of the name of a project, topic or key. As a title."""

DESCRIPTION_CHARS_MAX: Final = 4_000
"""Characters of a project's or topic's description. Our choice."""

REASON_CHARS_MAX: Final = 1_000
"""Characters of a reason given with a change. Our choice."""

SOURCE_IDS_MAX: Final = 100
"""Source message ids of one item. Our choice; the seed keeps a window of messages."""

PRECIOUS_CHARS_MAX: Final = 10_000
"""Characters of one precious quote. As content."""

DIGEST_CHARS_MAX: Final = 500
"""Characters of the digest, on every path. Source: DESIGN section 13."""

GLOSSARY_ENTRIES_MAX: Final = 500
"""Entries of a namespace's glossary: the boot pack holds all of them. Our choice."""

GLOSSARY_ALIASES_MAX: Final = 20
"""Aliases of one glossary entry. Our choice."""

GLOSSARY_EXAMPLES_MAX: Final = 10
"""Examples of one glossary entry. Our choice."""

TERM_CHARS_MAX: Final = 100
"""Characters of a glossary term or alias. Our choice."""

DEFINITION_CHARS_MAX: Final = 2_000
"""Characters of a glossary definition, and of one of its examples. As a summary."""

MESSAGES_MAX: Final = 100
"""Messages that one call may store. As bulk edits."""

MESSAGE_CHARS_MAX: Final = 100_000
"""Characters of one stored message. Our choice; ten times an item's content."""

INGEST_CHARS_MAX: Final = 300_000
"""Characters of all messages of one call: they travel as one value, at most 2 MB of UTF-8."""

CONVERSATION_ID_CHARS_MAX: Final = 200
"""Characters of a conversation's id, and of where a message came from. Our choice."""

STEPS_MAX: Final = 200
"""Steps of one task, nested ones included. Our choice."""

LINES_MAX: Final = 200
"""Dated lines in each of notes, decisions and problems. Our choice."""

LINE_CHARS_MAX: Final = 2_000
"""Characters of one step or dated line. Our choice."""

BULK_ITEMS_MAX: Final = 100
"""Items one call may name (delete, supersede, consolidate). Source: D1's bound values."""

PAGE_ITEMS_MAX: Final = 100
"""Items of one page. Source: the predecessor's tool schemas."""

COUNT_MAX: Final = 1_000
"""A filtered total is counted up to here, then marked a minimum. Source: DESIGN section 4."""

BODY_BYTES_MAX: Final = 4 * 1024 * 1024
"""Bytes of a request body. Source: our choice; holds an artifact of a million CJK characters."""

CHAT_BODY_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of a chat, pictures in base64 included. Source: the Messages API's own limit."""

EDGE_CHAT_BODY_BYTES_MAX: Final = 4 * 1024 * 1024
"""The same on the platform, whose isolates have 128 MB for everything: a chat takes seven times its
size at its peak (measured with tracemalloc), beside 45 MB of heap and the platform's own copies.
Source: our choice."""

RATE_PER_MINUTE: Final = 600
"""Requests a minute and key. Source: DESIGN section 12."""

CONFLICT_ATTEMPTS_MAX: Final = 3
"""Times a use case reads again and tries after a clash. Source: DESIGN section 3."""

IDEMPOTENCY_KEY_CHARS_MAX: Final = 255
"""Characters of an idempotency key. Source: the IETF draft's common practice."""

RESTORE_DAYS: Final = 30
"""Days for which a soft-deleted item can be restored. Source: DESIGN section 4."""

STALE_DAYS: Final = 21
"""Days untouched after which a task counts as stale. Source: the predecessor's rule."""

IGNORE_HOURS: Final = 48
"""Hours for which an ignored task stays out of the focus. Source: the predecessor's rule."""

USE_WRITE_INTERVAL_S: Final = 3_600
"""Seconds between two writes of one thing's last use. Source: DESIGN section 4."""
