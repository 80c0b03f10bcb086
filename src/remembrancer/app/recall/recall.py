"""Recall: from one message to the few memories that bear on it, and the text that quotes them.

Query, candidates of both sides, fusing, gates, ranking again, condensing, patch. It only reads;
what it leaves behind (`notes.py`) is written after the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, Literal, TypedDict, Unpack
from zoneinfo import ZoneInfo

from remembrancer.app.items.resolve import zone_of
from remembrancer.app.recall.candidates import Side, Wanted, find_candidates
from remembrancer.app.recall.meaning import PATIENT_MS
from remembrancer.app.recall.notes import Noted, explained, note
from remembrancer.app.recall.ranking import Reranked, condense, rerank
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.query import ItemQuery, check_query
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.library.matching import GlossaryHit, glossary_hits
from remembrancer.core.recall.explain import Explained, Layer
from remembrancer.core.recall.freshness import was_recalled
from remembrancer.core.recall.patch import (
    PATCH_TOKENS_MAX,
    Patch,
    PatchLine,
    TermLine,
    render_patch,
)
from remembrancer.core.recall.query import RecallQuery, build_query
from remembrancer.core.recall.repeats import Shown
from remembrancer.core.recall.scale import hidden, shown
from remembrancer.core.recall.selection import Bar, Contender, Selected, select
from remembrancer.core.text.segment import query_terms
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Outcome
from remembrancer.store import items as item_store
from remembrancer.store import library
from remembrancer.store.item_filters import Asked

Purpose = Literal["chat", "mcp", "rest"]
"""Who asks."""

Used = Literal["patch", "hits", "nothing"]
"""What counts as used: what is in the patch, all hits, or nothing, since it was a mere search."""

LIMIT_MAX: Final = 100
"""Memories of one recall at most. Source: the predecessor's schema."""

PRECIOUS_COMPARED: Final = 50
"""Precious quotes, the newest, that a memory may repeat. Source: the predecessor's rule."""

MESSAGE_CHARS_MAX: Final = 4_000
"""Characters of a message that are read, half from its start and half from its end. Our choice: as
many as are searched for; whoever pastes more says what it is for at one end."""

TERMS_SHOWN: Final = 5
"""Explained terms of one patch. Our choice."""


@dataclass(frozen=True, slots=True)
class RecallScope:
    """What may be recalled, all of which hold. *Shape:* `project` and `topic` slugs or names;
    `tags` any of them."""

    kinds: Sequence[str] = ("memory",)
    types: Sequence[str] = ()
    project: str | None = None
    topic: str | None = None
    tags: Sequence[str] = ()


EVERYTHING: Final = RecallScope()
"""Every memory."""


class RecallOptions(TypedDict, total=False):
    """How a message is recalled for.

    *Shape:* `turns` what was said before, oldest first; `visible` texts or ids that the request
    holds already; `limit` 1…100, by default the setting's; `min_score` 0…1 on the scale that is
    shown, beside the own gates; `used` by default the patch; `is_search` wants hits that may
    answer, too, which the patch leaves out; `is_filtered` False wants whatever was found,
    `has_known` what only repeats the digest or a precious quote as well.
    """

    turns: Sequence[str]
    visible: Sequence[str]
    limit: int | None
    scope: RecallScope
    min_score: float | None
    token_budget: int
    purpose: Purpose
    used: Used
    is_search: bool
    is_filtered: bool
    has_known: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that is brought up.

    *Shape:* `score` 0…1 on the scale that is shown, not decayed; `text` condensed.
    """

    record: ItemRecord
    score: float
    text: str
    layer: Layer = "active"


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a message recalls.

    *Shape:* `hits` in order; `patch` the text to put in, '' for nothing; `injected` the ids in it;
    `degraded` what had no part; `reordered` ids that a recent recall put off; `explained` every
    candidate, made by `explain` when it is asked for: a chat waits for the patch alone. *Units:*
    `tokens` of the patch, estimated.
    """

    id: str
    hits: Sequence[Hit] = ()
    glossary: Sequence[GlossaryHit] = ()
    patch: str = ""
    tokens: int = 0
    injected: Sequence[str] = ()
    degraded: Sequence[str] = ()
    reordered: Sequence[str] = ()
    explain: Callable[[], list[Explained]] = list
    references: References = field(default_factory=References)

    @property
    def explained(self) -> list[Explained]:
        """Every candidate with its scores and its gate."""
        return self.explain()


