"""Where Claude's prompt cache is told to keep a prefix: at most four marks in a request.

Marks stand, most useful first, on the last stable system block, the end of what the client has
sent so far, the last complete earlier turn, the point before a long stretch of tool rounds, and
the last tool (which the system's mark covers as well). The client's own count first. It does not
decide what is injected. Any ring may import it.
*Source:* Anthropic, prompt caching (four marks; tools, system, messages in this order; each mark
looks back 20 blocks; not on thinking or empty text; a longer life before a shorter one).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from remembrancer.core.chat.shapes import Body, object_of, objects_of, string_of
from remembrancer.core.chat.wrapping import is_block

MARKS_MAX: Final = 4
"""Marks of one request at most; more are refused. Source: Anthropic, prompt caching."""

WINDOW_BLOCKS: Final = 20
"""Blocks that a mark looks back for an earlier entry. Source: Anthropic, prompt caching."""

Ttl: TypeAlias = Literal["5m", "1h"]

Slot: TypeAlias = tuple[int, int, int]
"""A place in the order of the prefix: (0, tool, 0), (1, system block, 0), (2, message, block)."""

_UNMARKED: Final = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheOptions:
    """The settings of the prompt cache.

    *Shape:* `auto` lets the API mark the last block by itself, which takes one of the four;
    `rolling` marks the conversation, not only tools and system; `window` in blocks.
    """

    enabled: bool = True
    ttl: Ttl = "5m"
    auto: bool = False
    rolling: bool = True
    window: int = WINDOW_BLOCKS


def sort_tools(tools: list[Body]) -> list[Body]:
    """Return tools by name, with the keys of their schemas sorted at every depth.

    The order in which a client lists its tools may change from request to request; the bytes
    that the cache compares may not. Marks are gathered on the last tool.
    """
    marks = [tool["cache_control"] for tool in tools if "cache_control" in tool]
    plain = [{key: tool[key] for key in tool if key != "cache_control"} for tool in tools]
    for tool in plain:
        for key in ("input_schema", "function"):
            if key in tool:
                tool[key] = _sorted_keys(tool[key])
    plain.sort(key=_tool_name)
    if marks:
        longest = [mark for mark in marks if object_of(mark).get("ttl") == "1h"]
        plain[-1]["cache_control"] = (longest or marks)[-1]
    return plain


def place_marks(body: Body, options: CacheOptions, *, stable_system: int | None = None) -> Body:
    """Return a body of the Messages API with marks for the cache.

    *Shape:* a copy; `stable_system` is how many system blocks never change (all when None).
    *Promise:* at most four marks however many the client set, of those the most useful kept; the
    same conversation is marked the same way; nothing but marks is changed.
    """
    marker = _Marker(_copied(body), options)
    marker.drop_illegal()
    if options.enabled:
        marker.add(stable_system)
    return marker.body


def count_marks(body: Body) -> int:
    """Return how many marks a body holds, the top one and those inside tool results too."""
    marker = _Marker(body, CacheOptions())
    return len(marker.marked()) + len(list(_nested(body))) + ("cache_control" in body)


class _Marker:
    def __init__(self, body: Body, options: CacheOptions) -> None:
        self.body = body
        self._options = options
        self._tools = objects_of(body.get("tools"))
        self._system = objects_of(body.get("system"))
        self._messages = objects_of(body.get("messages"))
        self._slots = list(self._in_order())

    def _in_order(self) -> Iterator[tuple[Slot, Body]]:
        for index, tool in enumerate(self._tools):
            yield (0, index, 0), tool
        for index, block in enumerate(self._system):
            yield (1, index, 0), block
        for index, message in enumerate(self._messages):
            for at, block in enumerate(objects_of(message.get("content"))):
                yield (2, index, at), block

    def marked(self) -> dict[Slot, Body]:
        return {slot: block for slot, block in self._slots if "cache_control" in block}

    def drop_illegal(self) -> None:
        """Take the client's marks off where they are refused, and all above four."""
        for block in self.marked().values():
            if not _may_be_marked(block):
                del block["cache_control"]
        marked = self.marked()
        surplus = count_marks(self.body) - MARKS_MAX
        if surplus <= 0:
            return
        for block in _nested(self.body):
            if surplus > 0:
                del block["cache_control"]
                surplus -= 1
        last = {slot[0]: slot for slot in marked}
        # The last mark of tools and of system covers those before it, so those go first; then
        # the older ones of the conversation.
        spared = {last[level] for level in (0, 1) if level in last}
        for slot in sorted(marked, key=lambda slot: (slot in spared, slot)):
            if surplus > 0:
                del marked[slot]["cache_control"]
                surplus -= 1

    def add(self, stable_system: int | None) -> None:
        free = MARKS_MAX - count_marks(self.body)
        is_auto = "cache_control" in self.body
        if self._options.auto and free > 0 and not is_auto:
            self.body["cache_control"] = _control(self._options.ttl)
            free, is_auto = free - 1, True
        present = self.marked()
        wanted = [
            slot
            for slot in self._wanted(stable_system, is_auto=is_auto)
            if slot is not None and slot not in present
        ]
        chosen = list(dict.fromkeys(wanted))[: max(free, 0)]
        blocks = dict(self._slots)
        for slot in chosen:
            blocks[slot]["cache_control"] = _control(self._ttl_at(slot, present))

    def _ttl_at(self, slot: Slot, present: dict[Slot, Body]) -> Ttl:
        """Ours, unless the client's marks before or after demand another."""
        for other, block in present.items():
            is_long = object_of(block["cache_control"]).get("ttl") == "1h"
            if other < slot and not is_long:
                return "5m"
        if any(
            other > slot and object_of(block["cache_control"]).get("ttl") == "1h"
            for other, block in present.items()
        ):
            return "1h"
        return self._options.ttl

    def _wanted(self, stable_system: int | None, *, is_auto: bool) -> list[Slot | None]:
        system = self._last((1, 0, 0), (1, len(self._system), 0))
        if stable_system is not None:
            system = self._last((1, 0, 0), (1, stable_system, 0))
        tools = self._last((0, 0, 0), (1, 0, 0))
        if not self._options.rolling:
            return [system, tools]
        start = self._turn_start(len(self._messages))
        tail = self._last((2, 0, 0), (2, start, 0))
        end, bridge = self._end_and_bridge(start, tail)
        return [system, None if is_auto else end, tail, bridge, tools]

    def _end_and_bridge(self, start: int, tail: Slot | None) -> tuple[Slot | None, Slot | None]:
        """The end of what the client sent, and a point that an earlier request has marked."""
        replies = [
            index
            for index, message in enumerate(self._messages)
            if index > start and message.get("role") == "assistant"
        ]
        if replies:
            end = self._last((2, start, 0), (3, 0, 0))
            earlier = self._last((2, start, 0), (2, replies[-1], 0), with_ours=False)
            return end, self._if_far(earlier, end)
        end = self._last((2, start, 0), (2, start + 1, 0), with_ours=False)
        before = self._turn_start(start)
        own = self._last((2, before, 0), (2, before + 1, 0), with_ours=False)
        return end, self._if_far(own, tail) if before < start else None

    def _if_far(self, earlier: Slot | None, later: Slot | None) -> Slot | None:
        if earlier is None or later is None:
            return None
        between = sum(1 for slot, _ in self._slots if earlier < slot <= later)
        return earlier if between >= self._options.window else None

    def _turn_start(self, before: int) -> int:
        """The last message before an index with words of the user, not only tool results."""
        for index in range(before - 1, -1, -1):
            message = self._messages[index]
            if message.get("role") == "user" and any(
                block.get("type") != "tool_result" and not _is_ours(block)
                for block in objects_of(message.get("content"))
            ):
                return index
        return 0

    def _last(self, first: Slot, end: Slot, *, with_ours: bool = True) -> Slot | None:
        found: Slot | None = None
        for slot, block in self._slots:
            if first <= slot < end and _may_be_marked(block) and (with_ours or not _is_ours(block)):
                found = slot
        return found


