"""A realistic week of one person's agent, played through a real MCP client over HTTP.

`tests/data/week.md` is the script: what is said to the agent, and what it does. The server is the
product with a clock that is set to the week, so that "tomorrow" and 下周五 mean what they meant.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.dates import parse_iso
from remembrancer.core.values import MINUTE_MS
from remembrancer.local.folder import DataFolder
from remembrancer.local.opening import open_stores
from remembrancer.local.runtime import LocalRuntime
from remembrancer.local.server import KEEP_ALIVE_S, bind
from remembrancer.local.wire import LocalApp, make_asgi

SCRIPT = Path(__file__).resolve().parent.parent / "data" / "week.md"
KEY = "sk-week"
ZONE = ZoneInfo("Asia/Shanghai")


class WeekRuntime(LocalRuntime):
    """The real runtime, but its clock stands where the script says."""

    def __init__(self) -> None:
        super().__init__()
        self.at_ms = parse_iso("2026-03-02T09:00:00", zone=ZONE)

    def now_ms(self) -> int:
        """Return the week's present moment, milliseconds UTC."""
        return self.at_ms


@dataclass(slots=True)
class Played:
    """What the week did. *Shape:* `calls` tool name → how often; `bundle` the startup bundle."""

    calls: dict[str, int] = field(default_factory=dict)
    bundle: dict[str, Any] = field(default_factory=dict)
    markdown: str = ""


@asynccontextmanager
async def serving(folder: Path, runtime: LocalRuntime) -> AsyncIterator[str]:
    """Serve the product on a free loopback port; gives the address of /mcp."""
    data = DataFolder(folder)
    data.make()
    settings = load_settings({"CHATBOX_API_KEY": KEY, "DREAM_TIME_ZONE": "Asia/Shanghai"})
    async with open_stores(data, runtime, is_server=True) as stores:
        app = App(stores.sql, stores.kv, runtime, settings)
        local = LocalApp(app, stores.sql, runtime, data)
        listening = bind("127.0.0.1", 0)
        config = uvicorn.Config(
            make_asgi(local),
            log_config=None,
            access_log=False,
            ws="none",
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp?tools=all"
        finally:
            server.should_exit = True
            await task


class Agent:
    """The agent: one MCP client, and what it remembers of this week's ids."""

    def __init__(self, client: Client, runtime: WeekRuntime) -> None:
        self.client, self.runtime = client, runtime
        self.played = Played()
        self.titles: dict[str, str] = {}

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; an error ends the week."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, arguments, result.structured_content)
        self.played.calls[tool] = self.played.calls.get(tool, 0) + 1
        answer: dict[str, Any] = result.structured_content or {}
        return answer

    def find(self, start: str) -> str:
        """The id of the newest item whose title starts so."""
        for title, id_ in reversed(self.titles.items()):
            if title.startswith(start):
                return id_
        raise AssertionError(f"nothing this week starts with {start!r}")

    async def say(self, text: str) -> None:
        """Capture one line."""
        item = (await self.call("quick_capture", input=text))["item"]
        self.titles[item["title"]] = item["id"]

    async def act(self, verb: str, rest: str) -> None:
        """Do what a line with an exclamation mark says."""
        match verb:
            case "done":
                await self.call("update_task_state", id=self.find(rest), action="complete")
            case "snooze":
                start, until = rest.rsplit(" ", 1)
                id_ = self.find(start)
                await self.call("update_task_state", id=id_, action="snooze", until=until)
            case "recur":
                start, kind = rest.rsplit(" ", 1)
                await self.call("update_item", id=self.find(start), recurrence_kind=kind)
            case "edit":
                start, name, value = rest.rsplit(" ", 2)
                await self.call("update_item", id=self.find(start), **{name: int(value)})
            case "objective":
                slug, title = rest.split(": ", 1)
                answer = await self.call("set_active_objective", project_slug=slug, title=title)
                self.titles[title] = answer["item"]["id"]
            case "supersede":
                old, new = rest.split(" => ")
                await self.supersede(old, new)
            case "link":
                source, kind, target = re.split(r" (supports|blocks|depends_on) ", rest)
                await self.call(
                    "add_relation",
                    source_item_id=self.find(source),
                    relationship_type=kind,
                    target_item_id=self.find(target),
                )
            case _:
                await self.arrange(verb, rest)

    async def supersede(self, old: str, new: str) -> None:
        """Put the newer item in the older one's place."""
        await self.call(
            "supersede_items",
            source_item_id=self.find(new),
            target_item_ids=[self.find(old)],
            reason="同一个决定，留一条",
        )

    async def arrange(self, verb: str, rest: str) -> None:
        """The verbs that arrange what is loaded at startup."""
        match verb:
            case "pin":
                await self.call("set_item_pinned", id=self.find(rest), pinned=True)
            case "startup":
                start, value = rest.rsplit(" ", 1)
                id_ = self.find(start)
                await self.call("set_item_startup_priority", id=id_, startup_priority=int(value))
            case "topic":
                slug, value = rest.rsplit(" ", 1)
                await self.call("update_group_metadata", slug=slug, retrieval_priority=int(value))
            case "canonical":
                slug, start = rest.split(" ", 1)
                id_ = self.find(start)
                await self.call("set_group_canonical_item", group_slug=slug, item_id=id_)
            case "fact":
                key, text = rest.split(" ", 1)
                await self.call("create_item", title=text, item_kind="memory", fact_key=key)
            case _:
                raise AssertionError(f"the script has no verb {verb!r}")


async def play(folder: Path) -> Played:
    """Play the week and return what it did."""
    runtime = WeekRuntime()
    async with (
        serving(folder, runtime) as url,
        httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=120) as http,
    ):
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode="auto", cache=None) as client:
            agent = Agent(client, runtime)
            for day, lines in days():
                for clock, verb, rest in sorted(lines, key=lambda line: line[0]):
                    runtime.at_ms = parse_iso(f"{day}T{clock}:00", zone=ZONE)
                    await (agent.say(rest) if verb == "say" else agent.act(verb, rest))
            runtime.at_ms += 30 * MINUTE_MS
            agent.played.bundle = await agent.call("get_startup_context")
            return agent.played


