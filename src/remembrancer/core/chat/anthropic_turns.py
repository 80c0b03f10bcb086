"""A conversation of Chat Completions as turns of the Messages API.

It keeps what that API insists on: turns alternate, each call has its result in the very next
turn and nothing else has one, ids of calls are unique. Parameters are in `anthropic_request`.
Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.chat.anthropic_content import (
    Notes,
    blocks_of,
    input_of,
    text_block,
    texts_of,
)
from remembrancer.core.chat.claude_models import ClaudeModel
from remembrancer.core.chat.request import SYSTEM_ROLES, TOOL_ROLES, text_of
from remembrancer.core.chat.shapes import Body, object_of, objects_of, string_of
from remembrancer.core.errors import InvalidInput

FIRST_TURN: Final = "…"
"""A user's turn before a conversation that starts with the assistant. The API wants one."""

CONTINUE: Final = "Continue your last reply from exactly where it stops, without repeating it."
"""A user's turn after a reply to be continued, for models that do not take it as a start.
Source: Anthropic's migration guide to 4.6."""

NO_RESULT: Final = "No result was recorded for this call."
"""The result of a call that has none; without one the API refuses the conversation."""

_ODD_IN_ID: Final = re.compile(r"[^A-Za-z0-9_-]")
THINKING: Final = ("thinking", "redacted_thinking")
"""Blocks that go back as they came, or not at all."""


class Turns:
    """Puts turns together, message by message."""

    def __init__(
        self, model: ClaudeModel, notes: Notes, kept_thinking: Mapping[str, Sequence[Body]]
    ) -> None:
        self.system: list[Body] = []
        self.turns: list[Body] = []
        self._model = model
        self._notes = notes
        self._kept = kept_thinking
        self._used_ids: set[str] = set()
        self._open: dict[str, list[str]] = {}
        self._answered: set[str] = set()

    def add_all(self, messages: Sequence[Body]) -> None:
        """Add the messages of a request. *Raises:* InvalidInput: nothing is left to answer."""
        for index, message in enumerate(messages):
            role, where = string_of(message.get("role")), f"messages[{index}]"
            if role in SYSTEM_ROLES:
                following = messages[index + 1].get("role") if index + 1 < len(messages) else None
                self._add_system(message, str(following or ""), where)
            elif role in TOOL_ROLES:
                self._add_result(message, role, where)
            elif role == "assistant":
                self._add_assistant(message, where)
            else:
                if role != "user":
                    self._notes.add(where, f"the role {role!r} is sent on as user")
                self._add_user(message, where)
        self._close_calls()
        self._finish()

    def _blocks(self, message: Body, where: str) -> list[Body]:
        blocks = blocks_of(message.get("content"), self._notes, field=where)
        mark = message.get("cache_control")
        if isinstance(mark, dict) and blocks:
            blocks[-1].setdefault("cache_control", mark)
        return blocks

    def _append(self, role: str, blocks: list[Body]) -> None:
        if not blocks:
            return
        if self.turns and self.turns[-1]["role"] == role:
            content = self.turns[-1]["content"]
            assert isinstance(content, list)
            content += blocks
        else:
            self.turns.append({"role": role, "content": blocks})

    # -- instructions ----------------------------------------------------------------------

    def _add_system(self, message: Body, following: str, where: str) -> None:
        blocks = texts_of(message.get("content"), self._notes, field=where)
        mark = message.get("cache_control")
        if isinstance(mark, dict) and blocks:
            blocks[-1].setdefault("cache_control", mark)
        if not self.turns:
            self.system += blocks
            return
        stands_well = self.turns[-1]["role"] == "user" and following in ("", "assistant")
        if self._model.takes_system_messages and stands_well and not self._waiting():
            if blocks:
                self.turns.append({"role": "system", "content": blocks})
            return
        self._notes.add(where, "instructions inside a conversation are sent in the user's turn")
        for block in blocks:
            block["text"] = f"<system-message>\n{block['text']}\n</system-message>"
        self._append("user", blocks)

    def _add_user(self, message: Body, where: str) -> None:
        # A result may come after a message that the user sent meanwhile: calls stay open.
        content = message.get("content")
        if isinstance(content, list):
            results = [part for part in objects_of(content) if part.get("type") == "tool_result"]
            for part in results:
                self._add_result({**part, "tool_call_id": part.get("tool_use_id")}, "tool", where)
            message = {**message, "content": [part for part in content if part not in results]}
        self._append("user", self._blocks(message, where))

    # -- the assistant and its calls ---------------------------------------------------------

    def _add_assistant(self, message: Body, where: str) -> None:
        if self.turns and self.turns[-1]["role"] != "assistant":
            self._close_calls()
        content = message.get("content")
        native = [
            part for part in objects_of(content) if part.get("type") in (*THINKING, "tool_use")
        ]
        rest = [part for part in objects_of(content) if part not in native]
        readable: Body = {**message, "content": rest if isinstance(content, list) else content}
        texts = self._blocks(readable, where)
        if not texts and (refusal := string_of(message.get("refusal"))).strip():
            texts = [text_block(refusal)]
        thinking = [part for part in native if part["type"] in THINKING]
        calls = [*_calls_of(message), *(part for part in native if part["type"] == "tool_use")]
        thinking = thinking or _thinking_of(message)
        blocks: list[Body] = [*texts]
        for number, call in enumerate(calls):
            given_id = string_of(call.get("id"))
            kept = [] if thinking else list(self._kept.get(given_id, ()))
            at = 0 if number == 0 else len(blocks)
            blocks[at:at] = kept
            blocks.append(self._use(call, given_id, f"{where}.tool_calls[{number}]"))
        self._append("assistant", [*thinking, *blocks])

    def _use(self, call: Body, given_id: str, where: str) -> Body:
        new_id = _ODD_IN_ID.sub("_", given_id) or "call"
        stem, number = new_id, 1
        while new_id in self._used_ids:
            number += 1
            new_id = f"{stem}_{number}"
        self._used_ids.add(new_id)
        name = string_of(call.get("name"))
        self._open.setdefault(given_id or name, []).append(new_id)
        return {
            "type": "tool_use",
            "id": new_id,
            "name": name,
            "input": input_of(call.get("input"), self._notes, field=where),
        }

    # -- results -----------------------------------------------------------------------------

    def _add_result(self, message: Body, role: str, where: str) -> None:
        name = message.get("tool_call_id") if role == "tool" else message.get("name")
        same = self._open.get(string_of(name), [])
        use_id = next((use_id for use_id in same if use_id not in self._answered), None)
        blocks = self._blocks(message, where)
        if use_id is None:
            self._notes.add(where, "the result of a call that is not open is sent as text")
            self._append("user", [text_block("[result of an earlier call]"), *blocks])
            return
        self._answered.add(use_id)
        self._append("user", [_result(use_id, blocks)])

    def _waiting(self) -> list[str]:
        return [
            use_id for ids in self._open.values() for use_id in ids if use_id not in self._answered
        ]

    def _close_calls(self) -> None:
        for use_id in self._waiting():
            self._notes.add("messages", f"the call {use_id!r} has no result; one says so")
            block = _result(use_id, [text_block(NO_RESULT)])
            self._append("user", [{**block, "is_error": True}])
        self._open, self._answered = {}, set()

    # -- the whole ----------------------------------------------------------------------------

    def _finish(self) -> None:
        if not self.turns and self.system:
            self._notes.add("messages", "without a user's message, the last instruction is sent")
            self._append("user", [self.system.pop()])
        if not self.turns:
            raise InvalidInput(
                "messages holds nothing to answer",
                hint="send a user message with text",
                field="messages",
            )
        if self.turns[0]["role"] == "assistant":
            self.turns.insert(0, {"role": "user", "content": [text_block(FIRST_TURN)]})
        for turn in self.turns:
            if turn["role"] == "user":
                blocks = objects_of(turn["content"])
                turn["content"] = sorted(blocks, key=lambda block: block["type"] != "tool_result")
        self._end_with_user()

    def _end_with_user(self) -> None:
        last = self.turns[-1]
        if last["role"] != "assistant":
            return
        if not self._model.takes_prefill:
            self._notes.add("messages", "this model does not continue a reply; it is asked to")
            self.turns.append({"role": "user", "content": [text_block(CONTINUE)]})
            return
        block = objects_of(last["content"])[-1]
        if block["type"] == "text":
            block["text"] = string_of(block["text"]).rstrip()