def _control(ttl: Ttl) -> Body:
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}


def _may_be_marked(block: Body) -> bool:
    if block.get("type") in _UNMARKED or block.get("defer_loading") is True:
        return False
    return block.get("type") != "text" or bool(string_of(block.get("text")).strip())


def _is_ours(block: Body) -> bool:
    return block.get("type") == "text" and is_block(string_of(block.get("text")))


def _nested(body: Body) -> Iterator[Body]:
    for message in objects_of(body.get("messages")):
        for block in objects_of(message.get("content")):
            if block.get("type") == "tool_result":
                for inner in objects_of(block.get("content")):
                    if "cache_control" in inner:
                        yield inner


def _copied(body: Body) -> Body:
    """A copy as deep as marks go, with every text content as a block."""
    copy = {**body}
    if "tools" in copy:
        copy["tools"] = [{**tool} for tool in objects_of(copy["tools"])]
    if copy.get("system"):
        copy["system"] = _as_blocks(copy["system"])
    copy["messages"] = [
        {**message, "content": _as_blocks(message.get("content"))}
        for message in objects_of(copy.get("messages"))
    ]
    return copy


def _as_blocks(content: object) -> list[Body]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [
        {**block, "content": [{**inner} for inner in objects_of(block["content"])]}
        if isinstance(block.get("content"), list)
        else {**block}
        for block in objects_of(content)
    ]


def _tool_name(tool: Body) -> str:
    return string_of(tool.get("name")) or string_of(object_of(tool.get("function")).get("name"))


def _sorted_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    return [_sorted_keys(item) for item in value] if isinstance(value, list) else value