def days() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The script: (date, [(clock, verb, rest)])."""
    result: list[tuple[str, list[tuple[str, str, str]]]] = []
    for line in SCRIPT.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"## \S+ (\d{4}-\d\d-\d\d)", line):
            result.append((found[1], []))
        elif found := re.fullmatch(r"- ! (\d\d:\d\d) (\w+) (.+)", line):
            result[-1][1].append((found[1], found[2], found[3]))
        elif found := re.fullmatch(r"- (\d\d:\d\d) (.+)", line):
            result[-1][1].append((found[1], "say", found[2]))
    return result


def shown(bundle: dict[str, Any]) -> str:
    """The bundle as short text: one line for each entry."""
    focus = bundle["current_focus"] or {}
    step = focus.get("tactical_next_step") or {}
    lines = [f"profile       {bundle['profile']['title']}"]
    lines += [f"always        {item['title']}" for item in bundle["always_load"]]
    lines += [f"goal          {item['title']}" for item in bundle["active_goals"]]
    lines += [
        f"project       {project['name']} ({project['active_count']} active)"
        for project in bundle["active_projects"]
    ]
    lines += [
        f"topic         {topic['group']['name']}: {topic['summary']['total']} current"
        for topic in bundle["topic_summaries"]
    ]
    return "\n".join([*lines, f"next step     {step.get('title')}: {focus.get('reason')}"])


def report(played: Played) -> str:
    """What `scripts/week` prints, and the README shows: the calls by tool, and the bundle."""
    counts = ", ".join(f"{count} {tool}" for tool, count in sorted(played.calls.items()))
    return f"{sum(played.calls.values())} calls: {counts}\n\n{shown(played.bundle)}\n"


def main() -> None:
    """Play the week in a temporary folder and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        played = asyncio.run(play(Path(folder)))
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps(played.bundle, ensure_ascii=False, indent=2) + "\n")
        return
    sys.stdout.write(report(played))


if __name__ == "__main__":
    main()
