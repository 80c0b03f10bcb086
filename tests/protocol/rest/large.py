"""A household that has grown large, as the platform serves it: what no request may be too much for.

Its lists are at their limits or beyond a page, and one item has three thousand events.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests.app.candidates.test_queue import waiting
from tests.budgets.operations import FULL_LIBRARY, Neighbours
from tests.builders import NAMESPACE, Bench, id_of
from tests.protocol.rest.doors import OWNER, Served, serve
from tests.rival import Rival
from tests.seeding import seed

from remembrancer.app.export import export_lines, export_scope
from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs.running import run_job
from remembrancer.app.library.glossary import set_glossary
from remembrancer.app.library.precious import add_precious
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.messages import ingest_messages
from remembrancer.app.recall.recall import recall
from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.ids import RELATIONS, item_stream
from remembrancer.core.ledger.events import SALT_BYTES, Draft, Head
from remembrancer.core.messages import Message
from remembrancer.core.relations.decide import add_relations, relation_key
from remembrancer.http.asgi import create_asgi
from remembrancer.http.mcp import mcp_route
from remembrancer.http.routes import AREAS
from remembrancer.local.sqlite import SqliteStore
from remembrancer.mcp.catalogue import make_server
from remembrancer.ports.sql import Statement
from remembrancer.store import history, ledger
from remembrancer.store.ledger import StreamEdit
from remembrancer.testing.models import HashingEmbedder
from remembrancer.testing.outbound import ScriptedOutbound, json_answer
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import memory_store

EVENTS = 3_000
"""Events of the item that is edited again and again."""

REPLY = {
    "choices": [{"index": 0, "message": {"content": "好的 ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 9},
}
"""What the upstream of chats says."""

SECRET = "绝密的句子 top secret phrase 4711"


@dataclass(frozen=True, slots=True)
class Large:
    """The world's bytes, and the names of what is in it.

    *Shape:* `names` word → id; `hundred` ids of items; `pending` those of candidates; `lines` its
    export; `headers` those of a made key with every scope.
    """

    image: bytes
    names: dict[str, str]
    hundred: list[str]
    pending: list[str]
    lines: list[bytes]
    headers: dict[str, str]
    now_ms: int


@dataclass(slots=True)
class Counted:
    """A server with a copy of the world, where requests have a bound."""

    served: Served
    store: Rival


def served_large(*, clashes: int = 0) -> Counted:
    """A fresh copy, in which so many batches of events clash."""
    world = large()
    inner = memory_store(is_migrated=False)
    inner.with_writer_now(lambda raw: raw.deserialize(world.image))
    store = Rival(inner)
    store.clashes = clashes
    environ = {"RATE_LIMIT_PER_MINUTE": "0", "AI_GATEWAY_BASE_URL": "http://upstream.example"}
    bare = serve(environ, sql=store)
    bare.runtime.advance(world.now_ms - bare.runtime.now_ms())
    for _ in range(10 * EVENTS):  # none that the world was made with comes again
        bare.runtime.random_bytes(1)
    app = replace(
        bare.app,
        embedder=HashingEmbedder(),
        vectors=Neighbours(world.hundred),
        queue=RecordingQueue(),
        outbound=ScriptedOutbound(lambda _: json_answer(REPLY)),
        request_pieces=1,
    )
    asgi = create_asgi(app, routes=(*AREAS, mcp_route(make_server())))
    return Counted(replace(bare, app=app, asgi=asgi), store)


@cache
def large() -> Large:
    """The world; made once."""
    return asyncio.run(_make())


async def _make() -> Large:
    inner = memory_store()
    seeded = await seed(inner, 1_000)
    bench = Bench(sql=inner)
    names = {
        "busy": await _busy(bench, seeded.items[300:400]),
        "project": [*seeded.projects][1],
        "topic": [*seeded.topics][3],
        "other_project": [*seeded.projects][2],
        "related": seeded.related[0],
        "task": seeded.tasks[-1],
        "item": seeded.items[10],
        "edge": seeded.items[300],
    }
    full = [Statement(sql, (NAMESPACE, count - 2)) for sql, count in FULL_LIBRARY]
    await bench.sql.write(full)
    names |= await _library(bench)
    long = await create_item(bench.app, bench.caller(), {"title": "长", "content": "字" * 900_000})
    names["artifact"] = str(long["item"]["artifact_id"])  # type: ignore[index,call-overload] # JSON
    gone = [id_of(await create_item(bench.app, bench.caller(), {"title": f"gone {n}", "kind":
            "memory"})) for n in range(2)]  # fmt: skip
    await delete_items(bench.app, bench.caller(), gone)
    names["gone"] = gone[0]
    pending, held = await _candidates(bench)
    names |= {"candidate": pending[0], "held": held[0]}
    said = [Message("user", f"我喜欢 {n} 号绿茶。{SECRET}") for n in range(60)]
    await ingest_messages(bench.app, bench.caller(), said, conversation_id="c")
    bench.runtime.advance(60_000)
    run: Any = await run_job(bench.app, "extract", NAMESPACE)
    names["run"] = run["run_id"]
    more = [Message("user", f"我住在第 {n} 个城市，我喜欢 {n} 号红茶。") for n in range(60)]
    await ingest_messages(bench.app, bench.caller(), more)
    bench.runtime.advance(60_000)
    assert run["counts"]["created"] > 10, run
    names["recall"] = (await recall(bench.app, bench.caller(), "阳台的番茄架是哪天买的？")).id
    await bench.runtime.drain()
    headers = await _key(inner, names)
    scope = export_scope(bench.caller(scopes=frozenset(SCOPES)))
    lines = [line async for line in export_lines(bench.app, scope)]
    image = inner.with_writer_now(lambda raw: raw.serialize())
    hundred = seeded.items[500:600]
    return Large(image, names, hundred, pending, lines, headers, bench.runtime.now_ms())


async def _busy(bench: Bench, others: list[str]) -> str:
    """The id of a memory with thousands of events, as many edges, and a text that others quote."""
    given: Any = {"title": SECRET, "content": SECRET * 200, "kind": "memory", "tags": ["秘密"]}
    id_ = id_of(await create_item(bench.app, bench.caller(), given | {"topic_name": "忙"}))
    stream = item_stream(id_)
    events, head = (await history.read_streams(bench.sql, NAMESPACE, [stream]))[stream]
    fields = ledger.fold(events)
    drafts: list[Draft] = []
    title: Any = fields["title"]
    for number in range(EVENTS - 1):
        drafts.append(Draft("ItemUpdated", {"title": (title, f"{SECRET} {number}")}))
        title = f"{SECRET} {number}"
    edges = {relation_key(one, "supports", id_): (0.5, SECRET) for one in others}
    found, heads = await history.read_shared(bench.sql, NAMESPACE, [RELATIONS], [*edges])
    edge = add_relations(found[RELATIONS], edges, now_ms=bench.runtime.now_ms())
    assert edge is not None
    # One command: to take it back is as much as there can be.
    sealed, placed = ledger.place(
        [
            StreamEdit(stream, head, fields, tuple(drafts)),
            StreamEdit(RELATIONS, heads.get(RELATIONS, Head()), found[RELATIONS], (edge,)),
        ],
        caller=bench.caller(cause="req_busy"),
        at_ms=bench.runtime.now_ms(),
        salts=[bytes(SALT_BYTES)] * EVENTS,
    )
    await bench.sql.write(ledger.append(sealed, placed))
    return id_


async def _library(bench: Bench) -> dict[str, str]:
    entry: Any = await set_glossary(
        bench.app, bench.caller(), term="黑话", definition="行话", aliases=["jargon"]
    )
    quote: Any = await add_precious(bench.app, bench.caller(), f"永远 {SECRET}")
    return {"entry": entry["entry"]["id"], "quote": quote["precious"]["id"]}


async def _candidates(bench: Bench) -> tuple[list[str], list[str]]:
    """The ids of candidates, and of the memories that hold their keys."""
    pending: list[str] = []
    held: list[str] = []
    for n in range(12):
        key = f"p:city{n}"
        new = NewMemory(f"住在里斯本 {n}", {"fact_key": key})
        saved: Any = await save_memory(bench.app, bench.caller(), new)
        held.append(saved["memory"]["id"])
        tags = tuple(f"t{n} {m}" for m in range(20))
        pending.append(await waiting(bench, f"住在第 {n} 个城市", fact_key=key, tags=tags))
    return pending, held


async def _key(sql: SqliteStore, names: dict[str, str]) -> dict[str, str]:
    async with serve(sql=sql).client() as client:
        body = {"name": "钥匙", "scopes": [*SCOPES]}
        first, second = [await client.post("/v1/keys", json=body, headers=OWNER) for _ in "ab"]
    names["key"] = first.json()["key"]["id"]
    return {"authorization": f"Bearer {second.json()['token']}"}
