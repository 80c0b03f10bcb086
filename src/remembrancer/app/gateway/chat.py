"""Use case of one chat: asked on, with memory, and answered as it comes, in any client's form.

What a form is like is its `Speech`; what is kept afterwards is `keeping`'s work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Final

from remembrancer.app.gateway.forms import EVENT_STREAM, ReplyName, StreamTranslator, Thinking
from remembrancer.app.gateway.history import hashes_at
from remembrancer.app.gateway.keeping import Outcome, keep_turn
from remembrancer.app.gateway.memory import Asked, Given, give, keep_block
from remembrancer.app.gateway.relaying import (
    Heard,
    Moments,
    Relayed,
    pass_on,
    read_along,
    run_once,
    translate_on,
)
from remembrancer.app.gateway.routing import Target, model_for, target_for
from remembrancer.app.gateway.sending import ask, header_of, passed_headers, read_whole
from remembrancer.app.gateway.speech import Question, Speech, View
from remembrancer.app.gateway.together import HeldBack, finish
from remembrancer.app.gateway.turns import Said, Turn
from remembrancer.app.memories.remember import remember_now
from remembrancer.app.state import App
from remembrancer.core.chat.inject import strip_injected
from remembrancer.core.chat.shapes import write_json
from remembrancer.core.text.tokens import estimate_tokens
from remembrancer.core.values import Caller
from remembrancer.ports.outbound import OutboundAnswer, PlatformStream

SAVING_S_MAX: Final = 0.15
"""Seconds that the answer's headers wait for what is saved at once, and the end of a reply for what
the turn was given. Source: DESIGN section 5."""

HELD_S: Final = 0.02
"""Seconds after the question when what recall leaves behind is written at the latest: a model that
thinks leaves time for it, and the answer of one that does not is passed on first. Our choice."""

KEEPING_STATEMENTS: Final = 10
"""Statements of a request that are set aside for keeping a turn, whatever else it tries. Source:
measured."""

FAULTS_FROM: Final = 400
"""The lowest status of an answer that is no reply. Source: RFC 9110."""

_NO_REASON: Final = re.compile(r"[^A-Za-z0-9_.:\[\]-]+")
"""What a reason may not hold in a header: names of fields are the client's own."""

PENDING: Final = "pending"
"""What stands for ids while something is still being saved."""

HEADER_CHARS_MAX: Final = 1_000
"""Characters of one header of ours. Our choice; proxies take 4,096 of all together at least."""


async def relay(app: App, caller: Caller, question: Question, speech: Speech) -> Relayed:
    """Ask an upstream and return its answer. *Raises:* InvalidInput, UpstreamFailed, TimedOut."""
    view = speech.view
    model = model_for(app.settings, view.model, has_images=view.has_images)
    target = target_for(app.settings, model, is_native=view.is_native)
    turn = _begin(app, caller, question, view, model)
    app.spending.reserved = KEEPING_STATEMENTS
    held = HeldBack(app.runtime)
    try:
        given = Given()
        if turn.is_recalled:
            given = await give(app, turn, Asked(view.reading, view.volatile), held)
        written = speech.write(app.settings, target, turn, given)
        for note in written.notes:
            turn.degrade(f"left_out:{note}")
        turn.sent = written.sent
        return await _Exchange(app, turn, target, speech, held).run(question, written.body)
    except BaseException:
        # Whatever ends it, a cancellation too: what recall left behind is still written.
        held.begin()
        raise


async def count_tokens(app: App, question: Question, speech: Speech) -> Relayed:
    """Ask an upstream to count a request in Anthropic's form; where no Claude is, it is estimated.

    *Raises:* as `relay`.
    """
    view = speech.view
    model = model_for(app.settings, view.model, has_images=view.has_images)
    target = target_for(app.settings, model, is_native=True)
    if target.form != "anthropic":
        tokens = estimate_tokens(question.raw.decode(errors="replace"))
        counted = write_json({"input_tokens": tokens}).encode()
        return Relayed(status=200, headers=[("content-type", "application/json")], body=counted)
    counting = replace(target, url=f"{target.url}/count_tokens")
    body = speech.bare(target)
    answer = await ask(app, counting, body, client_headers=question.headers)
    raw = await read_whole(answer)
    return Relayed(status=answer.status, headers=passed_headers(answer.headers), body=raw)


