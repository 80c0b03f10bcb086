"""The one way in for commands: a tool of the MCP registry, here or on a remote server.

Both ways carry the same message and get the same answer, so that they cannot drift apart.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from remembrancer.cli.answers import Answer, part, rows, told_error, words
from remembrancer.cli.place import Place
from remembrancer.core.errors import PlatformError
from remembrancer.core.values import JSON

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from remembrancer.local.wire import LocalApp

T = TypeVar("T")

BY_HAND_KEY: Final = "remembrancer/by-hand"
"""Key in `_meta`: a person does this, so it is written in the user's name. See `mcp/call.py`."""


_BY_MEANING: Final = frozenset({"semantic_search", "memory_recall"})
"""Tools that ask the vectors."""


@dataclass(frozen=True, slots=True)
class Door:
    """An open way to a store.

    *Shape:* `send` takes one request and returns its answer; `catch_up` brings the vectors up to
    the last write where no server does, before they are asked.
    """

    send: Callable[[Answer], Awaitable[Answer]]
    catch_up: Callable[[], Awaitable[None]] | None = None

    async def call(self, tool: str, arguments: Mapping[str, JSON]) -> Answer:
        """Return what a tool answers; arguments that are None are left out.

        *Raises:* RemembrancerError, the tool's own.
        """
        if self.catch_up is not None and tool in _BY_MEANING:
            await self.catch_up()
        given: Answer = {name: value for name, value in arguments.items() if value is not None}
        answer = await self.send(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": tool, "arguments": given, "_meta": {BY_HAND_KEY: True}},
            }
        )
        if "error" in answer:
            error = part(answer, "error")
            raise told_error(part(error, "data"), words(error, "message"))
        result = part(answer, "result")
        if result.get("isError"):
            texts = " ".join(words(each, "text") for each in rows(result, "content"))
            raise told_error(part(part(result, "structuredContent"), "error"), texts)
        return part(result, "structuredContent")

    async def zone(self) -> ZoneInfo:
        """Return the zone of the namespace, in which a person reads times."""
        from remembrancer.core.dates.zones import load_zone

        settings = part(await self.call("get_app_settings", {}), "settings")
        return load_zone(words(settings, "time_zone"))


@asynccontextmanager
async def open_door(place: Place) -> AsyncIterator[Door]:
    """Open the store on this machine, or the way to the remote one.

    *Raises:* RemembrancerError for a place that does not open.
    """
    if place.url is not None:
        from remembrancer.cli.remote import RemoteServer

        async with RemoteServer(place) as server:
            yield Door(server.send)
        return
    async with open_store(place) as local:
        yield Door(
            lambda message: local.exchange(message, place.namespace),
            lambda: _index_waiting(local),
        )


async def _index_waiting(local: LocalApp) -> None:
    """Embed what the commands before left; they ended too soon for it. What fails comes later."""
    from remembrancer.app.vectors.index import drain_outbox
    from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX

    with suppress(PlatformError):
        await drain_outbox(local.app, limit=EMBED_TEXTS_MAX)


@asynccontextmanager
async def open_store(place: Place) -> AsyncIterator[LocalApp]:
    """Open the store on this machine. *Raises:* RemembrancerError."""
    from remembrancer.local import wire

    async with wire.open_app(place.data, wire.environment()) as local:
        yield local


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool's answer; and the zone to show its times in, where a person reads it."""

    answer: Answer
    zone: ZoneInfo | None


def ask(place: Place, tool: str, arguments: Mapping[str, JSON]) -> Reply:
    """Call one tool and return its answer. *Raises:* RemembrancerError."""
    return finish(_ask(place, tool, arguments))


async def _ask(place: Place, tool: str, arguments: Mapping[str, JSON]) -> Reply:
    async with open_door(place) as door:
        answer = await door.call(tool, arguments)
        return Reply(answer, None if place.is_json else await door.zone())


# Any: what a coroutine takes and gives meanwhile is the event loop's business.
def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end and return its result."""
    import asyncio

    return asyncio.run(work)
