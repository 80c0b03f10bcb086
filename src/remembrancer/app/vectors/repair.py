"""Finding what the index lacks or holds too much, page by page, and queueing it anew.

A person asks by hand (`vector_reindex`), a server at its start (`keep_indexed`). What is queued
goes the way of every change: the outbox.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.app.state import App
from remembrancer.app.vectors.filling import Filled, fill_next
from remembrancer.app.vectors.index import drain_outbox, next_pair
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON, Caller
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.ports.vectors import VectorIndex
from remembrancer.store import vector_books as store
from remembrancer.store import vector_models as models

REINDEX_ITEMS: Final = 50
"""Items of one call. Source: the predecessor's default."""

REINDEX_ITEMS_MAX: Final = 100
"""Most items of one call. Source: the predecessor's limit."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one page of items showed.

    *Shape:* `missing` and `present` are (id, version); `orphans` ids; `last` the last id looked
    at, None when there was no other page.
    """

    examined: int
    missing: list[tuple[str, int]]
    present: list[tuple[str, int]]
    orphans: list[str]
    last: str | None


async def reindex_vectors(
    app: App,
    caller: Caller,
    *,
    dry_run: bool = True,
    limit: int = REINDEX_ITEMS,
    cursor: str | None = None,
    force: bool = False,
) -> dict[str, JSON]:
    """Look at a page of items and embed anew what has no vector; remove what should have none.

    *Shape:* `{"dry_run", "model", "examined", "missing", "orphans", "queued", "embedded",
    "deleted", "progress": {"done", "total"}, "next_cursor", "failure"}`; `force` embeds every item
    of the page. With `dry_run` nothing is written. *Raises:* InvalidInput (no index, a foreign
    cursor), StoreUnavailable, LimitExceeded of the index. *Promise:* safe to repeat; goes on at
    the cursor.
    """
    if app.vectors is None or app.embedder is None:
        raise InvalidInput(
            "there is no vector index here: search is by words",
            hint="set EMBEDDING_MODEL, and bind an index",
        )
    if not 1 <= limit <= REINDEX_ITEMS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {REINDEX_ITEMS_MAX}", field="limit"
        )
    after, before = "", 0
    if cursor is not None:
        place = decode_cursor(cursor, kind="reindex", types=(str, int))
        after, before = str(place[0]), int(str(place[1]))
    label = models.label_of(app.embedder.model)
    page = await examine(app, caller.namespace, after, limit, index=app.vectors)
    [counted] = await app.sql.read([store.wanted_statement(caller.namespace)])
    done = before + page.examined
    answer: dict[str, JSON] = {
        "dry_run": dry_run,
        "model": label,
        "examined": page.examined,
        "missing": len(page.missing),
        "orphans": len(page.orphans),
        "queued": 0,
        "embedded": 0,
        "deleted": 0,
        "progress": {"done": done, "total": max(done, store.count_of(counted))},
        "next_cursor": None if page.last is None else encode_cursor("reindex", [page.last, done]),
        "failure": None,
    }
    if dry_run:
        return answer
    answer["queued"] = await queue_page(app, caller.namespace, page, force=force)
    drained = await drain_outbox(app, namespace=caller.namespace, limit=limit)
    return {**answer, "embedded": drained["embedded"], "deleted": drained["deleted"]}


async def reindex_next(
    app: App, *, dry_run: bool = True, limit: int = REINDEX_ITEMS
) -> dict[str, JSON]:
    """Fill the index of the next model, of all namespaces, by a step.

    *Shape:* as `reindex_vectors`; it keeps its place itself, and `next_cursor` is None once the
    index is whole; `failure` says why a step ended early. *Raises:* InvalidInput without one.
    """
    pair = next_pair(app)
    if pair is None:
        raise InvalidInput(
            "no index of another model is being filled",
            hint="bind VECTORS_NEXT and set EMBEDDING_MODEL_NEXT",
            field="index",
        )
    label = models.label_of(pair[0].model)
    step = Filled() if dry_run else await fill_next(app, limit=limit)
    wanted, booked = await app.sql.read(
        [store.wanted_statement(None), store.booked_statement(None, label)]
    )
    total, done = store.count_of(wanted), store.count_of(booked)
    return {
        "dry_run": dry_run,
        "model": label,
        "examined": step.filled + step.refused,
        "missing": max(0, total - done),
        "orphans": 0,
        "queued": 0,
        "embedded": step.filled,
        "deleted": 0,
        "progress": {"done": done, "total": max(done, total)},
        "next_cursor": None if step.is_whole else encode_cursor("reindex_next", []),
        "failure": step.failure,
    }


async def examine(
    app: App, namespace: Namespace, after: str, limit: int, *, index: VectorIndex | None
) -> Page:
    """Compare a page of items with the books, and with the index itself when one is given."""
    assert app.embedder is not None
    label = models.label_of(app.embedder.model)
    [read] = await app.sql.read([store.page_statement(namespace, after, label, limit)])
    items = store.shelved(read)
    last = items[-1].item_id if len(items) == limit else None
    [stray] = await app.sql.read([store.orphans_statement(namespace, after, last, label)])
    held = {vector_id(namespace, item.item_id) for item in items}
    if index is not None and items:
        held = await index.held(sorted(held))
    sound = [
        item for item in items if item.is_booked and vector_id(namespace, item.item_id) in held
    ]
    found = {item.item_id for item in sound}
    return Page(
        examined=len(items),
        missing=[
            (item.item_id, item.version)
            for item in items
            if item.item_id not in found and not item.is_waiting
        ],
        present=[(item.item_id, item.version) for item in sound],
        orphans=[str(row["item_id"]) for row in stray.rows],
        last=last,
    )


async def queue_page(app: App, namespace: Namespace, page: Page, *, force: bool = False) -> int:
    """Queue what a page lacks and holds too much; with `force`, all of it. Returns how many."""
    now = app.runtime.now_ms()
    wanted = [*page.missing, *(page.present if force else [])]
    statements = []
    if wanted:
        statements.append(store.again_statement(namespace, wanted, now, is_gone=False))
    if page.orphans:
        gone = [(item_id, 0) for item_id in page.orphans]
        statements.append(store.again_statement(namespace, gone, now, is_gone=True))
    if statements:
        await app.sql.write(statements)
    return len(wanted) + len(page.orphans)