def _begin(app: App, caller: Caller, question: Question, view: View, model: str) -> Turn:
    reading = view.reading
    has_memory = question.has_memory and not view.is_chore
    now_ms = app.runtime.now_ms()
    return Turn(
        # A chat that is sent again is a turn that is known; there is no answer to repeat.
        caller=replace(caller, idempotency=None),
        request_id=question.request_id,
        conversation_id=reading.conversation_id,
        key=reading.key,
        reply_hashes=hashes_at(reading.reply_hash, reading, now_ms=now_ms),
        model=model,
        started_ms=now_ms,
        is_stream=view.is_stream,
        is_recalled=has_memory and "memory:read" in caller.scopes,
        is_kept=has_memory and "memory:write" in caller.scopes,
        said=[
            Said(
                app.runtime.new_id("msg"),
                hashes_at(one.hash, reading, now_ms=now_ms),
                one.text,
                one.files,
            )
            for one in reading.said
        ],
    )


class _Exchange:
    """A request on its way to an upstream and back."""

    def __init__(
        self, app: App, turn: Turn, target: Target, speech: Speech, held: HeldBack
    ) -> None:
        self._app = app
        self._held = held
        self._turn = turn
        self._target = target
        self._speech = speech
        self._heard = Heard()
        self._is_stream = False
        self._translator: StreamTranslator | None = None
        self._keep_later = run_once(app.runtime, self._keep)

    async def run(self, question: Question, body: bytes) -> Relayed:
        """Ask, relay, and see to it that the turn is kept whatever happens."""
        turn, app = self._turn, self._app
        saving = asyncio.ensure_future(self._save()) if turn.is_new and turn.is_kept else None
        asyncio.get_running_loop().call_later(HELD_S, self._held.begin)
        answer: OutboundAnswer | None = None
        relayed: Relayed | None = None
        try:
            answer = await ask(app, self._target, body, client_headers=question.headers)
            turn.status = answer.status
            turn.first_byte_ms = app.runtime.now_ms() - turn.started_ms
            if saving is not None and not saving.done():
                await asyncio.wait({saving}, timeout=SAVING_S_MAX)
            is_pending = saving is not None and not saving.done()
            relayed = await self._relay(answer, _told_headers(turn, is_pending=is_pending))
            return relayed
        finally:
            if saving is not None:
                app.runtime.run_later(finish(saving))
            if relayed is None:
                if answer is not None:
                    await answer.close()
                self._held.begin()
                self._keep_later()

    async def _relay(self, answer: OutboundAnswer, headers: list[tuple[str, str]]) -> Relayed:
        passed = passed_headers(answer.headers)
        name = self._name()
        if not header_of(answer.headers, "content-type").lower().startswith(EVENT_STREAM):
            self._held.begin()
            raw = await read_whole(answer)
            whole = self._speech.whole(self._target, name, answer.status, raw)
            await self._keep_given(whole.thinking)
            self._heard.add(whole.body)
            self._heard.is_ended = True
            self._is_stream = whole.media_type == EVENT_STREAM
            kind = [("content-type", whole.media_type)] if whole.body is not raw else []
            return Relayed(
                status=whole.status,
                headers=_merged(passed, kind, headers),
                body=whole.body,
                end=lambda: self._end(answer),
            )
        self._is_stream = True
        relayed = Relayed(
            status=answer.status,
            headers=_merged(passed, [], headers),
            end=lambda: self._end(answer),
        )
        translator = self._speech.translator(self._target, name)
        if translator is not None:
            relayed.pieces = translate_on(
                answer,
                self._heard,
                translator,
                self._moments(lambda: self._keep_given(translator.thinking_blocks)),
            )
            self._translator = translator
            return relayed
        relayed.platform, pieces = answer.tee()
        if relayed.platform is not None:
            self._held.begin()
            reading = self._read_along(answer, pieces, relayed.platform)
            relayed.along = asyncio.ensure_future(reading)
            relayed.stop, relayed.end = answer.close, None  # what reads along ends it
            self._app.runtime.run_later(finish(relayed.along))
            return relayed
        relayed.pieces = pass_on(
            answer,
            pieces,
            self._heard,
            is_told=self._is_told,
            moments=self._moments(self._keep_given),
        )
        return relayed

    def _is_told(self, raw: bytes) -> bool:
        """Tell whether a stream said how it ended, well or badly."""
        reply = self._speech.told(raw, is_stream=True)
        return reply.is_complete or reply.error is not None

    def _moments(self, before_end: Callable[[], Awaitable[None]]) -> Moments:
        return Moments(self._held.begin, before_end, self._speech.fault, self._keep_later)

    async def _end(self, answer: OutboundAnswer) -> None:
        """End the exchange, whether the client had all of it, or not even the first piece."""
        await answer.close()
        self._held.begin()
        self._keep_later()

    def _name(self) -> ReplyName:
        return ReplyName(
            model=self._turn.model,
            id="chatcmpl-" + self._turn.request_id.rpartition("_")[2],
            created=self._turn.started_ms // 1_000,
            wants_usage=self._speech.view.wants_usage,
        )

    async def _read_along(
        self, answer: OutboundAnswer, pieces: AsyncIterator[bytes], platform: PlatformStream
    ) -> None:
        heard = self._heard
        await read_along(pieces, heard, is_told=self._is_told)
        if not heard.is_ended:  # the client's twin may still have some of it to come
            await answer.close()
        # What broke off may have done so within an event, which the blank line ends.
        last = b"" if heard.error is None else b"\n\n" + self._speech.fault(heard.error)
        ending = asyncio.ensure_future(platform.finish(last))
        try:
            await self._keep()
        finally:
            await ending  # a client that reads slowly keeps nobody else waiting

    async def _save(self) -> None:
        """Save at once what the user's latest message asks for."""
        turn = self._turn
        if not turn.said or not turn.said[-1].text:
            return
        said = turn.said[-1]
        message_id = turn.known_id(said.hashes) or said.id
        answer = await remember_now(self._app, turn.caller, text=said.text, message_id=message_id)
        saved = answer["saved"]
        assert isinstance(saved, list)
        turn.saved = [str(one["id"]) for one in saved if isinstance(one, dict)]

    async def _keep_given(self, blocks: Thinking | None = None) -> None:
        """See to it that the next request finds what this one was given."""
        await self._held.settle(SAVING_S_MAX)
        if blocks and self._turn.is_recalled:
            self._turn.thinking.update(blocks)
            await keep_block(self._app, self._turn)

    async def _keep(self) -> None:
        turn, heard = self._turn, self._heard
        if not turn.is_kept:
            return
        outcome = Outcome("", is_complete=False, finish_reason=None)
        if heard.pieces and turn.status < FAULTS_FROM:
            reply = self._speech.told(heard.raw, is_stream=self._is_stream)
            is_complete = reply.is_complete and heard.is_ended and heard.error is None
            outcome = Outcome(strip_injected(reply.text), is_complete, reply.finish_reason)
            turn.usage = reply.usage
        if turn.usage is None and self._translator is not None:
            turn.usage = self._translator.usage
        await keep_turn(self._app, turn, outcome)


def _told_headers(turn: Turn, *, is_pending: bool) -> list[tuple[str, str]]:
    """Return what the client is told of its memory."""
    told = []
    if turn.recall_id is not None:
        told.append(("x-remembrancer-recall", turn.recall_id))
    if turn.saved or is_pending:
        told.append(("x-remembrancer-saved", ",".join(turn.saved) or PENDING))
    if turn.degraded:
        reasons = ",".join(_NO_REASON.sub("?", reason) for reason in turn.degraded)
        told.append(("x-remembrancer-degraded", reasons[:HEADER_CHARS_MAX]))
    if turn.is_kept and turn.conversation_id.isascii() and turn.conversation_id.isprintable():
        told.append(("x-remembrancer-conversation", turn.conversation_id))
    return told


def _merged(
    passed: list[tuple[str, str]], own: list[tuple[str, str]], told: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the upstream's headers, but those that are ours."""
    names = {name for name, _ in own}
    return [*((name, value) for name, value in passed if name not in names), *own, *told]
