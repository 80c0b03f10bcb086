"""A large, realistic ledger: years of one person's bilingual tasks and memories, in seconds.

It goes through the ledger's own functions (decide, place, append), so events, projections, twins,
search and counters are what a life of captures would have left; only the batches are larger. The
same count gives the same database, byte by byte. Budgets and `scripts/bench` stand on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.context.levels import ALWAYS_LOAD_MAX
from remembrancer.core.ids import RELATIONS, Namespace, Stream, item_stream, make_id
from remembrancer.core.items import decide
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import SALT_BYTES, Draft, Head, Sealed
from remembrancer.core.projects.decide import create_project, set_objective
from remembrancer.core.relations.decide import add_relations, relation_key
from remembrancer.core.text.slugs import slugify
from remembrancer.core.topics.decide import PROFILE_NAME, PROFILE_SLUG, create_topic
from remembrancer.core.values import DAY_MS, MINUTE_MS, Caller
from remembrancer.ports.sql import SqlStore
from remembrancer.store import ledger
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.record_table import Placed
from remembrancer.testing.runtime import NOON_MS

BATCH_EVENTS: Final = 400
"""Events of one batch: its JSON arrays stay under D1's two megabytes a value."""

YEARS: Final = 2
"""How far back the first capture lies."""

ZONE: Final = ZoneInfo("Asia/Shanghai")
NAMESPACE: Final = Namespace("default")

PROJECTS: Final = (
    "Atlas 地图", "记忆系统", "Garden Shed", "厨房翻新", "Thesis", "家庭旅行", "Band Rehearsals",
    "健身计划", "Newsletter", "税务申报", "Bike Repair", "读书会", "Podcast", "搬家", "Chess Club",
    "阳台菜园", "Home Server", "法语学习", "Photo Archive", "志愿者排班",
)  # fmt: skip
TOPICS: Final = (
    "Health", "饮食", "Family", "朋友", "Work Style", "写作习惯", "Travel", "地点", "Music", "电影",
    "Money", "保险", "Tools", "编程", "Home", "家电", "Learning", "语言", "Routines", "睡眠",
    "People", "同事", "Gifts", "生日", "Recipes", "书单", "Ideas", "灵感", "Decisions",
)  # fmt: skip
TAGS: Final = (
    "home", "工作", "deep work", "电话", "errand", "购物", "reading", "写作", "waiting", "紧急",
    "C++", "python", "设计", "会议", "email", "周末", "kids", "父母", "budget", "发票", "garden",
    "修理", "travel", "签证", "health", "体检", "music", "排练", "photo", "备份", "idea", "灵感",
    "draft", "复习", "french", "单词", "recipe", "食谱", "gift", "生日", "weekly", "月度",
    "someday", "以后", "legal", "合同", "server", "网络", "bike", "跑步",
)  # fmt: skip
VERBS: Final = (
    "Write", "Call", "Review", "Buy", "Fix", "Plan", "整理", "准备", "联系", "预约", "修改", "确认",
    "Draft", "Compare", "检查", "归档",
)  # fmt: skip
THINGS: Final = (
    "the quarterly report", "周报", "the kitchen quote", "厨房报价单", "Anna about the deposit",
    "体检报告", "the server backup", "数据库备份", "train tickets to Lyon", "去里昂的火车票",
    "the bike's rear wheel", "阳台的番茄架", "chapter three", "第三章的注释", "the tax letter",
    "税务局的来信", "the band's set list", "排练曲目", "photo captions", "相册说明",
    "passport forms", "护照材料", "the newsletter intro", "法语听力练习",
    "the neighbours' keys", "家长会的问题清单",
)  # fmt: skip
FACTS: Final = (
    "prefers short answers with the reason first", "喜欢先看结论再看理由",
    "is allergic to peanuts", "对花生过敏", "works best between six and nine in the morning",
    "早上六点到九点效率最高", "keeps receipts in the blue folder", "发票都放在蓝色文件夹里",
    "decided to use SQLite because it needs no server", "决定用 SQLite，因为不需要服务器",
    "meets Chen Wei every second Thursday", "每隔一周的周四和陈伟见面",
    "does not want meetings on Fridays", "周五不安排会议", "grows tomatoes on the balcony",
    "在阳台上种番茄", "reads on paper before sleep", "睡前只看纸质书",
)  # fmt: skip
SENTENCES: Final = (
    "We talked about it on the phone and agreed to look again next month.",
    "上次讨论时说好下个月再看一遍，到时候带上报价单。",
    "The old number is no longer valid; use the one in the shared sheet.",
    "旧的号码已经不用了，以共享表格里的为准。",
    "Costs are around 340 euros without the deposit.",
    "不含押金大概三百四十欧元。",
    "It depends on the weather and on whether the car is back from the garage.",
    "要看天气，也要看车有没有修好。",
    "Keep the tone friendly, two paragraphs, no attachments.",
    "语气友好一些，两段就够，不要附件。",
)  # fmt: skip
_TAG_WEIGHTS: Final = list(accumulate(1 / (rank + 5) for rank in range(len(TAGS))))
"""The first tag is on every eighth item, the last on every hundredth: Zipf's way."""