@dataclass(frozen=True, slots=True)
class _Asking:
    """A message with its options checked. *Units:* `until_ms` when a model's help is too late."""

    message: str
    limit: int
    floor: float
    scope: RecallScope
    visible: Sequence[str]
    tokens_max: int
    purpose: Purpose
    is_search: bool
    is_filtered: bool
    has_known: bool
    now_ms: int
    wait_ms: int

    def bar(self, reranked: int) -> Bar:
        """How sure a candidate has to be, when so many are ranked again."""
        wanted = max(self.limit, reranked)
        return Bar(self.now_ms, self.floor, self.is_search, self.is_filtered, wanted)

    def left_ms(self, app: App) -> int:
        """The time that is left for a model."""
        return max(0, self.now_ms + self.wait_ms - app.runtime.now_ms())


@dataclass(frozen=True, slots=True)
class _Around:
    """What is read beside the candidates."""

    shown: Shown
    glossary: Sequence[GlossaryHit]
    zone: ZoneInfo


async def recall(
    app: App, caller: Caller, message: str, **options: Unpack[RecallOptions]
) -> Recalled:
    """Return the few memories that bear on a message, nothing for small talk.

    *Raises:* InvalidInput (limit, score, an empty word), NotFound (a project or topic that does not
    exist), StoreUnavailable. *Promise:* at most three round trips before the answer and one after
    it; a failing embedder, index, reranker or condenser only degrades it.
    """
    asking = _check(app, message, options)
    recall_id = app.runtime.new_id("rcl")
    query = _query(asking, options.get("turns", ()))
    if query is None:
        recalled = Recalled(recall_id)
    else:
        recalled = await _recall(app, caller, asking, query, recall_id)
    used = _used(recalled, options.get("used", "patch"))
    noted = Noted(asking.message, asking.purpose, asking.now_ms, used)
    app.runtime.run_later(note(app, caller, recalled, noted))
    return recalled


def _query(asking: _Asking, turns: Sequence[str]) -> RecallQuery | None:
    """Return what to look for. To a conversation a mere emoji says nothing, to a search it does."""
    query = build_query(asking.message, turns)
    if query is None and asking.is_search:
        terms = query_terms(asking.message)
        if terms and all(term.kind == "emoji" for term in terms):
            query = RecallQuery(asking.message, asking.message, asking.message)
    return query


def _used(recalled: Recalled, used: Used) -> Sequence[str]:
    if used == "hits":
        return [hit.record.id for hit in recalled.hits]
    return recalled.injected if used == "patch" else ()


def _check(app: App, message: str, options: RecallOptions) -> _Asking:
    settings = app.settings
    limit = options.get("limit")
    limit = settings.memory_filter_max_output if limit is None else limit
    if isinstance(limit, bool) or not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {LIMIT_MAX}", field="limit"
        )
    floor = options.get("min_score")
    floor = settings.memory_min_score if floor is None else floor
    if not 0 <= floor <= 1:
        raise InvalidInput(f"min_score {floor!r} is out of range", hint="0 to 1", field="min_score")
    purpose = options.get("purpose", "chat")
    half = MESSAGE_CHARS_MAX // 2
    if len(message) > MESSAGE_CHARS_MAX:
        message = f"{message[:half]}\n{message[-half:]}"
    return _Asking(
        message=message,
        limit=limit,
        floor=hidden(floor),
        scope=options.get("scope", EVERYTHING),
        visible=options.get("visible", ()),
        tokens_max=options.get("token_budget", PATCH_TOKENS_MAX),
        purpose=purpose,
        is_search=options.get("is_search", False),
        is_filtered=options.get("is_filtered", True),
        has_known=options.get("has_known", False),
        now_ms=app.runtime.now_ms(),
        wait_ms=settings.recall_timeout_ms if purpose == "chat" else PATIENT_MS,
    )


