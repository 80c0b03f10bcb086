"""Server-sent events: the same events however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.chat.streams import STREAMS, each_split, pieces, read_all

from remembrancer.core.chat.sse import DONE, KEEP_ALIVE, SseEvent, SseReader, encode_event
from remembrancer.core.errors import UpstreamFailed

ODD = (
    b"\xef\xbb\xbf: hello\r\n"
    b"event: first\r\ndata: \xe6\x88\x91\xe4\xbd\x8f\r\ndata:two\r\n\r\n"
    b"data\rdata:  x \r\r"
    b"id: 7\nretry: 10\nnonsense\nevent: none\n\n"
    b'data: {"a": "\xf0\x9f\xa6\xb7"}\n\n'
    b": keep-alive\n\n"
    b"data: last"
)

ODD_EVENTS = [
    SseEvent("first", "我住\ntwo"),
    SseEvent(None, "\n x "),
    SseEvent(None, '{"a": "🦷"}'),
    SseEvent(None, "last"),
]


def test_reader_odd_stream_gives_its_events() -> None:
    assert read_all([ODD]) == ODD_EVENTS


def test_reader_every_split_of_an_odd_stream_gives_the_same() -> None:
    for chunks in each_split(ODD):
        assert read_all(chunks) == ODD_EVENTS


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_reader_every_split_of_a_recorded_stream_gives_the_same(name: str, line_end: bytes) -> None:
    data = STREAMS[name].replace(b"\n", line_end)
    whole = read_all([STREAMS[name]])
    assert len(whole) > 5
    for chunks in each_split(data):
        assert read_all(chunks) == whole


@given(st.lists(st.integers(0, len(ODD)), max_size=12))
def test_reader_any_cuts_give_the_same(cuts: list[int]) -> None:
    assert read_all(pieces(ODD, *cuts)) == ODD_EVENTS


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=4))
def test_reader_any_bytes_any_cuts_give_what_the_whole_gives(data: bytes, cuts: list[int]) -> None:
    assert read_all(pieces(data, *cuts)) == read_all([data])


@given(st.text(max_size=60), st.sampled_from([None, "message_stop"]))
def test_encode_event_then_reader_gives_the_text(data: str, event: str | None) -> None:
    lines = data.replace("\r\n", "\n").replace("\r", "\n")
    assert read_all([encode_event(data, event)]) == [SseEvent(event, lines)]


def test_reader_comments_and_the_end_mark_are_told_apart() -> None:
    assert read_all([KEEP_ALIVE]) == []
    assert read_all([DONE]) == [SseEvent(None, "[DONE]")]


@pytest.mark.parametrize(
    ("data", "is_over"),
    [
        pytest.param(b"data: " + b"x" * 94 + b"\n\n", False, id="at_the_limit"),
        pytest.param(b"data: " + b"x" * 95 + b"\n\n", True, id="a_line_over_it"),
        pytest.param(b"data: xxxxxxxxx\n" * 12, True, id="lines_over_it_together"),
        pytest.param(b"data: xxxxxxxxx\n\n" * 12, False, id="events_under_it"),
    ],
)
def test_reader_event_over_the_limit_is_refused(data: bytes, is_over: bool) -> None:
    for chunks in ([data], [data[index : index + 1] for index in range(len(data))]):
        reader = SseReader(event_bytes_max=100)
        assert _is_refused(reader, chunks) is is_over


def _is_refused(reader: SseReader, chunks: list[bytes]) -> bool:
    try:
        for chunk in chunks:
            reader.feed(chunk)
    except UpstreamFailed as error:
        assert "over 100 bytes" in error.message
        return True
    return False