_MEMORY_TYPES: Final = ("fact", "preference", "decision", "event", "context_memory", "note")


@dataclass(slots=True)
class Seeded:
    """What was planted: ids and slugs to ask for, in the order they were made."""

    items: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    projects: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    related: list[str] = field(default_factory=list)
    """Items with at least one relation."""


Progress = Callable[[int], None]
"""Told how many events are written."""


async def seed(
    sql: SqlStore,
    count: int,
    *,
    namespace: Namespace = NAMESPACE,
    until_ms: int = NOON_MS,
    progress: Progress | None = None,
) -> Seeded:
    """Plant `count` items that end a minute before `until_ms`, with what belongs to them.

    Of a hundred items some 60 are memories and 40 tasks; half of the tasks are done, a tenth of
    all was edited, a twentieth is related to another. Twenty projects, thirty topics.
    """
    planter = _Planter(sql, namespace, until_ms, Random(count), progress)
    await planter.plant(count)
    return planter.seeded


class _Planter:
    """Collects drafts into batches; each thing has its own moment on the way to now."""

    def __init__(
        self,
        sql: SqlStore,
        namespace: Namespace,
        until_ms: int,
        chance: Random,
        progress: Progress | None,
    ) -> None:
        self.seeded = Seeded()
        self._sql = sql
        self._caller = Caller(namespace, "agent:seed", "req_seed")
        self._until_ms = until_ms
        self._chance = chance
        self._progress = progress
        self._sealed: list[Sealed] = []
        self._placed: list[Placed] = []
        self._records: dict[str, tuple[Head, Fields]] = {}
        self._relations: tuple[Head, Fields] = (Head(), {})
        self._written = 0
        self._causes = 0
        self._always = 0

    async def plant(self, count: int) -> None:
        start = self._until_ms - YEARS * 365 * DAY_MS
        step = (self._until_ms - start - MINUTE_MS) // (count + 1)
        self._owners(start)
        for number in range(count):
            at_ms = start + (number + 1) * step
            item_id = self._item(number, at_ms)
            if number % 10 == 7:
                self._edit(at_ms + step // 4)
            if number % 20 == 9:
                self._relate(item_id, at_ms + step // 3)
            if len(self._sealed) >= BATCH_EVENTS:
                await self._flush()
        self._objectives(self._until_ms - MINUTE_MS)
        await self._flush()

    def _owners(self, at_ms: int) -> None:
        for name in PROJECTS:
            slug = slugify(name)
            id_ = self._id("prj", at_ms)
            self.seeded.projects[slug] = id_
            draft = create_project(name=name, slug=slug, description=f"{name}: what is left to do.")
            self._append(Stream(f"project/{id_}"), [draft], at_ms)
        for number, name in enumerate((PROFILE_NAME, *TOPICS)):
            slug = PROFILE_SLUG if name == PROFILE_NAME else slugify(name)
            id_ = self._id("top", at_ms)
            self.seeded.topics[slug] = id_
            draft = create_topic({"name": name, "retrieval_priority": number % 12}, slug=slug)
            self._append(Stream(f"topic/{id_}"), [draft], at_ms)

    def _objectives(self, at_ms: int) -> None:
        for number, id_ in enumerate(self.seeded.projects.values()):
            if number % 2:
                continue
            stream = Stream(f"project/{id_}")
            edit: ItemEdit = {
                "title": f"Finish {PROJECTS[number]} 完成",
                "type": "strategic_goal",
                "startup_priority": 8,
                "project_id": id_,
            }
            goal_id = self._id("itm", at_ms)
            self.seeded.items.append(goal_id)
            at = Moment(at_ms, ZONE)
            self._append(item_stream(goal_id), [decide.create_item(edit, at=at)], at_ms)
            _, fields = self._records[stream]
            draft = set_objective(fields, goal_id, now_ms=at_ms)
            assert draft is not None
            self._append(stream, [draft], at_ms)

    def _item(self, number: int, at_ms: int) -> str:
        chance = self._chance
        item_id = self._id("itm", at_ms)
        is_task = chance.random() < 0.4
        edit = self._task(at_ms) if is_task else self._memory(number)
        edit["tags"] = list(
            dict.fromkeys(self._tag() for _ in range(chance.choice((0, 1, 2, 2, 3))))
        )
        edit["authored_by"] = "agent"
        if chance.random() < 0.5:
            edit["project_id"] = chance.choice([*self.seeded.projects.values()])
        if chance.random() < 0.6:
            edit["topic_id"] = chance.choice([*self.seeded.topics.values()])
        at = Moment(at_ms, ZONE)
        draft = decide.create_item(edit, at=at)
        self._append(item_stream(item_id), [draft], at_ms)
        self.seeded.items.append(item_id)
        if is_task:
            self.seeded.tasks.append(item_id)
            if chance.random() < 0.6 and edit.get("recurrence_kind") is None:
                self._change(item_id, lambda fields: decide.complete_item(fields, at=at), at_ms)
        elif chance.random() < 0.1:
            self._change(item_id, lambda fields: decide.archive_item(fields, at=at), at_ms)
        return item_id

    def _task(self, at_ms: int) -> ItemEdit:
        chance = self._chance
        edit: ItemEdit = {
            "title": f"{chance.choice(VERBS)} {chance.choice(THINGS)}",
            "content": self._text(chance.choice((0, 0, 1, 2))),
            "priority": chance.choice((1, 2, 2, 3)),
        }
        roll = chance.random()
        if roll < 0.5:
            edit["due_at"] = at_ms + chance.randrange(1, 30) * DAY_MS
        if roll < 0.02:
            edit["recurrence_kind"] = chance.choice(("daily", "weekly", "monthly"))
        if 0.5 < roll < 0.52:
            edit["startup_priority"] = 9
        return edit

    def _memory(self, number: int) -> ItemEdit:
        chance = self._chance
        edit: ItemEdit = {
            "kind": "memory",
            "type": chance.choice(_MEMORY_TYPES),
            "title": f"User {chance.choice(FACTS)} ({number})",
            "content": self._text(chance.choice((0, 1, 2, 4))),
            "priority": 1,
            "importance": round(chance.random(), 2),
        }
        if number % 10 == 3:
            edit["fact_key"] = f"seed:{number}"
        if number % 50 == 4:
            edit["pinned"] = True
        if number % 100 == 8 and self._always < ALWAYS_LOAD_MAX - 1:
            self._always += 1
            edit["startup_priority"] = 10
        if number % 200 == 16:
            edit["expires_at"] = self._until_ms + (number % 90 + 1) * DAY_MS
        return edit

    def _text(self, sentences: int) -> str | None:
        return " ".join(self._chance.choices(SENTENCES, k=sentences)) or None

    def _tag(self) -> str:
        return self._chance.choices(TAGS, cum_weights=_TAG_WEIGHTS)[0]

    def _edit(self, at_ms: int) -> None:
        item_id = self._chance.choice(self.seeded.items)
        at = Moment(at_ms, ZONE)
        edit: ItemEdit = {"add_note": self._chance.choice(SENTENCES)}
        self._change(item_id, lambda fields: decide.edit_item(fields, edit, at=at), at_ms)

    def _relate(self, item_id: str, at_ms: int) -> None:
        other = self._chance.choice(self.seeded.items)
        if other == item_id:
            return
        type_ = self._chance.choice(("supports", "derived_from", "supersedes"))
        key = relation_key(item_id, type_, other)
        draft = add_relations({}, {key: (1.0, None)}, now_ms=at_ms)
        assert draft is not None
        self.seeded.related.append(item_id)
        self._append(RELATIONS, [draft], at_ms)
        if type_ == "supersedes":
            at = Moment(at_ms, ZONE)
            self._change(
                other,
                lambda fields: decide.supersede_item(fields, by_id=item_id, at=at, reason=None),
                at_ms,
            )

    def _change(self, item_id: str, choose: Callable[[Fields], Draft | None], at_ms: int) -> None:
        stream = item_stream(item_id)
        draft = choose(self._records[stream][1])
        if draft is not None:
            self._append(stream, [draft], at_ms)

    def _append(self, stream: Stream, drafts: Sequence[Draft], at_ms: int) -> None:
        head, fields = self._records.get(stream, (Head(), {}))
        self._causes += 1
        caller = Caller(self._caller.namespace, self._caller.actor, f"req_{self._causes}")
        sealed, placed = ledger.place(
            [StreamEdit(stream, head, fields, tuple(drafts))],
            caller=caller,
            at_ms=at_ms,
            salts=[self._chance.randbytes(SALT_BYTES) for _ in drafts],
        )
        after = {} if stream == RELATIONS else placed[-1].after
        self._records[stream] = (Head(sealed[-1].event.version, sealed[-1].chain), after)
        self._sealed += sealed
        self._placed += placed

    def _id(self, prefix: str, at_ms: int) -> str:
        return make_id(prefix, at_ms, self._chance.randbytes(10))

    async def _flush(self) -> None:
        if self._sealed:
            await self._sql.write(ledger.append(self._sealed, self._placed))
            self._written += len(self._sealed)
            self._sealed, self._placed = [], []
        if self._progress is not None:
            self._progress(self._written)
