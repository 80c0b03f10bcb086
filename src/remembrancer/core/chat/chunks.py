"""What every translation writes of a chat completion: a stream's chunks, a whole reply, errors.

It translates nothing itself. Any ring may import it.
*Source:* OpenAI, chat completion chunk object; openai-python's decoder for errors and the end.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from remembrancer.core.chat.shapes import Body, write_json
from remembrancer.core.chat.sse import DONE, encode_event
from remembrancer.core.chat.usage import Usage

FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]


class ChunkWriter:
    """Writes the chunks of one reply: the same id, time and model throughout."""

    def __init__(self, *, model_name: str, reply_id: str, created: int, wants_usage: bool) -> None:
        self._head: Body = {
            "id": reply_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model_name,
        }
        self._wants_usage = wants_usage

    def start(self) -> bytes:
        """The first chunk, with the role."""
        return self.delta({"role": "assistant", "content": ""})

    def delta(self, delta: Body, finish_reason: FinishReason | None = None) -> bytes:
        """A chunk with one choice."""
        choice: Body = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return self._write([choice], None)

    def tool_start(self, index: int, call_id: str, name: str) -> bytes:
        """The chunk that opens a call; its arguments follow."""
        function: Body = {"name": name, "arguments": ""}
        call: Body = {"index": index, "id": call_id, "type": "function", "function": function}
        return self.delta({"tool_calls": [call]})

    def tool_arguments(self, index: int, piece: str) -> bytes:
        """A piece of a call's arguments."""
        return self.delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def end(self, finish_reason: FinishReason, usage: Usage | None) -> list[bytes]:
        """The last chunk, the usage when it was asked for, and the end mark."""
        chunks = [self.delta({}, finish_reason)]
        if self._wants_usage:
            chunks.append(self._write([], (usage or Usage()).to_openai()))
        return [*chunks, DONE]

    def _write(self, choices: list[Body], usage: Body | None) -> bytes:
        chunk: Body = {**self._head, "choices": choices}
        if self._wants_usage:
            chunk["usage"] = usage
        return encode_event(write_json(chunk))


def completion(
    *,
    model_name: str,
    reply_id: str,
    created: int,
    message: Body,
    finish_reason: FinishReason,
    usage: Usage | None,
) -> Body:
    """A whole chat completion with one choice."""
    choice: Body = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": finish_reason,
    }
    return {
        "id": reply_id,
        "object": "chat.completion",
        "created": created,
        "model": model_name,
        "choices": [choice],
        "usage": (usage or Usage()).to_openai(),
    }


def error_body(message: str, kind: str, code: str | None = None) -> Body:
    """The error object of every OpenAI-compatible answer."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def status_of_whole(status: int, body: Body) -> int:
    """Return the status of an answer that may be an error although it came as a reply.

    *Shape:* the one that came; for such an error the one that it names, 502 when it names none.
    """
    error = body.get("error")
    if status >= 400 or not error or body.get("choices"):
        return status
    code = str(error.get("code") or error.get("status")) if isinstance(error, dict) else ""
    is_status = len(code) == 3 and code.isascii() and code.isdigit() and "400" <= code <= "599"
    return int(code) if is_status else 502


def error_event(body: Body) -> bytes:
    """An error after the stream has begun: the one way to report it. No end mark follows."""
    return encode_event(write_json(body))