async def _recall(
    app: App, caller: Caller, asking: _Asking, query: RecallQuery, recall_id: str
) -> Recalled:
    found = await find_candidates(app, _wanted(app, caller, asking, query))
    around = _around(app, asking, found.more)
    selected = select(
        [_contender(side) for side in found.sides],
        found.asked,
        around.shown,
        asking.bar(app.settings.memory_filter_max_candidates),
    )
    kept = [one for one in selected if one.gate is None]
    ranked = Reranked(kept, {})
    if asking.is_filtered:
        ranked = await rerank(app, query.meaning, kept, wait_ms=asking.left_ms(app))
    best, rest = ranked.order[: asking.limit], ranked.order[asking.limit :]
    texts, fault = await condense(
        app,
        query.meaning,
        query_terms(query.words),
        [one.contender.text for one in best],
        wait_ms=asking.left_ms(app),
    )
    sides = {side.id: side for side in found.sides}
    hits = _hits(sides, best, texts)
    sure = {one.id for one in best if one.is_sure}
    patch = _patch(asking, around, [hit for hit in hits if hit.record.id in sure])
    final = [
        *best,
        *(one._replace(gate="over_limit") for one in rest),
        *(one for one in selected if one.gate is not None),
    ]
    reasons = [*found.degraded, ranked.degraded, fault]
    return Recalled(
        id=recall_id,
        hits=hits,
        glossary=around.glossary,
        patch=patch.text,
        tokens=patch.tokens,
        injected=patch.ids,
        degraded=[reason for reason in reasons if reason is not None],
        reordered=[
            one.id for one in kept if was_recalled(one.contender.recalled_at, asking.now_ms)
        ],
        explain=partial(explained, sides, final, ranked.scores, sure - {*patch.ids}),
        references=found.references,
    )


def _hits(sides: Mapping[str, Side], best: Sequence[Selected], texts: Sequence[str]) -> list[Hit]:
    return [
        Hit(sides[one.id].match.record, shown(one.score), text, one.layer)
        for one, text in zip(best, texts, strict=True)
    ]


def _wanted(app: App, caller: Caller, asking: _Asking, query: RecallQuery) -> Wanted:
    scope = asking.scope
    asked = ItemQuery(
        kinds=scope.kinds,
        types=scope.types,
        projects=() if scope.project is None else (scope.project,),
        topics=() if scope.topic is None else (scope.topic,),
        tags=scope.tags,
        current_only=True,
    )
    check_query(asked)
    namespace = caller.namespace
    return Wanted(
        asked=Asked(namespace, asked, asking.now_ms),
        query=query,
        tier="valid",
        nearest=app.settings.memory_top_k,
        has_cold=True,
        # Half of the time, so that what is left serves the words and a reranker.
        wait_ms=asking.wait_ms // 2,
        more=[
            library.digest_statement(namespace),
            library.quotes_statement(namespace, before_id=None, limit=PRECIOUS_COMPARED),
            library.entries_statement(namespace),
            item_store.setting_statement(namespace),
        ],
    )


def _around(app: App, asking: _Asking, outcomes: Sequence[Outcome]) -> _Around:
    digest, quotes, entries, settings = outcomes
    known = Shown(visible=asking.visible)
    if not asking.has_known:
        known = Shown(
            visible=asking.visible,
            digest=str(library.digest_of(digest.rows).get("content") or ""),
            precious=[quote.content for quote in library.quotes_of(quotes.rows)],
        )
    return _Around(
        known,
        glossary_hits(asking.message, library.entries_of(entries.rows)),
        zone_of(app, item_store.settings_of(settings.rows)),
    )


def _contender(side: Side) -> Contender:
    match = side.match
    candidate = side.candidate
    return Contender(
        candidate=candidate,
        text=candidate.text,
        type=str(match.texts["type"]),
        at_ms=match.changed_at,
        recalled_at=match.recalled_at,
        is_pinned=bool(match.texts["pinned"]),
        is_cold=side.is_cold,
    )


def _patch(asking: _Asking, around: _Around, hits: Sequence[Hit]) -> Patch:
    lines = [
        PatchLine(
            hit.record.id,
            hit.text,
            str(hit.record.fields["type"]),
            _day(hit.record, around.zone),
        )
        for hit in hits
    ]
    named = [hit.entry for hit in around.glossary[:TERMS_SHOWN]]
    terms = [TermLine(entry.term, entry.definition) for entry in named]
    return render_patch(lines, terms, message=asking.message, tokens_max=asking.tokens_max)


def _day(record: ItemRecord, zone: ZoneInfo) -> str:
    """Return since when a memory holds, else when it was made, as a day of the namespace."""
    since = record.fields.get("valid_from")
    at_ms = since if isinstance(since, int) else record.created_at
    return datetime.fromtimestamp(at_ms / 1_000, zone).date().isoformat()
