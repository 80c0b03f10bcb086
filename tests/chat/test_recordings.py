"""Streams that anthropic-python recorded, cut at every byte: the reply is the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from tests.core.chat.streams import each_split

from client_tests import source_of
from remembrancer.app.gateway.sending import whole_events
from remembrancer.core.chat.anthropic_stream import AnthropicToOpenAI
from remembrancer.core.chat.collect import Reply, ReplyCollector
from remembrancer.core.chat.sse import SseReader

FIXTURES = source_of("anthropic") / "tests/lib/streaming/fixtures"
COUNT_MIN = 16
"""Recordings of anthropic 2.14."""


def translated(chunks: list[bytes]) -> bytes:
    """The stream as a client of OpenAI's form sees it."""
    stream = AnthropicToOpenAI(model_name="m", id="chatcmpl-1", created=7, wants_usage=True)
    reader = SseReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()
    return b"".join([one for event in events for one in stream.feed(event)] + stream.close())


def heard(chunks: list[bytes]) -> Reply:
    """What is kept of the stream."""
    collector = ReplyCollector(shape="anthropic")
    for chunk in chunks:
        collector.feed(chunk)
    return collector.close()


async def passed(chunks: list[bytes]) -> list[bytes]:
    """The pieces in which the stream is passed on."""

    async def pieces() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [piece async for piece in whole_events(pieces())]


def recordings() -> list[str]:
    assert FIXTURES.exists(), "they are not here; scripts/install --dev fetches them"
    return sorted(path.name for path in FIXTURES.glob("*.txt"))


def test_all_recordings_are_here() -> None:
    assert len(recordings()) >= COUNT_MIN


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.txt")))
async def test_recorded_stream_is_the_same_reply_at_every_split(name: str) -> None:
    data = (FIXTURES / name).read_bytes()
    whole, reply = translated([data]), heard([data])
    events = [event.data for event in SseReader().feed(whole)]
    assert events[-1] == "[DONE]" or "error" in json.loads(events[-1])
    for chunks in each_split(data):
        assert translated(chunks) == whole
        assert heard(chunks) == reply
        assert b"".join(await passed(chunks)) == data
