"""After the reply: what is kept of a turn. Messages once, its cost, and word of work for the jobs.

It runs when the client has its answer, and its failure is logged, nothing more. Files are artifacts
whose place is told in the message, never base64 in its row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.gateway.prices import cost_of
from remembrancer.app.gateway.turns import Said, Turn
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.artifacts import sha256_of
from remembrancer.core.chat.prefix import explain_drop, seal_prefix
from remembrancer.core.chat.shapes import Body, read_object, whole_text, write_json
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.values import MINUTE_MS
from remembrancer.ports.queue import JobMessage
from remembrancer.ports.sql import Statement
from remembrancer.store import artifacts, conversations, usage
from remembrancer.store.conversations import ChatMessage
from remembrancer.store.usage import Tokens, Usage

SOURCE: Final = "chat"
"""Where messages of the gateway come from."""

FILES_MAX: Final = 8
"""Files of one message that are kept. Our choice; more are only counted."""

QUEUE_DELAY_S_MAX: Final = 86_400
"""Longest delay of a queued word, in seconds. Source: Cloudflare Queues."""

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},", re.ASCII)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a turn's reply. *Shape:* `text` '' when it only called tools, or failed."""

    text: str
    is_complete: bool
    finish_reason: str | None


async def keep_turn(app: App, turn: Turn, outcome: Outcome) -> None:
    """Keep a turn in one batch. *Promise:* a turn that is kept again only adds its cost."""
    namespace = turn.caller.namespace
    now_ms = app.runtime.now_ms()
    seals = seal_prefix(turn.sent)
    messages, statements = _messages(app, turn, outcome, now_ms)
    if messages:
        statements.append(
            conversations.messages_statement(
                namespace,
                messages,
                conversation_id=turn.conversation_id,
                source=SOURCE,
                at_ms=now_ms,
            )
        )
    statements += [
        conversations.keep_statement(
            namespace,
            turn.conversation_id,
            model=turn.model,
            prefix=write_json(seals),
            cached_tokens=turn.usage.cached if turn.usage else None,
            at_ms=now_ms,
        ),
        usage.keep_statement(
            namespace,
            _usage(app, turn, outcome, (now_ms, _cache_note(turn, seals))),
            at_ms=now_ms,
        ),
    ]
    await app.sql.write(statements)
    await _tell_jobs(app, turn, has_messages=bool(messages))


def _messages(
    app: App, turn: Turn, outcome: Outcome, now_ms: int
) -> tuple[list[ChatMessage], list[Statement]]:
    messages: list[ChatMessage] = []
    statements: list[Statement] = []
    for said in turn.said:
        if not turn.is_new or turn.known_id(said.hashes) is not None:
            continue
        ids, notes = [], []
        for number, file in enumerate(said.files):
            artifact_id, note, kept = _file(app, turn, said, (number, file), now_ms)
            statements += kept
            notes.append(note)
            ids += [artifact_id] if kept else []
        content = _stored("\n".join([part for part in (said.text, *notes) if part]))
        if content:
            messages.append(
                ChatMessage(said.id, "user", content, said.hashes[0], artifact_ids=(*ids,))
            )
    reply = _stored(outcome.text)
    if reply:
        messages.append(
            ChatMessage(
                app.runtime.new_id("msg"),
                "assistant",
                reply,
                next((one for one in turn.reply_hashes if one in turn.known), turn.reply_hashes[0]),
                turn.model,
                not outcome.is_complete,
            )
        )
    return messages, statements


def _stored(text: str) -> str:
    """Return a text as it is stored: without secrets, cut where a row would be too long."""
    text = redact(clean(text)).strip()
    if len(text) > limits.MESSAGE_CHARS_MAX:
        text = text[: limits.MESSAGE_CHARS_MAX - 1] + "…"
    return text


def _file(
    app: App, turn: Turn, said: Said, numbered: tuple[int, str], now_ms: int
) -> tuple[str, str, Sequence[Statement]]:
    """Return an artifact's id, what the message says of it, and the statements that keep it."""
    number, file = numbered
    file = whole_text([file])  # half a character is no file's, and no store would take it
    found = _DATA_URL.match(file)
    kind = (found and found[1]) or "file"
    about = f"{kind}, {len(file)} characters of base64, sha256 {sha256_of(file)[:16]}"
    if number >= FILES_MAX or len(file) > limits.ARTIFACT_CHARS_MAX:
        return "", f"[{about}, not kept]", ()
    artifact_id = app.runtime.new_id("art")
    kept = artifacts.keep_statements(
        turn.caller.namespace, artifact_id, said.id, file, at_ms=now_ms
    )
    return artifact_id, f"[{artifact_id}: {about}]", kept


def _cache_note(turn: Turn, seals: Body) -> str | None:
    """Return why the prompt cache kept less than before, None when there is nothing to explain."""
    before = turn.before
    if before is None:
        return None
    drop = explain_drop(read_object(before.prefix) or {}, seals)
    if drop is not None:
        return drop.sentence
    cached = turn.usage.cached if turn.usage else None
    if cached is not None and before.cached_tokens and cached * 2 < before.cached_tokens:
        return "the prefix is the same; the upstream no longer had it"
    return None


def _usage(app: App, turn: Turn, outcome: Outcome, at: tuple[int, str | None]) -> Usage:
    (now_ms, cache_note), told = at, turn.usage
    tokens = (
        Tokens()
        if told is None
        else Tokens(told.prompt, told.completion, told.cached, told.cache_write, told.reasoning)
    )
    return Usage(
        id=app.runtime.new_id("usg"),
        conversation_id=turn.conversation_id,
        turn=turn.key,
        request_id=turn.request_id,
        model=turn.model,
        status=turn.status,
        is_stream=turn.is_stream,
        is_complete=outcome.is_complete,
        finish_reason=outcome.finish_reason,
        tokens=tokens,
        cost=None if told is None else cost_of(app.settings.model_prices, turn.model, told),
        first_byte_ms=turn.first_byte_ms,
        total_ms=now_ms - turn.started_ms,
        recall_id=turn.recall_id,
        saved=turn.saved,
        degraded=turn.degraded,
        cache_note=cache_note,
    )


async def _tell_jobs(app: App, turn: Turn, *, has_messages: bool) -> None:
    quiet_minutes = app.settings.extract_quiet_minutes
    is_wanted = quiet_minutes > 0 and app.settings.enable_auto_memory and has_messages
    if app.queue is not None and is_wanted:
        delay_s = min(quiet_minutes * MINUTE_MS // 1_000, QUEUE_DELAY_S_MAX)
        word = JobMessage("extract", turn.caller.namespace)
        await app.queue.send([word], delay_s=delay_s)
