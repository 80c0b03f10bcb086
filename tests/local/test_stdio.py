"""The standard streams as lines."""

from __future__ import annotations

import asyncio
import io
import os

from remembrancer.local.stdio import read_lines, write_line


async def test_lines_of_a_stream_are_given_until_it_ends() -> None:
    stream = io.BytesIO("一\n\nlast".encode())
    assert [line async for line in read_lines(stream)] == ["一\n".encode(), b"\n", b"last"]


async def test_line_that_never_comes_blocks_no_other_work() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb") as client:
        lines = read_lines(stream)
        waiting = asyncio.ensure_future(anext(lines))
        await asyncio.sleep(0)
        assert not waiting.done()
        await write_line(client, b"now\n")
        assert await asyncio.wait_for(waiting, 5) == b"now\n"
        client.close()
        assert [line async for line in lines] == []


def test_reader_of_a_closed_loop_ends_quietly() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:

        async def give_up() -> None:
            waiting = asyncio.ensure_future(anext(read_lines(stream)))
            await asyncio.sleep(0)
            waiting.cancel()

        asyncio.run(give_up())
        os.write(writing, b"late\n")
        os.close(writing)
