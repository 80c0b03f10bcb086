"""Streams as upstreams send them, written for these tests, and every way to cut them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from remembrancer.core.chat.sse import SseEvent, SseReader, encode_event

TEXTS = ("Grüß Gott, ", "我住在里斯本，", "周五看牙医 🦷👍🏽", " — ok")
"""Pieces of a reply: every one has a character of more than one byte."""


def pieces(data: bytes, *cuts: int) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def each_split(data: bytes) -> Iterator[list[bytes]]:
    """Every split in two, then one byte at a time."""
    for cut in range(len(data) + 1):
        yield pieces(data, cut)
    yield [data[index : index + 1] for index in range(len(data))]


def read_all(chunks: list[bytes]) -> list[SseEvent]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()


def named(*events: dict[str, object]) -> bytes:
    """A stream of the Messages API: every event carries its type as its name."""
    return b"".join(
        encode_event(json.dumps(event, ensure_ascii=False), str(event["type"])) for event in events
    )


def started(**usage: object) -> dict[str, object]:
    message: dict[str, object] = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 12, "output_tokens": 1, **usage},
    }
    return {"type": "message_start", "message": message}


def block(index: int, **block: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stopped(index: int) -> dict[str, object]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str, **usage: object) -> list[dict[str, object]]:
    change: dict[str, object] = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": usage,
    }
    return [change, {"type": "message_stop"}]


PING: dict[str, object] = {"type": "ping"}

TEXT_STREAM = named(
    started(cache_creation_input_tokens=30, cache_read_input_tokens=400),
    block(0, type="text", text=""),
    PING,
    *(delta(0, "text_delta", text=text) for text in TEXTS),
    stopped(0),
    *ended("end_turn", output_tokens=21),
)

TOOL_STREAM = named(
    started(),
    block(0, type="thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="先看日历"),
    delta(0, "thinking_delta", thinking=' 🤔 "then" ask\\go'),
    delta(0, "signature_delta", signature="EqQB+/=="),
    stopped(0),
    block(1, type="redacted_thinking", data="AbC/+="),
    stopped(1),
    block(2, type="text", text="Ich sehe "),
    delta(2, "text_delta", text="nach。"),
    stopped(2),
    block(3, type="tool_use", id="toolu_a", name="weather", input={}),
    delta(3, "input_json_delta", partial_json=""),
    delta(3, "input_json_delta", partial_json='{"city": "里'),
    delta(3, "input_json_delta", partial_json='斯本"}'),
    stopped(3),
    block(4, type="tool_use", id="toolu_b", name="now", input={}),
    delta(4, "input_json_delta", partial_json=""),
    stopped(4),
    *ended("tool_use", output_tokens=65),
)

SERVER_TOOL_STREAM = named(
    {"type": "future_event", "usage": {"input_tokens": 99}},
    stopped(0),
    started(),
    block(0, type="server_tool_use", id="srvtoolu_1", name="web_search", input={}),
    delta(0, "input_json_delta", partial_json='{"query": "牙医"}'),
    stopped(0),
    block(1, type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[]),
    stopped(1),
    block(2, type="text", text="", citations=[]),
    delta(2, "citations_delta", citation={"type": "char_location", "cited_text": "x"}),
    delta(2, "text_delta", text="Gefunden 🦷"),
    stopped(2),
    *ended("end_turn", input_tokens=9000, output_tokens=97),
    {"type": "future_event"},
    PING,
)

STREAMS = {"text": TEXT_STREAM, "tools": TOOL_STREAM, "server_tools": SERVER_TOOL_STREAM}
