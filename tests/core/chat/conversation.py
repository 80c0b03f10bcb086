"""A conversation of twenty turns as a client sends it, and as it is sent on with memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from remembrancer.core.chat.inject import (
    inject_boot,
    mark_patch,
    move_volatile,
    place_block,
    user_turn_indexes,
)
from remembrancer.core.chat.shapes import Body

TURNS = 20
RULES = "你是一位耐心的助手。Answer in the language of the question. " * 60
BOOT = "珍贵的话：妈妈说“天冷要加衣”。\nThe user lives in Lisbon.\n" * 12
TOOLS: list[Body] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name}: 查询并返回结果。" * 10,
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    }
    for name in ("weather", "calendar", "search")
]
IMAGE: Body = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 200}}


def conversation(*, has_clock: bool) -> Iterator[list[Body]]:
    """Each request of the conversation, tool rounds as requests of their own, oldest first."""
    history: list[Body] = []
    minute = 0
    for turn in range(TURNS):
        words = f"第 {turn} 个问题：明天上午的安排是什么？Please check everything twice. " * 3
        content: object = words
        if turn % 6 == 5:
            content = [{"type": "text", "text": words}, IMAGE]
        history.append({"role": "user", "content": content})
        rounds = (0, 0, 3, 0, 12, 0, 1)[turn % 7]
        for number in range(rounds + 1):
            minute += 1
            clock = f"\n当前时间：2026-11-30 {minute // 60:02}:{minute % 60:02}\n"
            system = RULES + (clock if has_clock else "\n")
            yield [{"role": "system", "content": system}, *history]
            if number < rounds:
                call_id = f"call_{turn}_{number}"
                function: Body = {"name": "search", "arguments": '{"q": "牙医 🦷"}'}
                call: Body = {"id": call_id, "type": "function", "function": function}
                history.append({"role": "assistant", "content": None, "tool_calls": [call]})
                found = f"结果 {number}：周五 10:30 有空。" * 12
                history.append({"role": "tool", "tool_call_id": call_id, "content": found})
        history.append({"role": "assistant", "content": f"回答 {turn}：周五上午有空。" * 10})


@dataclass(slots=True)
class Gateway:
    """What is remembered of a conversation between its requests: each turn's block."""

    blocks: dict[int, str] = field(default_factory=dict)

    def send(self, messages: list[Body]) -> list[Body]:
        """The messages with the boot pack, and with what each turn was given when it was new."""
        result, volatile = move_volatile(messages)
        indexes = user_turn_indexes(result)
        for turn, index in enumerate(indexes):
            if turn not in self.blocks:
                patch = f"- 第 {turn} 条记忆：她住在里斯本。\n- likes green tea"
                self.blocks[turn] = mark_patch(
                    patch, recall_id=f"rcl_{turn}", volatile=volatile, message="问"
                )
            result = place_block(result, self.blocks[turn], at=index)
        return inject_boot(result, BOOT)