def _result(use_id: str, blocks: list[Body]) -> Body:
    result: Body = {"type": "tool_result", "tool_use_id": use_id}
    marks = [block.pop("cache_control") for block in blocks if "cache_control" in block]
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        result["content"] = text_of(blocks)
    elif blocks:
        result["content"] = blocks
    if marks:
        result["cache_control"] = marks[-1]
    return result


def _calls_of(message: Body) -> list[Body]:
    """The calls of an assistant's message as id, name and input; the older form too."""
    calls: list[Body] = []
    for call in objects_of(message.get("tool_calls")):
        named = object_of(call.get("function")) or object_of(call.get("custom"))
        given = named.get("arguments", named.get("input"))
        calls.append({"id": call.get("id"), "name": named.get("name"), "input": given})
    if not calls and isinstance(message.get("function_call"), dict):
        named = object_of(message.get("function_call"))
        calls.append({"name": named.get("name"), "input": named.get("arguments")})
    return calls


def _thinking_of(message: Body) -> list[Body]:
    """Thinking blocks that the client kept, in either of the two forms that clients use."""
    kept = [
        block
        for block in objects_of(message.get("thinking_blocks"))
        if block.get("type") in THINKING
    ]
    if kept:
        return kept
    blocks: list[Body] = []
    for detail in objects_of(message.get("reasoning_details")):
        if not string_of(detail.get("format")).startswith("anthropic"):
            continue
        if detail.get("type") == "reasoning.text" and detail.get("signature"):
            thinking, signature = detail.get("text"), detail["signature"]
            blocks.append({"type": "thinking", "thinking": thinking, "signature": signature})
        elif detail.get("type") == "reasoning.encrypted":
            blocks.append({"type": "redacted_thinking", "data": detail.get("data")})
    return blocks
